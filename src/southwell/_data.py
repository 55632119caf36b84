"""Validation of ``A``, ``b`` and weights: once, before any work, and without copies unless stated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _blas, _core, _sparse
from ._dense import refuse_unreadable
from ._scipy import sparse as sp
from ._typing import AnyMatrix, Given
from ._words import OF_SOLVE, Words

MOST = 2**31 - 1  # the largest number of rows or columns


def _as_float(array: np.ndarray, what: str) -> np.ndarray:
    """float32 and float64 arrays are returned as they are; other real numbers become float64."""
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{what} must hold real numbers; got dtype {array.dtype}. Convert it first, for example with "
            f"{what}.astype(float)."
        )
    if array.dtype == np.float32 or array.dtype == np.float64:  # native byte order
        return np.require(array, requirements="A")  # unaligned numbers are undefined behaviour in C++
    with np.errstate(over="ignore"):  # a long double beyond the range becomes infinite, which is refused
        return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def column(given: Given, what: str, size: int | None, data: str, kind: str, *, one: bool = False) -> np.ndarray:
    """A one-dimensional array of any dtype, as long as ``data`` asks for; with ``one``, a number is a vector too."""
    if sp.issparse(given):
        raise TypeError(f"{what} must be one-dimensional {kind}; got a sparse matrix. Give {what}.toarray().")
    refuse_unreadable(given, what)
    try:
        values = np.asarray(given)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} must be one-dimensional {kind}; got {type(given).__name__} of mixed shapes."
        ) from None
    if (values.ndim == 2 and 1 in values.shape) or (one and values.ndim == 0):
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional; got shape {values.shape}.")
    if size is not None and values.size != size:
        raise ValueError(f"{what} must have {size} entries to agree with {data}; got {values.size}.")
    return values


def vector(given: Given, what: str, size: int | None = None, data: str = "A", *, one: bool = False) -> np.ndarray:
    """A finite, contiguous float64 vector, as long as ``data`` asks for; with ``one``, a number is a vector too."""
    values = column(given, what, size, data, "numbers", one=one)
    values = np.require(_as_float(values, what), np.float64, ["C", "A"])
    if not _core.all_finite(values):
        raise ValueError(f"{what} contains NaN or infinity. Remove or impute those entries first.")
    return values


@dataclass
class Centred:
    """``A`` with each column's mean (or ``means``) subtracted, never formed: sparse data stay sparse.

    Pass it wherever ``A`` is expected. Without ``means``, ``Problem`` uses the means with the sample weights.
    Centring dense data costs nothing. With sparse data it costs nothing for the default method, for DSPDC, and for
    coordinate descent on the squared loss (primal) or without l1, bounds and strength (dual); otherwise every move of
    coordinate descent touches all samples (primal) or all features (dual). With an intercept, centring changes the
    optimal intercept only; ``Problem`` then centres dense data automatically, because methods converge faster.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> A, b = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]), np.array([-1.0, 0.0, 1.0])
    >>> r = sw.solve(sw.Centred(A), b, l2=0.1, tol=1e-10)
    >>> bool(np.allclose(r.x, sw.solve(A - A.mean(0), b, l2=0.1, tol=1e-10).x))
    True
    """

    A: object
    means: np.ndarray | None = None


@dataclass
class Factorised:
    """``A = U V``, given by its factors and never formed: n x k times k x d, NumPy arrays or SciPy sparse matrices.

    Pass it wherever ``A`` is expected. A product costs the entries of both factors. FISTA and L-BFGS need products
    only, DSPDC keeps vectors between the factors, and SPDC, SAGA, SAG, SVRG and CoordinateDescent on the dual side form
    each row when they read it. Other methods refuse factors.

    Examples
    --------
    >>> import numpy as np, southwell as sw
    >>> rng = np.random.default_rng(0)
    >>> U, V = rng.normal(size=(200, 3)), rng.normal(size=(3, 40))
    >>> b = np.sign(U[:, 0] + 0.1)
    >>> r = sw.solve(sw.Factorised(U, V), b, loss="logistic", l2=0.1)
    >>> bool(np.allclose(r.x, sw.solve(U @ V, b, loss="logistic", l2=0.1).x, atol=1e-2)), r.status
    (True, Status.CONVERGED)
    """

    U: object
    V: object


class Matrix:
    """A checked design matrix. Its two layouts are built when first needed, and kept.

    ``columns`` reads CSC and Fortran order as they are, ``rows`` CSR and C order; the other pair is built once.
    """

    def __init__(self, A: Given, name: str = "A") -> None:
        _blas.use()
        self.sparse: bool = sp.issparse(A)
        self._given: AnyMatrix = self._check_sparse(A, name) if self.sparse else self._check_dense(A, name)
        self.shape: tuple[int, int] = self._given.shape
        self._by_columns: AnyMatrix | None = None
        self._by_rows: AnyMatrix | None = None

    @staticmethod
    def _check_dense(A: Given, name: str) -> np.ndarray:
        refuse_unreadable(A, name)
        try:
            array = np.asarray(A)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must be a 2-d array or a SciPy sparse matrix; got {type(A).__name__}.") from error
        if array.ndim != 2:
            raise ValueError(
                f"{name} must be 2-d, samples by features; got shape {array.shape}. "
                f"One feature: {name}.reshape(-1, 1); one sample: {name}.reshape(1, -1)."
            )
        refuse_size(array.shape, name)
        array = _as_float(array, name)
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            array = array.copy(order="K")  # rows of a Fortran array remain columns
        refuse_infinite(array.ravel(order="K"), name)
        return array

    @staticmethod
    def _check_sparse(A: Given, name: str) -> AnyMatrix:
        matrix = _sparse.sound_array(A, name)
        refuse_size(matrix.shape, name)
        matrix.data = np.ascontiguousarray(_as_float(matrix.data, name))
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        refuse_infinite(matrix.data, name)
        return matrix

    @property
    def given(self) -> AnyMatrix:
        """The matrix in the layout it was given in."""
        return self._given

    def alike(self, given: AnyMatrix) -> Matrix:
        """Another matrix that is made of the entries of this one, which have been checked."""
        other = object.__new__(Matrix)
        other.sparse, other._given, other.shape = self.sparse, given, given.shape
        other._by_columns = other._by_rows = None
        return other

    def over(self, features: np.ndarray) -> Matrix:
        """These columns alone, copied."""
        return self.alike(self.columns[:, features] if self.sparse else np.asfortranarray(self._given[:, features]))

    @property
    def shifts_are_free(self) -> bool:
        """Whether a constant can be added to a column as it is read, which is so for dense data."""
        return not self.sparse

    @property
    def stored(self) -> int:
        """Stored entries."""
        return int(self._given.indptr[-1]) if self.sparse else self._given.size

    @property
    def given_by_columns(self) -> bool:
        """Whether A was given in CSC or Fortran order. Products use this axis, whatever other layout is built later."""
        return self._given.format == "csc" if self.sparse else not self._given.flags.c_contiguous

    def has_columns(self) -> bool:
        """Whether columns can be read without building another layout."""
        return self._by_columns is not None or (
            self._given.format == "csc" if self.sparse else self._given.flags.f_contiguous
        )

    def has_rows(self) -> bool:
        """Whether rows can be read without building another layout."""
        return self._by_rows is not None or (
            self._given.format == "csr" if self.sparse else self._given.flags.c_contiguous
        )

    @property
    def columns(self) -> AnyMatrix:
        if self._by_columns is None:
            self._by_columns = self._given.tocsc() if self.sparse else np.asfortranarray(self._given)
        return self._by_columns

    @property
    def rows(self) -> AnyMatrix:
        if self._by_rows is None:
            self._by_rows = self._given.tocsr() if self.sparse else np.ascontiguousarray(self._given)
        return self._by_rows

    def fibers(self, by_columns: bool) -> AnyMatrix:
        """The columns, or the rows, as the rows of a CSR or C-ordered matrix."""
        return self.columns.T if by_columns else self.rows

    def layout(self, by_columns: bool, shifts: np.ndarray | None, intercept: bool) -> _core.Layout:
        """The compiled view along one axis, with constants added to columns and with an intercept."""
        fibers = self.fibers(by_columns)
        frame = (np.empty(0) if shifts is None else shifts, intercept)
        if self.sparse:
            parts = fibers.data, fibers.indices, fibers.indptr
            return _core.sparse_layout(*parts, fibers.shape[1], by_columns, *frame)
        return _core.dense_layout(fibers, by_columns, *frame)

    def ready_layout(self, shifts: np.ndarray | None, intercept: bool) -> _core.Layout:
        """The layout it was given in."""
        return self.layout(self.given_by_columns, shifts, intercept)

    def largest_squares(self, shifts: np.ndarray | None, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
        """The largest squared entry of each row and of each column, constants and intercept included."""
        if self.sparse:
            squares = abs(self._given)
            by_row, by_column = (np.asarray(squares.max(axis=k).todense()).ravel() for k in (1, 0))
            if shifts is not None:  # |a + c| <= |a| + |c|
                by_row, by_column = by_row + np.abs(shifts).max(), by_column + np.abs(shifts)
        else:
            shift = 0.0 if shifts is None else shifts
            slabs = range(0, self.shape[0], max(1, 1_000_000 // self.shape[1]))
            by_row, by_column = np.zeros(self.shape[0]), np.zeros(self.shape[1])
            for start in slabs:
                slab = np.abs(self._given[start : start + slabs.step] + shift)
                by_row[start : start + slabs.step] = slab.max(axis=1)
                by_column = np.maximum(by_column, slab.max(axis=0))
        if intercept:
            by_row, by_column = np.maximum(by_row, 1.0), np.append(by_column, 1.0)
        return by_row.astype(float) ** 2, by_column.astype(float) ** 2

    def exact_means(self, means: np.ndarray) -> np.ndarray:
        """Means of columns, exact if a column is constant, so that it is exactly zero after centring."""
        if self.sparse:
            by_column = self._given.format == "csc"
            sizes = np.diff(self._given.indptr) if by_column else np.bincount(self._given.indices)
            full = np.flatnonzero(sizes == self.shape[0])
            if full.size:
                values = self._given[:, full].tocsc().data.reshape(full.size, -1)
                same = values.min(axis=1) == values.max(axis=1)
                means[full[same]] = values[same, 0]
            return means
        first = np.asarray(self._given[0], dtype=np.float64)
        for j in np.flatnonzero(np.isclose(means, first, rtol=1e-10, atol=0.0)):
            if (self._given[:, j] == first[j]).all():
                means[j] = first[j]
        return means

    def weighted_gram(self, weights: np.ndarray, of_columns: bool, shifts: np.ndarray | None = None) -> np.ndarray:
        """A' diag(weights) A (of columns) or A diag(weights) A' (of rows), in float64, some rows at a time.

        ``shifts`` are added to the columns of dense data as the slabs are read."""
        A = self._given if of_columns else self._given.T
        size, step = A.shape[1], max(1, 4_000_000 // max(A.shape[1], 1))
        total = np.zeros((size, size))
        if self.sparse:
            A = A.tocsr()  # copies only if the layout differs
        for start in range(0, A.shape[0], step):
            slab = A[start : start + step].astype(np.float64)
            if shifts is not None:
                slab += shifts if of_columns else shifts[start : start + step, None]
            scaled = (
                slab.multiply(weights[start : start + step, None]).tocsr()
                if self.sparse
                else (slab * weights[start : start + step, None])
            )
            product = slab.T @ scaled
            total += product.toarray() if self.sparse else product
        return total


class Product:
    """A checked pair of factors. It has products with vectors, but stores no rows or columns of A."""

    shifts_are_free = False

    def __init__(self, given: Factorised) -> None:
        self.U, self.V = Matrix(given.U, "U"), Matrix(given.V, "V")
        if self.U.shape[1] != self.V.shape[0]:
            raise ValueError(
                f"The inner sizes of the factors must agree: U is {self.U.shape[0]} x {self.U.shape[1]}, "
                f"V is {self.V.shape[0]} x {self.V.shape[1]}. A = U V needs as many columns in U as rows in V."
            )
        self.shape = self.U.shape[0], self.V.shape[1]

    @property
    def stored(self) -> int:
        return self.U.stored + self.V.stored

    @property
    def product_size(self) -> int:
        """An upper bound of the number of entries of U V."""
        size = self.shape[0] * self.shape[1]
        if not (self.U.sparse and self.V.sparse):
            return size
        pairs = np.diff(self.U.columns.indptr).astype(np.int64) @ np.diff(self.V.rows.indptr).astype(np.int64)
        return min(size, int(pairs))

    def formed(self) -> Matrix | None:
        """U V in float64, sparse if both factors are; None if it overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            product = self.U.columns.astype(np.float64) @ self.V.columns.astype(np.float64)
        finite = np.isfinite(product.data if sp.issparse(product) else product).all()
        return Matrix(product) if finite else None

    def factor_layouts(self, intercept: bool) -> tuple[_core.Layout, _core.Layout]:
        """The rows of U and the columns of V; an intercept is one more inner coordinate: [U 1] times [V 0; 0 1]."""
        return self.U.layout(False, None, intercept), self._second(intercept).layout(True, None, False)

    def row_layouts(self) -> tuple[_core.Layout, _core.Layout]:
        """The rows of U and the rows of V."""
        return self.U.layout(False, None, False), self.V.layout(False, None, False)

    def layout(self, by_columns: bool, shifts: np.ndarray | None, intercept: bool) -> _core.Layout:
        return _core.factorised_layout(*self.factor_layouts(intercept))

    def ready_layout(self, shifts: np.ndarray | None, intercept: bool) -> _core.Layout:
        return self.layout(False, shifts, intercept)

    given_by_columns = False

    def has_columns(self) -> bool:
        return False

    def has_rows(self) -> bool:
        return True

    def _second(self, intercept: bool) -> Matrix:
        if not intercept:
            return self.V
        if self.V.sparse:
            return Matrix(sp.block_diag((self.V.columns, [[1.0]]), format="csc"))
        k, d = self.V.shape
        bordered = np.zeros((k + 1, d + 1), dtype=self.V.columns.dtype, order="F")
        bordered[:k, :d], bordered[k, d] = self.V.columns, 1.0
        return Matrix(bordered)


