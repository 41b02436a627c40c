"""Counts estimated from the final measurement and all earlier ones, with their errors."""

import numpy as np

from headcount.privacy.mechanisms.rationed.beliefs import Expected, Found
from headcount.privacy.mechanisms.rationed.losses import ItemLosses
from headcount.privacy.mechanisms.rationed.sizes import Floats
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from headcount.privacy.questions import Integers

#: The mean of the highest fifth of a standard normal: φ(z)/0.2 at z = Φ⁻¹(0.8).
HEAVIEST = 1.40


def variances(
    expected: Expected, noise: Floats, lost: Floats | float, lean: float, unsure: Floats | float
) -> Floats:
    """Return the relative variances that are stated.

    Args:
        expected: what the weights predict.
        noise: the relative variances of the final measurement.
        lost: the share of each count that is lost.
        lean: how much more is lost per standard deviation of heaviness.
        unsure: the error of the loss.
    """
    return expected.variance(_error(noise, lost), lean) + np.square(unsure)


def estimated(
    found: Found, kept: Integers, measured: Floats, sigmas: Floats, losses: ItemLosses
) -> tuple[Floats, Floats]:
    """Return estimates of the counts of kept items, and their standard errors."""
    lost = np.clip(losses.means[kept], 0.0, TUNING.most_lost)
    counts = measured / (1 - lost)
    expected = found.expected(kept, counts, (sigmas / (1 - lost)) ** 2)
    noise = (sigmas / expected.means) ** 2
    error = _error(noise, lost)
    off = counts / expected.means - 1
    heaviness = expected.heaviness(off, error, losses.lean)
    counts = measured / (1 - np.clip(lost + losses.lean * heaviness, 0.0, TUNING.most_lost))
    estimates = counts + expected.pull(error) * (expected.means - counts)
    stated = variances(expected, noise, lost, losses.lean, losses.errors[kept])
    errors = expected.means * np.sqrt(stated)
    # A surprising count is not shrunk.
    odd = expected.surprising(off, error)
    itself = np.maximum(counts, 1.0)
    alone = np.sqrt(_error((sigmas / itself) ** 2, lost) + losses.errors[kept] ** 2) * itself
    estimates = np.where(odd, counts, estimates)
    errors = np.where(odd, np.maximum(alone, errors), errors)
    return np.maximum(estimates, 1.0), errors


def bias(expected: Expected, noise: Floats, lost: float, lean: float) -> float:
    """Return by how much items with the heaviest fifth of users come out too low."""
    return HEAVIEST * float(expected.bias(_error(noise, lost), lean).mean())


def _error(noise: Floats, lost: Floats | float) -> Floats:
    """Return the variance of a count with its loss added back: losses differ between items."""
    return noise / (1 - lost) ** 2 + (TUNING.unexplained * lost) ** 2
