"""What the documents promise holds: examples run, commands are as stated, links lead somewhere."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import code_blocks
import southwell

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(
    [*ROOT.glob("*.md"), *(p for room in ("docs", "benchmarks", "tests") for p in ROOT.glob(f"{room}/**/*.md"))]
)
MODULES = ["southwell", *(module.name for module in pkgutil.walk_packages(southwell.__path__, "southwell."))]


WITH_CODE = [page for page in PAGES if code_blocks.blocks(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch, pyplot):
    monkeypatch.chdir(tmp_path)
    code_blocks.run(page)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("gap 1e-9\n", "gap 1e-6\n"), ("score 0.974\n", "score 0.975\n"), ("CONVERGED\n", "MAX_EPOCHS\n"),
        ("one\n", "one\ntwo\n"), ("  method     coordinate_descent: 3\n", "  method     auto: primal 3 rounds\n"),
    ],
)  # fmt: skip
def test_other_output_is_noticed(printed, shown):
    assert code_blocks.differences(printed, shown)
    assert not code_blocks.differences(printed, printed)


def test_the_readme_starts_with_its_two_commands():
    commands = [line.strip() for line in README.splitlines() if line.strip().startswith("python -m pip install")]
    assert commands[:2] == [
        "python -m pip install . && southwell demo",
        'python -m pip install ".[test]" && python -m pytest',
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_resolve(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    local = [link.partition("#")[0] for link in links if "://" not in link and not link.startswith("#")]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("name", MODULES)
def test_doctests_pass(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_reference_lists_every_estimator_and_method():
    listed = {line.strip() for line in (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines()}
    methods = {f"methods.{kind.__name__}" for kind in southwell.methods.ALL.values()}
    assert {*southwell.estimators.ALL, *methods} <= listed
