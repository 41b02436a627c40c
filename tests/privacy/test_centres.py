"""The centre of values that a mean is taken of: how it is found, what it costs, what it is for."""

import math
import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import COUNT, Measure
from headcount.privacy.mechanisms.further import Aggregates
from headcount.privacy.mechanisms.further.centres import (
    ANYWHERE,
    CENTRE_SHARE,
    CLOSER_LOOKS,
    PARTS,
    found_closer,
    found_first,
)
from headcount.privacy.mechanisms.further.rations import bins_of
from headcount.privacy.mechanisms.further.sums import HISTOGRAM_SHARE, Sums
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.amounts import PlainAmounts
from tests.privacy.test_sums import RHO, Played, Recorded, counted, released

MEAN = Aggregates(means=("y",))
BOTH = Aggregates(sums=("y",), means=("y",))
# Some are spread so far that one look is enough; others are looked at as closely as can be.
NEAR = {
    "near 1000": lambda rng: rng.normal(1000, 1),
    "near -1000": lambda rng: rng.normal(-1000, 1),
    "near 0": lambda rng: rng.normal(0, 1),
    "skewed": lambda rng: 30 + rng.pareto(1.7),
    "all the same": lambda rng: 10.0,
    "1 to 5": lambda rng: float(rng.integers(1, 6)),
    "of any size": lambda rng: float(10.0 ** rng.uniform(-30, 30)),
}


def people(draw, users=3000, items=10):
    rng = np.random.default_rng(users)
    return [
        (u, f"i{rng.integers(items)}", {"y": float(draw(rng))}) for u in range(users) for _ in "abc"
    ]


def looked_at(values, sigma=0.01, looks=1 + CLOSER_LOOKS):
    """Look at users with one value each as a release does; return what each look found."""
    rows = PlainAmounts([(n, "i", {"y": value}) for n, value in enumerate(values)])
    (quantity, _) = MEAN.quantities
    made = [found_first(bins_of(rows.middles(quantity, ["i"], ANYWHERE)), sigma)]
    while made[-1].closer is not None and len(made) < looks:
        before = made[-1]
        seen = bins_of(rows.middles(quantity, ["i"], before.closer))
        made.append(found_closer(before.closer, before.centre, seen, sigma))
    return made


def test_every_number_is_in_one_bin():
    assert list(ANYWHERE) == sorted(ANYWHERE)
    assert ANYWHERE[0] == -sys.float_info.max
    assert [-size for size in ANYWHERE[1:64]] == [*ANYWHERE[64:]][::-1]


def test_each_look_is_16_times_as_close():
    ends = [(found.centre, found.closer) for found in looked_at([1000.0] * 9)]
    assert ends[0][0] == 256.0
    assert ends[1][0] == 256.0 + 3 * 240
    assert ends[2][0] == 976.0 + 1 * 15
    assert ends[3][0] == 991.0 + 9 * 15 / 16
    for _, bounds in ends:
        assert len(bounds) == 2 + PARTS
        assert list(bounds) == sorted(bounds)
    assert ends[0][1][1] == 256.0
    assert ends[0][1][-1] == 4096.0


@pytest.mark.parametrize("size", [1e-30, 0.02, 1.0, 3.0, 15.99, 4096.0, 2e9, 1e37])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_centre_is_near_and_on_the_side_of_zero(size, sign):
    centre = looked_at([sign * size] * 9)[-1].centre
    assert 0 <= sign * (sign * size - centre) <= size * 15 / 4096
    assert math.copysign(1, centre) == sign


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0] * 9,
        [1e-40] * 9,
        [-5.0, -4.0, 4.0, 5.0] * 3,
        [0.0] * 3 + [7.0] * 5,
        [-7.0] * 5 + [0.0] * 3,
    ],
)
def test_it_is_zero_where_nobody_is_seen_or_a_quarter_is_not_on_one_side(values):
    (found,) = looked_at(values)
    assert found.centre == 0
    assert found.closer is None


def test_it_is_zero_where_noise_hides_everybody():
    assert looked_at([1000.0] * 9, sigma=5.0)[-1].centre == 0
    assert looked_at([1000.0] * 9, sigma=1.0)[-1].centre > 990


def test_values_beyond_any_size_are_not_looked_at_closer():
    (found,) = looked_at([1e300] * 9)
    assert found.centre == ANYWHERE[-1]
    (found,) = looked_at([-1e300] * 9)
    assert found.centre == ANYWHERE[1]


