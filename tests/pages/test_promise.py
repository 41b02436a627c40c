"""The promise in words is never more than the promise in numbers."""

import math
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import headcount as hc
from headcount.inputs.unit import Unit
from headcount.outputs.account import Account
from headcount.outputs.datasheet import to_datasheet
from headcount.pages.promise import promise_of
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms import names
from headcount.results.guarantee import Guarantee
from headcount.results.release import Release, metadata_of
from tests.markdown import ROOT, TEXTS
from tests.pages.made import films, page_of
from tests.pages.parsed import Page


def words(epsilon, delta=1e-6, **settings):
    budget = Budget(epsilon=epsilon, delta=delta)
    return promise_of(Guarantee.of(budget, method="auto", private=True, settings=settings))


def how_often(promise):
    """In one of how many releases the odds may change by more than the stated factor."""
    said = re.search(r"In at most 1 of ([\d,]+) releases, the odds", promise.epsilon)[1]
    return int(said.replace(",", ""))


def test_epsilon_in_odds():
    assert "at most 2.72 in either direction. If they" in words(1.0).epsilon
    assert "at most 73.2 % sure" in words(1.0).epsilon
    assert "at most 20.1 in either direction. If they" in words(3.0).epsilon
    assert "at most 149 in either direction. If they" in words(5.0).epsilon
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
    pure = words(1.0, pure_zcdp=True)
    assert "already public" in pure.delta and "approximate" not in pure.formal
    assert "is published in" in words(1.0).delta and "approximate" in words(1.0).formal
    assert how_often(pure) > how_often(words(1.0))  # selection is a part of what may happen


@pytest.mark.parametrize(
    ("delta", "shown"), [(1e-6, "1 of 1,000,000"), (1e-5, "1 of 100,000"), (3e-5, "1 of 33,000")]
)
def test_how_often_an_item_of_one_person_is_published(delta, shown):
    assert f"no one else has is published in at most {shown} releases" in words(1.0, delta).delta


@given(st.floats(1e-12, 0.5))
def test_how_often_is_rounded_up(delta):
    said = re.search(r"1 of ([\d,]+)", words(1.0, delta).delta)[1].replace(",", "")
    assert 1 / int(said) >= delta


def exact_chances(rho, epsilon, selection):
    """How often the odds change by more than e^ε, with Gaussian noise that costs ρ.

    The noise is continuous, and discrete. Selection adds what it may: an event that only one of two
    neighbours has.
    """
    spread = math.sqrt(2 * rho)
    ends = [(rho - epsilon) / spread, (-rho - epsilon) / spread]
    number = np.arange(-math.ceil(50 / spread), math.ceil(50 / spread) + 1)
    law = np.exp(-rho * number**2.0)
    surprising = np.abs(rho * (1 - 2 * number)) > epsilon  # one more user moves the law by 1
    for chance in (stats.norm.cdf(ends).sum(), law[surprising].sum() / law.sum()):
        yield selection + (1 - selection) * chance


def ensure_true(text, budget, *, pure):
    """Every chance that a text states is one that no release exceeds."""
    selection = 0 if pure else float(budget.delta_selection)
    text = re.sub(r"no one else has is published in at most 1 of [\d,]+", "", text)
    stated = re.findall(r"\b1 (?:in|of) ([\d,]+)", text)
    for number in stated:
        least = 1 / int(number.replace(",", ""))
        assert least >= max(exact_chances(budget.rho, budget.epsilon, selection)), (budget, number)
    return len(stated)


@pytest.mark.parametrize("pure", [False, True])
def test_a_chance_that_is_stated_is_true(pure):
    given = [{"epsilon": e} for e in (0.01, 0.1, 0.5, 1, 3, 10, 50)]
    given += [{"rho": rho} for rho in (1e-4, 0.01, 0.1, 1, 10)]
    for delta in (1e-12, 1e-6, 1e-5, 1e-3, 0.1):
        for budget in (Budget(**one, delta=delta) for one in given):
            stated = Guarantee.of(budget, method="auto", private=True, settings={"pure_zcdp": pure})
            said = promise_of(stated)
            assert ensure_true(f"{said.epsilon} {said.delta}", budget, pure=pure) == 1


@pytest.mark.parametrize("asked", [*names(), "known"])
def test_whatever_a_release_says_of_chances_is_true(asked):
    table = pa.table({"u": list(range(300)), "i": ["tea"] * 300})
    how = {"items_from": ["tea", "mate"]} if asked == "known" else {"method": asked}
    bound = {"max_items_per_user": 1} if asked == "threshold" else {}
    made = hc.release(table, user="u", item="i", epsilon=0.5, **how, **bound)
    page, sheet = (
        Page(page_of(made)).text,
        to_datasheet(Account(made.guarantee, ("i",), len(made))).decode(),
    )
    budget = Budget(epsilon=0.5)
    assert ensure_true(f"{page} {sheet} {made.guarantee}", budget, pure=asked == "known") == 1


#: A sentence that takes δ for the chance that the limit of ε fails.
DELTA_AS_A_CHANCE = re.compile(r"(?=.*(δ|delta))(?=.*(chance|probab))(?=.*(\bfail|not hold))")


def sentences_of(text):
    return re.split(r"(?<=[.:;]) |\| \|", re.sub(r'["\s#]+', " ", text))


@pytest.mark.parametrize(
    "said",
    [
        "**δ** is the small probability, such as one in a million, that the limit does not hold.",
        "For each, the chance that this limit fails is at most {_chance(guarantee.delta)}. More.",
        '"likely; δ bounds the probability "\n        "that this fails.",',
    ],
)
def test_what_must_not_be_said_is_recognised(said):
    assert any(DELTA_AS_A_CHANCE.match(sentence) for sentence in sentences_of(said))


def test_the_docs_state_the_chance_of_a_page():
    explained = (ROOT / "docs/explanation/promise.md").read_text(encoding="utf-8")
    assert f"1 of {how_often(words(1.0)):,} releases" in explained


def test_no_text_takes_delta_for_the_chance_that_a_limit_fails():
    written = (".py", ".md", ".html", ".ipynb")
    files = [file for folder in ("src", "docs", "website") for file in (ROOT / folder).rglob("*")]
    files = [*TEXTS, *(file for file in files if file.suffix in written)]
    for file in files:
        for sentence in sentences_of(file.read_text(encoding="utf-8")):
            assert not DELTA_AS_A_CHANCE.match(sentence), (file, sentence)
