"""Sparse matrices damaged in every way we know, and every public entry that takes one.

Run as a script it gives damaged matrices to each entry, from the first case asked for on, and says what came of it: a
line before each call and one after, so that a crash names its case. Of all cases it takes every k-th, others for each
entry.
"""

import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

ROWS, COLUMNS = 12, 6
FAR = 2**31 - 1


class NoArray:
    """Has neither a length nor a dtype."""


def _with(name, value):
    return lambda matrix: setattr(matrix, name, value(getattr(matrix, name)) if callable(value) else value)


def _entry(name, place, value):
    def damage(matrix):
        getattr(matrix, name)[place] = value

    return damage


def _pairs(change):
    def damage(matrix):
        change(matrix._dict if hasattr(matrix, "_dict") else matrix)

    return damage


ARRAYS = {  # what may be put in the place of an array
    "list": lambda a: a.tolist(),
    "none": None,
    "text": "numbers",
    "no array": NoArray(),
    "objects": lambda a: a.astype(object),
    "strings": lambda a: a.astype("U8"),
    "one more dimension": lambda a: a[..., None],
    "no dimension": lambda a: np.array(a.flat[0]),
}
PLACES = ARRAYS | {
    "floats": lambda a: a.astype(float),
    "far": lambda a: np.full_like(a, FAR),
    "negative": lambda a: np.full_like(a, -7),
    "unsigned": lambda a: np.full(a.shape, 2**64 - 1, np.uint64),
    "truth values": lambda a: a.astype(bool),
}
SHAPES = {"none": None, "negative": (-1, COLUMNS), "text": "ab", "floats": (12.5, 6.0), "three": (ROWS, COLUMNS, 1)}


def _all(names, kinds):
    return {f"{name}: {kind}": _with(name, value) for name in names for kind, value in kinds.items()}


