"""Runs an operation again and again while the k-th allocation of Python itself fails; a script, as CPython may not
survive what it is asked to. Prints the failing allocation before each attempt and at the end what was raised, as JSON.
"""

from __future__ import annotations

import collections
import gc
import json
import sys
import warnings
from _testcapi import remove_mem_hooks, set_nomemory

from faults.allocations import same
from faults.operations import OPERATIONS


def main(name: str, until: int, stride: int) -> None:
    warnings.simplefilter("ignore")
    operation = OPERATIONS[name]()
    reference = operation()
    assert same(operation(), reference), "the operation does not repeat itself"
    gc.disable()  # a failure within a collection is nobody's to catch
    told: collections.Counter[str] = collections.Counter()
    for k in range(1, until, stride):
        print(f"allocation {k}", flush=True)
        raised = None
        set_nomemory(k, k + 1)
        try:
            answer = operation()
        except BaseException as error:  # whatever it is, it is told
            remove_mem_hooks()
            raised = error
        else:
            remove_mem_hooks()
            assert same(answer, reference), f"allocation {k} failed, nothing was said, and the answer is wrong"
        told["right" if raised is None else type(raised).__name__] += 1
        if raised is not None and not isinstance(raised, MemoryError):
            print(f"allocation {k}: {raised!r}", file=sys.stderr)
        assert same(operation(), reference), f"after allocation {k} failed, the next answer is wrong"
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
