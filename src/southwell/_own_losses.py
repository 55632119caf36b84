"""Losses of one's own: stated by their values and derivatives over arrays, in Python or compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from . import _core, _interrupts, _own_checks
from ._names import shown
from ._typing import Given, Numbers
from .losses import Loss

_ASKED = ("value", "derivative", "second_derivative")  # in the order of core/own_loss.hpp

Batch = Callable[[np.ndarray, np.ndarray], Any]


class Custom(Loss):
    """A loss of your own: derive from this class and write ``value`` and ``derivative`` over arrays.

    Both take arrays of margins ``m`` and of targets ``b`` of one length, treat each pair on its own, and return an
    array of that length. The loss must be convex and differentiable in ``m`` and bounded from below, and every answer
    a number. Nothing else is needed: gaps are certified without a formula for the conjugate. Each problem checks the
    loss at its targets, on a grid of margins and at those of the solution, and refuses one that is not convex, or whose
    derivative is not its own, saying where.

    Attributes
    ----------
    targets : str
        "real", "signs" (-1 and +1: a loss for two classes), "counts" (>= 0) or "positive".
    name : str
        For messages; by default that of the class.
    smoothness : float
        A bound on the second derivative, if there is one; infinity by default. Nothing depends on it but first steps.
    log_odds : bool
        Whether the margin is the logarithm of the odds of b = 1, as for logistic losses.

    Notes
    -----
    A method ``second_derivative(m, b)`` saves differences of the derivative. The parameters of a loss are attributes of
    the instance, best the fields of a frozen dataclass. The default method, ``"fista"``, ``"proximal_gradient"`` and
    ``"lbfgs"`` take such losses; methods that step along single samples do not, and there are no bounds in exact
    arithmetic. A model file cannot hold them; pickle can.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> class LogCosh(sw.losses.Custom):
    ...     def value(self, m, b):
    ...         return np.logaddexp(m - b, b - m) - np.log(2)
    ...     def derivative(self, m, b):
    ...         return np.tanh(m - b)
    >>> r = sw.solve(np.eye(3), [1.0, 2.0, 3.0], loss=LogCosh(), l1=0.1)
    >>> r.status, r.x.round(2)
    (Status.CONVERGED, array([0.69, 1.69, 2.69]))
    """

    name: ClassVar[str] = "custom"
    own: ClassVar[bool] = True
    targets: str = "real"
    smoothness: float = np.inf
    log_odds: bool = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def __post_init__(self) -> None:
        """There is no parameter of the core to check."""

    smooth = property(lambda self: True, doc="It has no kinks, or the checks refuse it.")
    quadratic = property(lambda self: False)
    piecewise = property(lambda self: False)
    self_concordance = property(lambda self: 0.0)
    parameter = property(lambda self: 0.0)

    @property
    def traits(self) -> NoReturn:
        raise AttributeError(f"The core knows nothing of the loss {self.name}.")

    def value(self, m: Numbers, b: Numbers) -> Numbers:
        """phi(m; b)."""
        raise self._missing("value")

    def derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi'(m; b)."""
        raise self._missing("derivative")

    def maximise(self, m: Numbers, y0: Numbers, q: Numbers, b: Numbers) -> NoReturn:
        raise TypeError(f"{self.name} is a loss of one's own: it has no dual steps.")

    def prox_conjugate(self, v: Numbers, step: Numbers, b: Numbers) -> NoReturn:
        raise TypeError(f"{self.name} is a loss of one's own: it has no dual steps.")

    def examine(self, b: np.ndarray, margins: np.ndarray | None = None) -> None:
        _own_checks.examine(self, b, margins)

    @property
    def core(self) -> Any:
        """The compiled loss that asks this object. Not kept, since it refers to this object."""
        curved = type(self).second_derivative is not Custom.second_derivative
        return _core.OwnLoss.of_python(self._answer, self.name, curved, float(self.smoothness))

    def second_derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi''(m; b), by differences of the derivative."""
        core = _core.OwnLoss.of_python(self._answer, self.name, False, float(self.smoothness))
        return self._map(core.second_derivative, m=m, b=b)

    def _missing(self, method: str) -> TypeError:
        return TypeError(f"{type(self).__name__} must have a method {method}(m, b) over arrays; see losses.Custom.")

    def _answer(self, which: int, m: np.ndarray, b: np.ndarray) -> np.ndarray:
        """What the loss says of these samples, checked. Called by the core."""
        asked: Batch = getattr(self, _ASKED[which])
        m.flags.writeable = b.flags.writeable = False
        while True:
            try:
                with np.errstate(all="ignore"):  # NaN is refused by the core, and values may overflow
                    told = asked(m, b)
                break
            except KeyboardInterrupt as stop:  # the solve ends at its next pause, with what it has
                if not _interrupts.postpone(stop):
                    raise
        try:
            numbers = np.asarray(told)
        except ValueError:
            numbers = np.empty(0, object)
        if numbers.shape != m.shape or numbers.dtype.kind not in "fiub":
            given = f"shape {numbers.shape}, dtype {numbers.dtype}" if isinstance(told, np.ndarray) else shown(told)
            raise ValueError(
                f"{type(self).__name__}.{_ASKED[which]}(m, b) must return a number for each margin, here an array of "
                f"shape {m.shape}; got {given}."
            )
        return np.require(numbers, np.float64, ["C", "A"])

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or vars(self).keys() != vars(other).keys():
            return False
        return all(np.array_equal(one, vars(other)[name]) for name, one in vars(self).items())

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={shown(one)}' for name, one in vars(self).items())})"


class Compiled(Custom):
    """A loss of your own whose functions are compiled: they are called without Python.

    Each function is one of

    * a Python function of two numbers, ``f(m, b)``, which numba compiles (``pip install "southwell[numba]"``);
    * a function over many samples, ``void f(int64_t n, const double* m, const double* b, double* out)``: a numba
      ``cfunc``, a function of ``ctypes``, or its address. It is called from several threads at once.

    Parameters
    ----------
    value, derivative : callable or address
    second_derivative : callable or address, optional
        Saves differences of the derivative.
    targets, name, smoothness, log_odds
        As for ``Custom``.

    Examples
    --------
    >>> import math, southwell as sw
    >>> loss = sw.losses.Compiled(
    ...     lambda m, b: math.sqrt(1 + (m - b) ** 2) - 1,
    ...     lambda m, b: (m - b) / math.sqrt(1 + (m - b) ** 2), name="pseudo_huber")  # doctest: +SKIP
    """

    name: ClassVar[str] = "compiled"

    def __init__(self, value: Given, derivative: Given, second_derivative: Given = None, *, targets: str = "real",
                 name: str = "compiled", smoothness: float = np.inf, log_odds: bool = False) -> None:  # fmt: skip
        self.given = (value, derivative, second_derivative)
        self.targets, self.smoothness, self.log_odds = targets, smoothness, log_odds
        self.name = name  # type: ignore[misc]
        self._functions = [
            _function(function, what, optional=what == _ASKED[2])
            for function, what in zip(self.given, _ASKED, strict=True)
        ]
        _own_checks.examine_form(self)

    @property
    def core(self) -> Any:
        value, derivative, curvature = (_address(function) for function in self._functions)
        return _core.OwnLoss.of_addresses(value, derivative, curvature, self.name, float(self.smoothness))

    def value(self, m: Numbers, b: Numbers) -> Numbers:
        """phi(m; b)."""
        return self._map(self.core.value, m=m, b=b)

    def derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi'(m; b)."""
        return self._map(self.core.derivative, m=m, b=b)

    def second_derivative(self, m: Numbers, b: Numbers) -> Numbers:
        """phi''(m; b); by differences of the derivative if it was not given."""
        return self._map(self.core.second_derivative, m=m, b=b)

    def __reduce__(self) -> tuple[Any, ...]:
        if any(_address_of(function) is not None for function in self.given):
            raise TypeError(
                f"The loss {self.name} holds addresses of compiled functions, which mean nothing elsewhere: it cannot "
                "be pickled. Give Python functions, which are compiled again, or make the loss anew there."
            )
        options = {"targets": self.targets, "name": self.name, "smoothness": self.smoothness, "log_odds": self.log_odds}
        return _remade, (self.given, options)

    def __copy__(self) -> Compiled:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self  # it cannot change

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Compiled) and self._told() == other._told())

    def __hash__(self) -> int:
        return hash(self.name)

    def _told(self) -> tuple[Any, ...]:
        return self.given, self.targets, self.name, self.smoothness, self.log_odds

    def __repr__(self) -> str:
        return f"Compiled(name={self.name!r}, targets={self.targets!r})"


