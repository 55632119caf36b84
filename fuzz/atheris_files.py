"""Fuzzes model files with Atheris, which is guided by the coverage of the reader. Not in the ``fuzz`` extra:

    python -m pip install atheris
    python fuzz/atheris_files.py -max_total_time=60 build/atheris fuzz/corpus

New inputs go to the first folder, which must exist. Options are libFuzzer's. It mutates as ``run.py files`` does, so
that most inputs are valid archives; a finding ends the run, and its input is written to the working directory.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with atheris.instrument_imports(include=["southwell.model_files", "zipfile", "json", "numpy.lib"]):
    import southwell.model_files  # noqa: F401

from fuzz.files import check, corpus
from fuzz.mutations import mutate


def one_input(content: bytes) -> None:
    findings, _ = check(content, "atheris")
    if findings:
        raise RuntimeError("\n".join(f"{f.kind}: {f.key}\n{f.detail}" for f in findings))


def mutated(content: bytes, most: int, seed: int) -> bytes:
    made, _ = mutate([content, *corpus()] if content else corpus(), random.Random(seed))
    return made[:most]


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input, custom_mutator=mutated)
    atheris.Fuzz()
