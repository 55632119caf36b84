"""Support vector machines."""

from __future__ import annotations

from .. import losses
from .._names import positive
from ._classifier import LinearClassifier
from ._parameters import l1_share, one_of
from .conventions import Strengths, from_C

# scikit-learn's losses in terms of ours: its squared hinge has no factor 1/2.
LOSSES = {
    "hinge": (losses.Hinge, 1.0),
    "squared_hinge": (losses.SquaredHinge, 2.0),
    "smooth_hinge": (losses.SmoothHinge, 1.0),
}


class LinearSVC(LinearClassifier):
    """Linear support vector machines with an L1, L2 or elastic penalty, with a certificate.

    Minimises ``penalty(w) + C sum_i loss(y_i (x_i'w + c))``, with a penalty of ``||w||_1``, ``||w||^2 / 2`` or a
    mixture of both. Several classes are fitted one against the rest. The intercept is never penalised, unlike
    liblinear's.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}
        Any penalty can be combined with any loss.
    loss : {"squared_hinge", "hinge", "smooth_hinge"}
        ``max(0, 1 - m)^2``, ``max(0, 1 - m)``, or the latter with a rounded corner.
    C : float
    l1_ratio : float, optional
        The share of L1; if given, it takes precedence over the default "l2" of ``penalty``.
    class_weight : dict, "balanced" or None
    sparse_coef : bool
        Store ``coef_`` as a sparse matrix, and keep no dual points: for thousands of classes.
    fit_intercept, max_iter, tol, warm_start, random_state, method, n_jobs, verbose
        As for ``ElasticNet``.
    dual, multi_class, intercept_scaling
        Ignored; for compatibility with scikit-learn.

    Attributes
    ----------
    classes_, coef_, intercept_, gap_, dual_gap_, status_, n_iter_, dual_coef_, support_, sparse_coef_, result_
        As for ``LogisticRegression``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from southwell import LinearSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LinearSVC(C=0.01).fit(X / 16, y)
    >>> model.score(X / 16, y) > 0.9, model.gap_ <= 1e-6
    (True, True)
    """

    def __init__(self, penalty="l2", loss="squared_hinge", *, dual="auto", tol=1e-6, C=1.0, l1_ratio=None,
                 multi_class="ovr", fit_intercept=True, intercept_scaling=1, class_weight=None, verbose=0,
                 random_state=None, max_iter=10_000, warm_start=False, n_jobs=None, method="auto",
                 sparse_coef=False):  # fmt: skip
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.l1_ratio = l1_ratio
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.method = method
        self.sparse_coef = sparse_coef

    def _loss(self) -> losses.Loss:
        one_of("loss", self.loss, tuple(LOSSES))
        return LOSSES[self.loss][0]()

    def _strengths(self, total: float, target: int = 0) -> Strengths:
        one_of("penalty", self.penalty, ("l2", "l1", "elasticnet"))
        one_of("multi_class", self.multi_class, ("ovr",))
        one_of("loss", self.loss, tuple(LOSSES))
        ratio = l1_share(self.penalty, self.l1_ratio)
        return from_C(positive("C", self.C), total, ratio, LOSSES[self.loss][1])