COMPRESSED = _all(["data"], ARRAYS) | _all(["indices", "indptr"], PLACES) | _all(["_shape"], SHAPES) | {
    "one index far": _entry("indices", 0, FAR),
    "last index far": _entry("indices", -1, FAR),
    "one index negative": _entry("indices", 0, -1),
    "indptr ends too late": _entry("indptr", -1, 10**6),
    "indptr begins late": _entry("indptr", 0, 3),
    "indptr falls": _entry("indptr", 2, 10**5),
    "indptr negative": _entry("indptr", 1, -5),
    "indptr short": _with("indptr", lambda a: a[:-1]),
    "indptr long": _with("indptr", lambda a: np.append(a, a[-1])),
    "indptr empty": _with("indptr", lambda a: a[:0]),
    "indices short": _with("indices", lambda a: a[:1]),
    "data short": _with("data", lambda a: a[:1]),
    "data empty": _with("data", lambda a: a[:0]),
    "shape of another": _with("_shape", (10**6, 10**6)),
    "narrow shape": _with("_shape", (ROWS, 1)),
    "flat shape": _with("_shape", (1, COLUMNS)),
}  # fmt: skip
DAMAGES = {
    "csr": COMPRESSED,
    "csc": {name: damage for name, damage in COMPRESSED.items() if name not in ("narrow shape", "flat shape")}
    | {"flat shape": _with("_shape", (1, COLUMNS)), "narrow shape": _with("_shape", (ROWS, 1))},
    "bsr": _all(["data"], ARRAYS) | _all(["indices", "indptr"], PLACES) | {
        "one index far": _entry("indices", 0, FAR),
        "one index negative": _entry("indices", 0, -1),
        "indptr ends too late": _entry("indptr", -1, 10**6),
        "indptr falls": _entry("indptr", 1, 10**5),
        "indptr short": _with("indptr", lambda a: a[:-1]),
        "data short": _with("data", lambda a: a[:1]),
        "blocks flat": _with("data", lambda a: a.reshape(len(a), -1)),
        "blocks that do not divide": _with("data", lambda a: np.ones((len(a), 5, 5))),
        "blocks larger": _with("data", lambda a: np.ones((len(a), 6, 3))),
        "blocks empty": _with("data", lambda a: np.ones((len(a), 0, 3))),
        "narrow shape": _with("_shape", (ROWS, 3)),
    },
    "coo": _all(["data"], ARRAYS) | {
        f"{axis}: {kind}": _with("coords", lambda c, axis=axis, value=value: tuple(
            (value(part) if callable(value) else value) if k == axis else part for k, part in enumerate(c)))
        for axis in (0, 1) for kind, value in PLACES.items()
    } | {
        "row far": _entry("row", 0, FAR),
        "row negative": _entry("row", 0, -1),
        "column far": _entry("col", 0, FAR),
        "column negative": _entry("col", 0, -1),
        "no coordinates": _with("coords", ()),
        "one coordinate": _with("coords", lambda c: c[:1]),
        "coordinates none": _with("coords", None),
        "data short": _with("data", lambda a: a[:1]),
        "narrow shape": _with("_shape", (ROWS, 1)),
    },
    "dia": _all(["data"], ARRAYS) | {
        f"offsets: {kind}": _with("offsets", value) for kind, value in PLACES.items()
        if kind not in ("far", "negative", "unsigned")
    } | {
        "offsets unsigned": _with("offsets", lambda a: np.full(a.shape, 2**64 - 1, np.uint64)),
        "offsets short": _with("offsets", lambda a: a[:1]),
        "offsets repeated": _with("offsets", lambda a: np.zeros_like(a)),
        "data short": _with("data", lambda a: a[:1]),
        "data flat": _with("data", lambda a: a.ravel()),
    },
    "lil": {
        "rows and data differ": lambda m: m.rows[0].extend([0, 1, 2, 3] * 1000),
        "data longer": lambda m: m.data[0].extend([1.0] * 4000),
        "column far": lambda m: m.rows[0].__setitem__(0, FAR),
        "column beyond int64": lambda m: m.rows[0].__setitem__(0, 2**70),
        "column negative": lambda m: m.rows[0].__setitem__(0, -9),
        "column a float": lambda m: m.rows[0].__setitem__(0, 1.5),
        "column a string": lambda m: m.rows[0].__setitem__(0, "a"),
        "column none": lambda m: m.rows[0].__setitem__(0, None),
        "value a string": lambda m: m.data[0].__setitem__(0, "a"),
        "value a list": lambda m: m.data[0].__setitem__(0, [1.0, 2.0]),
        "row none": _entry("rows", 0, None),
        "row a string": _entry("rows", 0, "abc"),
        "rows short": _with("rows", lambda a: a[:3]),
        "rows a list": _with("rows", lambda a: a.tolist()),
        "rows none": _with("rows", None),
        "data none": _with("data", None),
        "data short": _with("data", lambda a: a[:3]),
        "narrow shape": _with("_shape", (ROWS, 1)),
        "tall shape": _with("_shape", (10**6, COLUMNS)),
    },
    "dok": {
        "key far": _pairs(lambda d: d.update({(FAR, 0): 1.0})),
        "key negative": _pairs(lambda d: d.update({(0, -1): 1.0})),
        "key beyond int64": _pairs(lambda d: d.update({(2**70, 0): 1.0})),
        "key of floats": _pairs(lambda d: d.update({(0.5, 1): 1.0})),
        "key a string": _pairs(lambda d: d.update({"ab": 1.0})),
        "key a number": _pairs(lambda d: d.update({3: 1.0})),
        "key of three": _pairs(lambda d: d.update({(0, 0, 0): 1.0})),
        "value a string": _pairs(lambda d: d.update({(0, 0): "a"})),
        "value a list": _pairs(lambda d: d.update({(0, 0): [1.0, 2.0]})),
        "no dictionary": _with("_dict", None),
        "narrow shape": _with("_shape", (ROWS, 1)),
    },
}  # fmt: skip


def damaged(kind: str, name: str, A: np.ndarray, as_matrix: bool):
    """A damaged copy of ``A`` in this format."""
    matrix = getattr(sp, f"{kind}_{'matrix' if as_matrix else 'array'}")(A)
    if kind == "bsr":
        matrix = type(matrix)(A, blocksize=(2, 3))
    DAMAGES[kind][name](matrix)
    return matrix


