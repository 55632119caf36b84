"""Builds the libFuzzer harness of the sparse check with Clang's sanitizers, and runs it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .report import Finding, Report
from .workers import ROOT

FLAGS = ["-std=c++20", "-g", "-O1", "-DSOUTHWELL_NO_CLONES", "-fsanitize=fuzzer,address,undefined",
         "-fno-sanitize-recover=all", f"-I{ROOT}"]  # fmt: skip


def run(seed: int, seconds: float, cases: int | None) -> Report:
    """Build, run for the remaining time, and report. Skipped if there is no Clang with libFuzzer."""
    report, begun = Report("sparse", seed), time.monotonic()
    compiler = shutil.which("clang++") or shutil.which("clang++-14")
    with tempfile.TemporaryDirectory(prefix="southwell-fuzz-") as scratch:
        if compiler is None or not _works(compiler, Path(scratch)):
            report.skipped.append("no clang++ with libFuzzer (Debian: clang and libclang-rt-dev)")
            return report
        program = Path(scratch) / "sparse"
        subprocess.run([compiler, *FLAGS, str(ROOT / "fuzz" / "sparse_structure.cpp"), "-o", str(program)], check=True)
        left = max(5, int(seconds - (time.monotonic() - begun)))
        options = [f"-seed={seed + 1}", f"-max_total_time={left}", "-max_len=512", "-print_final_stats=1",
                   f"-artifact_prefix={scratch}/", *([f"-runs={cases}"] if cases is not None else [])]  # fmt: skip
        done = subprocess.run([str(program), *options], capture_output=True, text=True, errors="replace", cwd=scratch)
        told = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        report.cases = int(told[1]) if told else 0
        if covered := re.findall(r"cov: (\d+)", done.stderr):
            report.counts["edges covered"] = int(covered[-1])
        if done.returncode != 0:
            inputs = "\n".join(f"input {path.read_bytes().hex()}" for path in Path(scratch).glob("*-*"))
            lines = [line for line in done.stderr.splitlines() if not line.startswith("#")]
            report.findings.append(Finding("crash", "sparse_problem", "\n".join([inputs, *lines[-40:]])))
    report.seconds = time.monotonic() - begun
    return report


def _works(compiler: str, scratch: Path) -> bool:
    """Whether this compiler has libFuzzer."""
    source = scratch / "nothing.cpp"
    source.write_text('extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n')
    made = subprocess.run([compiler, "-fsanitize=fuzzer,address", str(source), "-o", str(scratch / "nothing")],
                          capture_output=True)  # fmt: skip
    return made.returncode == 0
