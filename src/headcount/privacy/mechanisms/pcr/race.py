"""Unknown Domain Gumbel, all the picks of one level at once.

Every candidate and ⊥ gets a clock (`clocks`); those that ring before ⊥ are picked, in the order
of ringing. That list has exactly the law of the paper's calls repeated until ⊥ (Plackett–
Luce), and `race.md`, next to this file, proves that and what it costs.

A run has about 100 levels and up to millions of candidates, of which a level picks a few dozen. So
the clocks of several levels are drawn at once, fresh ones for each. And candidates whose chance is
below 1 in 1000 are not timed one by one: they are put into bands of similar weight, the clocks of a
band ring like the order statistics of equal exponentials, and only those that could come before ⊥
are looked at. The law is the same.
"""

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
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

Integers = NDArray[np.int64]

# Candidates with x = ln(weight/weight of ⊥) at or above this are timed one by one. At −6 a tenth
# fewer are, but three times as many bands are opened, which takes as long as timing thousands.
_NEAR = -7.0
# Band tops are compared with this much room, far more than floating point can be off by.
_ROOM = 2.0**-10
# Levels whose ε is up to this many times that of the first share one draw of clocks. A run of 77
# levels then takes 8 draws of 45,000 words in all; at 1.5 it takes 13 of 24,000, at 4 it takes 4 of
# 55,000.
_AT_ONCE = 2.1
# A draw has no more candidates than this, of up to 320 bytes each, unless a single level has more.
_MOST_AT_ONCE = 2**20

_BOTTOM = -1  # stands for ⊥ in place of a candidate's position


@dataclass(frozen=True)
class Outcome:
    """A level's outcome: the candidates picked, in order, and whether ⊥ was read after them."""

    picked: list[int]
    reached_bottom: bool


def races(
    levels: Iterable[Level], candidates: Candidates, alive: NDArray[np.bool_], entropy: Entropy
) -> Iterator[tuple[Level, Integers]]:
    """Yield each level with the candidates that ring before ⊥ in its race, in order of ringing.

    Nothing but `entries` may read an order: it may go beyond what is paid for, and contain
    candidates that an earlier level picked.

    Args:
        levels: ε and Λ of each.
        candidates: A and c.
        alive: which candidates were not released before, kept up to date by the caller.
        entropy: where the clocks' bits come from.
    """
    for ahead in _at_once(levels):
        while ahead:
            some = ahead[: _that_fit(ahead, candidates)]
            yield from zip(some, _Races(some, candidates, alive, entropy).orders(), strict=True)
            ahead = ahead[len(some) :]


def _at_once(levels: Iterable[Level]) -> Iterator[list[Level]]:
    """Yield the levels in groups whose clocks are drawn at once."""
    ahead: list[Level] = []
    for level in levels:
        if ahead and level.epsilon > _AT_ONCE * ahead[0].epsilon:
            yield ahead
            ahead = []
        ahead.append(level)
    if ahead:
        yield ahead


def _that_fit(levels: Sequence[Level], candidates: Candidates) -> int:
    """Return how many of the levels, at least one, have clocks that fit into memory together."""
    lowest = [
        (_NEAR + level.log_ratio) / level.epsilon + (1 + candidates.cutoff) for level in levels
    ]
    clocks = np.cumsum(candidates.number_at_least(np.array(lowest)))
    return max(1, int(np.searchsorted(clocks, _MOST_AT_ONCE, side="right")))


def entries(order: Integers, alive: NDArray[np.bool_], at_most: int) -> Outcome:
    """Read at most ``at_most`` entries of an order of ringing.

    Formal guarantee: the outcome has the law of ``at_most`` calls of Unknown Domain Gumbel with
    k = 1, each on what the calls before it left, stopping at the first ⊥. Each entry read, ⊥
    included, costs ``level.pick``. An order is read once.

    Edge cases: if all ``at_most`` entries are items, nothing depends on the entry after them
    and ``reached_bottom`` is false. With no candidate alive, ⊥ is read.

    Args:
        order: that of one level, from `races`.
        alive: which candidates were not released before.
        at_most: how many entries may be read, at least 1.
    """
    picked: list[int] = order[alive[order]][:at_most].tolist()
    return Outcome(picked, reached_bottom=len(picked) < at_most)


