"""Every value of the operating system's source has noise of its own, and every word is new.

Noise of the right law is not enough: if two counts shared theirs, the difference of the noisy ones
would be the true one.
"""

import os

import numpy as np
import pytest
from scipy import stats

from headcount.privacy.randomness import OsEntropy
from headcount.privacy.sampling.gaussian import _AT_ONCE
from tests.privacy.stats import ALPHA

# So wide that no two of 30,000 independent values are the same, up to their sign, but with
# probability 30,000²/2 · 2/(2σ·√π) < 3e-7.
WIDE = 2.0**50
# What one call is asked for: a single value, some, and as many as take several rounds of proposals,
# the last of them with few.
SIZES = [1] * 20 + [2] * 20 + [1000] * 4 + [3 * _AT_ONCE // 2 + 5] * 2


def noise(sigma, sizes=SIZES):
    """The noise of several calls, one after the other."""
    source = OsEntropy()
    return [value for size in sizes for value in source.discrete_gaussian([0] * size, sigma)]


def correlated(sample):
    """The lags at which a sample repeats itself, in part or negated.

    Of independent values the circular autocorrelation at a lag is normal with variance 1/n, and
    there are n/2 lags, which share the false-failure rate of 1e-6. A tenth more than that takes
    covers that n is finite.
    """
    centred = sample - np.mean(sample)
    spectrum = np.abs(np.fft.rfft(centred)) ** 2
    each = np.fft.irfft(spectrum, sample.size)[1 : sample.size // 2] / (sample.size * sample.var())
    limit = 1.1 * stats.norm.isf(ALPHA / (2 * each.size)) / np.sqrt(sample.size)
    return (1 + np.flatnonzero(np.abs(each) > limit)).tolist()


def test_no_two_values_share_their_noise():
    """Within a call, between rounds of proposals, and between calls."""
    drawn = noise(WIDE)
    assert len(drawn) < 30_000
    assert len({abs(value) for value in drawn}) == len(drawn)


@pytest.mark.parametrize("sigma", [3.3, WIDE])
def test_noise_does_not_follow_from_other_noise(sigma):
    """Nor do magnitudes, whatever the signs."""
    drawn = np.array(noise(sigma)) / sigma
    assert correlated(drawn) == []
    assert correlated(np.abs(drawn)) == []


def test_what_is_shared_by_two_or_by_two_parts_is_found():
    fresh = np.random.default_rng(1).normal(size=24_000)
    pairs, halves = np.repeat(fresh[:12_000], 2), np.tile(fresh[:8000], 3)
    assert correlated(fresh) == []
    assert correlated(pairs) == [1]
    assert 8000 in correlated(halves)
    assert 8000 in correlated(np.concatenate([fresh[:8000], -fresh[:8000], fresh[8000:16_000]]))


def test_a_process_that_was_forked_draws_noise_of_its_own():
    """Whatever state a source keeps would be in both; they must not go on alike."""
    noise(WIDE, [1])
    seen = []
    for _ in range(3):
        reading, writing = os.pipe()
        if not (pid := os.fork()):
            try:
                drawn = [*noise(WIDE, [20, 20]), *OsEntropy().words(20).tolist()]
                os.write(writing, " ".join(map(str, drawn)).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            seen += [abs(int(value)) for value in pipe.read().split()]
        os.waitpid(pid, 0)
    seen += [abs(value) for value in noise(WIDE, [20, 20])]
    assert len(set(seen)) == len(seen) == 3 * 60 + 40


def test_every_word_is_new():
    """Of 40,000 words two are the same with probability 5e-11."""
    source = OsEntropy()
    words = np.concatenate([source.words(size) for size in [1] * 100 + [2] * 100 + [20_000] * 2])
    assert np.unique(words).size == words.size
    assert correlated(words.view(np.uint8).astype(np.float64)) == []