def _remade(given: tuple[Any, ...], options: dict[str, Any]) -> Compiled:
    return Compiled(*given, **options)


def _address_of(given: object) -> int | None:
    """The address of a function over many samples; None if it is not one."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if any(
        base.__name__ in ("_CFuncPtr", "CFuncPtr", "PyCFuncPtr") for base in type(given).__mro__
    ):  # of ctypes: a pointer with a buffer around it
        return int.from_bytes(memoryview(given).tobytes(), sys.byteorder)  # type: ignore[arg-type]
    address = getattr(given, "address", None)  # as numba's cfunc has it
    return address if isinstance(address, int) else None


def _address(function: Given) -> int:
    return 0 if function is None else _address_of(function) or 0


def _function(given: Given, what: str, optional: bool) -> Any:
    """Something with an address, which must live as long as it is called."""
    if given is None and optional:
        return None
    address = _address_of(given)
    if address is not None and address > 0:
        return given
    if address is None and callable(given) and not isinstance(given, type):
        return _compiled(given, what)
    raise TypeError(
        f"{what} must be a Python function f(m, b) of two numbers, or a function over many samples: a numba cfunc, one "
        f"of ctypes, or an address > 0; got {shown(given)}."
    )


def _compiled(function: Callable[..., Any], what: str) -> Any:
    try:
        import numba
    except ImportError:
        raise ImportError(
            f"{what} is a Python function, which numba compiles. Install it: pip install 'southwell[numba]'; or derive "
            "from losses.Custom, whose functions are over arrays."
        ) from None
    one = function if hasattr(function, "py_func") else numba.njit(error_model="numpy")(function)
    types: Any = numba.types  # which are not annotated
    numbers = types.CPointer(numba.float64)

    def loop(n, m, b, out):  # type: ignore[no-untyped-def]
        for i in range(n):
            out[i] = one(m[i], b[i])

    return numba.cfunc(numba.void(numba.int64, numbers, numbers, numbers))(loop)
