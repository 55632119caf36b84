"""Memory that runs out, at every allocation of the core."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faults.operations import OPERATIONS
from faults.processes import output

FOLDER = Path(__file__).parent / "faults"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """An ``operator new`` that fails when told to."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++"))), None)
    if compiler is None or sys.platform != "linux":
        pytest.skip("failing allocations need Linux and a C++ compiler")
    path = tmp_path_factory.mktemp("library") / "failing_new.so"
    source = FOLDER / "failing_new.cpp"
    subprocess.run([compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-o", path, source], check=True)
    return path


def tried(library, *arguments) -> list[dict]:
    """What the script says of each operation."""
    preload = " ".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))
    lines = output("allocations", "--library", library, *arguments, LD_PRELOAD=preload)
    return [json.loads(line) for line in lines if line.startswith("{")]


@pytest.mark.own_memory
def test_some_failing_allocations_of_every_operation(library):
    told = tried(library, "--first", 4, "--stride", 61)
    assert [one["operation"] for one in told] == list(OPERATIONS)
    assert all(one["MemoryError"] >= 1 for one in told), told  # else the library does not reach the core


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_failing_allocation(operation, lasting, library):
    (told,) = tried(library, operation, *["--lasting"][: int(lasting)])
    assert told["points"] >= 10
