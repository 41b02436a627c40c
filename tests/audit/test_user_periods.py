"""Canaries that are a user within a week: none is told apart better than was claimed for one.

Many of them are weeks of one person. The items of a canary lie on different days of its week, so
that each would have a ration of its own if days were what is protected.
"""

import datetime as dt
import os

import numpy as np
import pyarrow as pa
import pytest

import headcount
from headcount.inputs.periods import Periods
from headcount.privacy.mechanisms.rationed.tuning import TUNING
from tests.audit.canaries import FIRST_ID, Canaries, published
from tests.audit.estimator import rho_at_least, said

NUMBER = int(os.environ.get("AUDIT_CANARIES", "3000"))
WEEKS_OF_ONE = 60
BUDGET = headcount.Budget(rho=1.7)
# The most of ρ that can be left for the counts: nothing was spent on a second round.
CLAIM = BUDGET.rho * float(1 - TUNING.first_round - TUNING.fixed)
MONDAY = np.datetime64(dt.date(2001, 1, 1), "D")


class UserWeeks(Canaries):
    """Canaries as before, but persons have many, and each is in a week of its own."""

    def events(self):
        events = super().events()
        who, what = (events[name].to_numpy() for name in ("who", "what"))
        person = FIRST_ID + self.of(what) // WEEKS_OF_ONE
        who = np.where(who >= FIRST_ID, person, who)
        return pa.table({"who": who, "what": what, "at": self.days(what)})

    def days(self, items):
        """On which day all of an item's users have it."""
        return MONDAY + 7 * self.of(items) + 2 * (items % self.each)

    def listed(self):
        """All items, each on its day."""
        items = np.arange(self.inside.size * self.each)
        return pa.table({"what": items, "day": self.days(items)})


CANARIES = UserWeeks(NUMBER, each=3, others=12)


def bound(what, claim=CLAIM, **asked):
    release = headcount.release(
        CANARIES.events(),
        user="who",
        item="what",
        by=("day", "at"),
        protect="user-week",
        budget=BUDGET,
        columns="all",
        **{"method": "rationed", **asked},
    )
    items, noisy, sigmas = published(release)
    shifts = CANARIES.clipped(items, sigmas, claim)
    scores = CANARIES.parted(CANARIES.scores(items, noisy, sigmas, shifts))
    return said(f"user-weeks, {what}", rho_at_least(*scores, claim), claim)


# All of ρ is in the counts, and one item of the three of a canary would count in full.
KNOWN = {
    "claim": BUDGET.rho,
    "method": "auto",
    "items_from": CANARIES.listed(),
    "max_items_per_user": 1,
}


def test_user_weeks():
    assert CLAIM / 4 < bound("as they are") <= CLAIM  # canaries come out, or nothing is audited


def test_each_day_has_a_ration_of_its_own(monkeypatch):
    """Then a week has three."""
    monkeypatch.setattr(Periods, "protected_period", property(lambda self: "day"))
    assert bound("but by day", unsafe_seed=1) > CLAIM


def test_a_person_has_one_ration_for_all_weeks(monkeypatch):
    """More privacy than was asked for, at a price: their weeks are hardly in the counts."""
    everybody = property(lambda self: None)
    monkeypatch.setattr(Periods, "protected_period", everybody)
    with pytest.raises(AssertionError):
        assert bound("but by person", unsafe_seed=1) > CLAIM / 4


def test_user_weeks_of_a_known_list():
    assert BUDGET.rho / 4 < bound("known", **KNOWN) <= BUDGET.rho


def test_each_day_of_a_known_list_has_a_ration_of_its_own(monkeypatch):
    monkeypatch.setattr(Periods, "protected_period", property(lambda self: "day"))
    assert bound("known, but by day", **KNOWN, unsafe_seed=1) > BUDGET.rho
