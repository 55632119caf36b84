"""scikit-learn's own tests of linear models, run on southwell's classes.

    python tests/scikit_learn/runner.py [FILE ...] [-- PYTEST ARGUMENTS]

Copies the files from the installed scikit-learn to a temporary folder, changes where the classes come from, and runs
them there with scikit-learn's own configuration of pytest. Nothing is stored. ``not_met.py`` lists the tests that are
deliberately not met, each with a reason; everything else must pass.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from pathlib import Path

import pytest
import sklearn

FILES = ("coordinate_descent", "sparse_coordinate_descent", "logistic", "ridge", "quantile", "huber")
HERE = Path(__file__).parent
MODULES = ("sklearn.linear_model", "sklearn.svm")


def ours() -> set[str]:
    from southwell import estimators

    return {name for name in estimators.__all__ if name != "ConvergenceWarning"}


def with_our_classes(text: str) -> str:
    """The text of a file whose imports take from southwell what it has, under scikit-learn's names."""
    known, lines = ours(), text.splitlines()
    for node in reversed(ast.parse(text).body):
        if not isinstance(node, ast.ImportFrom) or node.module not in MODULES:
            continue
        own = [alias.name for alias in node.names if alias.name in known and alias.asname is None]
        rest = [alias for alias in node.names if alias.name not in own or alias.asname is not None]
        made = [f"from southwell.estimators import {', '.join(own)}"] if own else []
        if rest:
            names = (f"{one.name} as {one.asname}" if one.asname else one.name for one in rest)
            made.append(f"from {node.module} import {', '.join(names)}")
        lines[node.lineno - 1 : node.end_lineno] = made
    return "\n".join(lines) + "\n"


def copied(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """The files of these names, changed, in a folder."""
    source, paths = Path(sklearn.__file__).parent, []
    (folder / "conftest.py").write_text((source / "conftest.py").read_text() + "\n\n" + (HERE / "marks.py").read_text())
    for name in names:
        path = folder / f"test_{name}.py"
        path.write_text(with_our_classes((source / "linear_model" / "tests" / path.name).read_text()))
        paths.append(path)
    return paths


def run(names: tuple[str, ...] = FILES, arguments: tuple[str, ...] = ("-q",)) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        paths = copied(Path(scratch), names)
        sys.path.insert(0, str(HERE))
        own = ["-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", scratch, "-p", "no:randomly"]
        return int(pytest.main([*own, *arguments, *map(str, paths)]))


if __name__ == "__main__":
    given = sys.argv[1:]
    at = given.index("--") if "--" in given else len(given)
    sys.exit(run(tuple(given[:at]) or FILES, tuple(given[at + 1 :]) or ("-q",)))
