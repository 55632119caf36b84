"""Whether bounds of expected distances hold on small problems: by trying all draws, or by averaging over runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from .. import reference
from ..methods import CoordinateDescent, Start
from ..penalties import ElasticNet
from ..problem import Problem
from .runs import quietly

Points = Iterable[tuple[np.ndarray, np.ndarray]]
LOSSES = ("squared", "smooth_hinge")


@dataclass(frozen=True)
class Small:
    """A problem with uneven rows, and its saddle point."""

    problem: Problem
    A: np.ndarray

    @classmethod
    def of(cls, loss: str, l2: float, n: int, d: int, seed: int = 0) -> Small:
        """Random data; the penalty has an l1 of 0.02 too."""
        rng = np.random.default_rng([seed, n, d])
        A = 0.5 * rng.normal(size=(n, d)) * rng.uniform(0.4, 1.5, (n, 1))
        margins = A @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
        b = margins if loss == "squared" else np.where(margins >= 0, 1.0, -1.0)
        return cls(Problem(A, b, loss, ElasticNet(0.02, l2)), A)

    @property
    def n(self) -> int:
        return self.problem.n_samples

    @property
    def d(self) -> int:
        return self.problem.n_features

    @property
    def l2(self) -> float:
        return float(self.problem.penalty.ridge)

    @property
    def gamma(self) -> float:
        return float(1 / self.problem.loss.smoothness)

    @cached_property
    def norms(self) -> np.ndarray:
        return np.asarray(np.linalg.norm(self.A, axis=1))

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any, Any]:
        """A, b, s, loss and penalty, as the references take them."""
        net = reference.ElasticNet.of(self.problem.penalty, self.d)
        return self.A, self.problem.targets, self.problem.weights, self.problem.loss, net

    @cached_property
    def saddle_point(self) -> tuple[np.ndarray, np.ndarray]:
        """x* and y* = phi'(A x*)."""
        x = quietly(self.problem, method=CoordinateDescent(side="dual"), tol=1e-15, max_epochs=10**5).x
        return x, self.problem.loss.derivative(self.A @ x, self.problem.targets)

    @property
    def zero(self) -> Points:
        """Where all runs start."""
        return [(np.zeros(self.d), np.zeros(self.n))]

    def distance(self, points: Points, far_x: float, far_y: float | np.ndarray, shares: Any = None) -> float:
        """The mean of ``far_x ||x - x*||^2 + sum_i far_y_i (y_i - y_i*)^2``, weighted by ``shares`` if given."""
        x, y = self.saddle_point
        each = [far_x * np.sum((a - x) ** 2) + np.sum(far_y * (b - y) ** 2) for a, b in points]
        return float(np.average(each, weights=shares))

    def runs(self, method: Any, moves: int, seeds: Sequence[int]) -> Points:
        """Where the compiled method stands after so many moves, for each seed."""
        for seed in seeds:
            start = Start(np.zeros(self.d), np.zeros(self.n))
            algorithm = method.prepare(self.problem, start, seed).algorithm
            algorithm.settle()
            algorithm.lead(moves)
            yield algorithm.point()


def all_draws(choices: Sequence[Any], moves: int, run: Callable[[tuple[Any, ...]], Any]) -> list[Any]:
    """``run`` on every sequence of so many choices."""
    return [run(drawn) for drawn in product(choices, repeat=moves)]


def all_shares(probabilities: np.ndarray, moves: int) -> np.ndarray:
    """The probability of each of these sequences."""
    return np.array([np.prod(drawn) for drawn in product(probabilities, repeat=moves)])
