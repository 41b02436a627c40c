"""Noise of the sampler against the exact law, against OpenDP's, and against itself."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from headcount.privacy.randomness import OsEntropy, SeededEntropy
from headcount.privacy.sampling import gaussian
from headcount.privacy.sampling.gaussian import sample
from tests.privacy.stats import chi_square_p, false_failure, fits, same_law_p
from tests.privacy.test_entropy import discrete_gaussian

MANY = 200_000


def noise(sigma, number=MANY):
    return sample(number, sigma, SeededEntropy(7))


@pytest.mark.parametrize("sigma", [0.3, 0.7, 1.0, 4.5**0.5, 3.3, 16.0, 16.1, 33.0, 100.0])
def test_every_integer_has_its_probability_and_no_other(sigma):
    sample = Counter(noise(sigma).tolist())
    p = chi_square_p(sample, discrete_gaussian(sigma))
    assert fits(p), false_failure(p)
    for wrong in (sigma * 1.03, sigma / 1.03):
        assert not fits(chi_square_p(sample, discrete_gaussian(wrong)))


def normal_bins(values, sigma, scale=1.0):
    """p-value of wide noise in bins of equal probability, and of its lowest digits.

    Beyond σ = 100 a sum of exp(−x²/2σ²) over a bin and its integral are the same to 1e-12.
    """
    places = np.floor(stats.norm.cdf((np.asarray(values, float) + 0.5) / (scale * sigma)) * 500)
    return chi_square_p(Counter(places.tolist()), dict.fromkeys(map(float, range(500)), 1 / 500))


@pytest.mark.parametrize("sigma", [1e4, 1e6 / 3, 1e9, 2.0**41 + 1 / 3, 2.0**58])
def test_wide_noise_has_its_law_and_no_other_to_the_lowest_digits(sigma):
    values = noise(sigma)
    p = normal_bins(values, sigma)
    assert fits(p), false_failure(p)
    assert not fits(normal_bins(values, sigma, 1.03))
    assert not fits(normal_bins(values, sigma, 1 / 1.03))
    for digit in (7, 64, 97):  # an odd one, one of the binary digits, and one with many remainders
        p = chi_square_p(Counter((values % digit).tolist()), dict.fromkeys(range(digit), 1 / digit))
        assert fits(p), false_failure(p)


def test_noise_beyond_what_words_hold_has_the_same_law():
    values = [float(value) for value in noise(2.0**70, 1500)]
    standardised = np.array(values) / 2.0**70
    p = stats.kstest(standardised, "norm").pvalue
    assert fits(p), false_failure(p)
    assert not fits(stats.kstest(standardised * 1.3, "norm").pvalue)


def theirs(sigma, number):
    """Noise of OpenDP's sampler, which is seeded by the operating system."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64")), l2_distance(T="f64")
    return np.array(make_gaussian(*space, scale=sigma)([0] * number))


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.5**0.5, 17.0, 250.0, 1e6, 1e9])
def test_the_law_is_that_of_opendp(sigma):
    ours, reference = OsEntropy().discrete_gaussian([0] * 30_000, sigma), theirs(sigma, 30_000)
    width = max(1.0, sigma / 20)

    def p(values):
        return same_law_p(np.rint(values / width).tolist(), np.rint(reference / width).tolist())

    assert fits(p(np.array(ours))), false_failure(p(np.array(ours)))
    # With 30,000 values of each, noise that is an eighth wider is noticed.
    assert not fits(p(np.array(OsEntropy().discrete_gaussian([0] * 30_000, 1.125 * sigma))))


class TwoStreams:
    """Further words, which are asked for one by one, do not move the words of proposals."""

    def __init__(self):
        self.proposals, self.further = SeededEntropy(5), SeededEntropy(6)

    def words(self, count):
        return (self.further if count == 1 else self.proposals).words(count)


def test_floats_and_integers_decide_alike(monkeypatch):
    """With no trust in floats at all the same words give the same noise."""

    def drawn():
        sigmas = (0.7, 40.0, 1e9, 2.0**50)
        return [sample(300, sigma, TwoStreams()).tolist() for sigma in sigmas]

    usual = drawn()
    monkeypatch.setattr(gaussian, "SLACK", 2.0)
    assert drawn() == usual