def entries() -> dict:
    """Calls that take a sparse matrix, by name; those that begin with ! take a square one."""
    import southwell as sw
    from southwell import features, graph, metric
    from southwell.model_files.values import Writer

    rng = np.random.default_rng(0)
    A = rng.normal(size=(ROWS, COLUMNS))
    b, labels, three = A[:, 0] + 0.1, np.arange(ROWS) % 2, np.arange(ROWS) % 3
    fast = {"max_epochs": 5, "l1": 0.1, "l2": 0.1}
    lasso, logistic = sw.Lasso(alpha=0.1).fit(A, b), sw.LogisticRegression().fit(A, three)
    poisson, group = sw.PoissonRegressor().fit(A, labels), sw.GroupLasso(alpha=0.1).fit(A, b)
    svc, fourier, binning = sw.LinearSVC().fit(A, labels), features.RandomFourier(5), features.RandomBinning(5)
    fourier.fit(A), binning.fit(A)
    knn = graph.LabelPropagation(n_neighbors=2).fit(A, three)
    W = (A @ A.T) ** 2
    weighted = graph.LabelPropagation("precomputed").fit(W, three)
    lmnn = metric.LargeMarginNearestNeighbor(n_neighbors=1).fit(A, labels)
    result, path = sw.solve(A, b, **fast), sw.path(sw.Problem(A, b), n_points=3)
    many = sw.solve_many(A, np.stack([b, -b], axis=1), **fast)
    marks = np.where(np.arange(ROWS) < 3, np.arange(ROWS), -1)
    folder = Path(tempfile.mkdtemp())

    def sparse_coef(bad):
        model = sw.LogisticRegression().fit(A, three)
        model.coef_ = bad
        return model

    return {
        "solve": lambda bad: sw.solve(bad, b, **fast),
        "solve centred": lambda bad: sw.solve(sw.Centred(bad), b, **fast),
        "solve factor U": lambda bad: sw.solve(sw.Factorised(bad, np.eye(COLUMNS)), b, **fast),
        "solve factor V": lambda bad: sw.solve(sw.Factorised(np.ones((3, ROWS)), bad), np.ones(3), **fast),
        "solve b": lambda bad: sw.solve(A, bad, **fast),
        "solve sample_weight": lambda bad: sw.solve(A, b, sample_weight=bad, **fast),
        "solve warm start": lambda bad: sw.solve(A, b, warm_start=bad, **fast),
        "solve warm result": lambda bad: sw.solve(A, b, warm_start=replace(result, x=bad, y=None), **fast),
        "solve blocks": lambda bad: sw.solve(bad, three, loss="softmax", **fast),
        "Problem": lambda bad: sw.Problem(bad, b),
        "Problem.certify": lambda bad: sw.Problem(A, b).certify(bad),
        "BlockProblem.certify": lambda bad: sw.BlockProblem(
            A, three, "softmax", sw.penalties.ElasticNet(0.1)).certify(bad),
        "penalty weights": lambda bad: sw.solve(A, b, penalty=sw.penalties.ElasticNet(0.1, weights=bad)),
        "lambda_max": lambda bad: sw.lambda_max(bad, b),
        "solve_many A": lambda bad: sw.solve_many(bad, labels, loss="logistic", **fast),
        "solve_many Y": lambda bad: sw.solve_many(A, bad, **fast),
        "solve_many Y signs": lambda bad: sw.solve_many(A, bad, loss="logistic", **fast),
        "Results.decision_function": lambda bad: many.decision_function(bad),
        "Path.decision_function": lambda bad: path.decision_function(bad),
        "Result.nonzeros": lambda bad: replace(result, x=bad).nonzeros,
        "sketch_features": lambda bad: sw.sketch_features(bad, 3),
        "sketch_instances": lambda bad: sw.sketch_instances(bad, 3, kind="sparse"),
        "Lasso.fit": lambda bad: sw.Lasso(alpha=0.1).fit(bad, b),
        "Lasso.fit y": lambda bad: sw.Lasso(alpha=0.1).fit(A, bad),
        "Lasso.fit sample_weight": lambda bad: sw.Lasso(alpha=0.1).fit(A, b, sample_weight=bad),
        "Lasso.predict": lasso.predict,
        "Lasso.score": lambda bad: lasso.score(bad, b),
        "LassoCV.fit": lambda bad: sw.LassoCV(cv=2).fit(bad, b),
        "MultiTaskLasso.fit": lambda bad: sw.MultiTaskLasso().fit(bad, np.stack([b, b], axis=1)),
        "MultiTaskLasso.fit y": lambda bad: sw.MultiTaskLasso().fit(A, bad),
        "GroupLasso.predict": group.predict,
        "PoissonRegressor.predict": poisson.predict,
        "HuberRegressor.fit": lambda bad: sw.HuberRegressor().fit(bad, b),
        "LogisticRegression.fit": lambda bad: sw.LogisticRegression().fit(bad, three),
        "LogisticRegression.fit y": lambda bad: sw.LogisticRegression().fit(A, bad),
        "LogisticRegression.predict": logistic.predict,
        "LogisticRegression.predict_proba": logistic.predict_proba,
        "LogisticRegression.decision_function": logistic.decision_function,
        "LogisticRegressionCV.fit": lambda bad: sw.LogisticRegressionCV(cv=2).fit(bad, labels),
        "LinearSVC.predict": svc.predict,
        "LinearSVC.fit y": lambda bad: sw.LinearSVC().fit(A, bad),
        "coef_.predict": lambda bad: sparse_coef(bad).predict(A),
        "coef_.densify": lambda bad: sparse_coef(bad).densify(),
        "coef_.sparsify": lambda bad: sparse_coef(bad).sparsify(),
        "coef_.sparse_coef_": lambda bad: sparse_coef(bad).sparse_coef_,
        "coef_.save": lambda bad: sparse_coef(bad).save(folder / "model"),
        "Writer": lambda bad: Writer()(bad, "value"),
        "RandomFourier.fit": lambda bad: features.RandomFourier(5, gamma="scale").fit(bad),
        "RandomFourier.transform": fourier.transform,
        "RandomBinning.fit_transform": lambda bad: features.RandomBinning(5).fit_transform(bad),
        "RandomBinning.transform": binning.transform,
        "LabelPropagation.fit knn": lambda bad: graph.LabelPropagation(n_neighbors=2).fit(bad, marks),
        "LabelPropagation.fit y": lambda bad: graph.LabelPropagation(n_neighbors=2).fit(A, bad),
        "LabelPropagation.predict": knn.predict,
        "LabelPropagation.predict_proba": knn.predict_proba,
        "!LabelPropagation.fit": lambda bad: graph.LabelPropagation("precomputed").fit(bad, marks),
        "!LabelPropagation.predict": weighted.predict,
        "LargeMargin.fit": lambda bad: metric.LargeMarginNearestNeighbor(n_neighbors=1).fit(bad, labels),
        "LargeMargin.fit y": lambda bad: metric.LargeMarginNearestNeighbor(n_neighbors=1).fit(A, bad),
        "LargeMargin.predict": lmnn.predict,
        "LargeMargin.transform": lmnn.transform,
    }  # fmt: skip


def outcome(call, kind: str, name: str, as_matrix: bool, square: bool) -> str:
    """What came of one call: only a refusal in the library's own words will do."""
    A = np.abs(np.random.default_rng(1).normal(size=(ROWS, ROWS if square else COLUMNS)))
    try:
        call(damaged(kind, name, A, as_matrix))
    except (TypeError, ValueError) as error:
        text = str(error)
        told = any(word in text for word in ("broken", "must", "sparse", "Sparse"))
        return "refused" if told and "incompatible function" not in text else f"unclear: {text}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def main(first: int, every: int) -> None:
    warnings.simplefilter("ignore")
    damages = [(kind, name) for kind, known in DAMAGES.items() for name in known]
    number = 0
    for shift, (entry, call) in enumerate(entries().items()):
        for k, (kind, name) in enumerate(damages):
            if (k + shift) % every:
                continue
            if number >= first:
                print(f"{number}|{entry}|{kind}, {name}", flush=True)
                said = outcome(call, kind, name, as_matrix=k % 2 == 0, square=entry.startswith("!"))
                print(f"{number}={said!r}", flush=True)
            number += 1


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
