"""Limits on the rows of a release: of the highest counts, of counts that are high enough."""

import pyarrow as pa
import pytest

import headcount as hc
from headcount.results.canonical import account_of

COUNTS = {f"i{n}": 9000 - 1000 * n for n in range(8)}
SEEDED = {"budget": hc.Budget(rho=10), "unsafe_seed": 3}


def released(**options):
    return hc.release_counts(COUNTS, **SEEDED, **options)


WHOLE = released()


@pytest.mark.parametrize(
    ("limits", "names"),
    [
        ({"top": 2}, ["i0", "i1"]),
        ({"top": 99}, [f"i{n}" for n in range(8)]),
        ({"min_users": 6500}, ["i0", "i1", "i2"]),
        ({"min_users": 6500, "top": 2}, ["i0", "i1"]),
        ({"min_users": 6500, "top": 5}, ["i0", "i1", "i2"]),
        ({"min_users": 99_999}, []),
    ],
)
def test_rows_are_those_of_the_whole_release(limits, names):
    """With the same noise: limits change what is shown, and nothing else."""
    shown = released(**limits)
    assert shown.table["item"].to_pylist() == names
    assert shown.table.to_pylist() == WHOLE.table.slice(0, len(names)).to_pylist()
    assert shown.spent == WHOLE.spent
    assert account_of(shown.table)["settings"] == {**WHOLE.settings, **limits}
    assert "rows-left-out" in [notice.code for notice in shown.notices()]


def test_the_minimum_is_of_the_count_that_is_shown():
    lowest = WHOLE.table["count"][-1].as_py()
    assert len(released(min_users=lowest)) == len(WHOLE)
    assert len(released(min_users=lowest + 1)) == len(WHOLE) - 1


def test_what_is_said():
    told = {notice.code: notice.text for notice in released(min_users=6500, top=2).notices()}
    assert (
        "the 2 highest released counts and released counts of at least 6,500"
        in (told["rows-left-out"])
    )
    assert "cost nothing" in told["rows-left-out"]
    nothing = [notice.code for notice in released(min_users=99_999).notices()]
    assert "nothing-released" not in nothing
    assert "rows-left-out" not in [notice.code for notice in WHOLE.notices()]


@pytest.mark.parametrize("limits", [{"top": 0}, {"top": True}, {"min_users": -1}, {"top": 1.5}])
def test_limits_that_are_none(limits):
    with pytest.raises(hc.SettingsError, match="whole number of at least 1"):
        released(**limits)
    with pytest.raises(hc.SettingsError, match="whole number of at least 1"):
        hc.Question(source="a.csv", user="u", item="i", budget=hc.Budget(rho=1), **limits)


def test_limits_of_a_release_from_events():
    rows = pa.table({"u": list(range(2000)) * 2, "i": ["tea"] * 2000 + ["bread"] * 2000})
    shown = hc.release(rows, user="u", item="i", budget=hc.Budget(rho=10), top=1)
    assert len(shown) == 1
    assert shown.settings["top"] == 1


def by_country(**options):
    """Three countries with items of their own sizes; the seed makes noise the same each time."""
    rows = [
        (f"{country}{user}", country, item)
        for country, most in (("DE", 4000), ("FR", 2000), ("IT", 1000))
        for item, part in (("tea", 1.0), ("milk", 0.7), ("bread", 0.5))
        for user in range(int(most * part))
    ]
    users, countries, items = zip(*rows, strict=True)
    events = pa.table({"u": users, "country": countries, "item": items})
    return hc.release(events, user="u", budget=hc.Budget(rho=20), unsafe_seed=1, **options)


def test_segments_come_first_and_each_has_its_own_highest_counts():
    cells = by_country(item="item", per="country")
    pairs = by_country(item=["country", "item"])
    assert cells.table.column_names[:2] == ["country", "item"]
    assert cells.table.to_pylist() == pairs.table.to_pylist()  # the same, but for what is said
    assert cells.settings["per"] == ["country"]
    top = by_country(item="item", per="country", top=2)
    found = [(row["country"], row["item"]) for row in top.table.to_pylist()]
    assert sorted(found) == [
        (country, item) for country in ("DE", "FR", "IT") for item in ("milk", "tea")
    ]
    told = {notice.code: notice.text for notice in top.notices()}
    assert "the 2 highest released counts of each segment" in told["rows-left-out"]
    assert len(by_country(item=["country", "item"], top=2)) == 2


def test_segments_of_questions():
    budget = hc.Budget(rho=1)
    asked = hc.Question(source="e.csv", user="u", item="i", per="c", budget=budget)
    assert asked.items == ["c", "i"]
    assert hc.Question.from_json(asked.to_json()) == asked
    with pytest.raises(hc.SourceError, match="named twice"):
        hc.Question(source="e.csv", user="u", item="c", per="c", budget=budget)
    with pytest.raises(hc.SourceError, match="are the same"):
        hc.Question(source="e.csv", user="u", item="c", per="u", budget=budget)
    with pytest.raises(hc.SourceError):
        hc.Question(source="e.csv", user="u", item="c", per=5, budget=budget)
