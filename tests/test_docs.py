"""What the documents promise holds: examples run, commands are as stated, links lead somewhere."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import southwell

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(
    [*ROOT.glob("*.md"), *(p for room in ("docs", "benchmarks", "tests") for p in ROOT.glob(f"{room}/**/*.md"))]
)
MODULES = ["southwell", *(module.name for module in pkgutil.walk_packages(southwell.__path__, "southwell."))]


def test_the_readme_example_runs_and_prints_what_it_shows(capsys):
    source, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()
    exec(compile(source, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    for start, rest in (("Result", ".*"), ("  nonzeros", ".*"), ("  method", " +auto: primal")):  # rounds may differ
        lines = [re.search(f"^{start}{rest}", text, re.MULTILINE) for text in (printed, shown)]
        assert lines[0] and lines[1] and lines[0].group() == lines[1].group()


def test_all_of_the_readme_runs(tmp_path, monkeypatch, pyplot):
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL)), "README.md", "exec"), {})
    assert {path.name for path in tmp_path.iterdir()} == {"scores.png", "coefficients.png", "diabetes.southwell"}


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
def test_doctests(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
