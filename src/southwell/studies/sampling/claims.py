"""What Perekrestenko, Cevher and Jaggi 2017 say of their experiments and theorems, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ..findings import Findings, Race
from ..study import Claim, Verdict
from ..verdicts import outcome, shown
from .races import EACH_STEP, FIXED, TARGETS

PAPER = "sampling"
FIGURES, LARGE, COSTS, LAWS = "sampling-figures", "sampling-rcv1", "sampling-costs", "sampling-theorems"
RAW = ("Lasso, mushrooms", "Lasso, rcv1*", "SVM, ionosphere")
UNITS = {"epoch": "epochs", "operations": "operations", "seconds": "seconds"}


def compared(race: Race, first: str, second: str, unit: str, error: str) -> list[bool]:
    """Whether ``first`` reaches each target in less than ``second``. Ties, and targets that neither
    reached, tell nothing and are left out."""
    pairs = [[race.reached(rule, target, unit, error) for rule in (first, second)] for target in TARGETS]
    return [a < b for a, b in pairs if a != b]


def _races(findings: Findings, titles: Iterable[str]) -> list[Race]:
    return [race for race in findings.races if race.title in titles]


def ahead(races: Iterable[Race], firsts: Sequence[str], others: Sequence[str], units: Sequence[str] = ("epoch",),
          also: Sequence[str] = ()) -> Verdict:  # fmt: skip
    """The verdict on "all ``firsts`` are ahead of all ``others``": how many comparisons hold, with figures.

    Those in the units ``also`` are told, and decide nothing.
    """
    held, told = [], []
    for race in races:
        for unit in (*units, *also):
            for first in firsts:
                for other in others:
                    found = [good for error in ("gap", "error") for good in compared(race, first, other, unit, error)]
                    held += found if unit in units else []
            figures = [
                f"{rule} {' and '.join(shown(race.reached(rule, target, unit, 'gap')) for target in TARGETS)}"
                for rule in (*firsts, *others)
            ]
            told.append(f"{race.title}, {UNITS[unit]}: {', '.join(figures)}")
    goals = " and ".join(f"{target:g}" for target in TARGETS)
    return Verdict(outcome(held), f"{sum(held)} of {len(held)} comparisons. To a gap of {goals}: {'; '.join(told)}.")


def _importance_on_lasso(found: Mapping[str, Findings]) -> Verdict:
    return ahead(_races(found[FIGURES], RAW[:2]), ["importance"], ["uniform"])


def _importance_on_svm(found: Mapping[str, Findings]) -> Verdict:
    return ahead(_races(found[FIGURES], RAW[2:]), ["uniform"], ["importance"])


def _total_cost(found: Mapping[str, Findings]) -> Verdict:
    races = _races(found[FIGURES], RAW)
    return ahead(races, ["gap_per_epoch"], FIXED[:2], ("epoch", "operations"), also=("seconds",))


def _adaptive_ahead(found: Mapping[str, Findings]) -> Verdict:
    return ahead(_races(found[FIGURES], RAW), EACH_STEP, FIXED[:2])


def _gap_first(found: Mapping[str, Findings]) -> Verdict:
    return ahead(_races(found[FIGURES], RAW), EACH_STEP[-1:], EACH_STEP[:-1])


def _dear(found: Mapping[str, Findings]) -> Verdict:
    costs = found[COSTS].numbers["costs"]
    afresh = {name: case["afresh"]["ada_gap"] for name, case in costs.items()}
    follow = {name: case["follow"]["ada_gap"] for name, case in costs.items()}
    held, told = [], []
    for race in _races(found[FIGURES], RAW):
        own = race.reached("ada_gap", TARGETS[1], "seconds", "gap")
        best = min(race.reached(rule, TARGETS[1], "seconds", "gap") for rule in FIXED)
        if min(own, best) < np.inf:
            held.append(own > best)
            told.append(f"{race.title}: {shown(1e3 * own)} ms, the best fixed rule {shown(1e3 * best)}")
    said = ", ".join(f"{name}: {shown(afresh[name])} and {shown(follow[name])}" for name in costs)
    return Verdict(
        outcome(held),
        f"A move of ada_gap costs so many of uniform, with all scores afresh and with scores that follow: {said}. "
        f"To a gap of {TARGETS[1]:g} with scores that follow: {'; '.join(told)}.",
    )


def _subsampled(found: Mapping[str, Findings]) -> Verdict:
    races = _races(found[FIGURES], RAW[1:2])
    return _all([
        ("importance ahead of uniform", ahead(races, ["importance"], ["uniform"])),
        ("gap_per_epoch ahead of both", ahead(races, ["gap_per_epoch"], FIXED[:2])),
        ("adaptive rules ahead of importance", ahead(races, EACH_STEP, ["importance"])),
        ("ada_gap ahead of other adaptive rules", ahead(races, EACH_STEP[-1:], EACH_STEP[:-1])),
    ])  # fmt: skip


def _large(found: Mapping[str, Findings]) -> Verdict:
    lasso, svm = (_races(found[LARGE], [title]) for title in ("Lasso, rcv1", "SVM, rcv1"))
    return _all([
        ("Lasso, importance ahead of uniform", ahead(lasso, ["importance"], ["uniform"])),
        ("Lasso, gap_per_epoch ahead of both", ahead(lasso, ["gap_per_epoch"], FIXED[:2])),
        ("SVM, importance behind uniform", ahead(svm, ["uniform"], ["importance"])),
        ("SVM, gap_per_epoch ahead of both", ahead(svm, ["gap_per_epoch"], FIXED[:2])),
    ])  # fmt: skip


def _all(parts: list[tuple[str, Verdict]]) -> Verdict:
    """The verdict on several statements at once."""
    kinds = {verdict.outcome for _, verdict in parts} - {"cannot tell"}
    whole = kinds.pop() if len(kinds) == 1 else "in part" if kinds else "cannot tell"
    return Verdict(whole, " ".join(f"{name}: {verdict.outcome}. {verdict.because}" for name, verdict in parts))


def _theorems(found: Mapping[str, Findings]) -> Verdict:
    numbers = found[LAWS].numbers
    excess, ratios = max(numbers["excess"].values()), numbers["ratios"]
    held = [excess < 1e-9, ratios["3.3"] <= 1 + 1e-9, ratios["3.7"] <= 1 + 1e-9]
    return Verdict(
        outcome(held),
        f"Lemma 3.1: the left side of (5) exceeds the right by at most {excess:.1e} of O_A. Over all draws of the "
        f"first {numbers['steps']} moves on {numbers['problems']} random problems of each kind the error is at most "
        f"{shown(ratios['3.3'])} of the bound of theorem 3.3 and {shown(ratios['3.7'])} of that of theorem 3.7.",
    )


def _claim(name: str, where: str, says: str, studies: tuple[str, ...],
           judge: Callable[[Mapping[str, Findings]], Verdict], differs: str = "") -> Claim:  # fmt: skip
    return Claim(name, PAPER, where, says, studies, judge, differs)


_RCV1 = "Without a file, rcv1 is generated: text-like data of the same shape."
CLAIMS = (
    _claim("A1", "section 5, figure 1", "On the Lasso, importance sampling converges faster than uniform sampling on "
           "both data sets.", (FIGURES,), _importance_on_lasso, _RCV1),
    _claim("A2", "section 5, figure 1", "On the SVM, importance sampling is worse than uniform sampling.", (FIGURES,),
           _importance_on_svm),
    _claim("A3", "section 5, figures 1 and 2", "gap-per-epoch significantly outperforms uniform and importance "
           "sampling, "
           "in epochs and in vector operations.", (FIGURES,), _total_cost, _RCV1),
    _claim("A4", "section 5, figure 1", "Per epoch, all rules that adapt at every step outperform the fixed ones.",
           (FIGURES,), _adaptive_ahead, _RCV1),
    _claim("A5", "section 5, figure 1", "Among the rules that adapt at every step, ada-gap converges fastest per "
           "epoch, in "
           "suboptimality and in the gap.", (FIGURES,), _gap_first, _RCV1),
    _claim("A6", "section 4.3, table 1", "Rules that adapt at every step are too expensive: an epoch costs n passes "
           "over "
           "the data.", (FIGURES, COSTS), _dear,
           "Judged on scores that follow every move, which the paper does not have; its own cost is given beside it."),
    _claim("A7", "section 5, figure 1", "On rcv1* the rules come in the same order as on mushrooms.", (FIGURES,),
           _subsampled, _RCV1),
    _claim("A8", "appendix C, figures 3 and 4", "On the whole of rcv1 the rules that stay for an epoch come in the "
           "same "
           "order as on the small sets.", (LARGE,), _large,
           _RCV1 + " The paper has no sentence on these figures; those of section 5 are taken for them."),
    _claim("A9", "sections 3.1 and 3.2", "Lemma 3.1 and the rates (9) of theorem 3.3 and (12) of theorem 3.7.", (LAWS,),
           _theorems, "The bounds (10) and (11) on the number of iterations are not tried: they need many more draws "
            "than "
           "can be enumerated."),
)  # fmt: skip
