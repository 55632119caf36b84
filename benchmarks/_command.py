"""A command that runs studies by name."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path


def run(doc: str, studies: tuple[Callable, ...], quick: bool = False) -> None:
    """Run the studies named on the command line, or all. Each gets the folder for plots and, if it can, --quick."""
    known = {study.__name__: study for study in studies}
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="which studies; default: all")
    parser.add_argument("--out", type=Path, help="folder for plots")
    if quick:
        parser.add_argument("--quick", action="store_true", help="smaller data, shorter runs")
    given = parser.parse_args()
    if unknown := set(given.names) - set(known):
        parser.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in given.names or known:
        known[name](given.out, *([given.quick] if quick else []))
