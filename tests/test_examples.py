"""The examples of the gallery run."""

import re
import runpy
from pathlib import Path

import pytest

from southwell.testing import datasets

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, pyplot, capsys):
    for name in re.findall(r'datasets\.\w+\("(\w+)"', example.read_text("utf-8")):
        if datasets.find(name) is None:
            pytest.skip(f"data set {name} not found: set SOUTHWELL_DATA to the folder that holds it")
    runpy.run_path(str(example))
    assert pyplot.get_fignums() and capsys.readouterr().out
