"""What Fang, Fang, Yu and Li 2021 say of their experiments, and whether it holds in what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

import numpy as np

from ..findings import Findings, Race, Trace
from ..study import Claim, Verdict

TARGETS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
ALIKE = 1.5  # curves that differ by this factor at most are called alike, and methods competitive
SIMILAR = 2.0  # a rate is called similar to another within this factor, and inferior beyond it
LITTLE = 0.1  # a share that is called far less than the whole

HYBRID = ("hybrid 2", "hybrid 4", "hybrid 8", "hybrid 16")
GREEDY = ("greedy", "greedy, followed")  # the same moves; the second computes less
Found = Mapping[str, Findings]


def arrival(trace: Trace, target: float, unit: str, error: str = "error") -> float:
    """``unit`` when the error falls to the target, between rows by the error's logarithm; infinity if it does not."""
    errors, spent = np.minimum.accumulate(trace.columns[error]), trace.columns[unit]
    there = np.flatnonzero(errors <= target)
    if not there.size:
        return float(np.inf)
    k = int(there[0])
    if k == 0 or errors[k] <= 0:
        return float(spent[k])
    part = np.log(errors[k - 1] / target) / np.log(errors[k - 1] / errors[k])
    return float(spent[k - 1] + part * (spent[k] - spent[k - 1]))


def first(race: Race, labels: Sequence[str], target: float, unit: str) -> tuple[float, bool]:
    """What the fastest of these methods spent to arrive, or if none arrived, what each has spent at least; and whether
    it arrived."""
    traces = [race[label] for label in labels]
    best = min(arrival(trace, target, unit) for trace in traces)
    return (best, True) if np.isfinite(best) else (min(trace.last(unit) for trace in traces), False)


class Ratio:
    """What some methods spent over what others did, and whether it is at most a limit, at the smallest target that
    decides this.

    Where only one side arrived, what the other has spent gives a bound, which may decide. ``value`` is nan and ``held``
    None if no target decides.
    """

    def __init__(self, race: Race, ours: Sequence[str], theirs: Sequence[str], unit: str, limit: float = 1.0) -> None:
        self.value, self.target, self.bound = float(np.nan), float(np.nan), ""
        self.held: bool | None = None
        for target in sorted(TARGETS):
            (a, came), (b, they) = first(race, ours, target, unit), first(race, theirs, target, unit)
            value = a / max(b, 1e-9)
            held = value <= limit
            if (came and they) or (came and held) or (they and not held):
                self.value, self.target, self.held = value, target, held
                self.bound = "" if came and they else "less than " if came else "more than "
                return

    def __str__(self) -> str:
        return "undecided" if self.held is None else f"{self.bound}{self.value:.3g} (at {self.target:g})"


def outcome(held: Sequence[bool]) -> str:
    """All, some or none; nothing decided is "cannot tell"."""
    return "cannot tell" if not held else "holds" if all(held) else "in part" if any(held) else "fails"


def listed(ratios: Mapping[str, Ratio]) -> str:
    return "; ".join(f"{name} {ratio}" for name, ratio in ratios.items())


def held(*ratios: Ratio) -> list[bool]:
    """Of the ratios that are decided: whether they are at most their limits."""
    return [ratio.held for ratio in ratios if ratio.held is not None]


def follows_greedy(found: Found) -> Verdict:
    races = [race for race in found["hybrid-blocks"].races if race.title.endswith("blobs")]
    ratios = {race.title: Ratio(race, ("hybrid 8", "hybrid 16"), GREEDY, "moves", SIMILAR) for race in races}
    doubled = {race.title: Ratio(race, ("hybrid 16",), ("hybrid 8",), "moves", 0.5) for race in races}
    followed = held(*ratios.values())
    linear = held(*doubled.values())  # twice the blocks, half the moves: no diminishing return
    told = f"Moves of hybrid with 8 or 16 blocks over those of greedy (similar: at most {SIMILAR:g}): {listed(ratios)}."
    told += f" With 16 instead of 8 blocks: {listed(doubled)}; diminishing returns where above 0.5."
    return Verdict(outcome([*followed, not any(linear)]) if followed else "cannot tell", told)


