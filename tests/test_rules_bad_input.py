"""Rules refuse in words what they cannot use; a search that fails fails in the open."""

import sys
import tomllib
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import southwell as sw
from southwell import _core, _search, rules
from southwell.methods import CoordinateDescent, Start
from southwell.penalties import ElasticNet
from twins import exact_index

A = np.random.default_rng(0).normal(size=(12, 6))
B = A @ np.arange(6.0)
SIGNS = np.where(B > 0, 1.0, -1.0)


def refused(match, rule, error=ValueError, side="primal", b=B, **options):
    with pytest.raises(error, match=match) as caught:
        sw.solve(A, b, method=CoordinateDescent(side, rule, options.pop("coupling", "auto")), **{"l1": 0.1, **options})
    assert len(str(caught.value)) < 400


# Numbers


@pytest.mark.parametrize("given", [0, -1, 2.0, 2.5, True, "3", np.nan, [3]])
def test_bad_blocks_and_counts_are_refused(given):
    for name, make in (
        ("blocks", lambda: rules.Hybrid(given)),
        ("refresh_every", lambda: rules.Greedy(refresh_every=given)),
        ("refresh_every", lambda: rules.SupportSet(refresh_every=given)),
        ("refresh_every", lambda: rules.Adaptive(refresh_every=given)),
        ("refresh_every", lambda: rules.AdaUniform(refresh_every=given)),
        ("refresh_every", lambda: rules.AdaGap(refresh_every=given)),
        ("candidates", lambda: rules.MaxInnerProduct(candidates=given)),
        ("breadth", lambda: rules.MaxInnerProduct(breadth=given)),
        ("links", lambda: rules.MaxInnerProduct(links=given)),
    ):
        with pytest.raises(ValueError, match=f"{name} must be an integer >= "):
            make()


@pytest.mark.parametrize("given", [-0.1, 1.1, np.nan, np.inf, "half", None, [0.5]])
def test_shares_out_of_range_are_refused(given):
    for name, make in (("mix", rules.AdaUniform), ("explore", lambda share: rules.MaxInnerProduct(explore=share))):
        with pytest.raises((TypeError, ValueError), match=f"{name} (must be|is a share)"):
            make(given)


def test_shares_may_be_at_their_ends():
    for share in (0, 1, 0.0, 1.0, np.float32(0.5)):
        rules.AdaUniform(share), rules.MaxInnerProduct(explore=share)


def test_more_blocks_than_coordinates_are_refused():
    refused("between 1 and the number of features, 6; got 7", rules.Hybrid(7))
    refused("between 1 and the number of samples, 12; got 13", rules.Hybrid(13), side="dual", l2=0.1)
    refused("blocks is 2, but partition has 3; leave blocks out", rules.Hybrid(2, partition=[0, 1, 2, 0, 1, 2]))


# Names


def test_unknown_names_are_refused():
    for given, near in (
        ("gredy", "greedy"),
        ("adaptve", "adaptive"),
        ("gap-per-epoch", "gap_per_epoch"),
        ("Uniform", "uniform"),
    ):
        with pytest.raises(ValueError, match=f"Unknown rule '{given}'. Did you mean '{near}'"):
            CoordinateDescent(rule=given)
    for make in (
        rules.Greedy,
        lambda score: rules.Hybrid(score=score),
        lambda score: rules.MaxInnerProduct(score=score),
    ):
        for given, near in (("gsq", "gs-q"), ("gs_s", "gs-s"), ("GS-R", "gs-r")):
            with pytest.raises(ValueError, match=f"Unknown score '{given}'. Did you mean '{near}'"):
                make(given)
        for given in ("nonsense", None, 3, ""):
            with pytest.raises(ValueError, match=r"Unknown score .* Known: gs, gs-q, gs-r, gs-s"):
                make(given)
    for given, near in (("k-means", "kmeans"), ("minibatch", "minibatch-kmeans"), ("spectra", "spectral")):
        with pytest.raises(ValueError, match=f"Unknown partition '{given}'. Did you mean '{near}'"):
            rules.Hybrid(partition=given)
    with pytest.raises(TypeError, match=r"rule must be a name .* or an object of southwell; got int"):
        CoordinateDescent(rule=3)


