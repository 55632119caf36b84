"""Methods: the algorithms that solve a problem."""

from __future__ import annotations

from .._names import resolve
from .accelerated import AcceleratedCD
from .accelerated_sdca import AcceleratedSDCA
from .auto import Auto, default_policy
from .base import Method, Prepared, Start
from .coordinate_descent import CoordinateDescent
from .dgpd import DGPD
from .dspdc import DSPDC
from .full_gradient import FISTA, LBFGS
from .incremental_gradient import SAG, SAGA, SVRG
from .spdc import SPDC

ALL: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Auto, CoordinateDescent, AcceleratedCD, DGPD, SPDC, DSPDC, AcceleratedSDCA, SAGA, SAG, SVRG, FISTA, LBFGS,
    )
}  # fmt: skip

__all__ = [
    "ALL", "DGPD", "DSPDC", "FISTA", "LBFGS", "SAG", "SAGA", "SPDC", "SVRG", "AcceleratedCD", "AcceleratedSDCA", "Auto",
    "CoordinateDescent", "Method", "Prepared", "Start", "get",
]  # fmt: skip


def get(given: str | Method) -> Method:
    """The method with this name; a Method is returned as it is."""
    return resolve("method", given, ALL, Method)