def fastest_in_time(found: Found) -> Verdict:
    races = [race for name in ("hybrid-blocks", "hybrid-svm", "hybrid-graph") for race in found[name].races]
    against = {
        rival: {race.title: Ratio(race, HYBRID, (rival,), "total") for race in races if rival in labels(race)}
        for rival in ("random", *GREEDY)
    }
    paper = both_beaten(against["random"], against["greedy"])
    all_three = both_beaten(*against.values())
    unclustered = [Ratio(race, HYBRID, ("random",), "seconds") for race in races]
    told = "; ".join(
        f"over those of {rival}, less in {count(held(*ratios.values()))}: {listed(ratios)}"
        for rival, ratios in against.items()
    )
    text = (
        f"Faster than both random and greedy as in the paper on {count(paper)} problems. Seconds of the best hybrid, "
        f"clustering included, {told}. Without the clustering it beats random on {count(held(*unclustered))}."
    )
    return Verdict("in part" if any(paper) and not all(all_three) else outcome(paper), text)


def count(cases: Sequence[bool]) -> str:
    return f"{sum(cases)} of {len(cases)}"


def labels(race: Race) -> list[str]:
    return [trace.label for trace in race.traces]


def both_beaten(*rivals: Mapping[str, Ratio]) -> list[bool]:
    """For each problem that any comparison decides: whether none is lost."""
    decided = {title: held(*(each[title] for each in rivals if title in each)) for title in rivals[0]}
    return [all(each) for each in decided.values() if each]


def clustering_is_cheap(found: Found) -> Verdict:
    shares = []
    for name in ("hybrid-blocks", "hybrid-svm", "hybrid-graph"):
        for race in found[name].races:
            for trace in (race[label] for label in HYBRID):
                arrived = [arrival(trace, target, "total") for target in TARGETS]
                total = max((seconds for seconds in arrived if np.isfinite(seconds)), default=0.0)
                if total > 0:
                    shares.append(trace.setup / total)
    if not shares:
        return Verdict("cannot tell", "No hybrid rule reached a target.")
    little = sum(share <= LITTLE for share in shares)
    told = (
        f"k-means takes {100 * median(shares):.0f} % of the time to the last target in the median of {len(shares)} "
        f"runs ({100 * min(shares):.0f} to {100 * max(shares):.0f} %), and at most a tenth in {little}."
    )
    return Verdict("holds" if 2 * little > len(shares) else "in part" if little else "fails", told)


def acceleration_helps(found: Found) -> Verdict:
    pairs = [(label, f"acc. {label}") for label in ("random", "hybrid 8", "hybrid 16", "greedy")]
    races = found["hybrid-accelerated"].races
    moves = {f"{race.title}, {a}": Ratio(race, (b,), (a,), "moves") for race in races for a, b in pairs}
    seconds = [Ratio(race, (b,), (a,), "total") for race in races for a, b in pairs]
    fewer, sooner = held(*moves.values()), held(*seconds)
    told = (
        f"Moves with acceleration over moves without: {listed(moves)}. Fewer in {count(fewer)}; less "
        f"time in {count(sooner)}."
    )
    return Verdict(outcome(fewer), told)


def accelerated_is_fastest(found: Found) -> Verdict:
    ours = ("acc. hybrid 8", "acc. hybrid 16")
    theirs = ("random", "acc. random", "hybrid 8", "hybrid 16", "greedy", "acc. greedy")
    races = found["hybrid-accelerated"].races
    seconds = {race.title: Ratio(race, ours, theirs, "total") for race in races}
    moves = {race.title: Ratio(race, ours, theirs, "moves") for race in races}
    told = (
        f"Accelerated hybrid with 8 or 16 blocks over the best of the others, in seconds with clustering: "
        f"{listed(seconds)}; in moves: {listed(moves)}."
    )
    return Verdict(outcome(held(*seconds.values())), told)


def clusterings_coincide(found: Found) -> Verdict:
    names = ("kmeans", "minibatch-kmeans", "spectral")
    spreads, random = {}, {}
    for race in found["hybrid-clusterings"].races:
        for kind in ("", "acc. "):
            labels = [kind + name for name in names]
            for target in (1e-2, 1e-4):
                moves = [arrival(race[label], target, "moves") for label in labels]
                if np.isfinite(moves).all():
                    case = f"{race.title}, {kind or 'plain '}{target:g}"
                    spreads[case] = max(moves) / min(moves)
                    random[case] = arrival(race[f"{kind}random blocks"], target, "moves") / median(moves)
    told = f"Most over least moves among the three clusterings (alike: at most {ALIKE:g}): " + "; ".join(
        f"{case} {spread:.2f}" for case, spread in spreads.items()
    )
    if random:
        told += f". Random blocks need {min(random.values()):.2f} to {max(random.values()):.2f} times the median."
    return Verdict(outcome([spread <= ALIKE for spread in spreads.values()]), told)


