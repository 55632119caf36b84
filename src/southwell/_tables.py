"""Coefficients and certificates as text, HTML and DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ._typing import Given

if TYPE_CHECKING:
    from .problem import Problem


def frame(data: Given, **options: Any) -> Any:
    """A pandas DataFrame; pandas is imported only here."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ImportError("A DataFrame needs pandas. Install it with: python -m pip install pandas") from error
    return DataFrame(data, **options)


def feature_names(names: Sequence[str] | None, number: int) -> list[str]:
    return [f"feature {j}" for j in range(number)] if names is None else [str(name) for name in names]


def column_names(problem: Problem, number: int) -> list[str]:
    """What the columns of a table of coefficients are called: by their classes, or as targets by number."""
    if problem.classes is not None and len(problem.classes) == number > 1 and problem.loss.targets == "classes":
        return [str(label) for label in problem.classes.tolist()]
    return ["coefficient"] if number == 1 else [f"target {k}" for k in range(number)]


def coefficient_frame(names: list[str], columns: list[str], table: np.ndarray, intercepts: np.ndarray | None) -> Any:
    """A row for each feature and, if there is one, a last row for the intercept."""
    if intercepts is not None:
        table, names = np.vstack([table, intercepts]), [*names, "intercept"]
    return frame(table, index=names, columns=columns)


def largest(names: list[str], columns: list[str], table: np.ndarray, intercepts: np.ndarray | None, top: int) -> str:
    """The largest coefficients by name, a line for each feature, and how many are left out."""
    sizes = np.abs(table).max(axis=1)
    order = np.argsort(-sizes, kind="stable")
    used = order[sizes[order] > 0]
    rows = [(names[j], table[j]) for j in used[:top]]
    if intercepts is not None:
        rows.append(("(intercept)", intercepts))
    width = max((len(name) for name, _ in rows), default=0)
    cells = [[f"{value:.6g}" for value in values] for _, values in rows]
    wide = [max([len(title), *(len(row[k]) for row in cells)]) for k, title in enumerate(columns)]

    def line(name: str, values: Iterable[str]) -> str:
        return f"  {name:<{width}}  " + "  ".join(f"{v:>{w}}" for v, w in zip(values, wide, strict=True))

    lines = [line(name, row) for (name, _), row in zip(rows, cells, strict=True)]
    if len(columns) > 1:
        lines.insert(0, line("", columns))
    if used.size > top:
        lines.append(f"  {used.size - top} smaller ones are not shown")
    lines.append(f"  {len(names) - used.size} of {len(names)} features are zero")
    return "\n".join(lines)


def html(title: str, rows: Mapping[str, str]) -> str:
    """A small table with a title, as notebooks show it."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table><caption><b>{escape(title)}</b></caption><tbody>{cells}</tbody></table>"


def text(title: str, rows: Mapping[str, str]) -> str:
    """The same as plain text."""
    return "\n".join([title, *(f"  {name:<10} {value}" for name, value in rows.items())])
