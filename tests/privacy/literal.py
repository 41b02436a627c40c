"""The paper's algorithms, literally: pick by pick, in NumPy, in the order they are printed.

Costs and ln(k̄/δ*) are rounded up by the program's own functions, so that sums can be compared
to the last digit. `select` stands for the call of Unknown Domain Gumbel; a test may replay picks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.privacy.rounding import float_above, log_above
from headcount.privacy.schedule import measure_cost, pick_cost

BOTTOM = None


def unknown_domain_gumbel(
    h: Mapping[int, int], cutoff: int, beta: float, threshold: float, rng: np.random.Generator
) -> int | None:
    """Algorithm 1 with k = 1 on the top k̄ items `h` and the count of the next."""
    noisy_threshold = threshold + cutoff + rng.gumbel(scale=beta)
    items = np.fromiter(h.keys(), dtype=np.int64, count=len(h))
    noisy = np.fromiter(h.values(), dtype=np.float64, count=len(h)) + rng.gumbel(
        scale=beta, size=len(h)
    )
    above = noisy > noisy_threshold
    return int(items[above][np.argmax(noisy[above])]) if above.any() else BOTTOM


@dataclass
class LiteralRun:
    results: dict[int, float]
    sigmas: dict[int, float]
    rho: Fraction
    delta: Fraction
    bottoms: int


def private_count_release_literally(
    counts: list[int],
    *,
    rho: Fraction,
    delta: Fraction,
    epsilon_star: float,
    delta_star: float,
    k_bar: int,
    r: float,
    growth: float,
    rng: np.random.Generator,
    select: Callable[
        [Mapping[int, int], int, float, float, np.random.Generator], int | None
    ] = unknown_domain_gumbel,
) -> LiteralRun:
    """Algorithm 2. Counts are in falling order; an item is its place in them."""
    h = dict(enumerate(counts[:k_bar]))
    cutoff = counts[k_bar] if len(counts) > k_bar else 0
    log_ratio = log_above(k_bar / Fraction(delta_star))
    run = LiteralRun({}, {}, Fraction(0), Fraction(0), 0)
    epsilon = epsilon_star
    while run.rho + 2 * pick_cost(epsilon) <= rho and run.delta + Fraction(delta_star) <= delta:
        beta = 1 / epsilon
        threshold = 1 + beta * log_ratio
        s = select(h, cutoff, beta, threshold, rng)
        run.rho += pick_cost(epsilon)
        run.delta += Fraction(delta_star)
        if s is BOTTOM:
            epsilon = growth * epsilon
            run.bottoms += 1
        else:
            sigma = max((r / 1.5) * (1 + log_ratio / epsilon), float_above(2 / Fraction(epsilon)))
            run.sigmas[s] = sigma
            run.results[s] = h[s] + rng.normal(0, sigma)
            del h[s]
            run.rho += measure_cost(sigma)
    return run
