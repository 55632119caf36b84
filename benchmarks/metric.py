"""Matrix risks and metric learning: python benchmarks/metric.py [risk] [tasks] [lmnn] [memory] [--quick]

``risk``: Yu, Lin, Yang 2015, section 6.2: random matrices, 100 blocks of 100 x 100 and 200 x 200; seconds and
eigendecompositions to a relative gap. ``tasks``: section 6.3 on usps and mnist in the place of aloi: the pairs of
digits are 45 tasks. ``lmnn``: one metric on usps against metric-learn and PyLMNN, which ``--peers PYTHON`` names the
environment of (numpy < 2, scipy < 1.11, scikit-learn < 1.3, six). ``memory``: 1.15 million triplets of 128-dimensional
points, in a process of its own (Linux). One thread, unless ``--threads`` says otherwise; tables are Markdown.
"""

from __future__ import annotations

import argparse
import warnings

from _metric_lmnn import lmnn
from _metric_memory import child, memory
from _metric_risk import risk
from _metric_tasks import tasks

STUDIES = {"risk": risk, "tasks": tasks, "lmnn": lmnn, "memory": memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(STUDIES))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each solve")
    parser.add_argument("--sets", nargs="*", default=["usps", "mnist"], help="for tasks")
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