def refuse_size(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        raise ValueError(f"{name} is empty: its shape is {shape}. At least one sample and one feature are needed.")
    if max(shape) > MOST:
        raise ValueError(
            f"{name} is too large: its shape is {shape}, and the core numbers rows and columns with 32 bits, up to "
            f"{MOST}. Drop empty rows and columns, or fit a sample of the rows. (The number of entries is not limited.)"
        )


def readable(given: Given, what: str) -> Any:
    """``given``, checked so that scikit-learn can read it: sparse matrices are valid, arrays are readable."""
    if sp.issparse(given):
        return _sparse.sound(given, what)
    refuse_unreadable(given, what)
    return given


def refuse_infinite(values: np.ndarray, name: str) -> None:
    if not _core.all_finite(values):
        raise ValueError(f"{name} contains NaN or infinity. Impute or drop those entries first.")


def weights(given: Given, size: int, data: str = "A") -> np.ndarray:
    """Sample weights that sum to one."""
    if given is None:
        return np.full(size, 1.0 / size)
    values = vector(given, "sample_weight", size, data)
    if values.min() < 0:
        raise ValueError(f"sample_weight must be >= 0; the smallest is {values.min()}.")
    if values.max() == 0:
        raise ValueError("sample_weight must have a positive, finite sum; all weights are zero.")
    values = values / values.max()  # so that the sum cannot overflow
    return np.asarray(values / values.sum())


LEAST_TARGET = {"real": -np.inf, "counts": 0.0, "positive": float(np.finfo(np.float64).tiny)}
"""The least target of losses over numbers, by kind. Positive ones have a logarithm, so they must not be denormal."""


def targets(given: Given, kind: str, size: int, loss: str, words: Words = OF_SOLVE) -> np.ndarray:
    """Checked targets of a loss over numbers: real ones, counts, or positive ones."""
    values = vector(given, words.targets, size, words.data).copy()  # a copy, so that the checked values cannot change
    if values.min() < LEAST_TARGET[kind]:
        allowed = ">= 0" if kind == "counts" else "> 0"
        raise ValueError(f"The {loss} loss takes targets {allowed}; the smallest is {values.min():g}.")
    return values


def names_of(A: Given, n_features: int) -> list[str] | None:
    """The names of the columns of a DataFrame, if all are strings; else None."""
    inner: Any = A.A if isinstance(A, Centred) else A.V if isinstance(A, Factorised) else A
    if hasattr(inner, "feature_names") and hasattr(inner, "shards"):
        return None if inner.feature_names is None else list(inner.feature_names)
    if isinstance(inner, np.ndarray) or sp.issparse(inner) or not hasattr(inner, "columns"):
        return None
    try:
        names = list(inner.columns)
    except TypeError:
        return None
    return names if len(names) == n_features and all(isinstance(name, str) for name in names) else None
