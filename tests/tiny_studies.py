"""A bench whose data and limits are tiny, and traces made by hand."""

import numpy as np
import scipy.sparse as sp

from southwell.studies.bench import Bench
from southwell.studies.findings import Race, Trace

CLASSES = 4


class Tiny(Bench):
    """Data of dozens of rows in place of every set; times of 50 ms, at most two of everything that is counted."""

    def pick(self, full, quick):
        if isinstance(quick, float):
            return min(quick, 0.05)
        return min(quick, 2) if isinstance(quick, int) else quick

    def data(self, name, **options):
        rng = np.random.default_rng(len(name))
        n, d = (60, 12) if name in ("mnist", "aloi", "ionosphere") else (60, 40)
        classes = CLASSES if name in ("mnist", "aloi", "sector", "rcv1-regions") else 2
        labels = np.arange(n) % classes
        A = np.abs(rng.normal(size=(n, d))) + 2.0 * rng.random((classes, d))[labels]
        if d == 12:
            return A / A.max(), labels
        return sp.csr_array((A * (rng.random((n, d)) < 0.3)) / np.linalg.norm(A, axis=1)[:, None]), labels


def trace(label, cost, role="baseline", **columns):
    """A run that takes ``cost`` to an error of 1e-3, twice that to 1e-6, and the same in every unit that is not given;
    with an infinite cost it never gets there."""
    if np.isinf(cost):
        errors, at = np.array([1.0, 0.5, 0.5]), np.array([0.0, 1.0, 2.0])
    else:
        errors, at = np.array([1.0, 1e-3, 1e-6]), cost * np.array([0.0, 1.0, 2.0])
    units = dict.fromkeys(("epoch", "seconds", "operations", "passes"), at) | columns
    return Trace(label, role, units | {"error": errors, "gap": errors})


def raced(title, costs):
    """A race of runs with these costs, by label."""
    return Race(title, [trace(label, cost) for label, cost in costs.items()])


def judged(claims, name, found):
    """The outcome of a claim, which says why."""
    [claim] = [claim for claim in claims if claim.name == name]
    verdict = claim.judge({study: found[study] for study in claim.studies})
    assert verdict.because
    return verdict.outcome


def run_and_judge(studies, claims):
    """The findings of all studies on tiny data, after each claim has been judged by them."""
    said = []
    found = {study.name: study.run(Tiny(quick=True, say=said.append)) for study in studies}
    assert said
    for claim in claims:
        assert claim.judge({name: found[name] for name in claim.studies}).because
    assert all(findings.races or findings.tables for findings in found.values())
    return found