def orders_alike(found: Found) -> Verdict:
    names = ("random", "cyclic", "permuted")
    races = found["hybrid-orders"].races
    alike, told = [], []
    for race in races:
        down, apart = alike_down_to(race, names)
        told.append(f"{race.title} " + (f"down to {down:g}" if np.isfinite(down) else "nowhere") + apart)
        if np.isfinite(down) or apart:
            alike.append(not apart)
    moves = {race.title: Ratio(race, HYBRID, names, "moves") for race in races}
    seconds = {race.title: Ratio(race, HYBRID, names, "total") for race in races}
    text = (
        f"Moves of the three orders are alike (most over least at most {SIMILAR:g}): {'; '.join(told)}. Moves of the "
        f"best hybrid over those of the best order: {listed(moves)}; seconds, clustering included: {listed(seconds)}."
    )
    ahead = held(*moves.values())
    return Verdict(outcome(alike + ahead) if alike and ahead else "cannot tell", text)


def alike_down_to(race: Race, names: Sequence[str]) -> tuple[float, str]:
    """The smallest target to which the methods need similar numbers of moves, and what parts them at the next one."""
    down = float(np.inf)
    for target in TARGETS:
        moves = [arrival(race[name], target, "moves") for name in names]
        least = min(moves)
        most = max(race[name].last("moves") if np.isinf(n) else n for name, n in zip(names, moves, strict=True))
        if np.isfinite(least) and most > SIMILAR * least:
            more = "" if np.isfinite(moves).all() else "more than "
            return down, f" (at {target:g}: {more}{most / least:.2g})"
        if not np.isfinite(moves).all():
            break
        down = target
    return down, ""


def search_competes(found: Found) -> Verdict:
    race = found["hybrid-search"].race("overdetermined system")
    moves, seconds = (Ratio(race, ("search",), ("random", "hybrid 8"), unit, ALIKE) for unit in ("moves", "total"))
    told = (
        f"Search over the better of random and hybrid (competitive: at most {ALIKE:g}): {moves} in moves, {seconds} in "
        f"seconds with index and clustering; its last error is {race['search'].last():.0e}."
    )
    return Verdict(outcome(held(moves, seconds)), told)


def search_is_inferior(found: Found) -> Verdict:
    told, inferior, stuck = [], [], []
    for title in ("ridge, blobs", "label propagation, ijcnn1"):
        race = found["hybrid-search"].race(title)
        others = ("random", "hybrid 8")
        moves, seconds = (Ratio(race, ("search",), others, unit, SIMILAR) for unit in ("moves", "total"))
        ours = Ratio(race, ("search, ours",), others, "moves")
        inferior += [not level for level in held(moves, seconds)]
        stuck.append(stalled(race["search"]))
        told.append(
            f"{title}: {moves} in moves, {seconds} in seconds, {'stalls' if stuck[-1] else 'ends'} at "
            f"{race['search'].last():.0e}; our search {ours} in moves, last error {race['search, ours'].last():.0e}"
        )
    text = f"Search over the better of random and hybrid (inferior: above {SIMILAR:g}). " + "; ".join(told) + "."
    return Verdict(outcome([*inferior, any(stuck)]) if inferior else "cannot tell", text)


def stalled(trace: Trace) -> bool:
    """Whether the error hardly fell over the last three quarters of the moves, away from the optimum."""
    moves, errors = trace.columns["moves"], trace.columns["error"]
    quarter = errors[np.flatnonzero(moves >= moves[-1] / 4)[0]]
    return bool(errors[-1] > max(1e-6, 0.99 * quarter))


def svm_and_accuracy(found: Found) -> Verdict:
    told, ahead = [], []
    for race in found["hybrid-svm"].races:
        moves, seconds = (Ratio(race, HYBRID, ("random",), unit) for unit in ("moves", "total"))
        level = min(race[label].last("mistakes") for label in ("random", *HYBRID)) + 1e-3
        hybrid = min(arrival(race[label], level, "total", "mistakes") for label in HYBRID)
        random = arrival(race["random"], level, "total", "mistakes")
        ahead += held(moves, seconds) + ([hybrid <= random] if np.isfinite(min(hybrid, random)) else [])
        told.append(
            f"{race.title}: {moves} in moves and {seconds} in seconds for the objective; within 0.1 % of the best test "
            f"accuracy, {100 - 100 * (level - 1e-3):.1f} %, after {hybrid:.3g} s against {random:.3g} s"
        )
    return Verdict(outcome(ahead), "The best hybrid over random. " + "; ".join(told) + ".")


