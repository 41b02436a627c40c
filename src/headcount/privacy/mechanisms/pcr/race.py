"""Unknown Domain Gumbel, all the picks of one level at once.

Every candidate and ⊥ gets a clock (`clocks`); whoever rings before ⊥ is picked, in the order
of ringing. That list has exactly the law of the paper's calls repeated until ⊥ (Plackett–
Luce), and `race.md`, beside this file, proves that and what it costs.

A run has some 200 levels and up to millions of candidates, of which a level picks a few
dozen. So candidates whose chance is below 1 in 400 are not timed one by one: they are put into
bands of similar weight, the clocks of a band ring in the order statistics of equal
exponentials, and only those that could come before ⊥ are looked at. The law is the same.
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.clocks import (
    READING_ERROR,
    RELATIVE_ERROR,
    Clock,
    Floats,
    read,
    rings_before,
)
from headcount.privacy.mechanisms.pcr.schedule import Level
from headcount.privacy.randomness import Entropy
from headcount.privacy.sampling.uniform import LazyUniform

# Candidates with x = ln(weight/weight of ⊥) at or above this are timed one by one. At −3 half as
# many were, but nearly every level had a band to open, which takes as long as timing thousands.
_NEAR = -6.0
# Band tops are compared with this much room, far more than floating point can be off by.
_ROOM = 2.0**-10

_BOTTOM = -1  # ⊥ where a candidate's position is asked for


@dataclass(frozen=True)
class Outcome:
    """What a level gave: the candidates picked, in order, and whether ⊥ was read after them."""

    picked: list[int]
    reached_bottom: bool


def race(
    level: Level,
    candidates: Candidates,
    alive: NDArray[np.bool_],
    at_most: int,
    entropy: Entropy,
) -> Outcome:
    """Run one level and read at most ``at_most`` entries of its order of ringing.

    Formal guarantee: the outcome has the law of ``at_most`` calls of Unknown Domain Gumbel
    with k = 1, each on what the calls before it left, that stop at the first ⊥. Each entry
    read, ⊥ included, costs ``level.pick``.

    Edge cases: if all ``at_most`` entries are items, nothing depends on the entry after them
    and ``reached_bottom`` is false. With no candidate alive, ⊥ is read.

    Args:
        level: ε and Λ.
        candidates: A and c.
        alive: which candidates were not released before.
        at_most: how many entries may be read, at least 1.
        entropy: where the clocks' bits come from.
    """
    picked = _Race(level, candidates, alive, entropy).picked()[:at_most]
    return Outcome(picked, reached_bottom=len(picked) < at_most)


class _Runner(NamedTuple):
    """One that may come before ⊥: the float reading of its key, its error, and who it is."""

    key: float
    error: float
    candidate: int


class _Race:
    """The clocks of one level."""

    def __init__(
        self, level: Level, candidates: Candidates, alive: NDArray[np.bool_], entropy: Entropy
    ) -> None:
        self._level = level
        self._candidates = candidates
        self._alive = alive
        self._entropy = entropy
        self._clocks: dict[int, Clock] = {}

        # Band b holds x from _NEAR − b − 1 up to _NEAR − b, the last everything below. As the
        # counts fall, near is positions [0, ends[0]) and band b is [ends[b], ends[b + 1]).
        bands = 3 + math.ceil(math.log(max(alive.size, 1)))
        self._tops = _NEAR - np.arange(bands, dtype=np.float64)
        lowest = (self._tops + level.log_ratio) / level.epsilon + (1 + candidates.cutoff)
        self._ends = np.full(bands + 1, alive.size)
        self._ends[:-1] = candidates.number_at_least(lowest)
        self._near = np.flatnonzero(alive[: self._ends[0]])
        sizes = self._ends[1:] - self._ends[:-1]
        self._bands = np.flatnonzero(sizes)  # those that are not empty
        self._sizes = sizes[self._bands]

        # The first 64 bits for ⊥, for each near candidate, and for the first of each band.
        self._words = entropy.words(1 + self._near.size + self._bands.size)
        self._log_e, self._error = read(self._words)
        self._bottom = _Runner(float(self._log_e[0]), float(self._error[0]), _BOTTOM)
        if math.isinf(self._bottom.error):
            # One of 2^23 words says too little, and every comparison below is with this one.
            self._bottom = _Runner(*self._exact(self._bottom).reading(), _BOTTOM)

    def picked(self) -> list[int]:
        """Return the candidates that ring before ⊥, in the order of ringing."""
        key, error, who = self._near_runners()
        far = self._far_runners()
        if far:
            key = np.append(key, [runner.key for runner in far])
            error = np.append(error, [runner.error for runner in far])
            who = np.append(who, [runner.candidate for runner in far])
        order = np.argsort(key, kind="stable")
        key, error, who = key[order], error[order], who[order]
        with np.errstate(invalid="ignore"):  # of −∞ ± ∞, which is not before anything
            # Each surely before the next, and the last of them before ⊥.
            follower = np.append(key[1:] - error[1:], self._bottom.key - self._bottom.error)
            in_order = bool((key + error < follower).all())
        ranked: list[int] = who.tolist()
        if in_order:
            return ranked
        runners = map(_Runner, key.tolist(), error.tolist(), ranked)
        winners = [runner for runner in runners if self._wins(runner)]
        winners.sort(key=functools.cmp_to_key(self._order))
        return [runner.candidate for runner in winners]

    def _near_runners(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Time the candidates with a fair chance one by one; return the possible winners.

        Of each the float reading of its key, its error, and its position.
        """
        which = slice(1, 1 + self._near.size)
        gain = self._level.epsilon * self._gap(self._candidates.counts[self._near])
        key = self._log_e[which] - (gain - self._level.log_ratio)
        error = self._error[which] + RELATIVE_ERROR * (np.abs(gain) + self._level.log_ratio)
        # All but those that are surely behind ⊥: an infinite error keeps a runner in.
        possible = np.flatnonzero(~(key - error > self._bottom.key + self._bottom.error))
        return key[possible], error[possible], self._near[possible]

    def _far_runners(self) -> list[_Runner]:
        """Return those of the other candidates that may come before ⊥; most often none."""
        which = slice(1 + self._near.size, None)
        first = self._log_e[which] - np.log(self._sizes)
        horizon = self._bottom.key + self._bottom.error + self._tops[self._bands] + _ROOM
        runners: list[_Runner] = []
        for i in np.flatnonzero(~(first - self._error[which] > horizon)).tolist():
            band, word = int(self._bands[i]), int(self._words[which][i])
            runners += self._band_runners(band, word, float(horizon[i]))
        # A clock of an item that was released before may ring like any other; it is passed over.
        return [runner for runner in runners if self._alive[runner.candidate]]

    def _band_runners(self, band: int, word: int, horizon: float) -> list[_Runner]:
        """Let the equal clocks of a band ring, one after another, until none can win.

        In units of its top's weight the clocks of a band are exponentials of mean 1, of which
        the k-th of n comes 1/(n−k+1) of a fresh exponential after the one before (Rényi), and
        is anyone's of those left. A clock of lower weight only rings later than that, so past
        the horizon nobody in the band comes before ⊥.
        """
        start, end = int(self._ends[band]), int(self._ends[band + 1])
        terms: list[tuple[LazyUniform, int]] = []
        rung: set[int] = set()
        runners: list[_Runner] = []
        while len(rung) < end - start:
            terms.append((LazyUniform(word, self._entropy), end - start - len(rung)))
            log_e, error = _read_sum(terms)
            if log_e - error > horizon:
                break
            candidate = start + any_but(rung, end - start, self._entropy)
            rung.add(candidate - start)
            self._clocks[candidate] = self._clock(candidate, list(terms))
            gain = self._level.epsilon * int(self._gap(self._candidates.counts[candidate]))
            key = log_e - (gain - self._level.log_ratio)
            error += RELATIVE_ERROR * (abs(gain) + self._level.log_ratio)
            runners.append(_Runner(key, error, candidate))
            word = int(self._entropy.words(1)[0])
        return runners

    def _wins(self, runner: _Runner) -> bool:
        return self._before(runner, self._bottom)

    def _before(self, first: _Runner, second: _Runner) -> bool:
        if first.key + first.error < second.key - second.error:
            return True
        if second.key + second.error < first.key - first.error:
            return False
        return rings_before(self._exact(first), self._exact(second))

    def _order(self, first: _Runner, second: _Runner) -> int:
        return -1 if self._before(first, second) else 1

    def _exact(self, runner: _Runner) -> Clock:
        """Return the runner's clock, the same one each time: bits once drawn stay."""
        if runner.candidate not in self._clocks:
            place = 0  # of ⊥
            if runner.candidate != _BOTTOM:
                place = 1 + int(np.searchsorted(self._near, runner.candidate))
            uniform = LazyUniform(int(self._words[place]), self._entropy)
            self._clocks[runner.candidate] = self._clock(runner.candidate, [(uniform, 1)])
        return self._clocks[runner.candidate]

    def _clock(self, candidate: int, terms: list[tuple[LazyUniform, int]]) -> Clock:
        if candidate == _BOTTOM:
            return Clock(terms, epsilon=0.0, gap=0, log_ratio=0.0)
        gap = int(self._gap(self._candidates.counts[candidate]))
        return Clock(terms, self._level.epsilon, gap, self._level.log_ratio)

    def _gap(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return counts - (1 + self._candidates.cutoff)


def _read_sum(terms: list[tuple[LazyUniform, int]]) -> tuple[float, float]:
    """Return ln(E) of a clock with these terms, and a bound on its error."""
    log_e, error = read(np.array([uniform.first_word for uniform, _ in terms], dtype=np.uint64))
    if np.isinf(error).any():
        return Clock(terms, epsilon=0.0, gap=0, log_ratio=0.0).reading()
    total = float(np.sum(np.exp(log_e) / [divisor for _, divisor in terms]))
    return math.log(total), float(error.max()) + READING_ERROR


def any_but(taken: set[int], size: int, entropy: Entropy) -> int:
    """Return a uniform choice among the numbers below ``size`` that are not taken."""
    limit = 2**64 - 2**64 % size
    while True:
        word = int(entropy.words(1)[0])
        if word < limit and word % size not in taken:
            return word % size
