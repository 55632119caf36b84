"""The examples of the gallery run."""

import runpy
from pathlib import Path

import pytest

from southwell.testing import datasets

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("plot_*.py"))
LONG = {"plot_text_classification"}  # a cross-validation on 20news takes more than a few seconds


@pytest.mark.parametrize(
    "example",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in LONG)) for path in EXAMPLES],
)
def test_examples_run(example, pyplot, capsys):
    if missing := datasets.missing(example):
        pytest.skip(f"data set {missing[0]} not found: set SOUTHWELL_DATA to the folder that holds it")
    runpy.run_path(str(example))
    assert pyplot.get_fignums() and capsys.readouterr().out
