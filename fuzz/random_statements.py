"""Random difficult problems: ties, repeats, empty and constant columns, extreme scales and penalties."""

from __future__ import annotations

import numpy as np

import southwell as sw

from .statement import LAYOUTS, NORMS, Penalty, Statement

SCALAR, OF_CLASSES = list(sw.losses.ALL.values()), list(sw.losses.OF_CLASSES.values())


def draw(rng) -> Statement:
    """One problem."""
    blocks = rng.random() < 0.25
    n, d = _shape(rng)
    words: list[str] = []
    factors = _factors(rng, n, d, not blocks and rng.random() < 0.15, words)
    loss = _loss(rng, blocks)
    weights = _sample_weights(rng, n, words)
    width = int(rng.integers(2, 5)) if blocks and rng.random() < 0.7 else 1
    b = _targets(rng, factors, loss, n, width, weights, words)
    offset = _offset(rng, b, loss, weights, words)
    several = b.ndim == 2 or isinstance(loss, sw.losses.ClassLoss)
    penalty = _penalty(rng, factors, b, d, blocks, several, words)
    if blocks and not several and penalty.groups is None:
        blocks = False
    layout = str(rng.choice(list(LAYOUTS)))
    centred = len(factors) == 1 and rng.random() < 0.12
    given = centred and rng.random() < 0.5
    return Statement(
        factors, b, loss, penalty, bool(rng.random() < 0.4), weights, centred,
        factors[0].astype(np.float64).mean(axis=0) if given else None, layout, bool(rng.random() < 0.2), tuple(words),
        offset,
    )  # fmt: skip


def _shape(rng) -> tuple[int, int]:
    if rng.random() < 0.01:  # enough entries for threads to be used
        return int(rng.integers(300, 600)), int(rng.integers(180, 260))
    low, high = [((1, 1), (7, 7)), ((2, 20), (9, 61)), ((30, 1), (121, 6)), ((5, 5), (26, 26))][int(rng.integers(4))]
    n, d = (int(rng.integers(a, b)) for a, b in zip(low, high, strict=True))
    return max(n, 2), d


def _factors(rng, n: int, d: int, two: bool, words: list[str]) -> tuple[np.ndarray, ...]:
    dtype = np.float32 if rng.random() < 0.3 else np.float64
    if two:
        k = int(rng.integers(1, 5))
        factors = [_matrix(rng, n, k, words), _matrix(rng, k, d, words)]
    else:
        factors = [_matrix(rng, n, d, words)]
    if rng.random() < 0.2:
        reach = 16 if dtype == np.float32 else 150 // len(factors)
        power = float(rng.uniform(-reach, reach))
        words.append(f"A times 1e{power:.0f}")
        factors = [factor * 10.0**power for factor in factors]
    return tuple(factor.astype(dtype) for factor in factors)


def _matrix(rng, n: int, d: int, words: list[str]) -> np.ndarray:
    A = rng.normal(size=(n, d))
    kind = str(rng.choice(["normal", "holes", "ternary", "rank one", "close columns", "far means", "column scales"]))
    if kind == "holes":
        A *= rng.random((n, d)) < rng.choice([0.1, 0.3, 0.6])
    elif kind == "ternary":
        A = rng.integers(-1, 2, size=(n, d)).astype(float)
    elif kind == "rank one":
        A = np.outer(A[:, 0], rng.normal(size=d))
    elif kind == "close columns":
        A = A[:, [0]] + 10.0 ** -float(rng.integers(1, 16)) * A
    elif kind == "far means":
        A += 10.0 ** float(rng.integers(1, 7))
    elif kind == "column scales":
        A *= 10.0 ** rng.uniform(-6, 6, size=d)
    words.append(kind)
    for what, chance in (("same columns", 0.15), ("same rows", 0.15), ("empty column", 0.15), ("empty row", 0.15),
                         ("constant column", 0.15)):  # fmt: skip
        if rng.random() >= chance:
            continue
        words.append(what)
        i, j = int(rng.integers(n)), int(rng.integers(d))
        if what == "same columns":
            A[:, j] = A[:, int(rng.integers(d))]
        elif what == "same rows":
            A[rng.random(n) < 0.5] = A[i]
        elif what == "empty column":
            A[:, j] = 0.0
        elif what == "empty row":
            A[i] = 0.0
        else:
            A[:, j] = rng.choice([1.0, 3.7, -1e4])
    return A


