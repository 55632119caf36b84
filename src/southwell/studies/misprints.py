"""Misprints of the papers, and theorems that fail as printed; in the notation of each paper."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Misprint:
    """Where something stands, what is printed there, and what holds."""

    paper: str
    where: str
    printed: str
    correct: str


MISPRINTS = (
    Misprint("dgpd", "theorem 4.2",
             "the error falls by 1 / (1 + gamma/(2q)) at every iteration",
             "it fails for A = 0 already, where one sample of n can remove at most 1/n of the error: the dual is "
             "gamma/n-strongly concave, and the step shortens the longest residual by rho = q/(q + gamma); for the "
             "squared loss the proof then gives 1 / (1 + rho^2 gamma/(2 n q))"),
    Misprint("dgpd", "smooth hinge", "middle piece (1/2 - b z)^2 and gamma = 1/2", "(1 - b z)^2 / 2 and gamma = 1"),
    Misprint("dgpd", "smoothness inequality", "gamma/2 (y - x)^2", "1/(2 gamma) (y - x)^2"),
    Misprint("dgpd", "(7)", "an outdated w and a factor 1/n", "w_k - (phi_k*)'(y_k) with the fresh w"),
    Misprint("dgpd", "(8)", "phi* without 1/n", "phi*/n"),
    Misprint("dgpd", "(13)", "the norm without a square", "the squared norm"),
    Misprint("dgpd", "(16)", "5 R^2", "10 R^2, as in (27) of its proof"),
    Misprint("dgpd", "(24)", "the inequality", "its reverse; the sum with (23), which the proof uses, holds"),
    Misprint("dgpd", "step size", "S counted before the primal step", "S, the number of wrong coordinates, after it"),
    Misprint("dgpd", "experiments", "lambda = 0.1 for a mean of losses",
             "for a sum: with the mean, every lambda above 0.0173 gives the zero model on sector"),
    Misprint("sampling", "algorithms 2, 3, 6 to 9", "the Lasso step s_lambda(alpha_j - z_j)",
             "slope and threshold divided by L_j; as printed it is correct if L_j = 1"),
    Misprint("sampling", "(20)", "the squared loss without 1/2 and 1/n",
             "both; taken literally, lambda is 2n times that of a mean"),
    Misprint("sampling", "algorithm 6", "the Lasso residual with the other sign, and [|a_j'w| - lambda]_+",
             "|alpha_j - B sign(-a_j'w) 1(|a_j'w| > lambda)|"),
    Misprint("sampling", "theorem 3.3",
             "(10): a gap of eps after t_0 + 5 F n^2/eps - 1/p_min iterations",
             "too few where eps is large; the proof gives t_0 + max(0, 4 F n^2/eps - 2/p_min) + max(1/p_min, "
             "F n^2/eps), with F for all means up to there"),
    Misprint("sampling", "below (19)", "minimizing (18)", "minimising (19)"),
    Misprint("sampling", "tables 2 and 3", "c_v as mean over deviation", "deviation over mean"),
    Misprint("spdc", "theorem 2", "2 gamma/n on one side, 2 gamma on the other",
             "it holds, and so does gamma/(p_i n) on both sides, which is what the proof has"),
    Misprint("dspdc", "(14)", "the root over all of the denominator of theta",
             "max(n/m, p/q) + (n p/(m q)) sqrt(Lambda/(n lambda gamma)); q = p and m = 1 give SPDC's theta"),
    Misprint("hybrid", "remark after theorem 6.5", "eta_t <= mu_1/L_max",
             "eta_t <= mu_2/L_max, which is reached: for f = |x|^2/2, greedy from e_1, mu_1 is 1/d times that"),
    Misprint("hybrid", "proof of theorem 6.5", "x^(t) on the left", "x^(t+1)"),
    Misprint("hybrid", "corollaries 9.4 and 9.5", 'an expectation "with probability at least 1 - beta"',
             "the value itself"),
    Misprint("hybrid", "lemma 9.2", "n and d mixed", "d throughout"),
    Misprint("hybrid", "algorithm 3", "theta_0 = 1",
             "it is correct for smooth f, for which it is stated; with one candidate and a non-smooth h it leaves the "
             "domain"),
)  # fmt: skip
