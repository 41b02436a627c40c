"""The same released values give the same release, whatever is true.

A run on one truth is recorded, and what it released is played to a run on another, where users,
counts and sizes are different (`replaying`). All that comes out must be the same, and all that is
asked, charged and said on the way. Nothing here is random: what is recorded is seeded.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.mechanisms import Options, mechanism, names
from headcount.privacy.mechanisms.auto import choice
from tests.privacy.replaying import Data, Stage, Tape, published

BUDGET = Budget(rho=2.0)
NO_OPTIONS = Options()
#: Items that somebody has in every truth, with weights that a rationed release looks at.
ITEMS = 30


def data(users, items_each, heavy, *, rare=0, collectors=1, backwards=False):
    """Users with a few items each, some with all of them, and items that only one user has.

    Args:
        users: how many have a few items.
        items_each: how many those have at most.
        heavy: how many have all items.
        rare: how many items a collector has, whom nobody shares them with; so many that they weigh
            too little for a rationed release to look at them.
        collectors: how many of these there are.
        backwards: whether the last items are the popular ones.
    """
    generator = np.random.default_rng(users)
    pairs = [(("heavy", user), item) for user in range(heavy) for item in range(ITEMS)]
    for user in range(users):
        mine = {int(item) for item in ITEMS * generator.random(items_each) ** 2}
        pairs += [(user, ITEMS - 1 - item if backwards else item) for item in mine]
    for user in range(collectors):
        pairs += [(("collector", user), ("rare", user, item)) for item in range(rare)]
    return Data(pairs, bounded=generator.integers(1000, 3000, ITEMS).tolist())


MANY = data(4000, 3, heavy=3)
# Other items are popular, more users have all of them, and there are fewer than 100 in all.
FEW = data(49, 3, heavy=45, rare=200, backwards=True)
# Other items are popular, and there are more users.
MORE = data(6000, 4, heavy=200, rare=300, backwards=True)
# Everything that is looked at is found at once; many users have other items.
UNFOUND = data(4000, 3, heavy=3, rare=30, collectors=500)
# Nobody; users who have one item each that nobody else has; and one whose weights are too low.
NOTHING = Data([], [])
APART = Data([(user, user) for user in range(3000)], [])
UNSEEN = data(0, 0, heavy=0, rare=200)


@dataclass(frozen=True)
class Case:
    """A mechanism as it is asked for, and what it says of its settings."""

    method: str
    settings: set[str]
    options: Options = NO_OPTIONS
    users_known: bool = True
    several_passes: bool = True

    def made(self):
        return mechanism(self.method).of(self.options, BUDGET)

    def seen(self, data):
        """Return data as a view that has no more than this."""
        return replace(data, users_known=self.users_known, several_passes=self.several_passes)


THRESHOLD = {"max_items_per_user", "r", "sigma", "threshold"}
VETTED = {"selection", "r", "k_bar", "ranks", "delta_round", "rounds_run"}
RACES = {"r", "k_bar", "ranks", "delta_star", "epsilon_star", "growth", "noise", "charging"}
RACES |= {"levels_run"}
CASES = {
    "auto": Case("auto", {"r", "chosen"}),
    "auto-one-pass": Case("auto", VETTED | {"chosen"}, several_passes=False),
    "pcr": Case("pcr", VETTED),
    "pcr-20-candidates": Case("pcr", VETTED, Options(candidates=20)),
    "pcr-races": Case("pcr", RACES, users_known=False),
    "pcr-paper": Case("pcr-paper", RACES),
    "pcr-noise-reduction": Case("pcr-noise-reduction", RACES | {"in_steps"}),
    "rationed": Case("rationed", {"r"}),
    "threshold": Case("threshold", THRESHOLD, Options(max_items_per_user=5)),
}


@pytest.fixture
def stage(monkeypatch):
    return Stage(monkeypatch)


def played(stage, tape, method, other, alike=0):
    """Play a tape to a run on other data, of which the truth really is another.

    But for so many answers, such as that nobody loses anything.
    """
    result = stage.play(tape, method, other)
    assert tape.unlike
    assert len([question for question, unlike in tape.unlike if not unlike]) <= alike
    return result


def test_every_mechanism_is_played():
    assert {case.method for case in CASES.values()} == set(names())


@pytest.mark.parametrize("other", [FEW, MORE], ids=["few", "more"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_release_follows_from_what_was_released(case, other, stage):
    method = case.made()
    tape, made = stage.record(method, case.seen(MANY))
    again = played(stage, tape, method, case.seen(other))
    assert made.counts.noisy.size >= 10
    assert published(again) == published(made)


@pytest.mark.parametrize("case", ["pcr", "pcr-races", "pcr-paper", "auto-one-pass"])
def test_a_run_on_nothing_is_as_long_as_any_other(case, stage):
    method = CASES[case].made()
    tape, made = stage.record(method, CASES[case].seen(APART))
    again = played(stage, tape, method, CASES[case].seen(NOTHING))
    assert made.counts.noisy.size == 0
    assert made.settings.get("rounds_run") != 0
    assert published(again) == published(made)


@pytest.mark.parametrize("case", ["rationed", "auto", "pcr"])
def test_one_user_with_many_items_is_as_good_as_nobody(case, stage):
    method = CASES[case].made()
    tape, made = stage.record(method, NOTHING)
    again = played(stage, tape, method, UNSEEN)
    assert made.counts.noisy.size == 0
    assert published(again) == published(made)


@pytest.mark.parametrize("case", ["pcr", "pcr-races"])
def test_a_long_histogram_is_known_by_what_was_released(case, stage):
    """One that falls quickly, and one of which more candidates would be considered."""
    method = CASES[case].made()
    ranks = range(1, 120_001)
    steep = replace(MANY, histogram=[int(10**6 / rank**1.5) + 1 for rank in ranks])
    flat = replace(MANY, histogram=[3000 if rank <= 50_000 else 1 for rank in ranks])
    tape, made = stage.record(method, CASES[case].seen(steep))
    assert (
        made.settings["k_bar"] < stage.record(method, CASES[case].seen(flat))[1].settings["k_bar"]
    )
    again = played(stage, tape, method, CASES[case].seen(flat))
    assert made.counts.noisy.size >= 10
    assert published(again) == published(made)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_nothing_else_stands_in_the_settings(case, stage):
    """A figure that is added here is published: it must be a parameter, or paid for."""
    _, made = stage.record(case.made(), case.seen(MANY))
    assert made.settings.keys() == case.settings


@pytest.mark.parametrize("data", [MANY, FEW], ids=["many", "few"])
@pytest.mark.parametrize("case", CASES)
def test_what_was_spent_is_told_by_purpose_if_it_follows_from_answers(case, data, stage):
    """What rounds of vetting cost depends on nominees that are never published."""
    _, made = stage.record(CASES[case].made(), CASES[case].seen(data))
    assert sum(made.spent_on.values(), Cost()) == made.spent
    if made.settings.get("selection") == "vetted":
        assert len(made.spent_on) == 1
    if "rationed" in (case, made.settings.get("chosen")):
        assert {"finding items", "counting the users of items"} < made.spent_on.keys()


def found_weights(tape: Tape) -> list[list[int]]:
    """Return the noisy weights of the items found in each round of discovery, in their order."""
    rounds, noisy = [], []
    for question, answer, _ in tape.entries:
        if question[0] == "noise":
            noisy = answer
        elif question[0] == "found":
            rounds.append([noisy[place] for place in question[1]])
    return rounds


@pytest.mark.parametrize("other", [FEW, MORE], ids=["few", "more"])
def test_equal_noisy_weights_are_ordered_by_lot_alone(other, stage):
    method = CASES["rationed"].made()
    tape, made = stage.record(method, MANY, steps=4.0)
    first, *_ = found_weights(tape)
    assert first == sorted(first, reverse=True)
    assert max(Counter(first).values()) >= 5
    assert published(played(stage, tape, method, other)) == published(made)


def test_a_second_round_follows_from_what_was_released(stage):
    """Also where nobody has an item left."""
    method = CASES["rationed"].made()
    tape, made = stage.record(method, UNFOUND)
    assert len(found_weights(tape)) == 2
    again = played(stage, tape, method, data(300, 4, heavy=9), alike=1)
    assert published(again) == published(made)


@pytest.mark.parametrize("chosen", ["rationed", "pcr"])
@pytest.mark.parametrize("other", [FEW, MORE], ids=["few", "more"])
@pytest.mark.parametrize("closer", [False, True], ids=["", "closer"])
def test_the_choice_follows_from_what_was_released_however_close_it_is(
    closer, other, chosen, stage, monkeypatch
):
    """What a rationed release promises is put next to what it must exceed.

    And what it is worth to know who is hidden next to the price of a closer look.
    """
    method = CASES["auto"].made()
    near = 1 + (-1e-9 if chosen == "pcr" else 1e-9)
    apart = float(np.exp(2 * float(choice.TUNING.closer[0]) * (1 + 1e-6))) if closer else 1.0

    def promises(look, *given):
        either = near * (1 + look.promised) * np.array([apart, 1 / apart]) - 1
        return choice.Promises(np.array([0.5, 0.5]), either, look.promised)

    monkeypatch.setattr(choice, "promises", promises)
    tape, made = stage.record(method, MANY)
    assert made.settings["chosen"] == chosen
    assert published(played(stage, tape, method, other)) == published(made)


@pytest.mark.parametrize(
    ("one", "other", "chosen"),
    [(MANY, FEW, "rationed"), (FEW, MANY, "pcr")],
    ids=["rationed", "pcr"],
)
def test_the_choice_follows_from_what_was_released(one, other, chosen, stage):
    method = CASES["auto"].made()
    tape, made = stage.record(method, one)
    assert made.settings["chosen"] == chosen
    assert made.settings.keys() == CASES[chosen].settings | {"chosen"}
    assert published(played(stage, tape, method, other)) == published(made)
