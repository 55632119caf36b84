"""The saddle methods, and which problems each of them takes."""

from functools import cache

import southwell as sw
from saddles import BOUNDED, LOSSES, problem_of, quietly
from southwell.methods import (
    DGPD,
    DSPDC,
    FISTA,
    LBFGS,
    MISO,
    SAG,
    SAGA,
    SPDC,
    SVRG,
    AcceleratedCD,
    AcceleratedSDCA,
    ProximalGradient,
)

SMOOTH = [name for name in LOSSES if sw.losses.get(name).smooth]
METHODS = {
    "spdc": SPDC(),
    "spdc, norms": SPDC(sampling="norms"),
    "spdc, batches": SPDC(batch=4),
    "dspdc": DSPDC(),
    "dspdc, blocks": DSPDC(rows=4, columns=3),
    "dspdc, point": DSPDC(aim="point", scale="safe"),
    "dgpd": DGPD(),
    "dgpd, together": DGPD(order="together"),
    "dgpd, few": DGPD(enter=2, passes=1),
    "dgpd, algorithm 1": DGPD(active_sets=False),
    "dgpd, several": DGPD(active_sets=False, columns=3, rows=2),
    "saga": SAGA(),
    "sag": SAG(),
    "svrg": SVRG(),
    "fista": FISTA(),
    "fista, no restarts": FISTA(restart=False),
    "fista, constant": FISTA(momentum="constant"),
    "proximal gradient": ProximalGradient(),
    "lbfgs": LBFGS(),
    "accelerated sdca": AcceleratedSDCA(),
    "accelerated sdca, uniform": AcceleratedSDCA(rule="uniform", inner_epochs=2),
    "accelerated sdca, accuracy": AcceleratedSDCA(inner="accuracy"),
    "apcg": AcceleratedCD("primal", momentum="constant"),
    "apcg, dual": AcceleratedCD("dual", momentum="constant"),
    "miso": MISO(),
}
FIRM = ("accelerated sdca", "apcg", "miso")  # and constant momentum: l2 > 0 on every coefficient, no intercept


def takes(name, loss, penalty, intercept=False):
    """Does the method claim such problems?"""
    kind = name.split(",")[0]
    strong = penalty.l2 > 0 and penalty.weights is None and not intercept
    if kind in ("saga", "sag", "svrg", *FIRM) and loss not in BOUNDED:
        return False
    if kind in ("fista", "lbfgs", "proximal gradient") and loss not in SMOOTH:
        return False
    if kind == "sag":
        return penalty.l1 == 0 and penalty.lower is None
    return strong or not (kind in FIRM or name == "fista, constant")


def solved(problem, method, tol=1e-8, **options):
    return quietly(problem, method=method, tol=tol, max_epochs=400_000, max_seconds=300, **options)


@cache
def optimum(loss, penalty, intercept):
    problem = problem_of(loss, penalty, intercept=intercept)
    r = quietly(problem, tol=1e-13, max_epochs=100_000)
    assert r.relative_gap <= 1e-11
    return r.primal
