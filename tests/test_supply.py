"""What southwell is made from and with: no code from outside is run, tools are pinned, licences are as stated."""

import ast
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src" / "southwell").rglob("*.py"))
STUDIES = ROOT / "src" / "southwell" / "studies"
TRY_THEOREMS = [STUDIES / "rates.py", *STUDIES.glob("*/theorems.py")]
STATED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Modules that run code from data, start processes or talk to a network.
FORBIDDEN_MODULES = {
    "pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "code", "codeop", "runpy", "ctypes",
    "subprocess", "multiprocessing", "socket", "ssl", "urllib", "http", "ftplib", "requests", "yaml", "xmlrpc",
}  # fmt: skip
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_METHODS = {
    ("os", "system"), ("os", "popen"), ("os", "fork"), ("joblib", "load"), ("np", "fromregex"), ("numpy", "fromregex"),
}  # fmt: skip


def dangers(source: str) -> list[str]:
    """What in a Python source could run code that is not its own."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.partition(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = (node.module or "").partition(".")[0]
            found += [module] if module in FORBIDDEN_MODULES else []
            found += [f"{module}.{name.name}" for name in node.names if (module, name.name) in FORBIDDEN_METHODS]
        elif isinstance(node, ast.Call):
            found += _dangerous_call(node)
    return found


def _dangerous_call(call: ast.Call) -> list[str]:
    for keyword in call.keywords:
        if keyword.arg == "allow_pickle" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value):
            return ["allow_pickle"]
    if isinstance(call.func, ast.Name) and call.func.id in FORBIDDEN_CALLS:
        return [call.func.id]
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        name = (call.func.value.id, call.func.attr)
        return [".".join(name)] if name in FORBIDDEN_METHODS else []
    return []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_no_code_from_outside_is_run(path):
    assert dangers(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("source", [
    "import pickle", "from pickle import loads", "import os\nos.system('ls')", "eval('1')", "exec(text)",
    "__import__(name)", "import numpy as np\nnp.load(path, allow_pickle=True)", "np.load(p, allow_pickle=flag)",
    "import joblib\njoblib.load(path)", "from joblib import load", "import urllib.request", "def f():\n import marshal",
    "import subprocess as s", "from multiprocessing.pool import Pool",
])  # fmt: skip
def test_the_search_notices(source):
    assert dangers(source)


def test_the_search_lets_pass_what_is_safe():
    assert dangers("import json\nnp.load(p, allow_pickle=False)\nmodel.eval(x)\nfrom . import code") == []


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if "reference" not in path.parent.parts and path not in TRY_THEOREMS],
    ids=lambda path: str(path.relative_to(ROOT / "src")),
)
def test_only_tests_and_studies_of_theorems_use_the_reference(path):
    """It is slow, and it is what the rest is compared with. Studies try the bounds of papers with it, step by step."""
    imported = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    named = [name for node in imported for name in (*(node.module or "").split("."), *(one.name for one in node.names))]
    assert "reference" not in named


def pinned(name: str) -> dict[str, tuple[str, int]]:
    """Of each requirement in a file of .ci its version, and the number of its hashes."""
    text = (ROOT / ".ci" / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    parts = [
        re.fullmatch(r"([a-z0-9-]+)==(\S+)( ; [^-]*)?((\s+--hash=sha256:[0-9a-f]{64})*)\s*", line) for line in lines
    ]
    assert all(parts), lines
    return {part[1]: (part[2], part[4].count("--hash")) for part in parts}


@pytest.mark.parametrize("name", ["build-requirements.txt", "wheel-requirements.txt"])
def test_tools_have_hashes(name):
    assert all(hashes >= 1 for _, hashes in pinned(name).values())
    wanted = [Requirement(line) for line in (ROOT / ".ci" / name.replace(".txt", ".in")).read_text().splitlines()[1:]]
    assert {tool.name for tool in wanted} <= pinned(name).keys()
    assert all(tool.specifier.contains(pinned(name)[tool.name][0]) for tool in wanted)


def test_the_tools_are_those_the_build_asks_for():
    tools = pinned("build-requirements.txt")
    for requirement in map(Requirement, STATED["build-system"]["requires"]):
        assert requirement.specifier.contains(tools[requirement.name][0])


def test_workflows_use_fixed_tools():
    workflows = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}
    for text in workflows.values():
        uses = re.findall(r"uses: *(\S+)(.*)", text)
        assert uses
        for action, comment in uses:  # a tag can be moved, a commit cannot
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action
        installs = re.findall(r"pip install (.*)", text)
        assert all("--require-hashes" in install or "--no-build-isolation" in install for install in installs)
    assert ".ci/build-requirements.txt" in workflows["wheels.yml"]
    assert "--no-isolation" in workflows["wheels.yml"]


def licences() -> dict[str, str]:
    """The tables of THIRD_PARTY.md."""
    rows = re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+) \|", (ROOT / "THIRD_PARTY.md").read_text("utf-8"), re.MULTILINE)
    return {name: licence.strip() for name, licence in rows if name != "project"}


def needed(names) -> set[str]:
    """These packages and all that they need here, of those that are installed."""
    found, left = set(), list(names)
    while left:
        name = left.pop().lower().replace("_", "-")
        if name in found:
            continue
        found.add(name)
        try:
            requirements = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        for requirement in map(Requirement, requirements):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                left.append(requirement.name)
    return found


def test_every_dependency_is_listed_with_its_licence():
    run_time = [Requirement(r).name for r in STATED["project"]["dependencies"]]
    extras = STATED["project"]["optional-dependencies"]
    direct = {Requirement(r).name for extra in ("plot", "search", "numba") for r in extras[extra]}
    build = {Requirement(r).name for r in STATED["build-system"]["requires"]} | pinned("build-requirements.txt").keys()
    assert needed(run_time) | direct | build <= licences().keys()


WORDS = {  # what metadata may call them, in lower case
    "BSD-3-Clause": ("bsd-3-clause", "bsd license", "new bsd"), "BSD-2-Clause": ("bsd-2-clause", "bsd license"),
    "MIT": ("mit",),
    "PSF-2.0": ("python software foundation",),
    "Apache-2.0": ("apache",), "Apache-2.0 OR BSD-2-Clause": ("apache",), "MPL-2.0": ("mozilla public license 2.0",),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(licences()))
def test_licences_are_those_of_the_metadata(name):
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    kinds = [c for c in metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    told = " ".join([metadata.get("License-Expression") or "", *kinds, metadata.get("License") or ""]).lower()
    if not told.strip():
        pytest.skip(f"the metadata of {name} say nothing of a licence")
    assert any(re.search(rf"\b{word}\b", told) for word in WORDS[licences()[name]]), told[:200]


def test_texts_of_what_is_compiled_in_go_into_the_wheel():
    assert "LICENSES/*.txt" in STATED["project"]["license-files"]
    for name in ("nanobind", "robin-map"):
        assert "Copyright (c)" in (ROOT / "LICENSES" / f"{name}.txt").read_text(encoding="utf-8")
        assert name in licences()
