"""Every rule reaches the planted answer with proof, on data of every kind; the same seed gives the same bits."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _search, rules
from southwell.methods import CoordinateDescent
from southwell.penalties import ElasticNet
from southwell.testing.planted import plant
from twins import LOSSES, SMOOTH, exact_index

RULES = {
    **{name: kind() for name, kind in rules.ALL.items()},
    "greedy gs-r": rules.Greedy("gs-r"),
    "greedy gs-q": rules.Greedy("gs-q"),
    "greedy in turn": rules.Greedy(refresh_every=7),
    "support_set now and then": rules.SupportSet(refresh_every=7),
    "adaptive now and then": rules.Adaptive(refresh_every=50),
    "ada_uniform 0.1": rules.AdaUniform(0.1, refresh_every=1),
    "ada_gap now and then": rules.AdaGap(refresh_every=7),
    "hybrid given": rules.Hybrid(partition=[list(range(0, 20, 2)), list(range(1, 20, 2))]),
    "hybrid gs-q": rules.Hybrid(3, score="gs-q"),
    "search 1": rules.MaxInnerProduct(1, explore=0.5, score="gs-r"),
}
RANDOM = [name for name, rule in RULES.items() if rule.random]
SIDES = [*(("primal", loss) for loss in SMOOTH), *(("dual", loss) for loss in LOSSES)]
N, D = 20, 20  # as many coordinates on either side, so that a given partition suits both


@pytest.fixture(autouse=True)
def search(monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)


def wide(A):
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "CSR": sp.csr_array,
    "CSC": sp.csc_array,
    "CSR64": lambda A: wide(sp.csr_array(A)),
    "CSC64": lambda A: wide(sp.csc_array(A)),
    "float32": lambda A: A.astype(np.float32),
    "CSC float32": lambda A: sp.csc_array(A.astype(np.float32)),
}


def suits(rule, side, loss):
    score = getattr(rule, "score", "")
    return not (side == "primal" and np.isinf(sw.losses.get(loss).smoothness) and score in ("gs-r", "gs-q"))


def solved(problem, side, rule, tol=1e-8, **options):
    method = CoordinateDescent(side, rule, options.pop("coupling", "auto"))
    r = sw.solve(problem, method=method, tol=tol, max_epochs=20_000, **options)
    assert r.status is sw.Status.CONVERGED
    assert 0 <= r.gap <= tol * r.scale
    return r


def planted(loss, **options):
    return plant(loss, **{"n": N, "d": D, "l1": 0.02, "l2": 0.1, "nonzeros": 4, "weighted": True, **options})


def stated(p, A=None, penalty=None, **options):
    return sw.Problem(
        p.A if A is None else A, p.b, p.loss, penalty or p.penalty, sample_weight=p.sample_weight, **options
    )


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("side", "loss"), SIDES)
def test_every_rule_finds_the_planted_answer(side, loss, name):
    if suits(RULES[name], side, loss):
        p = planted(loss)
        for form in (np.asarray, sp.csr_array):
            r = solved(stated(p, form(p.A)), side, RULES[name])
            assert r.primal - p.primal <= r.gap + 1e-14
            assert np.abs(r.x - p.x).max() <= np.sqrt(2 * r.gap / p.penalty.l2) + 1e-7


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", RULES)
def test_every_rule_takes_every_layout_and_type(name, form):
    single = "float32" in form
    for side, loss in (("primal", "squared"), ("primal", "smooth_hinge"), ("dual", "hinge"), ("dual", "squared")):
        p = planted(loss)
        r = solved(stated(p, FORMS[form](p.A)), side, RULES[name], 1e-5 if single else 1e-8)
        assert r.primal == pytest.approx(p.primal, rel=1e-4 if single else 1e-7)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "squared"), ("dual", "logistic")]
)
def test_every_rule_takes_intercepts_and_centred_data(side, loss, name):
    """An intercept, centred columns, and both."""
    p = planted(loss)
    for centre in (False, True):
        for intercept in (False, True):
            for form in (np.asarray, sp.csr_array):
                A = sw.Centred(form(p.A + 0.3)) if centre else form(p.A + 0.3)
                r = solved(stated(p, A, intercept=intercept), side, RULES[name])
                assert r.problem.certify(r.x, intercept=r.intercept)[0] == pytest.approx(r.primal)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "hinge")])
def test_bounds_and_penalty_weights(side, loss, name):
    p = planted(loss)
    box = ElasticNet(0.02, 0.1, weights=np.linspace(0.5, 2.0, D), lower=-0.1, upper=0.3)
    r = solved(stated(p, penalty=box), side, RULES[name])
    assert r.x.min() >= -0.1 and r.x.max() <= 0.3


# Not adaptive: the farthest residuals are not the worst, so it is slow where l2 = 0.
@pytest.mark.parametrize("name", [name for name in RULES if RULES[name].name != "adaptive"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "smooth_hinge", "squared_hinge", "huber"])
def test_rules_find_the_planted_answer_under_pure_l1(loss, name):
    p = planted(loss, n=60, l1=0.05, l2=0.0)
    r = solved(stated(p), "primal", RULES[name])
    assert r.primal - p.primal <= r.gap + 1e-14


@pytest.mark.parametrize("name", [name for name in RULES if not isinstance(RULES[name], rules.MaxInnerProduct)])
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("dual", "squared"), ("dual", "smooth_hinge")])
def test_rules_work_with_a_gram_matrix(side, loss, name):
    p = planted(loss, l1=0.0, nonzeros=D)
    for intercept in (False, True):
        r = solved(stated(p, intercept=intercept), side, RULES[name], coupling="gram")
        assert "Gram matrix" in r.method


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("dual", "logistic")])
def test_every_rule_takes_warm_starts(side, loss, name):
    p = planted(loss)
    r = solved(stated(p), side, RULES[name])
    assert solved(stated(p), side, RULES[name], warm_start=r).epochs == 0
    other = solved(stated(p, penalty=ElasticNet(0.019, 0.1)), side, RULES[name], warm_start=r)
    assert other.history["gap"][0] < r.history["gap"][0]
    solved(stated(p), side, RULES[name], warm_start=np.full(D, 0.2))


@pytest.mark.parametrize("score", ["gs-s", "gs-r", "gs-q"])
@pytest.mark.parametrize("kind", [rules.Greedy, rules.Hybrid])
@pytest.mark.parametrize(
    ("side", "loss", "options"),
    [
        ("primal", "squared", {"l2": 0.0}), ("primal", "logistic", {"l2": 0.0}), ("primal", "squared", {}),
        ("dual", "hinge", {}), ("dual", "hinge", {"l1": 0.0, "nonzeros": 20}), ("dual", "logistic", {}),
    ],
)  # fmt: skip
def test_scores_guide_down_to_rounding(side, loss, options, kind, score):
    """A score that drowns in rounding long before the gap does would leave the answer where it is."""
    p = plant(loss, **{"n": 40, "d": 20, "l1": 0.02, "l2": 0.05, "nonzeros": 5, "weighted": True, **options})
    method = CoordinateDescent(side, kind(score=score), proximal=False)
    r = sw.solve(stated(p), method=method, tol=1e-11, max_epochs=5000)
    assert r.status is sw.Status.CONVERGED


@pytest.mark.parametrize("loss", ["quantile", "epsilon_insensitive"])
def test_the_default_search_converges_where_anchors_follow(loss):
    """On the dual side of a regression the proximal term follows the iterate: it must not run ahead of the search."""
    p = plant(loss, n=40, d=20, l1=0.0, l2=0.05, nonzeros=20, weighted=True)
    assert solved(stated(p), "dual", rules.MaxInnerProduct(), max_seconds=300)


# Seeds


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("side", "loss"), [("primal", "squared"), ("primal", "logistic"), ("dual", "hinge")])
def test_same_seed_same_bits(side, loss, name):
    p = planted(loss)
    runs = []
    for seed in (7, 7, 8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sw.ConvergenceWarning)
            method = CoordinateDescent(side, RULES[name])
            runs.append(sw.solve(stated(p), method=method, seed=seed, max_epochs=4, tol=0, check_every=1))
    gaps = [r.history["gap"].tobytes() for r in runs]
    assert (
        gaps[0] == gaps[1] and runs[0].x.tobytes() == runs[1].x.tobytes() and runs[0].y.tobytes() == runs[1].y.tobytes()
    )
    assert (gaps[0] != gaps[2]) == (name in RANDOM)


# hnswlib itself


@pytest.mark.parametrize(
    ("side", "loss", "form"),
    [("primal", "squared", "C"), ("primal", "squared", "float32"), ("primal", "logistic", "CSR"),
     ("dual", "hinge", "C"), ("dual", "hinge", "CSC64"), ("dual", "squared", "float32"), ("dual", "squared", "CSR")],
)  # fmt: skip
def test_hnswlib_gives_the_same_numbers_for_the_same_seed(side, loss, form, monkeypatch):
    monkeypatch.undo()
    p = planted(loss)
    tol = 1e-5 if form == "float32" else 1e-8
    for intercept in (False, True):
        problem = stated(p, FORMS[form](p.A), intercept=intercept)
        first, again = (solved(problem, side, "max_inner_product", tol, seed=1) for _ in range(2))
        assert (
            first.x.tobytes() == again.x.tobytes() and first.history["gap"].tobytes() == again.history["gap"].tobytes()
        )
        assert set(first.setup) == {"index"} and 0 < first.setup["index"] <= first.seconds
