"""Two toy studies and their claims, for tests of the runner and of the report."""

import numpy as np

from southwell.studies.findings import Findings, Race, Table, Trace
from southwell.studies.papers import Registry
from southwell.studies.study import Claim, Study, Verdict


def trace(label: str, role: str, rate: float, rows: int = 40, setup: float = 0.0) -> Trace:
    epochs = np.arange(rows)
    error = rate**epochs
    columns = {"epoch": epochs, "seconds": 0.01 * epochs, "error": error, "gap": np.r_[np.inf, error[1:] * 3]}
    return Trace(label, role, columns, setup)


def findings() -> Findings:
    """Everything that findings can hold, and awkward values of it."""
    roles = ("paper", "ours", "baseline")
    many = [trace(f"method {k} & co.", roles[k % 3], 0.3 + 0.05 * k) for k in range(12)]
    few = [trace("greedy <1>", "paper", 0.5, setup=0.1), trace("random", "baseline", 0.9)]
    cells = {"method": "a < b", "epochs": 12345, "seconds": np.float64(0.1234567), "never": float("inf"), "ok": True}
    return Findings(
        races=[
            Race("Twelve methods", many, caption="Errors fall at different rates."),
            Race(
                "Two methods", few, (("epoch", "error"), ("seconds", "error"), ("epoch", "gap")), "xy", {"gap": "Gap"}
            ),
            Race("Linear", few, (("epoch", "error"),), ""),
            Race("Hidden at first", few),
        ],
        tables=[Table("Times", [cells, {"method": "c", "epochs": None, "note": "n" * 300}])],
        numbers={
            "ratio": 1 / 3,
            "inf": -np.inf,
            "nan": float("nan"),
            "by": {(1, 0.1): 2, "x": [1, (2, None)]},
            "$x": 1,
        },
        notes=("Half of the rows.",),
    )


def first(bench) -> Findings:
    bench.data("breast_cancer", rows=50)
    bench.say("at work")
    return findings()


def second(bench) -> Findings:
    bench.say("at work")
    return Findings(numbers={"seconds": 2.0, "quick": bench.quick, "seed": bench.seed})


FIRST = Study("toy-first", "dgpd", "A first toy", "section 1, figure 1", first)
SECOND = Study("toy-second", "spdc", "A second toy", "section 2", second)


def claim(name: str, outcome: str, *studies: str, paper: str = "dgpd", **more) -> Claim:
    def judge(found):
        return Verdict(outcome, f"{len(found)} studies & {next(iter(found.values())).numbers}.")

    return Claim(name, paper, "section 1", f"Toys are quick ({name}).", studies, judge, **more)


def registry(*studies: Study) -> Registry:
    """Claims of each outcome: two on the first study, one on the second, one on both."""
    known = {study.name: study for study in (studies or (FIRST, SECOND))}
    return Registry(
        known,
        (
            claim("T1", "holds", "toy-first"),
            claim("T2", "in part", "toy-first", differs="It is a toy."),
            claim("T3", "fails", "toy-second", paper="spdc"),
            claim("T4", "cannot tell", "toy-first", "toy-second", paper="spdc"),
        ),
    )
