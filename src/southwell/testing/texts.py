"""Real texts that every installation has: the documentation of NumPy, SciPy and scikit-learn."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module

import numpy as np

MODULES = (
    *("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.ma", "numpy.char"),
    *(f"scipy.{name}" for name in (
        "cluster.hierarchy", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse",
        "sparse.linalg", "spatial", "spatial.distance", "special", "stats",
    )),
    *(f"sklearn.{name}" for name in (
        "cluster", "covariance", "datasets", "decomposition", "ensemble", "feature_selection", "linear_model",
        "metrics", "model_selection", "neighbors", "preprocessing", "svm", "utils",
    )),
)  # fmt: skip


def docstrings(shortest: int = 300) -> tuple[list[str], np.ndarray]:
    """The docstrings of what public modules export, and the names of the modules.

    There are about 2,400, more with each version of the libraries; a text that several modules export counts for the
    first.

    Parameters
    ----------
    shortest : int
        Shorter texts are left out.

    Examples
    --------
    >>> from southwell.testing.texts import docstrings
    >>> texts, modules = docstrings()
    >>> len(texts) == len(modules) > 1000, "scipy.stats" in modules
    (True, True)
    """
    found: dict[str, str] = {}
    for name in MODULES:
        module = import_module(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is deprecated
            known = [vars(module).get(exported) for exported in sorted(module.__all__)]
            texts = [inspect.getdoc(one) for one in known if callable(one)]
        for text in texts:
            if text is not None and len(text) >= shortest:
                found.setdefault(text, name)
    return list(found), np.array(list(found.values()))
