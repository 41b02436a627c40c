"""Rows, sums and means: what they cost, what is chosen, and that nothing else comes out."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.sensitivity import Together
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.base import COUNT, Measure
from headcount.privacy.mechanisms.further import Aggregates, Further, Totals
from headcount.privacy.mechanisms.further.rations import (
    HEAVIEST,
    MAGNITUDES,
    SQUARED_NORMS,
    bins_of,
    divisors_for,
    grid_below,
    grid_from,
    ration_from,
    with_tail,
)
from headcount.privacy.mechanisms.further.sums import HISTOGRAM_SHARE, Sums
from headcount.privacy.questions import (
    EXPECTED,
    LARGEST_AMOUNT,
    LARGEST_RATION,
    Ration,
)
from headcount.privacy.randomness import SeededEntropy
from tests.privacy.amounts import PlainAmounts
from tests.privacy.stats import assert_noise_of_this_scale

ASKED = Aggregates(rows=True, sums=("x",), means=("y",), bounds={"y": (1.0, 5.0)})
RHO = Fraction(2)


def people(users=300, items=4):
    rng = np.random.default_rng(users)
    return [
        (u, f"i{(u + n) % items}", {"x": float(rng.lognormal()), "y": float(rng.integers(1, 6))})
        for u in range(users)
        for n in range(1 + u % 3)
    ]


def counted(rows):
    names = sorted({item for _, item, _ in rows})
    users = np.array([len({u for u, i, _ in rows if i == name}) for name in names], dtype=float)
    return names, Measure(COUNT, users, np.ones_like(users), users, np.ones_like(users))


def released(rows, entropy, asked=ASKED, rho=RHO, counts=None):
    gate = Gate(Cost(rho), entropy)
    names, known = counts or counted(rows)
    sums = Sums(asked, PlainAmounts(rows), rho, gate)
    measures, chosen = sums.release(names, known, lambda message: None)
    return measures, chosen, gate.spent


def test_each_quantity_gets_the_same_share_and_all_of_it_is_charged():
    assert len(ASKED.quantities) == 4
    measures, _, spent = released(people(), SeededEntropy(1))
    assert [measure.name for measure in measures] == ["rows", "sum_x", "mean_y"]
    assert 0.999 * RHO <= spent.rho <= RHO
    assert spent.delta == 0


def test_noise_is_drawn_of_the_sigma_that_is_charged_for():
    """What a user moves, and the noise that is drawn: a bin of each histogram, a ration of sums."""
    histograms, sums, squared = [], [], []

    class Listening(SeededEntropy):
        def discrete_gaussian(self, values, sigma):
            (histograms if len(values) in bins else sums).append(Fraction(sigma))
            return super().discrete_gaussian(values, sigma)

    class Heard(PlainAmounts):
        def scaled_sums(self, place, ration):
            squared.append(ration.squared)
            return super().scaled_sums(place, ration)

    bins = {len(MAGNITUDES), len(SQUARED_NORMS)}
    gate, rows = Gate(Cost(RHO), Listening(1)), people()
    Sums(ASKED, Heard(rows), RHO, gate).release(*counted(rows), print)
    assert (len(histograms), len(sums)) == (2 * 4, 4)  # how large amounts are, and norms
    costs = [1 / (2 * sigma**2) for sigma in histograms]
    costs += [each / (2 * sigma**2) for each, sigma in zip(squared, sums, strict=True)]
    assert sum(costs) <= gate.spent.rho


def test_the_rule_for_the_budget():
    asked = {"source": "x", "user": "u", "item": "i", "budget": hc.Budget(rho=1)}
    assert hc.Question(**asked, sum="x").further.share == Fraction(1, 2)
    several = hc.Question(**asked, count="rows", sum=["x", "z"], mean=["x", "y"], total=True)
    # rows, x, z and y, rows with x and with y; and finding and counting.
    assert several.further.share == Fraction(1, 100) + Fraction(99, 100) * Fraction(6, 7)
    assert several.mechanism.pcr.budget.rho == pytest.approx(0.99 / 7)


class Played:
    """Answers with what another run released."""

    private = False

    def __init__(self, answers):
        self.answers = iter(answers)

    def discrete_gaussian(self, values, sigma):
        return [next(self.answers) for _ in values]


class Recorded(SeededEntropy):
    def __init__(self, seed):
        super().__init__(seed)
        self.answers = []

    def discrete_gaussian(self, values, sigma):
        noisy = super().discrete_gaussian(values, sigma)
        self.answers += noisy
        return noisy


def test_what_comes_out_follows_from_what_was_released():
    first = Recorded(3)
    rows = people()
    made = [released(rows, first)]
    for other in ([], people(40), [(1, "i0", {"x": 1e300, "y": math.nan})] * 9):
        made.append(released(other, Played(first.answers), counts=counted(rows)))
    told = [
        (chosen, spent, [(m.estimates.tolist(), m.errors.tolist()) for m in measures])
        for measures, chosen, spent in made
    ]
    assert told[1:] == told[:1] * 3


@pytest.mark.parametrize(
    ("of", "doubled"),
    [("USERS_IN_BINS", Together(2)), ("scaled_sums", lambda squared: Together(2 * squared))],
)
def test_nothing_is_asked_that_a_user_moves_further_than_there_is_budget_for(
    monkeypatch, of, doubled
):
    monkeypatch.setattr(f"headcount.privacy.mechanisms.further.sums.{of}", doubled)
    with pytest.raises(hc.BudgetExceededError, match="more than is left"):
        released(people(), SeededEntropy(1))


def test_with_no_items_nothing_is_asked_and_nothing_spent():
    none = Measure(COUNT, *[np.zeros(0)] * 4)
    measures, chosen, spent = released([], Played([]), counts=([], none))
    assert [measure.estimates.size for measure in measures] == [0, 0, 0]
    assert chosen == {}
    assert spent == Cost()


def test_the_noise_of_a_sum_is_the_one_that_is_paid_for():
    rows, entropy = people(60), SeededEntropy(5)
    asked = Aggregates(sums=("x",), bounds={"x": (0.0, 64.0)})
    off = []
    for _ in range(1200):
        (measure,), _, _ = released(rows, entropy, asked, Fraction(1000))
        truth = [sum(v["x"] for _, i, v in rows if i == name) for name in counted(rows)[0]]
        off.append((measure.noisy - truth) / measure.sigmas)
    assert_noise_of_this_scale(np.ravel(off))


@pytest.mark.parametrize("each", [1, 300])
def test_users_with_many_rows_of_an_item_count_with_all_of_them(each):
    """If only one row of each were expected, 300 would go beyond the largest ration."""
    rows = [(u, f"i{u % 2}", {"x": 2.0, "y": 4.0}) for u in range(100) for _ in range(each)]
    (number, total, mean), _, _ = released(rows, SeededEntropy(2), rho=Fraction(1000))
    # The standard errors are those of noise: 8 of them are less than 1e-14.
    for measure, true in ((number, 50 * each), (total, 100 * each), (mean, 4.0)):
        assert np.abs(measure.estimates - true).max() < 8 * measure.errors.max() < true


@pytest.mark.parametrize(
    ("asked", "largest"),
    [
        ({}, [None, None]),
        ({"max_rows": 3}, [3.0, None]),
        ({"bounds": {"x": (-2.0, 1.0)}}, [None, None]),
        ({"bounds": {"x": (-2.0, 1.0)}, "max_rows": 3}, [3.0, 6.0]),
    ],
)
def test_a_histogram_is_saved_where_amounts_have_public_bounds(asked, largest):
    asked = Aggregates(rows=True, sums=("x",), **asked)
    assert [asked.largest(quantity) for quantity in asked.quantities] == largest
    assert len(asked.steps) == 4 + largest.count(None)
    _, _, spent = released(people(), SeededEntropy(1), asked)
    assert 0.999 * RHO <= spent.rho <= RHO


def test_intervals_hold_the_truth():
    rng = np.random.default_rng(8)
    held = []
    for seed in range(8):
        rows = [
            (
                u,
                f"i{rng.integers(20)}",
                {"x": float(rng.pareto(1.7)), "y": float(rng.integers(1, 6))},
            )
            for u in range(3000)
            for _ in range(2)
        ]
        names, _ = counted(rows)
        measures, _, _ = released(rows, SeededEntropy(seed))
        for place, name in enumerate(names):
            mine = [values for _, item, values in rows if item == name]
            true = [len(mine), sum(v["x"] for v in mine), np.mean([v["y"] for v in mine])]
            for measure, truth in zip(measures, true, strict=True):
                off = abs(measure.estimates[place] - truth)
                held.append(off <= 1.96 * measure.errors[place])
    # Of 480; with the standard errors of noise alone it is about 85 %.
    assert np.mean(held) > 0.93


def test_one_user_with_nearly_everything_changes_little():
    rows = people(2000)
    alone, _, _ = released(rows, SeededEntropy(2))
    rich = [*rows, ("rich", "i0", {"x": 1e9, "y": 5.0})]
    beside, _, _ = released(rich, SeededEntropy(2), counts=counted(rows))
    true = sum(v["x"] for _, i, v in rows if i == "i0")
    assert abs(alone[1].estimates[0] - true) < 5 * alone[1].errors[0]
    assert abs(beside[1].estimates[0] - true) < 5 * beside[1].errors[0]


# --- what is chosen ------------------------------------------------------------------------------


def test_bins_are_differences():
    assert bins_of([10, 7, 7, 1]) == [3, 0, 6, 1]


def test_the_grid_follows_the_highest_bin_that_is_seen():
    bins = [0] * len(MAGNITUDES)
    bins[32], bins[40] = 500, 3
    assert grid_from(bins, 1.0) * EXPECTED == 16.0  # values of 1 to 16, and three beyond that
    assert grid_from(bins, 0.1) * EXPECTED == 16.0**9
    assert grid_from([0] * len(MAGNITUDES), 1.0) * EXPECTED == 16.0**32
    everybody_zero = [500, *[0] * (len(MAGNITUDES) - 1)]
    assert grid_from(everybody_zero, 1.0) * EXPECTED == 16.0**-31


@pytest.mark.parametrize("largest", [1.0, 5.0, 1000.0, 2.0**-40, 0.3])
def test_a_grid_is_a_power_of_two_that_reaches_the_largest_value(largest):
    grid = grid_below(largest)
    assert math.frexp(grid)[0] == 0.5
    assert largest <= grid * EXPECTED < 2 * largest


def test_divisors_follow_the_root_of_released_counts():
    assert divisors_for(np.array([100.0, 400.0, -5.0]), np.full(3, 4.0)).tolist() == [320, 640, 64]


def norms(**users):
    bins = [0] * len(SQUARED_NORMS)
    for place, number in users.items():
        bins[int(place[1:])] = number
    return bins


def chosen(bins, items=100, sigma=2.0, variance=1.0):
    return ration_from(bins, sigma, np.full(items, 1000.0), 4, variance)


def test_nobody_is_cut_where_all_are_alike():
    made = chosen(norms(b20=100_000))
    assert made.ration == Ration(4, 20)
    assert made.lost < 0.001


def test_a_few_large_users_are_cut_and_that_is_said():
    made = chosen(norms(b20=100_000, b30=40))
    assert made.ration.bits < 30
    assert made.lost > 0
    assert made.spread > 0
    one_item = chosen(norms(b20=100_000, b30=40), variance=1e-6)
    assert one_item.ration.bits >= 30  # with less noise nobody need be cut


def test_what_noise_may_hide_widens_errors_and_is_not_added():
    bins = norms(b20=100_000, b28=400, b29=200, b30=100)
    made = chosen(bins, sigma=9.0)
    assert made.ration.bits < 30
    assert made.unsure > 1.1 * made.lost > 0
    fewer = chosen(bins, sigma=5.0)
    assert fewer.ration == made.ration
    assert fewer.lost == made.lost
    assert fewer.unsure < made.unsure


def test_if_nobody_is_seen_the_error_is_as_large_as_can_be():
    made = chosen(norms(b20=3))
    assert made.ration.squared == LARGEST_RATION**2


def test_a_tail_falls_as_the_last_bins_do_and_no_slower_than_the_heaviest():
    falling = with_tail(norms(b11=4000, b12=2000, b13=1000), 100.0, 13)
    assert falling[14:16].tolist() == [100.0, 50.0]
    level = with_tail(norms(b11=100, b12=100, b13=100), 100.0, 13)
    assert level[14] == pytest.approx(100 * HEAVIEST)
    known = with_tail(norms(b11=100, b12=100, b13=100), 3.0, 13)
    assert known[14] == 3.0


@pytest.mark.parametrize("items", [1, 2, 7, 1000, 10**6])
def test_squared_norms_and_sums_fit_in_64_bits(items):
    shift = Ration.shift_for(items)
    part = -(-LARGEST_AMOUNT // 2**shift)
    assert items * part**2 < 2**63
    assert 2**33 * LARGEST_RATION <= 2**63


# --- questions that cannot be asked ------------------------------------------------------------

BASE = {"source": "x.parquet", "user": "u", "item": "i", "budget": hc.Budget(rho=1)}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bounds": {"x": (0, 1)}}, "neither the sum nor the mean"),
        ({"sum": "x", "bounds": {"x": (1, 0)}}, "are 1 and then 0, .*: swap the two"),
        ({"sum": "x", "bounds": {"x": (0, 0)}}, "are both 0: give the lowest value"),
        ({"sum": "x", "bounds": {"x": (0, math.nan)}}, "two finite numbers"),
        ({"sum": "x", "bounds": {"x": (0, math.inf)}}, "two finite numbers"),
        ({"sum": "x", "bounds": {"x": (False, True)}}, "two finite numbers"),
        ({"sum": "x", "bounds": {"x": 3}}, "two finite numbers"),
        ({"sum": "x", "bounds": {"x": (0, 1e300)}}, "within"),
        ({"sum": "x", "bounds": [0, 1]}, "by column"),
        ({"sum": ["x", "x"]}, "named twice"),
        ({"sum": ["x", "x_lower"]}, "same column"),
        ({"count": "users"}, "always counted"),
        ({"max_rows_per_user_item": 3}, "only for rows, sums and means"),
        ({"count": "rows", "max_rows_per_user_item": 0}, "whole number from 1"),
        ({"count": "rows", "max_rows_per_user_item": 2**40}, "whole number from 1"),
        ({"sum": "u"}, "identifies people"),
        ({"item": ["i", "sum_x"], "sum": "x"}, "column of the result"),
        ({"item": "rows", "count": "rows"}, "column of the result"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_read(given, said):
    with pytest.raises(hc.InputError, match=said):
        hc.Question(**{**BASE, **given})


def test_a_question_survives_json():
    asked = hc.Question(**BASE, count="rows", sum=["x"], mean="y", bounds={"x": (0, 9)})
    assert hc.Question.from_json(asked.to_json()) == asked


@pytest.mark.parametrize(
    "values", [["a", "b"], [True, False], [pa.scalar(1, pa.date32()).as_py()] * 2, [b"a", b"b"]]
)
def test_what_is_no_number_is_refused(values):
    table = pa.table({"u": [1, 2], "i": ["a", "b"], "x": values})
    with pytest.raises(hc.SourceError, match="sums and means need numbers"):
        hc.release(table, user="u", item="i", rho=1, sum="x")
    with pytest.raises(hc.SourceError, match="no column 'z'"):
        hc.release(table, user="u", item="i", rho=1, sum="z")


def test_the_error_about_text_says_how_it_is_made_numbers(tmp_path):
    path = tmp_path / "e.csv"
    lines = [f'{user},a,"{user % 7}"' for user in range(2000)]
    path.write_text("\n".join(["u,i,an amount", *lines]))
    asked = {"user": "u", "item": "i", "sum": "an amount", "rho": 10}
    with pytest.raises(hc.SourceError, match="holds text, but sums and means need") as raised:
        hc.release(path, **asked)
    sql = str(raised.value).partition("--sql '")[2].partition("'")[0]
    assert hc.release(path, **asked, sql=sql).table["count"].to_pylist()[0] > 1900


def test_totals_and_sums_together_stay_within_the_budget():
    users = np.arange(4000) // 2
    table = pa.table({"u": users, "i": np.arange(4000) % 7, "x": np.ones(4000)})
    budget = hc.Budget(rho=3)
    release = hc.release(
        table, user="u", item="i", budget=budget, total=True, sum="x", mean="x", count="rows"
    )
    assert release.spent["rho"] <= budget.rho
    assert release.spent["delta"] <= budget.delta
    assert release.guarantee.rho == budget.rho
    assert Further(Totals(total=True), Aggregates(rows=True)).share < 1
    assert HISTOGRAM_SHARE * 2 < 1
