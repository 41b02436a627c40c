"""Noise of the sampler against the exact law, against OpenDP's, and against itself."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from headcount.privacy.randomness import OsEntropy, SeededEntropy
from headcount.privacy.sampling import gaussian
from headcount.privacy.sampling.gaussian import sample, sample_each
from tests.privacy.stats import chi_square_p, false_failure, fits, same_law_p
from tests.privacy.test_entropy import discrete_gaussian
from tests.privacy.test_independence import correlated

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


@pytest.mark.parametrize("seed", [7, 8])
def test_values_with_a_sigma_each_have_the_law_of_that_sigma(seed):
    """In one call, in no order; the last one in units of σ, all others to the integer."""
    several = [0.3, 3.3, 16.1, 100.0, 1e6 / 3]
    sigmas = np.tile([100.0, 0.3, 1e6 / 3, 16.1, 3.3], 60_000)
    values = sample_each(sigmas, SeededEntropy(seed))
    for sigma in several[:-1]:
        mine = Counter(values[sigmas == sigma].tolist())
        p = chi_square_p(mine, discrete_gaussian(sigma))
        assert fits(p), false_failure(p)
        assert not fits(chi_square_p(mine, discrete_gaussian(sigma * 1.05)))
    p = normal_bins(values[sigmas == several[-1]], several[-1])
    assert fits(p), false_failure(p)
    wide = sigmas > 16  # all of them with the same law in units of σ, nearly
    assert correlated(values[wide] / sigmas[wide]) == []
    assert correlated(np.abs(values[wide]) / sigmas[wide]) == []


def test_among_values_with_a_sigma_each_some_may_be_beyond_what_words_hold():
    sigmas = np.tile([2.0**70, 3.0], 700)
    values = sample_each(sigmas, SeededEntropy(3)).astype(np.float64) / sigmas
    for mine in (values[::2], values[1::2]):
        assert fits(stats.chi2.sf((mine**2).sum(), mine.size))
        assert fits(stats.chi2.cdf((mine**2).sum(), mine.size))
        assert not fits(stats.chi2.sf((mine**2).sum() * 1.5, mine.size))


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
