"""The examples of the gallery run, on data that every installation has, and show what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_without_files_of_data(example, pyplot, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("SOUTHWELL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("southwell.testing.datasets.find", lambda name: None)
    told = runpy.run_path(str(example))
    assert pyplot.get_fignums() and capsys.readouterr().out
    if example.stem == "plot_custom_scorer":
        by_accuracy, by_cost, with_weights = told["costs"].values()
        assert with_weights < 0.8 * min(by_accuracy, by_cost)
    if example.stem == "plot_genes":
        of_pathways = (told["pathway"][told["found"]] < 5).mean()
        assert of_pathways > 10 * (told["pathway"] < 5).mean()  # chance
