"""Runs operations again and again while the k-th call of ``operator new`` fails, k = 1, 2, ...; a script, run with the
library of failing_new.cpp preloaded, so that a crash ends this process and not the tests.

Prints the failing call before each attempt, and for each operation a line of JSON: how often it failed, and what of it.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import json
import warnings

import numpy as np

from faults.operations import OPERATIONS


def same(first, second) -> bool:
    return len(first) == len(second) and all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def attempts(first: int, stride: int):
    """The first calls one by one, for that is where objects are built, and then every stride-th."""
    k = 0
    while True:
        k += 1 if k < first else stride
        yield k


def tried(name: str, memory: ctypes.CDLL, options: argparse.Namespace) -> dict[str, object]:
    operation = OPERATIONS[name]()
    reference = operation()
    assert same(operation(), reference), "the operation does not repeat itself"
    told = {"operation": name, "points": 0, "MemoryError": 0, "right": 0}
    for k in attempts(options.first, options.stride):
        print(f"{name}: call {k}", flush=True)
        memory.fail_new_at(k, options.lasting)
        try:
            answer = operation()
        except MemoryError:
            memory.stop_failing()
            told["MemoryError"] += 1
        else:
            failed = memory.stop_failing()
            assert same(answer, reference), f"call {k} failed, nothing was said, and the answer is wrong"
            if not failed:  # it made fewer calls
                break
            told["right"] += 1
        finally:
            memory.stop_failing()  # whatever else was raised must be told in peace
        told["points"] += 1
        assert same(operation(), reference), f"after call {k} failed, the next answer is wrong"
    return {**told, "calls": memory.calls_of_new()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("operations", nargs="*")
    parser.add_argument("--library", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--lasting", action="store_true", help="all later calls fail too")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    memory = ctypes.CDLL(options.library)
    memory.fail_new_at.argtypes = [ctypes.c_long, ctypes.c_int]
    memory.stop_failing.restype = memory.calls_of_new.restype = ctypes.c_long
    for name in options.operations or OPERATIONS:
        print(json.dumps(tried(name, memory, options)), flush=True)


if __name__ == "__main__":
    main()
