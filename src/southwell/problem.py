"""What is asked: data, loss and penalty."""

from __future__ import annotations

import numpy as np

from . import _core, _data, losses
from ._names import finite, flag
from .losses import Loss
from .penalties import ElasticNet


class Problem:
    """min over x of  sum_i s_i phi(a_i'x + c; b_i) + g(x),  with weights s that sum to one.

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_features), or ``Centred``
        NumPy in C or Fortran order, SciPy CSR or CSC; float32 or float64; int32 or int64 indices; read-only and
        memory-mapped arrays too. It is not copied: do not change it while the problem is in use. A method
        that needs the other layout builds it once, and the problem keeps it.
    b : array of shape (n_samples,)
        Targets: -1 and +1 for logistic and hinge losses, >= 0 for Poisson.
    loss : str or Loss
    penalty : ElasticNet, optional
    intercept : bool
        Adds c, which is never penalised.
    sample_weight : array of shape (n_samples,), optional
        Only ratios matter: a weight of 2 equals the row twice.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> problem = sw.Problem(np.eye(3), [1.0, 2.0, 3.0], penalty=sw.penalties.ElasticNet(l1=0.1))
    >>> sw.solve(problem).x.round(2)
    array([0.7, 1.7, 2.7])
    """

    def __init__(self, A, b, loss: str | Loss = "squared", penalty: ElasticNet | None = None, *,
                 intercept: bool = False, sample_weight=None):  # fmt: skip
        self.loss = losses.get(loss)
        self.penalty = ElasticNet() if penalty is None else penalty
        if not isinstance(self.penalty, ElasticNet):
            raise TypeError(f"penalty must be a southwell penalty such as ElasticNet; got {type(penalty).__name__}.")
        centre = A if isinstance(A, _data.Centred) else None
        self.data = _data.Matrix(A if centre is None else centre.A)
        self.n_samples, self.n_features = self.data.shape
        self.intercept = flag("intercept", intercept)
        self.weights = _data.weights(sample_weight, self.n_samples)
        self.targets = _data.targets(b, self.loss.targets, self.n_samples, self.weights, self.loss.name)
        self.core_penalty = self.penalty.core(self.n_features)
        # a_i - means, with an intercept: (a_i)'x + (c - means'x), the same problem with another name for its intercept.
        self.means = None if centre is None else self._means(centre)
        self.shifts = -self.means if centre is not None and not self.intercept else None
        self._layouts: dict[bool, _core.Layout] = {}

    def _means(self, centre: _data.Centred) -> np.ndarray:
        if centre.means is not None:
            return _data.vector(centre.means, "means", self.n_features)
        return self.data.ready_layout(None, False).adjoint(self.weights)

    def layout(self, by_columns: bool) -> _core.Layout:
        """The compiled design along one axis, kept for the next solve."""
        if by_columns not in self._layouts:
            self._layouts[by_columns] = self.data.layout(by_columns, self.shifts, self.intercept)
        return self._layouts[by_columns]

    def ready_layout(self) -> _core.Layout:
        """The compiled design along whichever axis needs no copy."""
        return self.layout(self.data.has_columns() and not self.data.has_rows())

    def core(self, by_columns: bool | None = None) -> _core.Problem:
        """The compiled problem, its products taken along the given axis."""
        layout = self.ready_layout() if by_columns is None else self.layout(by_columns)
        return _core.Problem(layout, self.loss.core, self.targets, self.weights, self.core_penalty)

    def certify(self, x, y=None, intercept: float = 0.0) -> tuple[float, float, float]:
        """Primal value, dual value and gap of any ``x``, and of any ``y`` made feasible (default: phi'(A x))."""
        inner = self.to_inner(_data.vector(x, "x", self.n_features), intercept)
        dual = None if y is None else _data.vector(y, "y", self.n_samples)
        return _core.certify(self.core(), inner, dual)

    def to_inner(self, x: np.ndarray, intercept: float) -> np.ndarray:
        """Coefficients as the core holds them: the intercept last, on uncentred columns."""
        intercept = finite("intercept", intercept)
        if not self.intercept:
            return x
        shift = 0.0 if self.means is None else float(self.means @ x)
        return np.append(x, intercept - shift)

    def from_inner(self, inner: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients and intercept as users hold them."""
        if not self.intercept:
            return inner, 0.0
        x = inner[:-1].copy()
        return x, float(inner[-1] + (0.0 if self.means is None else self.means @ x))

    def __getstate__(self):  # compiled parts stay behind and are made again
        return {k: v for k, v in self.__dict__.items() if k != "core_penalty"} | {"_layouts": {}}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.core_penalty = self.penalty.core(self.n_features)

    def __repr__(self) -> str:
        kind = "sparse" if self.data.sparse else "dense"
        return (
            f"Problem({self.n_samples} x {self.n_features} {kind}, {self.data.stored} entries, "
            f"loss={self.loss!r}, penalty={self.penalty!r}, intercept={self.intercept})"
        )
