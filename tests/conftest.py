"""What tests share."""

import faulthandler
import sys
import warnings
import zlib
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

import southwell as sw
from southwell import ConvergenceWarning
from southwell.testing import datasets

# Examples are small; a deadline would only measure how busy the machine is.
settings.register_profile("southwell", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("southwell")


@pytest.fixture(autouse=True)
def watchdog():
    """A test that hangs is ended after a quarter of an hour, with the stacks of its threads."""
    faulthandler.dump_traceback_later(900, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, metavar="N", help="run at most N cases of each parametrised test")


@pytest.hookimpl(trylast=True)  # of those that -k and -m leave
def pytest_collection_modifyitems(config, items):
    """``--cases``: which cases is as good as random, and the same each time."""
    if (cases := config.getoption("--cases")) is None:
        return
    tests = defaultdict(list)
    for item in items:
        tests[item.path, getattr(item, "originalname", item.name)].append(item)
    kept = set()
    for each in tests.values():
        kept.update(sorted(each, key=lambda item: zlib.crc32(item.name.encode()))[:cases])
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.fixture(scope="session")
def shared_data():
    """``shared_data(name)`` opens a real data set, or skips the test where it is not at hand.

    Sets are ``name.npz`` in the folder SOUTHWELL_DATA names, else in ``../shared/data`` beside the repository.
    """

    def open_set(name: str):
        path = datasets.find(name)
        if path is None:
            pytest.skip(f"data set {name} not found: set SOUTHWELL_DATA to the folder that holds {name}.npz")
        return np.load(path)

    return open_set


@pytest.fixture
def small():
    """``small(loss)``: a small dense problem with uneven columns and weights, its targets those of a planted model."""

    def make(loss, n: int = 13, d: int = 7, seed: int = 0, scale: float = 1.0):
        loss = sw.losses.get(loss)
        rng = np.random.default_rng(seed)
        A = scale * rng.normal(size=(n, d)) * rng.uniform(0.3, 2.0, d)
        x = np.where(rng.random(d) < 0.5, rng.normal(size=d), 0.0)
        m = A @ x + 0.3 * rng.normal(size=n)
        if loss.targets == "signs":
            b = np.where(m > 0, 1.0, -1.0)
            b[:2] = 1.0, -1.0
        elif loss.targets == "counts":
            b = rng.poisson(np.exp(np.clip(m, -3, 2))).astype(float)
        elif loss.targets == "positive":
            b = np.exp(np.clip(m, -3, 2))
        else:
            b = m
        s = rng.uniform(0.2, 2.0, n)
        return SimpleNamespace(A=A, b=b, x=x, loss=loss, s=s / s.sum())

    return make


@pytest.fixture
def epochs():
    """``epochs(k, problem, **method)``: the result of exactly k epochs of plain coordinate descent."""

    def run(k: int, problem, seed: int = 0, **options):
        method = sw.methods.CoordinateDescent(
            **{"shrinking": False, "proximal": False, "coupling": "mirror", **options}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return sw.solve(problem, method=method, tol=0.0, max_epochs=k, check_every=10**6, seed=seed)

    return run


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")