def _loss(rng, blocks: bool):
    kind = OF_CLASSES if blocks and rng.random() < 0.5 else SCALAR
    chosen = kind[int(rng.integers(len(kind)))]
    parameters = {
        "smooth_hinge": [1.0, 0.01, 5.0], "huber": [1.0, 0.01, 1e3], "quantile": [0.5, 0.1, 0.99],
        "epsilon_insensitive": [0.1, 0.0, 1.0], "squared_epsilon_insensitive": [0.1, 0.0, 1.0],
        "multiclass_hinge": [1.0, 0.01], "tweedie": [1.5, 1.01, 1.9, 1.99], "negative_binomial": [1.0, 0.01, 1e3],
    }.get(chosen.name)  # fmt: skip
    return chosen() if parameters is None else chosen(float(rng.choice(parameters)))


def _sample_weights(rng, n: int, words: list[str]):
    kind = str(rng.choice(["none", "random", "zeros", "extreme"], p=[0.55, 0.15, 0.2, 0.1]))
    if kind == "none":
        return None
    words.append(f"{kind} sample weights")
    weights = rng.random(n) + 0.01
    if kind == "zeros":
        weights *= rng.random(n) < 0.6
    elif kind == "extreme":
        weights = 10.0 ** rng.uniform(-12, 12, size=n)
    if np.count_nonzero(weights) < 2:
        weights[:2] = 1.0, 2.0
    return weights


def _targets(rng, factors, loss, n: int, width: int, weights, words: list[str]) -> np.ndarray:
    used = np.flatnonzero(np.ones(n) if weights is None else weights)
    if isinstance(loss, sw.losses.ClassLoss):
        classes = int(rng.integers(2, min(used.size, 5) + 1))
        labels = rng.integers(classes, size=n)
        labels[used[:classes]] = np.arange(classes)  # each class has a sample of positive weight
        return labels
    columns = [_target(rng, factors, loss, n, used, words) for _ in range(width)]
    return columns[0] if width == 1 else np.stack(columns, axis=1)


def _target(rng, factors, loss, n: int, used: np.ndarray, words: list[str]) -> np.ndarray:
    m = np.linalg.multi_dot([*factors, rng.normal(size=factors[-1].shape[1])]) if len(factors) > 1 else (
        factors[0].astype(float) @ rng.normal(size=factors[0].shape[1]))  # fmt: skip
    spread = float(np.abs(m).max()) or 1.0
    m = m / spread + rng.choice([0.0, 0.3, 3.0]) * rng.normal(size=n)
    if loss.targets == "signs":
        b = np.where(m > 0, 1.0, -1.0) if rng.random() < 0.7 else rng.choice([-1.0, 1.0], size=n)
        b[used[:2]] = 1.0, -1.0
        return b
    if loss.targets == "positive":
        return rng.gamma(2.0, float(rng.choice([0.3, 3.0, 1e4])), size=n) + 1e-9
    if loss.targets == "counts":
        return rng.poisson(float(rng.choice([0.3, 3.0, 1e4])), size=n) * float(rng.random() < 0.95)
    kind = str(rng.choice(["model", "ties", "constant", "zero", "scaled", "far"], p=[0.6, 0.15, 0.05, 0.03, 0.1, 0.07]))
    words.append(f"targets: {kind}")
    if kind == "scaled":
        return m * 10.0 ** float(rng.uniform(-100, 100))
    return {"model": m, "ties": np.round(m), "constant": np.full(n, 2.5), "zero": np.zeros(n), "far": m + 1e6}[kind]


