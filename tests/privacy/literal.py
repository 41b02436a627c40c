"""The paper's algorithms, literally: pick by pick, in NumPy, in the order they are printed.

Costs and ln(k̄/δ*) are rounded up by the program's own functions, so that sums can be compared
to the last digit. `select` stands for the call of Unknown Domain Gumbel; a test may replay picks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.gaussian import measure_cost
from headcount.privacy.accounting.rounding import float_above, log_above
from headcount.privacy.accounting.sensitivity import pick_cost

BOTTOM = None

Select = Callable[[NDArray[np.float64], int, float, float, np.random.Generator], int | None]


def unknown_domain_gumbel(
    h: NDArray[np.float64], cutoff: int, beta: float, threshold: float, rng: np.random.Generator
) -> int | None:
    """Algorithm 1 with k = 1 on the counts of the top k̄ items and the count of the next."""
    noisy_threshold = threshold + cutoff + rng.gumbel(scale=beta)
    noisy = h + rng.gumbel(scale=beta, size=h.size)
    above = np.flatnonzero(noisy > noisy_threshold)
    return int(above[np.argmax(noisy[above])]) if above.size else BOTTOM


@dataclass
class LiteralRun:
    """Items are their places in the falling counts, in the order they came out."""

    results: dict[int, float] = field(default_factory=dict)
    sigmas: dict[int, float] = field(default_factory=dict)
    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)


def private_count_release_literally(
    counts: Sequence[int],
    *,
    rho: Fraction,
    delta: Fraction,
    epsilon_star: float,
    delta_star: float,
    k_bar: int,
    r: float,
    growth: float,
    rng: np.random.Generator,
    select: Select = unknown_domain_gumbel,
) -> LiteralRun:
    """Algorithm 2 on counts in falling order."""
    h = np.array(counts[:k_bar], dtype=np.float64)
    items = np.arange(h.size)
    cutoff = int(counts[k_bar]) if len(counts) > k_bar else 0
    log_ratio = log_above(k_bar / Fraction(delta_star))
    run = LiteralRun()
    epsilon = epsilon_star
    while run.rho + 2 * pick_cost(epsilon) <= rho and run.delta + Fraction(delta_star) <= delta:
        beta = 1 / epsilon
        threshold = 1 + beta * log_ratio
        s = select(h, cutoff, beta, threshold, rng)
        run.rho += pick_cost(epsilon)
        run.delta += Fraction(delta_star)
        if s is BOTTOM:
            epsilon = growth * epsilon
        else:
            sigma = (r / 1.5) * (1 + log_ratio / epsilon)
            sigma = max(sigma, float_above(2 / Fraction(epsilon)))
            run.sigmas[int(items[s])] = sigma
            run.results[int(items[s])] = h[s] + rng.normal(0, sigma)
            h, items = np.delete(h, s), np.delete(items, s)
            run.rho += measure_cost(sigma)
    return run
