"""Where randomness comes from. No other module may ask for any.

`OsEntropy` is for releases: it takes words from the operating system's generator, for the race and
for the exact discrete Gaussian sampler. `SeededEntropy` is for experiments; whatever is made with
it is marked ``private: false``.
"""

import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from headcount.privacy.sampling.exponential import Floats
from headcount.privacy.sampling.gaussian import add_noise
from headcount.privacy.sampling.uniform import Words


def random_identity() -> str:
    """Return a unique string that nobody can guess."""
    return os.urandom(16).hex()


class Entropy(Protocol):
    """A source of independent uniform words and of discrete Gaussian noise."""

    @property
    def private(self) -> bool:
        """Whether a release made with this source may be called private."""

    def words(self, count: int) -> Words:
        """Return independent uniform 64-bit words."""

    def discrete_gaussian(self, values: Sequence[int], sigma: float | Floats) -> list[int]:
        """Return each integer plus its own discrete Gaussian noise with parameter σ².

        σ is one number for all values, or an array with one for each.
        """

    def try_out(self) -> None:
        """Draw something and drop it, so that a broken installation is noticed early."""


class OsEntropy:
    """The operating system's generator, unbuffered, and an exact sampler fed from it.

    Formal guarantee: `words` are as good as `os.urandom`. `discrete_gaussian` adds to each value
    its own noise, with exactly P[X = x] ∝ exp(−x²/(2σ²)), where σ is the exact value of the given
    float (sampling/sampling.md).

    Edge cases: with no values, nothing is drawn. A sum beyond either end of the 64-bit range
    becomes that end, which is post-processing.
    """

    private = True

    def words(self, count: int) -> Words:
        """Return independent uniform 64-bit words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def discrete_gaussian(self, values: Sequence[int], sigma: float | Floats) -> list[int]:
        """Return each integer plus its own discrete Gaussian noise with parameter σ²."""
        noisy: list[int] = add_noise(values, sigma, self).tolist()
        return noisy

    def try_out(self) -> None:
        """Draw something and drop it, so that a broken installation is noticed early."""
        self.words(1)
        self.discrete_gaussian([0], 1.0)


class SeededEntropy:
    """A reproducible source for experiments. What it makes is not private."""

    private = False

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def words(self, count: int) -> Words:
        """Return reproducible uniform 64-bit words."""
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)

    def discrete_gaussian(self, values: Sequence[int], sigma: float | Floats) -> list[int]:
        """Return each integer plus discrete Gaussian noise, in floating point.

        The rejection sampler of Canonne, Kamath, Steinke 2020 (algorithm 3), vectorised.
        """
        noise = np.zeros(len(values), dtype=np.int64)
        pending = np.arange(len(values))
        sigmas = np.broadcast_to(sigma, noise.shape)
        while pending.size:
            variance, scale = sigmas[pending] ** 2, np.floor(sigmas[pending]) + 1
            tails = self._generator.geometric(-np.expm1(-1 / scale), size=(2, pending.size))
            proposal = tails[0] - tails[1]
            misfit = (np.abs(proposal) - variance / scale) ** 2 / (2 * variance)
            accepted = self._generator.random(pending.size) < np.exp(-misfit)
            noise[pending[accepted]] = proposal[accepted]
            pending = pending[~accepted]
        return [int(value + extra) for value, extra in zip(values, noise, strict=True)]

    def try_out(self) -> None:
        """Draw nothing: what comes next depends on what was drawn before."""