class _Runner(NamedTuple):
    """A runner that may come before ⊥: the float reading of its key, its error, and who it is."""

    key: float
    error: float
    candidate: int


class _Races:
    """The clocks of some levels, all drawn at once, separate ones for each level."""

    def __init__(
        self,
        levels: Sequence[Level],
        candidates: Candidates,
        alive: NDArray[np.bool_],
        entropy: Entropy,
    ) -> None:
        self._levels = levels
        self._candidates = candidates
        self._entropy = entropy
        self._clocks: dict[tuple[int, int], Clock] = {}
        self._epsilon = np.array([level.epsilon for level in levels])
        self._log_ratio = np.array([level.log_ratio for level in levels])

        # Band b holds x from _NEAR − b − 1 up to _NEAR − b, and the last band everything below. As
        # counts fall, in each level (a row) the near candidates are positions [0, ends[0]) and band
        # b is [ends[b], ends[b + 1]).
        bands = 3 + math.ceil(math.log(max(alive.size, 1)))
        self._tops = _NEAR - np.arange(bands, dtype=np.float64)
        lowest = (self._tops + self._log_ratio[:, None]) / self._epsilon[:, None]
        self._ends = np.full((len(levels), bands + 1), alive.size)
        self._ends[:, :-1] = candidates.number_at_least(lowest + (1 + candidates.cutoff))
        sizes = self._ends[:, 1:] - self._ends[:, :-1]
        self._bands = np.nonzero(sizes)  # the level and the band of each that is not empty
        self._sizes = sizes[self._bands]
        # Candidates near in any level; each level's own are a prefix of length `_near`.
        self._runners = np.flatnonzero(alive[: self._ends[:, 0].max()])
        self._near = np.searchsorted(self._runners, self._ends[:, 0])

        # The first 64 bits for each level's ⊥, for its near candidates, and for the first clock of
        # each of its bands.
        self._starts = len(levels) + np.cumsum(self._near) - self._near
        self._far = len(levels) + int(self._near.sum())
        self._words = entropy.words(self._far + self._sizes.size)
        self._log_e, self._error = read(self._words)
        # Of each level's ⊥.
        self._key, self._margin = self._log_e[: len(levels)], self._error[: len(levels)]
        for number in np.flatnonzero(np.isinf(self._margin)).tolist():
            # One in 2^23 words says too little, and every comparison below is with this one.
            reading = self._exact(number, _BOTTOM).reading()
            self._key[number], self._margin[number] = reading
        self._behind = self._key + self._margin

    def orders(self) -> list[Integers]:
        """Return for each level the candidates that ring before ⊥, in the order of ringing."""
        number, key, error, who = self._near_runners()
        far = self._far_runners()
        if far:
            number = np.append(number, [level for level, _ in far])
            key = np.append(key, [runner.key for _, runner in far])
            error = np.append(error, [runner.error for _, runner in far])
            who = np.append(who, [runner.candidate for _, runner in far])
        order = np.lexsort((key, number))
        number, key, error, who = number[order], key[order], error[order], who[order]
        ends = np.searchsorted(number, np.arange(len(self._levels) + 1))
        # Whether each is surely before the next, and the last of a level before its ⊥.
        follower = np.empty(key.size)
        follower[:-1] = key[1:] - error[1:]
        some = np.flatnonzero(ends[1:] > ends[:-1])
        follower[ends[1:][some] - 1] = (self._key - self._margin)[some]
        with np.errstate(invalid="ignore"):  # of −∞ + ∞, which is not before anything
            in_order = key + error < follower
        orders = [who[start:end] for start, end in pairwise(ends.tolist())]
        if not in_order.all():
            for level in np.unique(number[~in_order]).tolist():
                which = slice(ends[level], ends[level + 1])
                orders[level] = self._sorted(level, key[which], error[which], who[which])
        return orders

    def _sorted(self, number: int, key: Floats, error: Floats, who: Integers) -> Integers:
        """Return who rings before ⊥ in a level, one comparison at a time, each of them exact."""
        bottom = _Runner(float(self._key[number]), float(self._margin[number]), _BOTTOM)
        runners = map(_Runner, key.tolist(), error.tolist(), who.tolist())
        winners = [runner for runner in runners if self._before(number, runner, bottom)]

        def order(first: _Runner, second: _Runner) -> int:
            return -1 if self._before(number, first, second) else 1

        winners.sort(key=functools.cmp_to_key(order))
        return np.array([runner.candidate for runner in winners], dtype=np.int64)

    def _near_runners(self) -> tuple[Integers, Floats, Floats, Integers]:
        """Time the candidates with a fair chance one by one; return the possible winners.

        Each has its level, the float reading of its key, its error, and its position.
        """
        words = slice(len(self._levels), self._far)
        number = np.repeat(np.arange(len(self._levels)), self._near)
        place = np.arange(words.start, words.stop) - np.repeat(self._starts, self._near)
        gap = self._gap(self._candidates.counts[self._runners])
        gain = self._epsilon[number] * gap[place]
        log_ratio = self._log_ratio[number]
        key = self._log_e[words] - (gain - log_ratio)
        error = self._error[words] + RELATIVE_ERROR * (np.abs(gain) + log_ratio)
        # All but those that are surely behind ⊥: an infinite error keeps a runner in.
        possible = np.flatnonzero(~(key - error > self._behind[number]))
        return number[possible], key[possible], error[possible], self._runners[place[possible]]

    def _far_runners(self) -> list[tuple[int, _Runner]]:
        """Return the other candidates that may come before ⊥, with their levels.

        The clock of an item that was released before may ring like any other: `entries` skips it.
        """
        number, band = self._bands
        first = self._log_e[self._far :] - np.log(self._sizes)
        horizon = self._behind[number] + self._tops[band] + _ROOM
        runners: list[tuple[int, _Runner]] = []
        for i in np.flatnonzero(~(first - self._error[self._far :] > horizon)).tolist():
            level, word = int(number[i]), int(self._words[self._far + i])
            rung = self._band_runners(level, int(band[i]), word, float(horizon[i]))
            runners += [
                (level, runner)
                for runner in rung
                if not runner.key - runner.error > self._behind[level]
            ]
        return runners

    def _band_runners(self, number: int, band: int, word: int, horizon: float) -> list[_Runner]:
        """Let the equal clocks of a band ring, one after another, until none can win.

        In units of its top's weight the clocks of a band are exponentials of mean 1. The k-th of n
        rings 1/(n−k+1) of a fresh exponential after the one before (Rényi), and is equally likely
        to be that of any candidate left. A clock of lower weight only rings later than that, so
        past the horizon no candidate of the band comes before ⊥.
        """
        level = self._levels[number]
        start, end = self._ends[number, band : band + 2].tolist()
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
            self._clocks[number, candidate] = self._clock(number, candidate, list(terms))
            gain = level.epsilon * int(self._gap(self._candidates.counts[candidate]))
            key = log_e - (gain - level.log_ratio)
            error += RELATIVE_ERROR * (abs(gain) + level.log_ratio)
            runners.append(_Runner(key, error, candidate))
            word = int(self._entropy.words(1)[0])
        return runners

    def _before(self, number: int, first: _Runner, second: _Runner) -> bool:
        if first.key + first.error < second.key - second.error:
            return True
        if second.key + second.error < first.key - first.error:
            return False
        return rings_before(
            self._exact(number, first.candidate), self._exact(number, second.candidate)
        )

    def _exact(self, number: int, candidate: int) -> Clock:
        """Return a candidate's clock in a level, the same one each time: drawn bits are kept."""
        if (number, candidate) not in self._clocks:
            place = number  # of ⊥
            if candidate != _BOTTOM:
                place = int(self._starts[number] + np.searchsorted(self._runners, candidate))
            uniform = LazyUniform(int(self._words[place]), self._entropy)
            self._clocks[number, candidate] = self._clock(number, candidate, [(uniform, 1)])
        return self._clocks[number, candidate]

    def _clock(self, number: int, candidate: int, terms: list[tuple[LazyUniform, int]]) -> Clock:
        if candidate == _BOTTOM:
            return Clock(terms, epsilon=0.0, gap=0, log_ratio=0.0)
        level = self._levels[number]
        gap = int(self._gap(self._candidates.counts[candidate]))
        return Clock(terms, level.epsilon, gap, level.log_ratio)

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
