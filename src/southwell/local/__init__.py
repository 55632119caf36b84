"""Penalties that are not convex, MCP and SCAD: local minima, each convex step of the way proven.

What the rest of southwell proves cannot be proven here: no bound tells how far the best minimum is. Every result says
so (``local`` is True). What is proven is the last convex problem, whose weights the answer itself determines, up to
``change``: the answer is stationary.
"""

from .._concave import MCP as MCP
from .._concave import SCAD as SCAD
from ._solve import Local as Local
from ._solve import LocalPath as LocalPath
from ._solve import path as path
from ._solve import solve as solve

__all__ = ["MCP", "SCAD", "Local", "LocalPath", "path", "solve"]