@pytest.mark.parametrize("given", [["gs"], {"gs"}])
def test_scores_that_are_not_names_are_refused(given):
    with pytest.raises((TypeError, ValueError), match="score"):
        rules.Greedy(given)


# Partitions


@pytest.mark.parametrize(
    ("partition", "match"),
    [
        ([[0, 1], [2, 3]], r"misses 2 of 6 features: 4, 5\. Each must be in one block"),
        ([range(6), [3, 4]], r"repeats 2 of 6 features: 3, 4\. Each must be in one block"),
        ([[0, 0], range(6)], "repeats 1 of 6 features: 0"),
        ([range(7)], r"features outside 0\.\.5"),
        ([range(6), [-1]], r"features outside 0\.\.5"),
        (np.zeros(5, int), "must hold 6 integers, the block of each of the features; got 5 of type int"),
        (np.zeros(7, int), "must hold 6 integers.*got 7"),
        (np.zeros(6), "must hold 6 integers.*got 6 of type float64"),
        (np.zeros(6, bool), "must hold 6 integers.*bool"),
        (list("abcdef"), "must hold 6 integers.*<U1"),
        ([], "must hold 6 integers.*got 0"),
        ([[0.0, 1.0], [2.0, 3.0, 4.0, 5.0]], "one-dimensional arrays of features"),
        ([[[0]]], "one-dimensional arrays of features"),
        ([0, [1, 2, 3, 4, 5]], "one-dimensional arrays of features"),
        (np.zeros((6, 2), int), "The partition misses 5 of 6"),
    ],
)
def test_partitions_that_are_not_one_are_refused(partition, match):
    refused(match, rules.Hybrid(partition=partition))


@pytest.mark.parametrize("given", [None, 3, 2.5])
def test_partitions_of_other_types_are_refused(given):
    refused(
        f"kmeans, minibatch-kmeans, spectral, or an array; got {type(given).__name__}",
        rules.Hybrid(partition=given),
        TypeError,
    )


def test_partitions_count_samples_on_the_dual():
    refused(
        "must hold 12 integers, the block of each of the samples", rules.Hybrid(partition=np.zeros(6, int)), side="dual"
    )
    refused("misses 6 of 12 samples: 6, 7, 8, 9, 10, ...", rules.Hybrid(partition=[range(6)]), side="dual")


def test_many_that_are_missing_are_not_all_shown():
    with pytest.raises(ValueError, match="misses 999 of 1000") as caught:
        sw.solve(np.eye(1000), np.ones(1000), l1=0.1, method=CoordinateDescent("primal", rules.Hybrid(partition=[[0]])))
    assert len(str(caught.value)) < 120


def test_empty_blocks_do_not_count():
    method = CoordinateDescent("primal", rules.Hybrid(2, partition=[[], range(3), [], range(3, 6)]))
    assert sw.solve(A, B, l1=0.1, method=method).status is sw.Status.CONVERGED


def test_rules_with_arrays_can_be_compared():
    one, two = (rules.Hybrid(partition=np.arange(6) % 2) for _ in range(2))
    assert one == two
    assert one != rules.Hybrid(partition=np.arange(6) % 3)


# Problems that do not suit


def test_scores_that_do_not_suit_the_problem_are_refused():
    for kind in (rules.Greedy, lambda score: rules.Hybrid(partition=np.zeros(6, int), score=score)):
        refused("'gs' .*needs l1 = 0 and no bounds on the primal side; use 'gs-s'", kind("gs"))
        refused("'gs' .*no bounds on the primal side", kind("gs"), l1=0, penalty=ElasticNet(l2=1.0, lower=0.0))
    refused("'gs' .*needs the squared loss on the dual side", rules.Greedy("gs"), side="dual", loss="huber")
    for score in ("gs-r", "gs-q"):
        refused("poisson has none. Use 'gs-s'", rules.Greedy(score), loss="poisson", b=np.abs(B))
    poisson = CoordinateDescent("dual", rules.Greedy("gs-q"))
    assert sw.solve(A, np.abs(SIGNS), loss="poisson", l2=1.0, method=poisson).status is sw.Status.CONVERGED


