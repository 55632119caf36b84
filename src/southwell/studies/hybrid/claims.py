"""What Fang, Fang, Yu and Li 2021 claim, and how verdicts follow from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from ..ahead import ERRORS, TARGETS, Ratio, arrival, beyond, held, labels, listed, power
from ..findings import Findings, Race, Trace
from ..study import Claim, Verdict
from ..verdicts import count, decided

PAPER = "hybrid"
ALIKE = 1.5  # curves that differ by this factor at most are called alike, and methods competitive
SIMILAR = 2.0  # a rate is called similar to another within this factor, and inferior beyond it
LITTLE = 0.1  # a share that is called far less than the whole

HYBRID = ("hybrid 2", "hybrid 4", "hybrid 8", "hybrid 16")
GREEDY = ("greedy", "greedy, followed")  # the same moves; the second computes less
IN_TIME = ("hybrid-blocks", "hybrid-svm", "hybrid-graph")
Found = Mapping[str, Findings]


def follows_greedy(found: Found) -> Verdict:
    races = [race for race in found["hybrid-blocks"].races if race.title.endswith("blobs")]
    ratios = {race.title: Ratio(race, ("hybrid 8", "hybrid 16"), GREEDY, "moves", SIMILAR) for race in races}
    doubled = {race.title: Ratio(race, ("hybrid 16",), ("hybrid 8",), "moves", 0.5) for race in races}
    followed = held(*ratios.values())
    linear = held(*doubled.values())  # twice the blocks, half the moves: no diminishing return
    cases = [
        f"{name}: {ratio.times('the moves of greedy')}; 16 blocks need {doubled[name].times('those of 8', False)}"
        for name, ratio in ratios.items()
    ]
    because = (
        f"Hybrid with 8 or 16 blocks needs at most {SIMILAR:g} times the moves of greedy in {count(followed)} cases, "
        f"and 16 blocks need more than half the moves of 8 (diminishing returns) in "
        f"{count(beyond(*doubled.values()))}. {ERRORS}"
    )
    return decided([*followed, not any(linear)] if followed else [], because, cases)


def fastest_in_time(found: Found) -> Verdict:
    races = [race for name in IN_TIME for race in found[name].races]
    against = {
        rival: {race.title: Ratio(race, HYBRID, (rival,), "total") for race in races if rival in labels(race)}
        for rival in ("random", *GREEDY)
    }
    paper = both_beaten(against["random"], against["greedy"])
    all_three = both_beaten(*against.values())
    unclustered = [Ratio(race, HYBRID, ("random",), "seconds") for race in races]
    names = {"greedy": "greedy as in the paper", "greedy, followed": "greedy that updates its scores"}
    ahead = ", ".join(
        f"{names.get(rival, rival)} in {count(held(*ratios.values()))}" for rival, ratios in against.items()
    )
    cases = [
        f"{title}: "
        + ", ".join(f"{each[title]} over {names.get(rival, rival)}" for rival, each in against.items() if title in each)
        for title in against["random"]
    ]
    because = (
        f"The best hybrid, clustering included, is faster than both random and greedy as in the paper on "
        f"{count(paper)} problems: faster than {ahead}. Without the clustering it beats random on "
        f"{count(held(*unclustered))}. Seconds of the best hybrid over those of the others. {ERRORS}"
    )
    verdict = decided(paper, because, cases)
    return Verdict("in part", because, tuple(cases)) if any(paper) and not all(all_three) else verdict


def both_beaten(*rivals: Mapping[str, Ratio]) -> list[bool]:
    """For each problem that any comparison decides: whether none is lost."""
    won = {title: held(*(each[title] for each in rivals if title in each)) for title in rivals[0]}
    return [all(each) for each in won.values() if each]


def clustering_is_cheap(found: Found) -> Verdict:
    shares = []
    for name in IN_TIME:
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
        f"k-means takes at most a tenth of the time to the last error that was reached in {little} of {len(shares)} "
        f"runs: {100 * median(shares):.0f} % in the median, {100 * min(shares):.0f} to {100 * max(shares):.0f} % in "
        "all."
    )
    return Verdict("holds" if 2 * little > len(shares) else "in part" if little else "fails", told)


def acceleration_helps(found: Found) -> Verdict:
    pairs = [(label, f"acc. {label}") for label in ("random", "hybrid 8", "hybrid 16", "greedy")]
    races = found["hybrid-accelerated"].races
    moves = {f"{race.title}, {a}": Ratio(race, (b,), (a,), "moves") for race in races for a, b in pairs}
    seconds = [Ratio(race, (b,), (a,), "total") for race in races for a, b in pairs]
    fewer = held(*moves.values())
    because = (
        f"With acceleration a rule needs fewer moves than without in {count(fewer)} cases, and less time in "
        f"{count(held(*seconds))}. Moves with over moves without. {ERRORS}"
    )
    return decided(fewer, because, listed(moves))


def accelerated_is_fastest(found: Found) -> Verdict:
    ours = ("acc. hybrid 8", "acc. hybrid 16")
    theirs = ("random", "acc. random", "hybrid 8", "hybrid 16", "greedy", "acc. greedy")
    races = found["hybrid-accelerated"].races
    seconds = {race.title: Ratio(race, ours, theirs, "total") for race in races}
    first = held(*seconds.values())
    because = (
        f"Accelerated hybrid with 8 or 16 blocks is the fastest, clustering included, in {count(first)} cases. What it "
        f"needs over what the best of the others does. {ERRORS}"
    )
    cases = [
        f"{race.title}: {seconds[race.title]} in seconds, {Ratio(race, ours, theirs, 'moves')} in moves"
        for race in races
    ]
    return decided(first, because, cases)


def clusterings_coincide(found: Found) -> Verdict:
    names = ("kmeans", "minibatch-kmeans", "spectral")
    spreads, random = {}, {}
    for race in found["hybrid-clusterings"].races:
        for kind in ("", "acc. "):
            for target in (1e-2, 1e-4):
                moves = [arrival(race[kind + name], target, "moves") for name in names]
                if np.isfinite(moves).all():
                    case = f"{race.title}, {'accelerated' if kind else 'plain'}, to {power(target)}"
                    spreads[case] = max(moves) / min(moves)
                    random[case] = arrival(race[f"{kind}random blocks"], target, "moves") / median(moves)
    good = [spread <= ALIKE for spread in spreads.values()]
    because = f"The three clusterings differ by at most {ALIKE:g} times in moves in {count(good)} cases."
    if random:
        because += (
            f" Random blocks, which no clustering makes, need {min(random.values()):.2f} to "
            f"{max(random.values()):.2f} times the median. The cases give most moves over least."
        )
    return decided(good, because, [f"{case}: {spread:.2f}" for case, spread in spreads.items()])


def orders_alike(found: Found) -> Verdict:
    names = ("random", "cyclic", "permuted")
    alike, cases, ratios = [], [], []
    for race in found["hybrid-orders"].races:
        down, apart = alike_down_to(race, names)
        if np.isfinite(down) or apart:
            alike.append(not apart)
        moves, seconds = (Ratio(race, HYBRID, names, unit) for unit in ("moves", "total"))
        ratios.append(moves)
        near = f"the orders are alike down to {power(down)}" if np.isfinite(down) else "the orders are alike nowhere"
        cases.append(
            f"{race.title}: {near}{f', {apart}' if apart else ''}; the best hybrid needs "
            f"{moves.times('the moves of the best order')}, "
            f"{seconds.times('its seconds', False)} with clustering"
        )
    ahead = held(*ratios)
    because = (
        f"The slowest of the three orders needs at most {SIMILAR:g} times the moves of the fastest in {count(alike)} "
        f"cases, and the best hybrid needs fewer moves than the best order in {count(ahead)}. {ERRORS}"
    )
    return decided(alike + ahead if alike and ahead else [], because, cases)


def alike_down_to(race: Race, names: Sequence[str]) -> tuple[float, str]:
    """The smallest target to which the methods need similar numbers of moves, infinite if there is none; and what parts
    them at the next one, "" if nothing does."""
    down = float(np.inf)
    for target in TARGETS:
        spent = [arrival(race[name], target, "moves") for name in names]
        least = min(spent)
        most = max(race[name].last("moves") if np.isinf(n) else n for name, n in zip(names, spent, strict=True))
        if np.isfinite(least) and most > SIMILAR * least:
            more = "" if np.isfinite(spent).all() else "more than "
            return down, f"at {power(target)} the slowest needs {more}{most / least:.2g} times what the fastest does"
        if not np.isfinite(spent).all():
            break
        down = target
    return down, ""


def search_competes(found: Found) -> Verdict:
    race = found["hybrid-search"].race("overdetermined system")
    moves, seconds = (Ratio(race, ("search",), ("random", "hybrid 8"), unit, ALIKE) for unit in ("moves", "total"))
    because = (
        f"Search needs {moves.times('the moves', False)} and {seconds.times('the seconds', False)}, index and "
        f"clustering included, of the better of random and hybrid (competitive: at most {ALIKE:g}); its last error is "
        f"{race['search'].last():.0e}."
    )
    return decided(held(moves, seconds), because)


def search_is_inferior(found: Found) -> Verdict:
    cases, inferior, stuck = [], [], []
    for title in ("ridge, blobs", "label propagation, ijcnn1"):
        race = found["hybrid-search"].race(title)
        others = ("random", "hybrid 8")
        moves, seconds = (Ratio(race, ("search",), others, unit, SIMILAR) for unit in ("moves", "total"))
        ours = Ratio(race, ("search, ours",), others, "moves")
        inferior += beyond(moves, seconds)
        stuck.append(stalled(race["search"]))
        cases.append(
            f"{title}: {moves.times('the moves')}, {seconds.times('the seconds')}; it "
            f"{'stalls' if stuck[-1] else 'ends'} at "
            f"an error of {race['search'].last():.0e}. Our search: {ours.times('the moves')}, last error "
            f"{race['search, ours'].last():.0e}"
        )
    because = (
        f"Search needs more than {SIMILAR:g} times the moves or seconds of the better of random and hybrid in "
        f"{count(inferior)} comparisons, and its error stops falling in {count(stuck)} problems. {ERRORS}"
    )
    return decided([*inferior, any(stuck)] if inferior else [], because, cases)


def stalled(trace: Trace) -> bool:
    """Whether the error hardly fell over the last three quarters of the moves, away from the optimum."""
    moves, errors = trace.columns["moves"], trace.columns["error"]
    quarter = errors[np.flatnonzero(moves >= moves[-1] / 4)[0]]
    return bool(errors[-1] > max(1e-6, 0.99 * quarter))


def svm_and_accuracy(found: Found) -> Verdict:
    cases, ahead = [], []
    for race in found["hybrid-svm"].races:
        moves, seconds = (Ratio(race, HYBRID, ("random",), unit) for unit in ("moves", "total"))
        level = min(race[label].last("mistakes") for label in ("random", *HYBRID)) + 1e-3
        hybrid = min(arrival(race[label], level, "total", "mistakes") for label in HYBRID)
        random = arrival(race["random"], level, "total", "mistakes")
        ahead += held(moves, seconds) + ([hybrid <= random] if np.isfinite(min(hybrid, random)) else [])
        cases.append(
            f"{race.title}: {moves.times('the moves')} and {seconds.times('the seconds')} for the "
            f"objective; within 0.1 % of "
            f"the best test accuracy, {100 - 100 * (level - 1e-3):.1f} %, after {hybrid:.3g} s, random after "
            f"{random:.3g} s"
        )
    because = (
        f"The best hybrid needs less than random, in moves and seconds for the objective and in seconds for the test "
        f"accuracy, in {count(ahead)} comparisons. {ERRORS}"
    )
    return decided(ahead, because, cases)


def labels_propagate(found: Found) -> Verdict:
    race = found["hybrid-graph"].races[0]
    greedy = Ratio(race, HYBRID, GREEDY, "moves", SIMILAR)
    random = Ratio(race, HYBRID, ("random",), "moves", 1 / SIMILAR)
    time_random = Ratio(race, HYBRID, ("random",), "total")
    time_greedy = Ratio(race, HYBRID, ("greedy",), "total")
    followed = Ratio(race, HYBRID, ("greedy, followed",), "total")
    timed = held(time_random, time_greedy)
    good = held(greedy, random) + ([all(timed)] if timed else [])
    cases = [
        f"{greedy.times('the moves of greedy')} (similar: at most {SIMILAR:g})",
        f"{random.times('the moves of random')} (much faster: at most {1 / SIMILAR:g})",
        f"{time_random.times('the seconds of random')}, {time_greedy.times('those of greedy as in the paper')} (less: "
        f"below 1 for both), {followed.times('those of greedy that updates its scores')}",
    ]
    return decided(good, f"{count(good)} statements hold of what the best hybrid needs. {ERRORS}", cases)


BLOCKS = "section 7.1, figure 6.1"
MOMENTUM = "section 7.2, figure 7.1"
RULES = "section 7.3, figure 7.2"
SEARCH = "section 7.4, figure 7.3"

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "H1", PAPER, BLOCKS,
        "On data with 8 clusters, hybrid with 8 or 16 blocks converges about as fast as greedy per move, and more "
        "blocks than clusters give diminishing returns.",
        ("hybrid-blocks",), follows_greedy,
    ),
    Claim(
        "H2", PAPER, BLOCKS,
        "With a suitable number of blocks, hybrid outperforms both random and greedy coordinate descent in time.",
        IN_TIME, fastest_in_time,
        "On the SVM the paper has no greedy rule. We also compare with a greedy rule that updates its scores.",
    ),
    Claim(
        "H3", PAPER, "section 7", "The time for k-means is usually far less than the total.",
        IN_TIME, clustering_is_cheap, "Our moves are compiled, the paper's are in Python.",
    ),
    Claim(
        "H4", PAPER, MOMENTUM,
        "Random, hybrid and greedy coordinate descent converge faster with Nesterov's acceleration.",
        ("hybrid-accelerated",), acceleration_helps,
    ),
    Claim(
        "H5", PAPER, MOMENTUM, "Accelerated hybrid with a suitable number of blocks is the fastest of all.",
        ("hybrid-accelerated",), accelerated_is_fastest,
    ),
    Claim(
        "H6", PAPER, RULES, "With k-means, mini-batch k-means and spectral clustering the curves almost coincide.",
        ("hybrid-clusterings",), clusterings_coincide,
    ),
    Claim(
        "H7", PAPER, RULES,
        "Random, cyclic and permuted orders are alike, and hybrid with a suitable number of blocks outperforms them.",
        ("hybrid-orders",), orders_alike,
    ),
    Claim(
        "H8", PAPER, SEARCH,
        "Greedy by inner product search is competitive with random and hybrid on an overdetermined linear system.",
        ("hybrid-search",), search_competes, "hnswlib instead of nmslib.",
    ),
    Claim(
        "H9", PAPER, SEARCH, "It is much inferior on ridge regression and label propagation, and may not converge.",
        ("hybrid-search",), search_is_inferior, "hnswlib instead of nmslib; smaller sizes.",
    ),
    Claim(
        "H10", PAPER, BLOCKS,
        "On the dual of the SVM, in objective and in test accuracy, hybrid with a suitable number of blocks "
        "outperforms random.",
        ("hybrid-svm",), svm_and_accuracy, "Generated data in the shape of rcv1 if its file is missing, and 20news.",
    ),
    Claim(
        "H11", PAPER, BLOCKS,
        "On label propagation hybrid converges about as fast as greedy and much faster than random per move, and "
        "outperforms both in time.",
        ("hybrid-graph",), labels_propagate,
    ),
)  # fmt: skip
