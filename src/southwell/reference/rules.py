"""From scores to the coordinate that moves.

Papers     Perekrestenko, Cevher, Jaggi, AISTATS 2017, eq. (16)-(18) and theorem 3.7, with c_k a score:

           p_k = sigma / |{l : c_l > 0}| + (1 - sigma) c_k / sum_l c_l   where c_k > 0, else 0

           rule             score      sigma    in the paper             computed
           importance       reach      0        section 3.4              once
           support_set      residual   1        (16)                     at every step
           adaptive         residual   0        (17)                     at every step
           ada_uniform      residual   "mix"    (18)                     at every step
           ada_gap          bracket    0        theorem 3.7              at every step
           gap_per_epoch    bracket    0        algorithms 3 and 5       at the start of every epoch

           The best sigma minimises (19). Its F_ada is not known; by lemma 2.7, |kappa_k| <= 2 L_k, it is at most
           (2 sum_k L_k ||a_k||)^2 / (n^2 beta). The initial error is at most the gap, the sum of the brackets; m, the
           size of the support set, is at most the number of coordinates that can move:

           sigma = sqrt(m gap) / (sqrt(m gap) + 2 sum_k L_k ||a_k|| / sqrt(beta))

           Fang, Fang, Yu, Li, "Efficient Greedy Coordinate Descent via Variable Partitioning", UAI 2021, algorithm 2:
           one uniform candidate from each block; the best moves. One block is uniform sampling, d blocks are greedy.

           Southwell, "Relaxation Methods in Engineering Science", 1940: the coordinate with the largest score.
"""

from __future__ import annotations

import numpy as np

from .._typing import Numbers

SCORES = {
    "importance": "reach",
    "support_set": "residual",
    "adaptive": "residual",
    "ada_uniform": "residual",
    "ada_gap": "bracket",
    "gap_per_epoch": "bracket",
}


def probabilities(rule: str, scores: Numbers, mix: float = 0.5) -> np.ndarray:
    """The probability that each coordinate moves next; ``scores`` are of the kind ``SCORES[rule]``."""
    scores = np.asarray(scores, dtype=float)
    if rule == "uniform" or not scores.any():
        return np.full(scores.size, 1 / scores.size)
    support, share = (scores > 0) / np.count_nonzero(scores > 0), scores / scores.sum()
    sigma = {"support_set": 1.0, "ada_uniform": mix}.get(rule, 0.0 if rule in SCORES else None)
    if sigma is None:
        raise ValueError(f"no sampled rule {rule!r}")
    return np.asarray(sigma * support + (1 - sigma) * share)


def automatic_mix(reach: Numbers, bracket: Numbers, smoothness: float) -> float:
    """The sigma that minimises the bound (19); f is ``smoothness``-smooth, and the scores are those at the start."""
    error = np.sqrt(np.count_nonzero(reach) * np.sum(bracket))
    spread = 2 * np.sum(reach) * np.sqrt(smoothness)
    return float(error / (error + spread)) if error + spread > 0 else 1.0


def greedy(scores: Numbers) -> int:
    """The largest score, the first of equals."""
    return int(np.argmax(scores))


def greedy_in_turn(scores: Numbers, moves: int) -> list[int]:
    """Greedy while scores are not refreshed: the largest, the second largest, and so on."""
    return [int(k) for k in np.argsort(-np.asarray(scores), kind="stable")[:moves]]


def hybrid_probabilities(scores: Numbers, labels: Numbers) -> np.ndarray:
    """The probability that each coordinate is the best candidate, the first block (by label) winning ties.

    k in block B is its candidate with probability 1/|B|, and beats the candidate of block C with the share of C that
    it beats; blocks draw independently.
    """
    scores, labels = np.asarray(scores, dtype=float), np.asarray(labels)
    p = np.empty(scores.size)
    for k, (score, label) in enumerate(zip(scores, labels, strict=True)):
        p[k] = 1 / np.count_nonzero(labels == label)
        for other in set(labels.tolist()) - {label}:
            rivals = scores[labels == other]
            p[k] *= np.mean(rivals < score if other < label else rivals <= score)
    return p