def test_search_needs_the_mirror(monkeypatch):
    monkeypatch.setattr(_search, "index", exact_index)
    refused("use coupling='mirror'", "max_inner_product", coupling="gram")
    refused("use coupling='mirror'", "max_inner_product", coupling="gram", side="dual", l1=0, l2=0.1)
    long = np.random.default_rng(0).normal(size=(500, 5))  # "auto" would take a Gram matrix
    r = sw.solve(long, long[:, 0], l1=0.1, method=CoordinateDescent("primal", "max_inner_product"))
    assert r.status is sw.Status.CONVERGED and "Gram" not in r.method


# The search


def test_a_missing_hnswlib_is_named_with_the_extra_that_has_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    refused(r"needs hnswlib.*pip install 'southwell\[search\]'", "max_inner_product", ImportError)


def test_the_extra_that_is_advised_exists():
    project = Path(__file__).parent.parent / "pyproject.toml"
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    assert any("hnswlib" in part for part in extras["search"])


def test_an_index_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "hnswlib", types.ModuleType("hnswlib"))
    monkeypatch.setattr(_search, "MEMORY_LIMIT", 4 * 6 * 12 - 1)
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"6 x 12 would take .* GiB; the limit is .*Use Hybrid or Greedy"):
            sw.solve(form(A), B, l1=0.1, method=CoordinateDescent("primal", "max_inner_product"))


def searching(find, monkeypatch, **options):
    monkeypatch.setattr(_search, "index", lambda *_: find)
    return CoordinateDescent("primal", rules.MaxInnerProduct(3, explore=0.0), **options)


class Broken(Exception):
    pass


def broken(image, number, apart):
    raise Broken("no answer today")


NONSENSE = {
    "nothing": lambda image, number, apart: None,
    "text": lambda image, number, apart: "abc",
    "too many": lambda image, number, apart: np.arange(number + 1),
    "too low": lambda image, number, apart: np.full(number, -1),
    "too high": lambda image, number, apart: np.full(number, 6),
    "far too high": lambda image, number, apart: np.full(number, 2**62),
    "a table": lambda image, number, apart: np.zeros((number, 2), int),
    "a number": lambda image, number, apart: 3,
    "objects": lambda image, number, apart: np.array([None] * number),
}


def test_the_error_of_a_search_reaches_the_caller(monkeypatch):
    method = searching(broken, monkeypatch)
    with pytest.raises(Broken, match="no answer today"):
        sw.solve(A, B, l1=0.1, method=method)
    core = method.prepare(sw.Problem(A, B, penalty=ElasticNet(0.1)), Start(np.zeros(6)), 0).algorithm
    core.settle()
    for ask in (core.draw, core.lead):
        with pytest.raises(Broken):
            ask(5)
    assert core.point()[0].tolist() == [0.0] * 6  # still there


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_of_a_search_is_refused(case, monkeypatch):
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        sw.solve(A, B, l1=0.1, method=searching(NONSENSE[case], monkeypatch))


def test_late_nonsense_of_a_search_is_refused(monkeypatch):
    asked = []

    def find(image, number, apart):
        asked.append(number)
        return np.arange(number) if len(asked) < 5 else np.full(number, 99)

    with pytest.raises(TypeError, match="no more than it was asked for"):
        sw.solve(A, B, l1=0.7 * sw.lambda_max(A, B), method=searching(find, monkeypatch), tol=0.0)
    assert asked == [3] * 5


def test_a_search_cannot_change_what_it_is_shown(monkeypatch):
    def spoil(image, number, apart):
        image[:] = 1e9
        return np.arange(number)

    for seed in range(2):
        method = searching(spoil, monkeypatch)
        core = method.prepare(sw.Problem(A, B, penalty=ElasticNet(0.1)), Start(np.zeros(6)), seed).algorithm
        core.settle()
        core.lead(20)
        assert np.abs(core.point()[0]).max() < 1e3


def test_the_core_refuses_an_unknown_rule():
    with pytest.raises(ValueError, match="unknown rule 'cyclical'"):
        _core.Rule("cyclical").draw(3, 0, 3)
