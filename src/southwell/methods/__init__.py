"""Methods: the algorithms that solve a problem. A new one is a file here and its import below."""

from __future__ import annotations

from .._names import listed, resolve
from .accelerated import AcceleratedCD as AcceleratedCD
from .accelerated_sdca import AcceleratedSDCA as AcceleratedSDCA
from .auto import Auto as Auto
from .base import Method as Method
from .base import Prepared as Prepared
from .base import Start as Start
from .coordinate_descent import CoordinateDescent as CoordinateDescent
from .dgpd import DGPD as DGPD
from .dspdc import DSPDC as DSPDC
from .full_gradient import FISTA as FISTA
from .full_gradient import LBFGS as LBFGS
from .full_gradient import ProximalGradient as ProximalGradient
from .incremental_gradient import SAG as SAG
from .incremental_gradient import SAGA as SAGA
from .incremental_gradient import SGD as SGD
from .incremental_gradient import SVRG as SVRG
from .miso import MISO as MISO
from .policy import default_policy as default_policy
from .spdc import SPDC as SPDC

ALL: dict[str, type[Method]] = listed(Method)  # type: ignore[type-abstract]


def get(given: str | Method) -> Method:
    """The method with this name; a Method is returned as it is."""
    return resolve("method", given, ALL, Method)  # type: ignore[type-abstract]
