"""Counts estimated from the final measurement and all earlier ones, with their errors."""

import numpy as np

from headcount.privacy.mechanisms.rationed.beliefs import Expected, Found
from headcount.privacy.mechanisms.rationed.sizes import Floats
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.questions import Integers


def variances(expected: Expected, noise: Floats, lost: float, unsure: float) -> Floats:
    """Return the relative variances that are stated.

    Args:
        expected: what the weights predict.
        noise: the relative variances of the final measurement.
        lost: the share of each count that is lost, on average over the items.
        unsure: the error of that.
    """
    return expected.variance(_error(noise, lost)) + unsure**2


def estimated(
    found: Found, kept: Integers, measured: Floats, sigmas: Floats, lost: float, unsure: float
) -> tuple[Floats, Floats]:
    """Return estimates of the counts of kept items, and their standard errors."""
    counts = measured / (1 - lost)
    expected = found.expected(kept, counts, (sigmas / (1 - lost)) ** 2)
    noise = (sigmas / expected.means) ** 2
    error = _error(noise, lost)
    estimates = counts + expected.pull(error) * (expected.means - counts)
    errors = expected.means * np.sqrt(variances(expected, noise, lost, unsure))
    # A surprising count is not shrunk.
    odd = expected.surprising(counts / expected.means - 1, error)
    itself = np.maximum(counts, 1.0)
    alone = np.sqrt(_error((sigmas / itself) ** 2, lost) + unsure**2) * itself
    estimates = np.where(odd, counts, estimates)
    errors = np.where(odd, np.maximum(alone, errors), errors)
    return np.maximum(estimates, 1.0), errors


def _error(noise: Floats, lost: float) -> Floats:
    """Return the variance of a count with its loss added back: losses differ between items."""
    return noise / (1 - lost) ** 2 + (TUNING.unexplained * lost) ** 2
