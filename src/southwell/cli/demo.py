"""``southwell demo``: sparse models of real data, each with its proof."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import AnyMatrix
from ..result import Progress, Result
from ..solve import solve

HEADER = ("model", "method", "seconds", "gap", "features", "accuracy")
BREAST_CANCER = {
    "L1 logistic": {"loss": "logistic", "l1": 0.02},
    "L1+L2 logistic": {"loss": "logistic", "l1": 0.005, "l2": 0.001},
    "L2 hinge SVM": {"loss": "hinge", "l2": 0.01},
}
DIGITS = {
    "L1 logistic": {"loss": "logistic", "l1": 0.005},
    "L1+L2 logistic": {"loss": "logistic", "l1": 0.01, "l2": 0.001},
    "L1+L2 hinge SVM": {"loss": "hinge", "l1": 0.01, "l2": 0.01},
}
CLOSING = """\
Each gap is P(x) - D(y): the objective at the answer less a lower bound that any
dual point y proves. The optimum lies between the two, so no other model of its
kind is better by more than the gap, here in units of P(0), the objective of the
zero model. Accuracy is on the 30 % of samples held out.

Next, your own data, dense or sparse, with targets -1 and +1:

    import southwell as sw
    result = sw.solve(A, b, loss="logistic", l1=0.01, intercept=True)
    print(result)  # and result.x, result.gap, result.history, result.plot()
"""


def demo() -> int:
    """Fit, watch, and print what was proven."""
    groups = [(title, [_row(title, name, options, *data) for name, options in models.items()])
              for title, models, data in _tasks()]  # fmt: skip
    cells = [HEADER, *(row for _, rows in groups for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(_line(HEADER, widths))
    for title, rows in groups:
        print(f"\n{title}")
        for row in rows:
            print(_line(row, widths))
    print(f"\n{CLOSING}", end="")
    return 0


def _tasks() -> Iterator[tuple[str, dict[str, Any], tuple[Any, ...]]]:
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.preprocessing import PolynomialFeatures

    A, labels = load_breast_cancer(return_X_y=True)
    yield "Breast cancer: benign or malignant?", BREAST_CANCER, _split(A, labels == 1)
    A, labels = load_digits(return_X_y=True)
    pairs = PolynomialFeatures(2, include_bias=False).fit_transform(A)
    yield "Digits: even or odd, from 64 pixels and all their products?", DIGITS, _split(pairs, labels % 2 == 0)


def _split(A: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, ...]:
    """Training data, test data, training targets, test targets; columns standardised by the training data."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    b = np.where(positive, 1.0, -1.0)
    train, test, b_train, b_test = train_test_split(A, b, test_size=0.3, random_state=0, stratify=b)
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test), b_train, b_test


def _row(title: str, name: str, options: dict[str, Any], train: AnyMatrix, test: AnyMatrix, b_train: np.ndarray,
         b_test: np.ndarray) -> tuple[str, ...]:  # fmt: skip
    with _Ticker(f"{title.split(':')[0]}, {name}") as ticker:
        result: Result = solve(train, b_train, intercept=True, max_epochs=20_000, callback=ticker, **options)
    right = np.mean(np.sign(test @ result.x + result.intercept) == b_test)
    method = "+".join(name for name, effort in result.movers.items() if effort.rounds)
    features = f"{result.nonzeros:,} of {result.x.size:,}"
    return name, method, f"{result.seconds:.3f}", f"{result.relative_gap:.1e}", features, f"{right:.1%}"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = [c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True))]
    return "  " + "  ".join(padded)


class _Ticker:
    """A callback that keeps one line of a terminal up to date, and clears it at the end; elsewhere, silence."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.live = sys.stdout.isatty()

    def __call__(self, at: Progress) -> None:
        if self.live:
            gap = at.gap / at.scale
            self._show(f"{self.what}: epoch {at.epoch}, gap {gap:.1e}, {at.nonzeros} features, {at.seconds:.1f} s")

    def __enter__(self) -> _Ticker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self._show("")
            print(end="\r", flush=True)

    def _show(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        print("\r" + text[:width].ljust(width), end="", flush=True)
