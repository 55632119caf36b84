"""Two installed versions of southwell against one another, on the cases of peers.py and of blocks.py:

    python benchmarks/versions.py OLD NEW [--cases REGEX] [--rounds 3] [--threads 1] [--processor] [--out FILE]

OLD and NEW are Pythons of environments that have one version each. Each has a process that loads a data set once; they
solve by turns, so that whatever else the machine does slows both. The fastest of all rounds counts; with --processor,
in seconds of the processor, which other programs hardly lengthen. Tolerances are the defaults; a case whose objectives
differ by more than the two gaps together is reported.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

CLOCK = time.perf_counter


def scalar_cases(cache: Path):
    """Name, data set, and a function of the data that returns a timed fit: (seconds, objective, gap, unit)."""
    import southwell as sw
    from _peers_cases import CASES, sets

    loaders = sets(False, cache)

    def timed(case):
        def run(A, b, threads):
            ask = case.ask(A, b, threads)

            def fit():
                begun = CLOCK()
                r = sw.solve(A, b, loss=case.loss, l1=ask.l1, l2=ask.l2, intercept=case.intercept, n_threads=threads)
                return CLOCK() - begun, r.primal, r.gap, r.scale

            return fit

        return run

    for case in CASES:
        yield case.name, case.data, loaders[case.data], timed(case)


def block_cases():
    import blocks
    import southwell as sw

    def timed(kind, position, groups):
        def run(A, b, threads):
            strength = blocks.strengths(kind, A, b, groups)[0][position][1]
            sw.set_num_threads(threads)
            make, tolerances = blocks.makers(kind, "ours", strength, groups, A.shape[0])

            def fit():
                begun = CLOCK()
                model = make(tolerances[0]).fit(A, b)
                seconds = CLOCK() - begun
                coef = np.atleast_2d(model.coef_).T
                target = b if kind in blocks.CLASSES else b.reshape(A.shape[0], -1)
                value = blocks.objective(kind, A, target, strength, groups, coef, model.intercept_)
                return seconds, value, model.gap_, 1.0

            return fit

        return run

    for kind in ("groups", "tasks", "classes", "sparse"):
        for name, A, b, groups in getattr(blocks, f"{kind}_data")():
            for position in range(3):
                yield (
                    f"{kind} {name} {position}",
                    f"{kind} {name}",
                    lambda A=A, b=b: (A, b),
                    timed(kind, position, groups),
                )


def work(given: argparse.Namespace) -> None:
    """Announce the cases, then answer a line (its number) with a line (the fit)."""
    warnings.simplefilter("ignore")
    held, data, fit, current = None, None, None, None
    every = [*scalar_cases(given.cache), *block_cases()]
    print(json.dumps([name for name, *_ in every]), flush=True)
    for line in sys.stdin:
        number = int(line)
        _, name, load, make = every[number]
        if name != held:
            try:
                data, held = load(), name
            except FileNotFoundError:
                print("null", flush=True)
                continue
        if number != current:
            fit, current = make(*data, given.threads), number
            fit()  # layouts of the allocator, imports
        print(json.dumps([float(part) for part in fit()]), flush=True)


class Worker:
    def __init__(self, python: str, given: argparse.Namespace):
        alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(given.threads))
        command = [
            python,
            __file__,
            python,
            python,
            "--work",
            "--threads",
            str(given.threads),
            "--cache",
            str(given.cache),
            *(["--processor"] if given.processor else []),
        ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | alone
        )
        self.names = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("A worker ended; its error stands above.")
        return json.loads(line)

    def fit(self, number: int):
        print(number, file=self.process.stdin, flush=True)
        return self.answer()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--cases", metavar="REGEX", default="")
    parser.add_argument(
        "--rounds", type=int, default=3, help="at least; fast cases get up to 15 (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processor", action="store_true", help="measure seconds of the processor, not of the clock")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "southwell-peers")
    parser.add_argument("--out", type=Path, help="a file for the table")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.processor:
        global CLOCK
        CLOCK = time.process_time
    if given.work:
        work(given)
        return
    old, new = Worker(given.old, given), Worker(given.new, given)
    lines, ratios = [], []
    for number, name in enumerate(new.names):
        if not re.search(given.cases, name):
            continue
        fits = [], []
        while len(fits[0]) < given.rounds or (len(fits[0]) < 15 and sum(f[0] for f in fits[0]) < 1.0):
            for worker, found in zip((old, new), fits, strict=True):
                found.append(worker.fit(number))
            if fits[0][0] is None:
                break
        if fits[0][0] is None:
            lines.append(f"{name:42} (data are missing)")
        else:
            seconds = [min(f[0] for f in found) for found in fits]
            (_, p, g, unit), (_, q, h, _) = fits[0][-1], fits[1][-1]
            apart = "" if abs(p - q) <= max(g, 0) + max(h, 0) + 1e-12 * abs(p) else f"  OBJECTIVES {p!r} {q!r}"
            ratios.append(seconds[1] / seconds[0])
            lines.append(
                f"{name:42} {seconds[0]:9.4f} {seconds[1]:9.4f} s  {ratios[-1]:5.2f}"
                f"  gaps {g / unit:.0e} {h / unit:.0e}{apart}"
            )
        print(lines[-1], flush=True)
    if ratios:
        lines.append(
            f"geometric mean {np.exp(np.mean(np.log(ratios))):.3f}, worst {max(ratios):.2f}, over {len(ratios)} cases"
        )
        print(lines[-1])
    if given.out:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
