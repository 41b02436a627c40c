"""A lower bound on ε from runs on two neighbours, and scores that tell them apart best."""

import math

import numpy as np
from scipy import stats

from headcount.privacy.randomness import SeededEntropy
from tests.privacy.laws import BOTTOM, RunLaw
from tests.privacy.stats import ALPHA

# Events "the score is at least this" that are tried; the false-failure rate is shared by them.
EVENTS = np.linspace(-2, 8, 21)


def epsilon_at_least(here, there, delta):
    """Return what ε at δ is at least, but for a false-failure rate of ALPHA.

    Args:
        here: scores of runs on one neighbour; large ones speak for it. Infinite: impossible there.
        there: scores of as many runs on the other.
        delta: at which ε is asked for.
    """
    rate = ALPHA / (2 * EVENTS.size)
    best = -math.inf
    for event in EVENTS:
        seen, expected = int(np.sum(here >= event)), int(np.sum(there >= event))
        low = stats.beta.ppf(rate, seen, len(here) - seen + 1) if seen else 0.0
        high = stats.beta.ppf(1 - rate, expected + 1, len(there) - expected)
        if low > delta:
            best = max(best, math.log((low - delta) / high))
    return best


def gaussian_score(noisy, here, there, sigma):
    """ln of the ratio of densities of noisy values around here and around there."""
    return (here - there) * (2 * noisy - here - there) / (2 * sigma**2)


def epsilon_of_gaussians(found, true, sigma, delta):
    """Return an ε that runs on two neighbours show, from noisy numbers and what they are of."""

    def scores(noisy, here, there):
        return gaussian_score(noisy, here, there, sigma).sum(axis=1)

    forth = [scores(runs, true[0], true[1]) for runs in found]
    back = [scores(runs, true[1], true[0]) for runs in found]
    return max(epsilon_at_least(*forth, delta), epsilon_at_least(*back[::-1], delta))


def transcript_scores(here: RunLaw, there: RunLaw):
    """ln of the ratio of probabilities for each list of items per level."""
    laws = []
    for law in (here, there):
        merged = {}
        for transcript, p in law.transcripts.items():
            key = tuple(tuple(e for e in entries if e != BOTTOM) for entries in transcript)
            merged[key] = merged.get(key, 0.0) + p
        laws.append(merged)
    return {
        key: math.log(p / laws[1][key]) if laws[1].get(key) else math.inf
        for key, p in laws[0].items()
    }


class HalfTheNoise(SeededEntropy):
    """Noise of half the scale that is asked for: what an audit must find out."""

    def discrete_gaussian(self, values, sigma):
        return super().discrete_gaussian(values, sigma / 2)
