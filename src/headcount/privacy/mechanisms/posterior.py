"""What mechanisms infer from noisy numbers: post-processing, at no privacy cost."""

import math


def nonnegative_posterior_mean(noisy: float, sigma: float) -> float:
    """Return the posterior mean of a nonnegative number, given a noisy value of it."""
    z = max(noisy / sigma, -8.0)
    hazard = math.sqrt(2 / math.pi) * math.exp(-(z**2) / 2) / math.erfc(-z / math.sqrt(2))
    return sigma * (z + hazard)
