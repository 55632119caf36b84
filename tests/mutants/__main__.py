"""Do the tests notice faults in the kernels? ``python tests/mutants [--scratch DIR] [WORD ...]``.

All faults of faults.py are compiled into one scratch build of the core, each behind a switch that the environment
variable SOUTHWELL_FAULT sets when the module is loaded, so that the whole list costs one build. With any one fault, a
test it names must fail which passes without. Needs what CONTRIBUTING.md installs. With WORDs, only
faults whose names contain one of them are tried. With --scratch the build is kept there and used again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[2]
STORED_NUMBERS = ("test_model_files.py",)  # a test that compares with stored numbers is no witness
LONGEST = 1800  # seconds that the tests of one fault may take

SWITCH = """\
#pragma once
#include <cstdlib>
namespace southwell_faults {
inline const int chosen = [] {
  const char* number = std::getenv("SOUTHWELL_FAULT");
  return number ? std::atoi(number) : 0;
}();
}
#define SOUTHWELL_FAULT(number) (southwell_faults::chosen == (number))
"""


def switched(fault: Fault, number: int) -> str:
    """Code that is ``old``, or ``new`` if the environment says so."""
    if fault.old.endswith(";"):
        return f"{{ if (SOUTHWELL_FAULT({number})) {{ {fault.new} }} else {{ {fault.old} }} }}"
    return f"(SOUTHWELL_FAULT({number}) ? ({fault.new}) : ({fault.old}))"


def plant(tree: Path) -> None:
    """All faults into a copy of the sources, each behind its switch."""
    for number, fault in enumerate(FAULTS, 1):
        if any(name in fault.tests for name in STORED_NUMBERS):
            sys.exit(f"{fault.name}: its tests compare with stored numbers; name others.")
        path = tree / fault.file
        text = path.read_text()
        if (count := text.count(fault.old)) != 1:
            sys.exit(f"{fault.name}: {fault.old!r} occurs {count} times in {fault.file}; it must occur once.")
        path.write_text(text.replace(fault.old, switched(fault, number)))


def copy(tree: Path) -> None:
    """The sources with their faults; files that are as they were keep their times, so that little is compiled."""
    with tempfile.TemporaryDirectory() as fresh:
        fresh = Path(fresh)
        for name in ("core", "bindings", "src", "tests"):
            shutil.copytree(ROOT / name, fresh / name, ignore=shutil.ignore_patterns("__pycache__", "_core*"))
        for name in ("CMakeLists.txt", "pyproject.toml"):
            shutil.copy2(ROOT / name, fresh / name)
        plant(fresh)
        (fresh / "switch.hpp").write_text(SWITCH)
        for path in (path for path in fresh.rglob("*") if path.is_file()):
            to = tree / path.relative_to(fresh)
            if not to.exists() or to.read_bytes() != path.read_bytes():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)


def build(tree: Path) -> None:
    """The core with all faults: little optimised, for one instruction set."""
    made = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
    flags = f"-O1 -DSOUTHWELL_NO_CLONES -include {tree}/switch.hpp"
    configure = ["cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Faults"]
    configure += [f"-DCMAKE_CXX_FLAGS={flags}", f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={made}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", tree / "build", "--target", "_core"], check=True)
    for module in (tree / "build").glob("_core*.so"):
        shutil.copy2(module, tree / "src" / "southwell")
    which = [sys.executable, "-c", "import southwell._core as core; print(core.__file__)"]
    found = subprocess.check_output(which, env=os.environ | {"PYTHONPATH": str(tree / "src")}, text=True).strip()
    if not Path(found).is_relative_to(tree):
        sys.exit(
            f"Python finds the core at {found}, not the one with faults: an editable install comes first. Use an "
            "environment without one."
        )


def run(tree: Path, number: int, tests: list[str], *options: str) -> tuple[int, str]:
    """The exit code of pytest under a fault, and what it says."""
    environment = os.environ | {
        "SOUTHWELL_FAULT": str(number), "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(tree / "hypothesis" / str(number)),
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=no"]
    command += [*options, *(f"tests/{test}" for test in tests)]
    try:
        done = subprocess.run(command, cwd=tree, env=environment, text=True, capture_output=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return -1, f"no end after {LONGEST} s"
    return done.returncode, done.stdout + done.stderr


def witness(code: int, said: str) -> str | None:
    """The test that failed. Only a failed test counts: neither a crash nor an error of pytest is one."""
    failed = re.search(r"^(?:FAILED|ERROR) tests/(.+?)(?: - .*)?$", said, re.MULTILINE)
    return failed[1] if code == 1 and failed else None


def main() -> int:
    """Build, try each fault, then see that the tests which failed pass without one."""
    parser = argparse.ArgumentParser(prog="python tests/mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--scratch", type=Path, help="directory to build in, kept; default: a temporary one")
    parser.add_argument("words", nargs="*", help="try only faults whose names contain one of these")
    given = parser.parse_args()
    chosen = [(k, f) for k, f in enumerate(FAULTS, 1) if not given.words or any(w in f.name for w in given.words)]
    if not chosen:
        parser.error(f"no fault has a name with {' or '.join(given.words)}; see tests/mutants/faults.py")
    with tempfile.TemporaryDirectory() as temporary:
        tree = (given.scratch or Path(temporary)).resolve()
        begun = time.monotonic()
        copy(tree)
        build(tree)
        print(f"{len(FAULTS)} faults built in {time.monotonic() - begun:.0f} s", flush=True)
        witnesses, survivors = set(), []
        for number, fault in chosen:
            begun = time.monotonic()
            code, said = run(tree, number, fault.tests.split(), "-x")
            if caught := witness(code, said):
                witnesses.add(caught)
            else:
                survivors.append(fault.name)
            told = f"caught by {caught}" if caught else f"SURVIVED {fault.tests} (exit code {code})"
            print(f"{number:3} {fault.name}: {told}, {time.monotonic() - begun:.0f} s", flush=True)
        code, said = run(tree, 0, sorted(witnesses)) if witnesses else (0, "")
        if code != 0:
            sys.exit(f"Without any fault these tests do not pass either:\n{said}")
        print(f"without a fault the {len(witnesses)} tests that caught one pass")
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} faults caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