def labels_propagate(found: Found) -> Verdict:
    race = found["hybrid-graph"].races[0]
    greedy = Ratio(race, HYBRID, GREEDY, "moves", SIMILAR)
    random = Ratio(race, HYBRID, ("random",), "moves", 1 / SIMILAR)
    time_random = Ratio(race, HYBRID, ("random",), "total")
    time_greedy = Ratio(race, HYBRID, ("greedy",), "total")
    followed = Ratio(race, HYBRID, ("greedy, followed",), "total")
    told = (
        f"The best hybrid needs {greedy} times the moves of greedy (similar: at most {SIMILAR:g}) and {random} times "
        f"those of random (much faster: at most {1 / SIMILAR:g}); {time_random} times the seconds of random, "
        f"{time_greedy} times those of greedy as in the paper, {followed} times those of greedy with scores that "
        "follow."
    )
    timed = held(time_random, time_greedy)
    return Verdict(outcome(held(greedy, random) + ([all(timed)] if timed else [])), told)


def _claim(
    name: str, where: str, says: str, studies: Sequence[str], judge: Callable[[Found], Verdict], differs: str = ""
) -> Claim:
    return Claim(name, "hybrid", where, says, tuple(f"hybrid-{study}" for study in studies), judge, differs)


BLOCKS = "section 7.1, figure 6.1"
MOMENTUM = "section 7.2, figure 7.1"
RULES = "section 7.3, figure 7.2"
SEARCH = "section 7.4, figure 7.3"

CLAIMS: tuple[Claim, ...] = (
    _claim(
        "H1", BLOCKS,
        "On data with 8 clusters, hybrid with 8 or 16 blocks converges about as fast as greedy per move, and more "
        "blocks than clusters give diminishing returns.",
        ("blocks",), follows_greedy,
    ),
    _claim(
        "H2", BLOCKS,
        "With a suitable number of blocks, hybrid outperforms both random and greedy coordinate descent in time.",
        ("blocks", "svm", "graph"), fastest_in_time,
        "On the SVM the paper has no greedy rule. We also compare with a greedy rule that updates its scores.",
    ),
    _claim(
        "H3", "section 7", "The time for k-means is usually far less than the total.",
        ("blocks", "svm", "graph"), clustering_is_cheap, "Our moves are compiled, the paper's are in Python.",
    ),
    _claim(
        "H4", MOMENTUM,
        "Random, hybrid and greedy coordinate descent converge faster with Nesterov's acceleration.",
        ("accelerated",), acceleration_helps,
    ),
    _claim(
        "H5", MOMENTUM, "Accelerated hybrid with a suitable number of blocks is the fastest of all.",
        ("accelerated",), accelerated_is_fastest,
    ),
    _claim(
        "H6", RULES, "With k-means, mini-batch k-means and spectral clustering the curves almost coincide.",
        ("clusterings",), clusterings_coincide,
    ),
    _claim(
        "H7", RULES,
        "Random, cyclic and permuted orders are alike, and hybrid with a suitable number of blocks outperforms them.",
        ("orders",), orders_alike,
    ),
    _claim(
        "H8", SEARCH,
        "Greedy by inner product search is competitive with random and hybrid on an overdetermined linear system.",
        ("search",), search_competes, "hnswlib instead of nmslib.",
    ),
    _claim(
        "H9", SEARCH, "It is much inferior on ridge regression and label propagation, and may not converge.",
        ("search",), search_is_inferior, "hnswlib instead of nmslib; smaller sizes.",
    ),
    _claim(
        "H10", BLOCKS,
        "On the dual of the SVM, in objective and in test accuracy, hybrid with a suitable number of blocks "
        "outperforms random.",
        ("svm",), svm_and_accuracy, "Generated data in the shape of rcv1 if its file is missing, and 20news.",
    ),
    _claim(
        "H11", BLOCKS,
        "On label propagation hybrid converges about as fast as greedy and much faster than random per move, and "
        "outperforms both in time.",
        ("graph",), labels_propagate,
    ),
)  # fmt: skip
