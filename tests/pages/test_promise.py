"""The promise in words is never more than the promise in numbers."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.inputs.unit import Unit
from headcount.pages.promise import promise_of
from headcount.privacy.accounting.budget import Budget
from headcount.results.guarantee import Guarantee
from headcount.results.release import Release, metadata_of
from tests.pages.made import films, page_of


def words(epsilon, delta=1e-6):
    budget = Budget(epsilon=1, delta=1e-6)
    stated = Guarantee.of(budget, method="auto", private=True).__dict__
    return promise_of(Guarantee(**{**stated, "epsilon": epsilon, "delta": delta}))


def test_epsilon_in_odds():
    assert "at most 2.72 in either direction. Someone" in words(1.0).epsilon
    assert "at most 73.2 % sure" in words(1.0).epsilon
    assert "at most 20.1 in either direction. Someone" in words(3.0).epsilon
    assert "at most 149 in either direction. Someone" in words(5.0).epsilon
    assert "at most 95.3 % sure" in words(3.0).epsilon
    assert "no limit at all" in words(50.0).epsilon


@given(st.floats(1e-3, 13))
def test_odds_are_rounded_up(epsilon):
    factor = re.search(r"at most ([\d,.]+) in either", words(epsilon).epsilon)[1].replace(",", "")
    percent = re.search(r"at most ([\d.]+) % sure", words(epsilon).epsilon)[1]
    assert float(factor) >= math.exp(epsilon)
    assert float(percent) / 100 >= 1 / (1 + math.exp(-epsilon))


def test_a_unit_in_other_words_is_said_as_it_is():
    whole = Guarantee.of(Budget(rho=1), method="auto", private=True)
    for unit in ("one household", "x: y", "all rows: of one y, added or removed"):
        assert promise_of(replace(whole, unit=unit)).whom == f"{unit[0].upper()}{unit[1:]}."
    weekly = Guarantee.of(Budget(rho=1), method="auto", private=True, within="week")
    assert promise_of(weekly).whom.startswith("Each user within each week. ")


@pytest.mark.parametrize("unit", list(Unit))
def test_who_is_protected_is_said_whole(unit):
    whole = Guarantee.of(Budget(rho=1), method="auto", private=True, unit=unit)
    assert whole.unit in promise_of(whole).formal
    said = "what is protected" if unit is Unit.COMPUTED else "a given person is in the data"
    assert said in promise_of(whole).epsilon
    assert promise_of(whole).whom.startswith("Each ")
    assert whole.unit.partition(": ")[2].partition(",")[0] in promise_of(whole).whom
    weekly = Guarantee.of(Budget(rho=1), method="auto", private=True, unit=unit, within="week")
    assert "rows of one week are in the data" in promise_of(weekly).epsilon
    assert "For each person and week" in promise_of(weekly).delta
    release = films(3)
    stated = replace(weekly, settings=release.settings, spent=release.spent)
    table = release.table.replace_schema_metadata(metadata_of(stated))
    assert "are protected less" in page_of(Release(table, stated))


def test_a_public_list_is_never_named_by_chance():
    stated = Guarantee.of(Budget(rho=1), method="known", private=True).__dict__
    pure = promise_of(Guarantee(**{**stated, "settings": {"pure_zcdp": True}}))
    assert "already public" in pure.delta and "approximate" not in pure.formal
    assert "would then be published" in words(1.0).delta and "approximate" in words(1.0).formal


@pytest.mark.parametrize(
    ("delta", "shown"),
    [(1e-6, "1 in 1,000,000"), (1e-5, "1 in 100,000"), (3e-5, "1 in 33,333"), (0.0, "0")],
)
def test_delta_as_a_chance(delta, shown):
    assert f"at most {shown}. " in words(1.0, delta).delta


@given(st.floats(1e-12, 0.5))
def test_chances_are_rounded_up(delta):
    said = re.search(r"1 in ([\d,]+)", words(1.0, delta).delta)[1].replace(",", "")
    assert 1 / int(said) >= delta
