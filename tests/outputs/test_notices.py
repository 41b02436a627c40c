"""Notices and columns are data, for whoever shows a release."""

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.mechanisms import Measure, MechanismResult
from headcount.results.guarantee import Guarantee
from headcount.results.release import build_release

EVENTS = pa.table({"who": list(range(300)), "what": ["tea"] * 300})


def codes(events=EVENTS, **asked):
    asked = {"budget": hc.Budget(rho=0.5), **asked}
    made = hc.release(events, user="who", item="what", **asked)
    assert all(str(notice) in made.summary() for notice in made.notices())
    return [notice.code for notice in made.notices()]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, []),
        ({"unsafe_seed": 1}, ["not-private"]),
        ({"budget": hc.Budget(rho=100)}, ["weak-budget"]),
        ({"budget": hc.Budget(rho=1, delta=0.01)}, ["weak-budget"]),
        ({"method": "threshold", "max_items_per_user": 3}, ["contribution-bound"]),
        ({"events": EVENTS.slice(0, 3)}, ["nothing-released"]),
    ],
)
def test_what_there_is_to_know(asked, expected):
    assert codes(**asked) == expected


def test_cautions_say_so_and_advice_does_not():
    weak, empty = hc.release(
        EVENTS.slice(0, 2), user="who", item="what", budget=hc.Budget(epsilon=11)
    ).notices()
    assert (weak.severity, str(weak)) == ("caution", f"Caution: {weak.text}")
    assert (empty.severity, str(empty)) == ("advice", empty.text)


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        ("u,i,d", {}),
        ("u,i,d\n,tea,\n,tea,", {}),
        ("u,i,d\nann,,\nbob,,", {}),
        ("u,i,d\nann,tea,yesterday\nbob,tea,31.13.2026", {"by": ("day", "d")}),
    ],
)
def test_what_leaves_nothing_to_count_is_named_before_a_larger_budget(lines, asked, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text(lines + "\n")
    sql = "SELECT u, i, TRY_CAST(d AS DATE) AS d FROM events"
    (said,) = (
        notice.text
        for notice in hc.release(path, user="u", item="i", rho=0.5, sql=sql, **asked).notices()
        if notice.code == "nothing-released"
    )
    causes, _, advice = said.partition("Otherwise")
    assert "the source may have no rows" in causes and "larger budget" not in causes
    missing = "a user, an item or a date that could be read" if asked else "a user or an item"
    assert f"a row without {missing} does not count" in causes and "larger budget" in advice


def test_auto_is_advised_only_to_those_who_chose_another_method():
    for method, advised in (("auto", False), ("pcr", True)):
        made = hc.release(EVENTS.slice(0, 2), user="who", item="what", rho=0.5, method=method)
        assert ("the method auto" in str(made.notices()[-1])) is advised


def test_another_measure_is_another_column():
    """What a mechanism releases beside counts needs no change in how a release is built."""
    ones = np.ones(2)
    counts = Measure("count", np.array([5.4, 9.6]), ones, ones, ones, whole=True, lowest=0)
    amounts = Measure("amount", np.array([-3.5, 2.5]), ones, 7 * ones, 2 * ones)
    made = MechanismResult(pa.table({"a": [1, 2], "b": ["x", "y"]}), (counts, amounts), Cost(), {})
    guarantee = Guarantee.of(hc.Budget(rho=1), method="auto", private=True)
    release = build_release(made, guarantee, "all")
    assert release.item_columns == ["a", "b"]
    assert release.measure_columns == [
        *("count", "std_error", "lower", "upper", "noisy_count", "noisy_std_error"),
        *("amount", "amount_std_error", "amount_lower", "amount_upper"),
        *("noisy_amount", "amount_noisy_std_error"),
    ]
    rows = release.table.to_pylist()
    assert [row["count"] for row in rows] == [10, 5]  # highest counts first, whole
    assert [row["amount"] for row in rows] == [2.5, -3.5]
    assert rows[1]["amount_lower"] == pytest.approx(-3.5 - 1.96, abs=0.001)
    assert [row["noisy_amount"] for row in rows] == [7, 7]
