"""Runs on tape: what one run released is released again by a run on another truth.

A `Tape` holds, in order, all that a run asked, charged and said, with the released answer where
there was one. Played to a run on other data it gives the same answers, whatever is true there, and
fails as soon as that run asks anything else. What is recorded is the transcript that the proofs
account for: noisy values, words, and who was picked or nominated, in place of the words of their
clocks, which mean something only beside true counts (race.md; vetting.md, "The transcript V").

If the other data lacks one user, the tape also knows what that user moved: from the true answers of
both runs and the noise that was really drawn, exactly, question by question. It is at most what the
gate charged for that question.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from headcount.privacy import gate
from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import Mechanism, MechanismResult
from headcount.privacy.mechanisms.further import Further
from headcount.privacy.questions import ItemWeights
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.amounts import PlainAmounts
from tests.privacy.population import PlainPopulation


@dataclass
class Tape:
    """What a run asked and was answered.

    Attributes:
        entries: questions, their answers, and what was true.
        playing: how many of them have been played; None while recording.
        unlike: of each question about what is true, whether it was different when played.
        moved: what one user moved in the current question, in ρ: of its noise, and of each pick.
        costs: purpose, ρ charged and ρ moved of every question, if the data played to is a
            neighbour's.
    """

    entries: list[tuple[object, Any, object]] = field(default_factory=list)
    playing: int | None = None
    unlike: list[tuple[object, bool]] = field(default_factory=list)
    moved: Fraction = Fraction(0)
    costs: list[tuple[str, Fraction, Fraction]] | None = None

    def take(self, question: tuple, answer: Callable[[], Any], true: object = None) -> Any:
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
            if self.costs is not None:
                self.moved += moved_by(question, was_true, true)
        return kept

    def note(self, *what: object) -> None:
        """Write down what has no answer."""
        self.take(what, lambda: None)


def moved_by(question: tuple, here: list[int], there: list[int]) -> Fraction:
    """Return ρ of how far two true answers are apart: in all, or for each pick."""
    kind, *_, scale = question
    # Candidates that only one side has are last; that one is picked is what δ is for.
    strict = kind != "before_bottom"
    shifts = [one - other for one, other in zip(here, there, strict=strict)]
    if kind == "noise":
        sigmas = scale if isinstance(scale, list) else [scale] * len(shifts)
        pairs = zip(shifts, sigmas, strict=True)
        return sum((Fraction(s) ** 2 / (2 * Fraction(x) ** 2) for s, x in pairs if s), Fraction(0))
    if kind == "before_bottom":
        shifts.append(0)  # what ⊥ moves by, as gaps are distances from it
    return (Fraction(scale) * (max(shifts) - min(shifts))) ** 2 / 8


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
        rows: users, items and values, of which amounts are made.
    """

    pairs: list[tuple[object, object]]
    bounded: list[int]
    histogram: list[int] | None = None
    users_known: bool = True
    several_passes: bool = True
    rows: list[tuple[object, object, dict]] = field(default_factory=list)

    def without(self, user: object) -> "Data":
        """Return the data without a user's pairs."""
        return replace(self, pairs=[pair for pair in self.pairs if pair[0] != user])


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


for _name in ("sizes", "weights", "found", "clipped_sums", "losers"):
    setattr(Truth, _name, _asked(_name))


class Neighbour(Truth):
    """The rows of some users, with items in the order that they have for all users.

    Ties are broken so that items have the same places with one user less.

    Args:
        tape: what is asked goes here.
        data: all users.
        left_out: the one user.
        without: whether that user's rows are left out.
    """

    def __init__(self, tape: Tape, data: Data, left_out: object, *, without: bool) -> None:
        super().__init__(tape, data.without(left_out) if without else data)
        self._whole, self._rest = (
            PlainPopulation(each.pairs) for each in (data, data.without(left_out))
        )
        more, fewer = _counts(self._whole), _counts(self._rest)
        self._order = sorted(more, key=lambda item: (-more[item], -fewer[item], repr(item)))
        self._mine = fewer if without else more
        self.rows = [row for row in data.rows if not (without and row[0] == left_out)]

    def highest_counts(self, limit, *, with_users=False):
        self._tape.note("highest_counts", limit, with_users)
        top = [self._mine[item] for item in self._order[:limit] if self._mine[item]]
        users = len(self.items_of) if with_users and self._data.users_known else None
        return Ordered(np.array(top, dtype=np.int64), users, self._order)

    def bounded_counts(self, max_items_per_user, at_least):
        self._tape.note("bounded_counts", max_items_per_user, at_least)
        here, fewer = (
            _counts(each, max_items_per_user) for each in (self, self._rest)
        )  # what only one side looks at is what δ is for
        items = sorted((item for item in fewer if fewer[item] >= at_least), key=repr)
        return Ordered(np.array([here[item] for item in items], dtype=np.int64), None, items)

    def weights(self, unit, most_items, at_least):
        """Answer for all items that are looked at with everybody's rows."""
        self._tape.note("weights", (unit, most_items, at_least))
        here = PlainPopulation.weights(self, unit, most_items, 1)
        self._whole.names = list(self.names)
        items = self._whole.weights(unit, most_items, at_least).items
        values = dict(zip(here.items, here.values.tolist(), strict=True))
        answer = [values.get(item, 0) for item in items]
        return ItemWeights(np.array(answer, dtype=np.int64), items)

    def known_pairs(self):
        """The ten most popular items, and two that nobody has, are a public list."""
        self.names = [*self._order[:10], "nobody's", "nobody's either"]
        return self, len(self.names), len(self.names)

    def everybody(self):
        return self

    def users(self):
        return len(self.items_of)

    def with_other_items(self, released):
        return sum(not items <= set(released) for items in self.items_of.values())

    def amounts(self):
        return PlainAmounts(self.rows)


