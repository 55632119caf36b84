"""Runs one operation again and again while the k-th call of ``operator new`` fails, k = 1, 2, ...; a script, run with
the library of failing_new.cpp preloaded, so that a crash ends this process and not the tests.

Prints the failing call before each attempt, and at the end a line of JSON: how many calls failed, and how it ended.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import json
import sys
import warnings

import numpy as np
from operations import OPERATIONS


def same(first, second) -> bool:
    return len(first) == len(second) and all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def attempts(stride: int):
    """The first thirty calls, where objects are built, and every stride-th after them."""
    k = 0
    while True:
        k += 1 if k < 30 else stride
        yield k


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("--library", required=True)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--lasting", action="store_true", help="all later calls fail too")
    options = parser.parse_args()
    faulthandler.dump_traceback_later(120, repeat=True, exit=False)
    warnings.simplefilter("ignore")
    memory = ctypes.CDLL(options.library)
    memory.fail_new_at.argtypes = [ctypes.c_long, ctypes.c_int]
    memory.stop_failing.restype = memory.calls_of_new.restype = ctypes.c_long

    operation = OPERATIONS[options.operation]()
    reference = operation()
    assert same(operation(), reference), "the operation does not repeat itself"
    told: dict[str, int] = {"MemoryError": 0, "right": 0}
    points = 0
    for k in attempts(options.stride):
        print(f"call {k}", flush=True)
        memory.fail_new_at(k, options.lasting)
        try:
            answer = operation()
        except MemoryError:
            memory.stop_failing()
            told["MemoryError"] += 1
        else:
            failed = memory.stop_failing()
            assert same(answer, reference), f"call {k} failed, nothing was said, and the answer is wrong"
            if not failed:
                break
            told["right"] += 1
        finally:
            memory.stop_failing()
        points += 1
        assert same(operation(), reference), f"after call {k} failed, the next answer is wrong"
    print(json.dumps({"points": points, "calls": memory.calls_of_new(), **told}))


if __name__ == "__main__":
    sys.exit(main())
