"""Metric learning: python benchmarks/metric.py [lmnn] [memory] [--quick]

``lmnn``: one metric on usps against metric-learn and PyLMNN, which ``--peers PYTHON`` names the environment of (numpy <
2, scipy < 1.11, scikit-learn < 1.3, six). ``memory``: 1.15 million triplets of 128-dimensional points, in a process of
its own (Linux). One thread, unless ``--threads`` says otherwise; tables are Markdown. The experiments of Yu, Lin and
Yang 2015 are ``southwell reproduce dspdc``.
"""

from __future__ import annotations

import argparse
import warnings

from _metric_lmnn import lmnn
from _metric_memory import child, memory

STUDIES = {"lmnn": lmnn, "memory": memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(STUDIES))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each solve")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", help="the Python of an environment with metric-learn and PyLMNN")
    parser.add_argument("--quick", action="store_true", help="smaller data, shorter runs")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.worker:
        child(given.worker, given)
        return
    for name in given.names:
        if name not in STUDIES:
            parser.error(f"no study {name}; there are {', '.join(STUDIES)}")
        STUDIES[name](given)


if __name__ == "__main__":
    main()
