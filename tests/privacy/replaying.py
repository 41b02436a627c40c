"""Runs on tape: what one run released is released again by a run on another truth.

A `Tape` holds, in order, all that a run asked, charged and said, with the released answer where
there was one. Played to a run on other data it gives the same answers, whatever is true there, and
fails as soon as that run asks anything else. What is recorded is the transcript that the proofs
account for: noisy values, words, and who was picked by a race or nominated, in place of the words
of their clocks, which mean something only beside true counts (race.md; vetting.md, "The
transcript V").
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from headcount.privacy.accounting.filter import PrivacyFilter
from headcount.privacy.mechanisms.base import Mechanism, MechanismResult
from headcount.privacy.mechanisms.pcr import private_count_release, vetting
from headcount.privacy.mechanisms.pcr.nomination import nominate
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.population import PlainPopulation
from tests.privacy.racing import race


@dataclass
class Tape:
    """What a run asked and was answered.

    Attributes:
        entries: questions, their answers, and what was true.
        playing: how many of them have been played; None while recording.
        unlike: of each question about what is true, whether it was different when played.
    """

    entries: list[tuple[object, Any, object]] = field(default_factory=list)
    playing: int | None = None
    unlike: list[tuple[object, bool]] = field(default_factory=list)

    def take(self, question: object, answer: Callable[[], Any], true: object = None) -> Any:
        """Return the answer to a question: a new one, or the one on the tape."""
        if self.playing is None:
            self.entries.append((question, answer(), true))
            return self.entries[-1][1]
        assert self.playing < len(self.entries), f"one question more: {question}"
        asked, kept, was_true = self.entries[self.playing]
        assert question == asked
        self.playing += 1
        if true or was_true:
            self.unlike.append((question, true != was_true))
        return kept

    def note(self, *what: object) -> None:
        """Write down what has no answer."""
        self.take(what, lambda: None)


class TapedEntropy:
    """Noise and words on tape; `source` is what they come from when recorded.

    Noisy values are rounded to multiples of ``steps``·σ, so that some of them are equal: whatever
    is recorded is a transcript that might occur.
    """

    private = False

    def __init__(self, tape: Tape, seed: int, steps: float) -> None:
        self.tape, self.source, self.steps = tape, SeededEntropy(seed), steps

    def words(self, count):
        return self.tape.take(("words", count), lambda: self.source.words(count)).copy()

    def discrete_gaussian(self, values, sigma):
        def noisy():
            step = np.maximum(1, np.round(self.steps * np.asarray(sigma)))
            drawn = np.array(self.source.discrete_gaussian(values, sigma), dtype=np.float64)
            return (step * np.round(drawn / step)).astype(np.int64).tolist()

        return list(self.tape.take(("noise", len(values), plain(sigma)), noisy, list(values)))


def plain(value: object) -> object:
    """Return arrays as lists, which can be compared."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


@dataclass(frozen=True)
class Data:
    """What is true.

    Attributes:
        pairs: who has what.
        bounded: counts of the same items with so many items of each user.
        histogram: counts in falling order, if they are not those of the pairs.
        users_known: whether a histogram comes with the number of users.
        several_passes: whether a view has the pairs.
    """

    pairs: list[tuple[object, object]]
    bounded: list[int]
    histogram: list[int] | None = None
    users_known: bool = True
    several_passes: bool = True


@dataclass(frozen=True)
class Ranked:
    """Counts of items, which are known by their places."""

    values: np.ndarray
    users: int | None

    def named(self, positions):
        return positions


class Truth(PlainPopulation):
    """A view of pairs of users and items that writes every question on a tape."""

    def __init__(self, tape: Tape, data: Data) -> None:
        super().__init__(data.pairs)
        self._tape, self._data = tape, data
        self.several_passes = data.several_passes

    def pairs(self):
        return self

    def highest_counts(self, limit, *, with_users=False):
        self._tape.note("highest_counts", limit, with_users)
        counts = Counter(item for items in self.items_of.values() for item in items)
        top = self._data.histogram or sorted(counts.values(), reverse=True)
        known = with_users and self._data.users_known
        users = max([len(self.items_of), *top[:1]]) if known else None
        return Ranked(np.array(top[:limit], dtype=np.int64), users)

    def bounded_counts(self, max_items_per_user, at_least):
        self._tape.note("bounded_counts", max_items_per_user, at_least)
        values = np.array(self._data.bounded, dtype=np.int64)
        assert np.all(values >= at_least)
        return Ranked(values, None)

    def found_named(self, positions):
        return [self.names[place] for place in positions]


def _asked(name):
    def ask(self, *arguments):
        # Of `found` only the places are released; the weights that come with them are true.
        self._tape.note(name, plain(arguments[1] if name == "found" else arguments))
        return getattr(PlainPopulation, name)(self, *arguments)

    return ask


for _name in ("sizes", "weights", "found", "clipped_sums", "losers", "lost"):
    setattr(Truth, _name, _asked(_name))


class Stage:
    """Where runs are recorded and played: charges, races and nominations go on the tape too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def record(
        self, method: Mechanism, data: Data, seed: int = 1, steps: float = 0.0
    ) -> tuple[Tape, MechanismResult]:
        """Run a mechanism on data; return all that happened, and what it released."""
        tape = Tape()
        return tape, self._run(tape, method, data, seed, steps)

    def play(self, tape: Tape, method: Mechanism, data: Data) -> MechanismResult:
        """Run a mechanism on other data, with the released values of a run before it."""
        tape.playing, tape.unlike = 0, []
        result = self._run(tape, method, data, 0, 0.0)
        assert tape.playing == len(tape.entries), "it ended earlier"
        return result

    def _run(
        self, tape: Tape, method: Mechanism, data: Data, seed: int, steps: float
    ) -> MechanismResult:
        def untimed_races(levels, candidates, alive, entropy):
            # Clocks are drawn when an order is read: ahead of that they are nobody's.
            return ((level, (level, candidates, entropy)) for level in levels)

        def taped_entries(order, alive, at_most):
            level, candidates, entropy = order

            def run():
                return race(level, candidates, alive, at_most, entropy.source)

            return tape.take(("race", level, at_most), run, candidates.counts.tolist())

        def taped_nominate(gaps, epsilon, number, entropy):
            def run():
                return nominate(gaps, epsilon, number, entropy.source)

            # k̄ is public, and so is how many of them were nominated.
            return tape.take(("nominate", gaps.size, epsilon, number), run, gaps.tolist())

        def charged(kind, charge):
            def taped(self, cost, *purpose):
                tape.note(kind, cost, *purpose)
                charge(self, cost, *purpose)

            return taped

        with self._patch.context() as patch:
            patch.setattr(private_count_release, "races", untimed_races)
            patch.setattr(private_count_release, "entries", taped_entries)
            patch.setattr(vetting, "nominate", taped_nominate)
            for name in ("reserve", "settle"):
                patch.setattr(PrivacyFilter, name, charged(name, getattr(PrivacyFilter, name)))
            view = Truth(tape, data)
            entropy = TapedEntropy(tape, seed, steps)
            return method.prepare(view, entropy, lambda message: tape.note("said", message))()


def published(result: MechanismResult) -> dict[str, object]:
    """Return all that comes out of a run, as values that can be compared."""
    measures = [
        {name: plain(value) for name, value in vars(measure).items()} for measure in result.measures
    ]
    return {name: plain(value) for name, value in vars(result).items()} | {"measures": measures}
