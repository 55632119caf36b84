"""Arrays that cannot be read, mean something else, or claim more numbers than there are: no crash, no hang, words."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import southwell as sw
from southwell import features, graph, metric

RNG = np.random.default_rng(0)
A = RNG.normal(size=(12, 4))
B = A[:, 0] + 0.1
LABELS = np.arange(12) % 2

ENTRIES = {
    "solve": lambda X: sw.solve(X, B, l1=0.1),
    "solve b": lambda X: sw.solve(A, X, l1=0.1),
    "solve sample_weight": lambda X: sw.solve(A, B, l1=0.1, sample_weight=X),
    "solve warm start": lambda X: sw.solve(A, B, l1=0.1, warm_start=X),
    "solve blocks": lambda X: sw.solve(X, LABELS, loss="softmax", l2=0.1),
    "Factorised": lambda X: sw.solve(sw.Factorised(X, np.eye(4)), B, l1=0.1),
    "penalty weights": lambda X: sw.solve(A, B, penalty=sw.penalties.ElasticNet(0.1, weights=X)),
    "solve_many": lambda X: sw.solve_many(A, X, l1=0.1),
    "lambda_max": lambda X: sw.lambda_max(X, B),
    "sketch_features": lambda X: sw.sketch_features(X, 2),
    "Lasso.fit": lambda X: sw.Lasso().fit(X, B),
    "Lasso.fit y": lambda X: sw.Lasso().fit(A, X),
    "Lasso.predict": sw.Lasso(alpha=0.1).fit(A, B).predict,
    "LogisticRegression.predict": sw.LogisticRegression().fit(A, LABELS).predict,
    "RandomFourier": lambda X: features.RandomFourier(3).fit(X),
    "LabelPropagation": lambda X: graph.LabelPropagation(n_neighbors=2).fit(X, LABELS),
    "LargeMargin": lambda X: metric.LargeMarginNearestNeighbor(n_neighbors=1).fit(X, LABELS),
}


class Rude:
    """An object that becomes no array."""

    def __array__(self, *_, **__):
        raise RuntimeError("I am not an array")


VECTORS = {"solve b": 12, "solve sample_weight": 12, "Lasso.fit y": 12, "solve warm start": 4, "penalty weights": 4}


@pytest.mark.parametrize("entry", ENTRIES)
def test_masks_are_not_ignored(entry):
    masked = np.ma.masked_array(A.copy(), mask=np.zeros(A.shape, bool))
    masked[3, 2] = np.ma.masked
    if entry in VECTORS:
        masked = (masked[:, 2] if VECTORS[entry] == 12 else masked[3]) ** 2
    with pytest.raises(ValueError, match=r"is a masked array with 1 masked entries. Fill them"):
        ENTRIES[entry](masked)


def test_a_mask_that_hides_nothing_changes_nothing():
    masked = np.ma.masked_array(A, mask=np.zeros(A.shape, bool))
    np.testing.assert_array_equal(sw.solve(masked, B, l1=0.1).x, sw.solve(A, B, l1=0.1).x)
    np.testing.assert_array_equal(sw.Lasso(alpha=0.1).fit(masked, B).coef_, sw.Lasso(alpha=0.1).fit(A, B).coef_)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("shape", [(10**9, 10**9), (2, 10**12), (10**12, 4)])
def test_more_numbers_than_memory_holds_are_refused(entry, shape):
    huge = np.broadcast_to(np.float64(1.0), shape)
    with pytest.raises((MemoryError, ValueError, TypeError), match=r"takes .* bytes|[Mm]ust|must have|features"):
        ENTRIES[entry](huge)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("odd", [
    np.zeros(12, [("x", float), ("y", int)]), np.zeros((12, 4), "V8"), np.full((12, 4), None), np.full((12, 4), "a"),
    np.full((12, 4), 10**400, object), np.zeros((0, 4)), np.zeros((12, 0)), np.full((), np.nan),
    np.zeros((1,) * 40), [[1.0], [2.0, 3.0]], np.array(Rude, object),
], ids=lambda odd: f"{getattr(odd, 'dtype', 'list')!s:.20}{getattr(odd, 'shape', '')!s:.12}")  # fmt: skip
def test_things_that_are_not_numbers_are_refused(entry, odd):
    with pytest.raises((ValueError, TypeError, OverflowError)) as caught:
        ENTRIES[entry](odd)
    text = str(caught.value)
    assert len(text) < 1000 and "incompatible function" not in text


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_object_that_raises_is_told_by_its_own_exception(entry):
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        ENTRIES[entry](Rude())


@pytest.mark.parametrize("change", [
    lambda M: M[::-1][::-1], lambda M: np.asmatrix(M), lambda M: np.repeat(M, 2, axis=0)[::2],
    lambda M: np.asfortranarray(M)[:, ::-1][:, ::-1], lambda M: M.view(np.recarray), lambda M: M.astype(">f8"),
    lambda M: np.lib.stride_tricks.as_strided(M, M.shape, M.strides), lambda M: M[None][0],
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_other_views_are_read_as_they_are(change):
    np.testing.assert_array_equal(sw.solve(change(A.copy()), B, l1=0.1).x, sw.solve(A, B, l1=0.1).x)


CUT = """
    import os, sys
    import numpy as np, scipy.sparse as sp
    import southwell as sw
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(3000, 20)), rng.normal(size=3000)
    model = sw.Lasso(alpha=0.01).fit(A, b)
    path = sys.argv[1]

    def mapped(values):
        values.tofile(path)
        there = np.memmap(path, values.dtype, "r+", shape=values.shape)
        os.truncate(path, 8192)
        return there

    def sparse():
        matrix = sp.csr_array(A)
        matrix.data = mapped(matrix.data)
        return matrix

    def indexed():
        matrix = sp.csr_array(A)
        matrix.indices = mapped(matrix.indices)
        return matrix

    cases = {
        "A": lambda: sw.solve(mapped(A), b, l1=0.1),
        "view": lambda: sw.solve(np.asarray(mapped(A))[10:, 1:].T.copy is None or np.asarray(mapped(A))[:, 1:], b),
        "b": lambda: sw.solve(A, mapped(b), l1=0.1),
        "data": lambda: sw.solve(sparse(), b, l1=0.1),
        "indices": lambda: sw.solve(indexed(), b, l1=0.1),
        "fit": lambda: sw.Lasso().fit(mapped(A), b),
        "fit y": lambda: sw.Lasso().fit(A, mapped(b)),
        "predict": lambda: model.predict(mapped(A)),
        "predict sparse": lambda: model.predict(sparse()),
        "Y": lambda: sw.solve_many(A, mapped(np.stack([b, b], axis=1)), l1=0.1),
    }
    for name, case in cases.items():
        print(name, flush=True)
        try:
            case()
        except ValueError as error:
            print("refused:", error, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="a mapped file cannot be cut elsewhere")
def test_a_memory_map_of_a_file_that_was_cut_is_refused(tmp_path):
    """In another process, which would be ended by a bus error."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CUT), str(tmp_path / "numbers")], capture_output=True, text=True,
        check=False, timeout=600, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (done.returncode, lines[-1:], done.stderr[-500:])
    assert len(lines) == 20
    for line in lines[1::2]:
        assert "memory map of a file that has been cut to 8192 bytes" in line, line