def test_a_range_that_values_spread_beyond_is_not_looked_at_closer():
    values = [1.0 + n / 10 for n in range(100)]
    assert [found.centre for found in looked_at(values)] == [1.0, 1 + 5 * 15 / 16]
    wide = [2.0**n for n in range(1, 40)]
    assert len(looked_at(wide)) == 1


def test_what_was_found_stays_where_a_closer_look_shows_nobody_there():
    (found,) = looked_at([1000.0] * 9, looks=1)
    for bins in ([0] * (PARTS + 2), [9, *[0] * (PARTS + 1)], [*[0] * (PARTS + 1), 9]):
        again = found_closer(found.closer, found.centre, bins, 0.01)
        assert (again.centre, again.closer) == (256.0, None)


# --- what it costs -------------------------------------------------------------------------------


def test_all_looks_together_get_a_twentieth():
    assert CENTRE_SHARE * (1 + CLOSER_LOOKS) == HISTOGRAM_SHARE == Fraction(1, 20)


@pytest.mark.parametrize("asked", [MEAN, BOTH], ids=["mean", "both"])
@pytest.mark.parametrize("near", NEAR)
def test_looking_for_a_centre_is_charged(near, asked):
    """Each answer is paid for, by its σ and by how far a user moves it, before it is drawn."""
    drawn, moves = [], []

    class Listening(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            # What a user moves: one bin of a histogram, or a ration of ten sums.
            squared = moves.pop() if len(values) == 10 else 1
            reserved = gate.spent.rho - sum(cost for _, cost in drawn)
            drawn.append((len(values), squared / (2 * Fraction(sigma) ** 2)))
            assert drawn[-1][1] <= reserved
            return super().discrete_gaussian(values, sigma)

    class Heard(PlainAmounts):
        def scaled_sums(self, place, ration):
            moves.append(ration.squared)
            return super().scaled_sums(place, ration)

    rows = people(NEAR[near], users=600)
    gate = Gate(Cost(RHO), Listening(1))
    sums = Sums(asked, Heard(rows), RHO, gate)
    _, chosen = sums.release(*counted(rows), print)
    histograms = [cost for bins, cost in drawn if bins != 10]
    assert len(histograms) - 4 in range(1, 2 + CLOSER_LOOKS)
    assert len(drawn) - len(histograms) == 2
    assert sum(cost for _, cost in drawn) <= gate.spent.rho <= RHO
    assert gate.spent.rho >= 0.999 * RHO
    assert gate.spent.delta == 0
    assert "centre" in chosen["rations"]["values of y"]


def test_what_comes_out_follows_from_what_was_released():
    first = Recorded(3)
    rows = people(NEAR["near 1000"], users=600)
    made = [released(rows, first, BOTH)]
    for other in ([], people(NEAR["near 0"], 40), [(1, "i0", {"y": 1e300}), (2, "i1", {"y": 1e9})]):
        made.append(released(other, Played(first.answers), BOTH, counts=counted(rows)))
    told = [
        (chosen, spent, [(m.estimates.tolist(), m.errors.tolist()) for m in measures])
        for measures, chosen, spent in made
    ]
    assert told[1:] == told[:1] * 3
    assert told[0][0]["rations"]["values of y"]["centre"] > 990


@pytest.mark.parametrize(
    ("asked", "looked_for"),
    [
        ({"sums": ("y",)}, False),
        ({"means": ("y",)}, True),
        ({"means": ("y",), "sums": ("y",)}, True),
        ({"means": ("x",), "sums": ("y",)}, False),
        ({"means": ("y",), "bounds": {"y": (1.0, 5.0)}}, False),
        ({"sums": ("y",), "bounds": {"y": (1.0, 5.0)}}, False),
        ({"means": ("y",), "sums": ("y",), "bounds": {"y": (1.0, 5.0)}}, True),
        ({"rows": True, "means": ("y",), "max_rows": 3}, True),
    ],
)
def test_a_centre_is_looked_for_if_a_mean_is_asked_and_bounds_do_not_tell(asked, looked_for):
    asked = Aggregates(**asked)
    unknown = [each for each in asked.quantities if asked.has_unknown_centre(each)]
    assert ("y" in [each.column for each in unknown]) == looked_for
    assert all(each.kind == "sum" for each in unknown)
    said = [step for step in asked.steps if "the middle one of their values" in step]
    assert len(said) == len(unknown)


# --- what it is for ------------------------------------------------------------------------------


def truth(rows):
    names, _ = counted(rows)
    return [np.array([v["y"] for _, item, v in rows if item == name]) for name in names]


@pytest.mark.parametrize("sign", [1, -1])
def test_means_of_values_far_from_zero_are_as_good_as_of_values_near_it(sign):
    far = people(lambda rng: sign * rng.normal(1000, 1))
    near = people(lambda rng: rng.normal(0, 1))
    errors = [
        np.median(released(rows, SeededEntropy(1), MEAN)[0][0].errors) for rows in (far, near)
    ]
    assert errors[0] < 2 * errors[1]


def test_a_sum_and_a_mean_are_of_the_same_numbers():
    rows = people(NEAR["near 1000"])
    (total, mean), chosen, _ = released(rows, SeededEntropy(1), BOTH)
    (alone,), _, _ = released(rows, SeededEntropy(1), MEAN)
    assert (alone.estimates == mean.estimates).all()
    true = np.array([each.sum() for each in truth(rows)])
    number = np.array([each.size for each in truth(rows)])
    assert chosen["rations"]["values of y"]["centre"] > 990
    assert total.estimates / mean.estimates == pytest.approx(number, rel=0.1)
    # 8 standard errors: less than 1e-14. Without the centre times rows it would be 1,000 of them.
    assert (np.abs(total.estimates - true) < 8 * total.errors).all()
    assert (total.errors < 0.1 * true).all()


def test_bounds_hold_where_a_centre_is_looked_for():
    rows = people(NEAR["1 to 5"])
    bounded = Aggregates(sums=("y",), means=("y",), bounds={"y": (1.0, 5.0)}, max_rows=50)
    (_, mean), _, spent = released(rows, SeededEntropy(1), bounded)
    assert mean.estimates.min() >= 1
    assert mean.estimates == pytest.approx(3.0, abs=0.3)
    assert 0.999 * RHO <= spent.rho <= RHO


# Of any size, a few users have nearly everything, and nothing may tell of them.
@pytest.mark.parametrize("near", sorted(NEAR.keys() - {"of any size"}))
def test_intervals_hold_the_truth(near):
    held = []
    for seed in range(6):
        rows = people(NEAR[near], users=800 + seed, items=20)
        (total, mean), _, _ = released(rows, SeededEntropy(seed), BOTH)
        for place, values in enumerate(truth(rows)):
            for measure, true in ((total, values.sum()), (mean, values.mean())):
                off = abs(measure.estimates[place] - true)
                held.append(off <= 1.96 * measure.errors[place])
    assert np.mean(held) > 0.91  # of 240


def test_one_user_with_nearly_all_rows_changes_little():
    rows = people(NEAR["near 1000"])
    beside = [*rows, *[("rich", "i0", {"y": 1e9})] * 3000]
    (alone,), _, _ = released(rows, SeededEntropy(2), MEAN)
    (mean,), chosen, _ = released(beside, SeededEntropy(2), MEAN, counts=counted(rows))
    assert chosen["rations"]["values of y"]["centre"] == pytest.approx(1000, abs=2)
    assert abs(mean.estimates[0] - alone.estimates[0]) < 5 * (mean.errors[0] + alone.errors[0])


def test_with_no_items_nothing_is_asked_and_nothing_spent():
    none = Measure(COUNT, *[np.zeros(0)] * 4)
    measures, chosen, spent = released([], Played([]), BOTH, counts=([], none))
    assert [measure.estimates.size for measure in measures] == [0, 0]
    assert chosen == {}
    assert spent == Cost()


def test_huge_amounts_of_items_that_do_not_come_out_change_nothing_that_is_chosen():
    """A third of the users have a billion billion of an item each of their own."""
    usual = [(u, f"i{u % 4}", 1000 + u % 9) for u in range(3000)]
    huge = [(u, f"only {u}", 1e18) for u in range(1000)]
    found = []
    for rows in (usual, usual + huge):
        table = pa.table([list(column) for column in zip(*rows, strict=True)], ["u", "i", "x"])
        release = hc.release(
            table, user="u", item="i", rho=20, sum="x", mean="x", unsafe_seed=1, method="rationed"
        )
        made = {row["i"]: row for row in release.table.to_pylist()}
        assert made.keys() == {"i0", "i1", "i2", "i3"}
        # 750 users with 1,004 on average; 8 standard errors are less than 1e-14.
        for row in made.values():
            assert abs(row["sum_x"] - 753_000) < 8 * row["sum_x_std_error"] < 100_000
            assert abs(row["mean_x"] - 1004) < 8 * row["mean_x_std_error"] < 20
        chosen = release.settings["rations"]
        found.append([(each.get("centre"), each["grid"]) for each in chosen.values()])
    assert found[0] == found[1]