@dataclass(frozen=True)
class Ordered(Ranked):
    """Counts of items in an order."""

    items: list[object]

    def named(self, positions):
        return [self.items[position] for position in positions]


def _counts(people: PlainPopulation, most: int | None = None) -> Counter:
    """Return how many people have each item, of their first so many."""
    first = (sorted(items, key=repr)[:most] for items in people.items_of.values())
    return Counter(item for items in first for item in items)


NOTHING_FURTHER = Further()


class Stage:
    """Where runs are recorded and played: charges, picks and nominations go on the tape too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def record(
        self, method: Mechanism, data: Data, seed: int = 1, steps: float = 0.0
    ) -> tuple[Tape, MechanismResult]:
        """Run a mechanism on data; return all that happened, and what it released."""
        tape = Tape()
        return tape, self._run(tape, method, Truth(tape, data), TapedEntropy(tape, seed, steps))

    def play(self, tape: Tape, method: Mechanism, data: Data) -> MechanismResult:
        """Run a mechanism on other data, with the released values of a run before it."""
        return self._play(tape, method, Truth(tape, data))

    def without_one(
        self,
        method: Mechanism,
        data: Data,
        user: object,
        seed: int,
        further: Further = NOTHING_FURTHER,
    ) -> tuple[Tape, MechanismResult, MechanismResult]:
        """Record a run on data and play it to a run without a user; return both results."""
        tape = Tape()
        everybody = Neighbour(tape, data, user, without=False)
        made = self._run(tape, method, everybody, TapedEntropy(tape, seed, 0.0), further)
        tape.costs = []
        others = Neighbour(tape, data, user, without=True)
        return tape, made, self._play(tape, method, others, further)

    def _play(
        self, tape: Tape, method: Mechanism, view: Truth, further: Further = NOTHING_FURTHER
    ) -> MechanismResult:
        tape.playing, tape.unlike = 0, []
        result = self._run(tape, method, view, TapedEntropy(tape, 0, 0.0), further)
        assert tape.playing == len(tape.entries), "it ended earlier"
        return result

    def _run(
        self,
        tape: Tape,
        method: Mechanism,
        view: Truth,
        entropy: TapedEntropy,
        further: Further = NOTHING_FURTHER,
    ) -> MechanismResult:
        def rings(name):
            real = getattr(gate, name)

            def taped(gaps, epsilon, other, source):
                # k̄ is public, and so is how many were nominated; who is left for a race is not.
                known = (gaps.size, other) if name == "first_to_ring" else (other,)
                run = partial(real, gaps, epsilon, other, source.source)
                return tape.take((name, *known, epsilon), run, gaps.tolist()).copy()

            return taped

        def asks(name):
            real = getattr(Gate, name)

            def taped(self, *given, **more):
                before, tape.moved = self.spent.rho, Fraction(0)
                answer = real(self, *given, **more)
                if tape.costs is not None:
                    picks = _picks(name, given, answer)
                    charged = self.spent.rho - before
                    tape.costs.append((name, charged, picks * tape.moved))
                return answer

            return taped

        def charged(kind):
            real = getattr(PrivacyFilter, kind)

            def taped(self, cost, *purpose):
                tape.note(kind, cost, *purpose)
                real(self, cost, *purpose)

            return taped

        with self._patch.context() as patch:
            for name in ("before_bottom", "first_to_ring"):
                patch.setattr(gate, name, rings(name))
            for name in ("noisy", "picked", "nominated"):
                patch.setattr(Gate, name, asks(name))
            for name in ("reserve", "settle"):
                patch.setattr(PrivacyFilter, name, charged(name))
            everything = Gate(Cost(Fraction(10**9), Fraction(1)), entropy)

            def said(step: str) -> None:
                tape.note("said", step)

            counts = method.prepare(view, everything, said)
            return further.prepare(counts, view, method.budget, everything, said)()


def _picks(name: str, given: tuple, answer: Any) -> int:
    """Return how many picks a question of the gate made; 1 if it is about noise."""
    match name:
        case "picked":
            return answer[0].size + answer[1]
        case "nominated":
            return given[2]
    return 1


def published(result: MechanismResult) -> dict[str, object]:
    """Return all that comes out of a run, as values that can be compared."""
    measures = [
        {name: plain(value) for name, value in vars(measure).items()} for measure in result.measures
    ]
    return {name: plain(value) for name, value in vars(result).items()} | {"measures": measures}
