"""Where plots are drawn."""

from __future__ import annotations


def axes(ax=None):
    """The given Axes, or new ones; matplotlib is imported only then."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib. Install it with: python -m pip install 'southwell[plot]'") from error
    return plt.subplots()[1]
