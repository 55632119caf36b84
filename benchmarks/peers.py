"""Seconds to a relative suboptimality of 1e-3 and 1e-6, ours and every peer's, on real data.

    python benchmarks/peers.py --peers PYTHON [--cases REGEX] [--half seen|heldout] [--html FILE] [--paths]

PYTHON is that of an environment with scikit-learn, celer, skglm, adelie, cyanure, snapml, glum and python-glmnet; a
peer that is not installed is reported. Ours runs in this Python. Errors are (P - P*) / P(0), the unit of our gap; P* is
the best objective that any solver reached, including our solve to 1e-11.

Ours is timed from raw arrays with a tolerance of 1e-6; the time to 1e-3 comes from its history. A peer is fitted at a
sequence of its own tolerances, from loose to tight; its time is that of the fastest fit that reached the target. Each
solver has one thread (or --threads) and a tiny fit before, for imports and compilation; fast fits are run three times
and the best counts. Seconds are the processor's on one thread, so that other programs do not count, and the clock's on
more. A peer may take --patience times our time, at least a tenth of that in seconds and at most --limit. No peer has
the smooth hinge with l1 and l2; there a user-defined loss in skglm, SciPy's L-BFGS-B and our FISTA are used instead.

--html FILE writes a page without scripts: the heat map of cases by peers, performance profiles and the table. --also
adds the tables of earlier runs to it; with --cases "^$" no case is run again.

--paths races 100 values of l1 from its maximum to a hundredth of it instead, to 1e-6 at each.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
import warnings
from pathlib import Path


def arguments() -> argparse.Namespace:
    scratch = Path(tempfile.gettempdir()) / "southwell-peers"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", metavar="PYTHON", help="the Python that has the peers")
    parser.add_argument("--cases", metavar="REGEX", default="", help="run the cases whose names match")
    parser.add_argument(
        "--half", choices=("old", "seen", "heldout"), default="old",
        help="old: the first cases; seen and heldout: the halves of the wider net",
    )  # fmt: skip
    parser.add_argument("--paths", action="store_true", help="race paths of l1 instead")
    parser.add_argument("--list", action="store_true", help="list the cases and exit")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rows of mnist and of the synthetic text; a limit of 10 s"
    )
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for a fit, ours or theirs; default: 60")
    parser.add_argument("--patience", type=float, default=20.0, help="times our time that a peer may take; default: 20")
    parser.add_argument("--without", metavar="REGEX", help="leave out the peers whose names match")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-memory", action="store_true", help="do not measure our peak memory")
    parser.add_argument("--out", type=Path, default=scratch, help=f"folder for table and plot; default: {scratch}")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="also write one page with a heat map of cases by peers"
    )
    parser.add_argument(
        "--also", type=Path, nargs="+", default=[], metavar="CSV", help="tables of earlier runs, for that page"
    )
    parser.add_argument(
        "--cache", type=Path, default=scratch, help="folder for the synthetic text, 600 MB; default: same"
    )
    given = parser.parse_args()
    if not given.list and not shutil.which(given.peers or ""):
        parser.error(f"--peers PYTHON: {given.peers or 'it'} was not found")
    given.limit = given.limit or (10.0 if given.quick else 60.0)
    return given


def main() -> None:
    given = arguments()
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{library}_NUM_THREADS"] = str(given.threads)
    warnings.simplefilter("ignore")
    from _net_cases import NET  # imported here because NumPy reads the number of threads when it is loaded
    from _peers_cases import CASES, PATHS

    halves = {half: [case for case in NET if case.half == half] for half in ("seen", "heldout")}
    chosen = PATHS if given.paths else {"old": CASES, **halves}[given.half]
    chosen = [case for case in chosen if re.search(given.cases, case.name)]
    if given.list:
        print("\n".join(case.name for case in chosen))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    run(given, chosen)
    if given.html and not given.paths:
        from _peers_html import page, read, versions_of

        rows = read([*given.also, *[given.out / "peers.csv"] * bool(chosen)])
        given.html.write_text(page(rows, versions_of(given.peers), given.threads), encoding="utf-8")
        print(f"the page is {given.html}")


def run(given: argparse.Namespace, chosen: list) -> None:
    """Run the cases by data set, so that each is loaded and passed to the worker once."""
    from _net_cases import NET_SETS
    from _peers_cases import sets
    from _peers_paths import PathStudy
    from _peers_race import Worker
    from _peers_report import CaseStudy
    from _peers_worker import save

    study = (PathStudy if given.paths else CaseStudy)(given)
    worker, loaders = Worker(given.peers), {**sets(given.quick, given.cache), **NET_SETS}
    try:
        for name in dict.fromkeys(case.data for case in chosen):
            try:
                A, b = loaders[name]()
            except FileNotFoundError as reason:
                print(f"{name}: skipped. {reason}", flush=True)
                continue
            with tempfile.TemporaryDirectory() as folder:
                save(Path(folder), A, b)
                for case in (case for case in chosen if case.data == name):
                    study.add(worker, Path(folder), case, A, b)
    finally:
        worker.stop()
        study.end()


if __name__ == "__main__":
    main()