def _offset(rng, b: np.ndarray, loss, weights: np.ndarray | None, words: list[str]) -> np.ndarray | None:
    """A number for each row, or one for each of its targets or classes."""
    if rng.random() < 0.7:
        return None
    kind = str(rng.choice(["normal", "few", "constant", "far", "targets"], p=[0.5, 0.15, 0.1, 0.15, 0.1]))
    words.append(f"offset: {kind}")
    shape = b.shape if rng.random() < 0.5 else b.shape[:1]
    if isinstance(loss, sw.losses.ClassLoss):
        shape = b.size, np.unique(b if weights is None else b[weights > 0]).size
    values = rng.normal(size=shape)
    if kind == "few":
        return np.where(rng.random(shape) < 0.8, 0.0, 5 * values)
    if kind == "constant":
        return np.full(shape, 2.5)
    if kind == "far":
        return values * (1e6 if loss.targets in ("real", "signs") else 15.0)
    if kind == "targets" and loss.targets == "real":  # nothing is left to fit, up to rounding
        return b * (1 + 1e-15 * rng.normal(size=b.shape))
    return values


def _penalty(rng, factors, b, d: int, blocks: bool, several: bool, words: list[str]) -> Penalty:
    A = factors[0].astype(float) if len(factors) == 1 else factors[0].astype(float) @ factors[1].astype(float)
    with np.errstate(all="ignore"):
        target = b if b.dtype.kind == "f" and b.ndim == 1 else np.ones(A.shape[0])
        slope = float(np.abs(A.T @ target).max()) / A.shape[0]
        square = float((A**2).mean())
    slope, square = (v if np.isfinite(v) and v > 0 else 1.0 for v in (slope, square))
    l1 = slope * 10.0 ** float(rng.uniform(-6, 0.5)) if rng.random() < 0.65 else 0.0
    l2 = square * 10.0 ** float(rng.uniform(-8, 1)) if rng.random() < 0.6 else 0.0
    if rng.random() < 0.06:
        words.append("odd strengths")
        l1, l2 = (float(rng.choice([0.0, 1e-300, 1e-30, 1e-12, 1e10, 1e30])) for _ in range(2))
    if blocks and rng.random() < 0.5:
        groups = rng.integers(max(1, d // 2) + 1, size=d)
        number = np.unique(groups).size
        weights = rng.random(number) * 2 + 0.1 if rng.random() < 0.4 else None
        sign = np.zeros(d) if rng.random() < 0.25 else None
        if rng.random() < 0.3:
            weights = np.ones(number) if weights is None else weights
            weights[rng.random(number) < 0.5] = 0.0
            l2 *= float(rng.random() < 0.3)
            words.append("groups of weight zero")
        strength = 0.0 if rng.random() < 0.05 else l1 or slope * 0.1
        return Penalty(l1 * float(rng.random() < 0.4), l2, weights, sign, strength=strength, groups=groups,
                       norm=str(rng.choice(list(NORMS))))  # fmt: skip
    weights = lower = upper = None
    if rng.random() < 0.2:
        weights = rng.random(d) * 3
        if rng.random() < 0.6:
            weights[rng.random(d) < 0.4] = 0.0
        weights = weights if several else np.round(weights, 2)
    if rng.random() < 0.2:
        lower, upper = _bounds(rng, d, words, around_zero=several)
    ridges = rng.integers(0, 3, size=d) * rng.random(d) if rng.random() < 0.15 else None
    return Penalty(l1, l2, weights, lower, upper, ridge_weights=ridges)


def _bounds(rng, d: int, words: list[str], around_zero: bool):
    kind = str(
        rng.choice(["positive", "box", "one side", *(["negative"] if around_zero else ["away from zero", "fixed"])])
    )
    words.append(f"bounds: {kind}")
    if kind == "positive":
        return np.zeros(d), None
    if kind == "one side":
        return None, np.where(rng.random(d) < 0.5, np.inf, rng.random(d))
    if kind == "negative":
        return None, np.zeros(d)
    if around_zero:  # some of them at zero
        return -rng.random(d) * rng.integers(0, 2, d), rng.random(d) * rng.integers(0, 2, d)
    lower = -rng.random(d) if kind != "away from zero" else rng.random(d) + 0.01
    upper = lower + (0.0 if kind == "fixed" else rng.random(d) * 2)
    return lower, upper
