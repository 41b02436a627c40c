"""What mechanisms make of noisy numbers: post-processing, free of cost."""

import math


def nonnegative_posterior_mean(noisy: float, sigma: float) -> float:
    """Return the mean of what a number that is not negative may be, seen through noise."""
    z = max(noisy / sigma, -8.0)
    hazard = math.sqrt(2 / math.pi) * math.exp(-(z**2) / 2) / math.erfc(-z / math.sqrt(2))
    return sigma * (z + hazard)
