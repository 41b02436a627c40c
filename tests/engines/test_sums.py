"""What each user has of each item on every engine, against plain Python, and on neighbours."""

import math
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.engines import Session
from headcount.engines.duckdb.count import DuckDB
from headcount.inputs import Request, open_source
from headcount.privacy.mechanisms.further.centres import ANYWHERE
from headcount.privacy.mechanisms.further.rations import MAGNITUDES, SQUARED_NORMS
from headcount.privacy.questions import Quantity, Ration
from headcount.views import amounts
from headcount.views.engine_view import EngineView
from tests.engines.servers import ENGINES
from tests.privacy.amounts import PlainAmounts

NAN, INF = math.nan, math.inf
# Signed, zero, tiny, huge, subnormal, no number, NULL; on halves of the grid, and repeated rows.
STRANGE = [0.0, -0.0, 1.5, -2.5, 0.125, -0.125, 1e-320, -1e300, 1.7e308, NAN, INF, -INF, None, 7.0]
LISTED = ["i0", "i1", "i2", "i5", "nobody's"]
QUANTITIES = [
    Quantity("rows"),
    Quantity("present", "x"),
    Quantity("sum", "x", (-1.0, 2.0)),
    Quantity("sum", "n"),
    Quantity("sum", "x"),
    Quantity("sum", "x", None, 0.75),
    Quantity("sum", "x", (1.0, 5.0), 3.0),
]
GRIDS = [2.0**-32, 2.0**-32, 2.0**-30, 1.0, 0.25, 0.25, 2.0**-30]
# Bounds of middle values: all there are, and some that values lie on.
SPREAD = sorted({*ANYWHERE, 0.0, 1.5, -2.5, 7.0})
DIVISORS = np.array([64, 64, 77, 1000, 65], dtype=np.int64)


def rows():
    made = []
    for u in range(30):
        for i in range(1 + u % 4):
            value = STRANGE[(3 * u + i) % len(STRANGE)]
            whole = [None, 5, -(2**62), 2**53 + 1, 0][(u + i) % 5]
            made.append((f"u{u}", f"i{(u + i) % 7}", {"x": value, "n": whole}))
    many = made[:1] * 20  # more than a bin is wide
    return [*made, *made[:17], *many, (None, "i0", {"x": 9.0}), ("u9", None, {"x": 9.0, "n": 9})]


def table(made):
    return pa.table(
        {
            "who": pa.array([row[0] for row in made], pa.string()),
            "what": pa.array([row[1] for row in made], pa.string()),
            "x": pa.array([row[2].get("x") for row in made], pa.float64()),
            "n": pa.array([row[2].get("n") for row in made], pa.int64()),
        }
    )


def questions(view, listed, rations=(3, 20, 45), first=0):
    """Ask everything that can be asked, of amounts of any kind and quantities from a place on."""
    divisors = np.resize(DIVISORS, len(listed))
    asked = QUANTITIES[first:]
    found = [view.magnitudes(each, listed, MAGNITUDES) for each in asked]
    found += [view.middles(each, listed, SPREAD) for each in asked if each.kind == "sum"]
    view.measure(asked, GRIDS[first:], listed, divisors)
    for place in range(len(asked)):
        found.append(view.norms(place, 6, SQUARED_NORMS))
        for bits in rations:
            found.append(view.scaled_sums(place, Ration(6, bits)).tolist())
    return found


def asked(made, call=None, max_rows=None, rations=(3, 20, 45), first=0, listed=LISTED):
    call = call or {"source": table(made)}
    with Session() as session:
        events = open_source(
            session, call["source"], Request(call.get("table"), engine=call.get("engine"))
        )
        names = pa.table({"what": pa.array(listed, pa.string())})
        view = EngineView(
            events,
            "who",
            ["what"],
            one_snapshot=True,
            values=["x", "n"],
            max_rows=max_rows,
        )
        return questions(view.amounts(), names, rations, first)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_answers_like_plain_python(engine, on_engine):
    few = (20,) if engine == "spark" else (3, 20, 45)
    made = rows()
    call = on_engine(engine, table(made))
    assert asked(made, call, rations=few) == questions(PlainAmounts(made), LISTED, few)


values = st.one_of(
    st.sampled_from(STRANGE),
    st.floats(-1e6, 1e6),
    st.floats(allow_nan=False),
)
row = st.tuples(st.integers(0, 5), st.integers(0, 5), values, st.integers(-(2**63), 2**63 - 1))


@settings(max_examples=10, deadline=None)
@given(
    st.lists(row, max_size=12), st.lists(row, min_size=1, max_size=6), st.sampled_from([1, None])
)
def test_one_more_user_moves_nothing_further_than_is_paid_for(others, mine, max_rows):
    few = [(f"u{u}", f"i{i}", {"x": x, "n": n}) for u, i, x, n in others]
    more = [*few, *[("one more", f"i{i}", {"x": x, "n": n}) for _, i, x, n in mine]]
    rations, first = (0, 7, 40), 4
    before, after = (
        asked(each, max_rows=max_rows, rations=rations, first=first) for each in (few, more)
    )
    if max_rows is None:
        assert after == questions(PlainAmounts(more), LISTED, rations, first)
    each = iter(zip(before, after, strict=True))
    for _ in 2 * QUANTITIES[first:]:  # how much, and middle values
        assert_one_bin(*next(each))
    for _ in QUANTITIES[first:]:
        assert_one_bin(*next(each))
        for bits in rations:
            one, other = next(each)
            moved = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
            assert moved <= Ration(6, bits).squared


def assert_one_bin(before, after, users=1):
    """Cumulative numbers of users: each falls from one to the next, and a user is in one bin."""
    bins = [np.diff([*each[::-1]], prepend=0) for each in (before, after)]
    assert sum(abs(bins[0] - bins[1])) <= users


# Each of eight users has four items of their own, so that sums tell what every user adds.
USERS, OWN = 8, 4


def rows_of_each(seed):
    """Values of all sizes, and repeated rows."""
    chance = random.Random(seed)
    sizes = [2.0**power for power in (-40, 0, 10, 30, 45, 300)]

    def value():
        usual = chance.uniform(-2, 2) * chance.choice(sizes)
        return chance.choice([usual, usual, chance.choice(STRANGE)])

    made = [
        (
            f"u{user}",
            f"{user}-{chance.randrange(OWN)}",
            {"x": value(), "n": chance.choice([None, chance.randrange(-(2**63), 2**63)])},
        )
        for user in range(USERS)
        for _ in range(chance.randint(2, 20))
    ]
    made += made[::3]
    chance.shuffle(made)
    return made


# Spark takes seconds for each question.
NEIGHBOURS = [
    (engine, max_rows)
    for engine in ENGINES
    for max_rows in ([2] if engine == "spark" else [None, 2])
]


@pytest.mark.parametrize(("engine", "max_rows"), NEIGHBOURS)
def test_every_user_of_every_engine_stays_within_the_ration(engine, max_rows, on_engine):
    """Take away every other user: the rest add what they did, and nobody more than a ration."""
    made = rows_of_each(len(engine))
    fewer = [row for row in made if int(row[0][1]) % 2 == 0]
    choices = {
        "max_rows": max_rows,
        "rations": (24,) if engine == "spark" else (3, 24, 44),
        "first": 4,
        "listed": [f"{user}-{n}" for user in range(USERS) for n in range(OWN)],
    }
    whole, less = (asked(each, on_engine(engine, table(each)), **choices) for each in (made, fewer))
    each = iter(zip(whole, less, strict=True))
    for _ in 2 * QUANTITIES[4:]:
        assert_one_bin(*next(each), users=USERS // 2)
    for _ in QUANTITIES[4:]:
        assert_one_bin(*next(each), users=USERS // 2)
        for bits in choices["rations"]:
            before, after = (np.array(sums).reshape(USERS, OWN) for sums in next(each))
            assert (before[::2] == after[::2]).all()
            assert not after[1::2].any()
            squared = [sum(added**2 for added in user) for user in before.tolist()]
            assert max(squared) <= Ration(6, bits).squared
            # Somebody is scaled into the middle one, and fills it.
            assert bits != 24 or max(squared) > Ration(6, bits).squared / 2


@pytest.mark.parametrize(("engine", "max_rows"), NEIGHBOURS)
def test_rows_of_items_that_are_not_released_have_no_influence(engine, max_rows, on_engine):
    """Were they looked at, large values there would make the grid too coarse for those that count.

    Users who have no released item are not counted at all.
    """
    made = rows()
    inside = [row for row in made if row[1] in LISTED]
    assert {row[0] for row in inside} < {row[0] for row in made}
    first = 6 if engine == "spark" else 4
    few = {"rations": (20,), "first": first, "max_rows": max_rows}
    found = asked(made, on_engine(engine, table(made)), **few)
    assert found == asked(inside, **few)
    assert found != asked(made, **few, listed=[*LISTED, "i3", "i4", "i6"])


def test_a_ration_that_is_large_enough_changes_nothing():
    made = [("a", "i0", {"x": 2.0, "n": 3}), ("a", "i0", {"x": -5.0}), ("b", "i1", {"x": 1.0})]
    plain = PlainAmounts(made)
    plain.measure([Quantity("sum", "x")], [0.25], LISTED, np.full(5, 1, dtype=np.int64))
    assert plain.scaled_sums(0, Ration(6, 40)).tolist() == [-12, 4, 0, 0, 0]


def test_rows_beyond_the_bound_do_not_count_and_values_decide_nothing_else():
    made = [("a", "i0", {"x": float(x), "n": 1}) for x in range(1, 50)]
    made += [("b", "i0", {"x": 3.0, "n": 1})] * 7 + [("c", "i1", {"n": 2})]
    with Session() as session:
        events = open_source(session, table(made[::-1]), Request())
        view = EngineView(events, "who", ["what"], one_snapshot=True, values=["x", "n"], max_rows=2)
        found = view.amounts()
        listed = pa.table({"what": pa.array(["i0", "i1"], pa.string())})
        one = np.full(2, 1, dtype=np.int64)
        found.measure([Quantity("rows"), Quantity("sum", "n")], [2.0**-32, 1.0], listed, one)
        assert found.scaled_sums(0, Ration(6, 60)).tolist() == [4 * 2**32, 2**32]
        assert found.scaled_sums(1, Ration(6, 60)).tolist() == [4, 2]


@pytest.mark.parametrize("engine", ["duckdb", "polars", "sqlite", "postgres", "spark"])
def test_which_rows_count_does_not_depend_on_their_order(engine, on_engine):
    """Otherwise one user's rows could change which rows of another count."""
    made = [(f"u{n % 3}", "i0", {"x": 0.37 * n, "n": 7 * n}) for n in range(3000)]
    one, other = (
        asked(some, on_engine(engine, table(some)), max_rows=2, rations=(45,), first=4)
        for some in (made, [made[1999 * n % 3000] for n in range(3000)])
    )
    assert one == other
    assert one[-1][0] != 0


@pytest.mark.parametrize("grid", [2.0**-156, 2.0**96], ids=["finest", "coarsest"])
@pytest.mark.parametrize("engine", ["duckdb", "postgres", "spark"])
def test_no_value_is_an_error_on_any_grid(engine, grid, on_engine, monkeypatch):
    """PostgreSQL makes errors of products that are too large, or too small."""
    monkeypatch.setattr(f"{__name__}.GRIDS", [*GRIDS[:4], grid, grid, *GRIDS[6:]])
    made = [("u0", "i0", {"x": value, "n": 5}) for value in STRANGE]
    found = asked(made, on_engine(engine, table(made)), rations=(40,), first=4)
    assert found == questions(PlainAmounts(made), LISTED, (40,), 4)


@pytest.mark.parametrize("engine", ["duckdb", "polars", "sqlite", "postgres", "spark"])
def test_a_sum_that_leaves_64_bits_is_cut_and_no_error(engine, on_engine, monkeypatch):
    monkeypatch.setattr(amounts, "LARGEST_VALUE", 2**62)
    made = [("u0", "i0", {"x": 1e300, "n": 1})] * 5 + [("u1", "i1", {"x": -1e300, "n": 1})] * 5
    found = asked(made, on_engine(engine, table(made)), rations=(45,), first=4)
    cut = asked(made[4:6], on_engine(engine, table(made[4:6])), rations=(45,), first=4)
    # How much users may have, in bins that are wide enough; middles; norms and sums without bounds.
    assert found[: 3 + 3 + 2 * 2] == cut[: 3 + 3 + 2 * 2]


@pytest.mark.parametrize("engine", ["duckdb", "polars", "sqlite", "postgres", "spark"])
def test_a_release_has_rows_sums_and_means_on_every_engine(engine, on_engine):
    rng = np.random.default_rng(4)
    users = np.repeat(np.arange(3000), 2)
    made = pa.table(
        {
            "who": users,
            "what": np.array(["tea", "milk", "rice"])[np.arange(users.size) % 3],
            "x": rng.lognormal(0, 1, users.size),
            "n": rng.integers(1, 6, users.size),
            "year": rng.integers(2000, 2020, users.size),
        }
    )
    release = hc.release(
        **on_engine(engine, made),
        user="who",
        item="what",
        rho=50,
        count="rows",
        sum=["x", "n"],
        mean=["n", "year"],
        bounds={"n": (1, 5)},
        unsafe_seed=1,  # or noise would look like far larger amounts once in hundreds of runs
    )
    asked = [("x", "sum"), ("n", "sum"), ("n", "mean"), ("year", "mean")]
    truth = made.group_by("what").aggregate(asked).to_pylist()
    found = {row["what"]: row for row in release.table.to_pylist()}
    assert len(found) == 3
    for row in truth:
        mine = found[row["what"]]
        expected = {
            "rows": 2000,
            "sum_x": row["x_sum"],
            "sum_n": row["n_sum"],
            "mean_n": row["n_mean"],
            "mean_year": row["year_mean"],
        }
        for name, true in expected.items():
            # 8 standard errors: less than 1e-14.
            assert abs(mine[name] - true) < 8 * mine[f"{name}_std_error"] + 0.51
            assert mine[f"{name}_std_error"] < 0.05 * true
        assert mine["mean_year_std_error"] < 0.5


@pytest.mark.parametrize(
    "kind", ["numeric", "numeric(38, 2)", "numeric(60, 2)", "numeric(400, 300)"]
)
def test_decimals_of_any_length_are_added_up(kind, postgres_url):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS long_numbers")
        connection.execute(f"CREATE TABLE long_numbers (who int, what text, x {kind})")
        connection.execute(
            "INSERT INTO long_numbers SELECT n, 'tea', n % 7 FROM generate_series(1, 3000) AS n"
        )
    release = hc.release(
        postgres_url, table="long_numbers", user="who", item="what", rho=50, sum="x"
    )
    (row,) = release.table.to_pylist()
    assert abs(row["sum_x"] - 9000) < 8 * row["sum_x_std_error"] < 1000  # n % 7 adds up to 8,997


@pytest.mark.parametrize("call", [{}, {"items_from": ["tea", "milk"]}], ids=["found", "listed"])
def test_counts_and_sums_are_of_one_snapshot(call, monkeypatch):
    read = []

    def counted(keep):
        def method(self, rows, error_prefix):
            read.append(keep)
            return keep(self, rows, error_prefix)

        return method

    for name in ("keep_rows", "keep_distinct"):
        monkeypatch.setattr(DuckDB, name, counted(getattr(DuckDB, name)))
    made = pa.table({"u": [1, 2, 3, 4] * 9, "i": ["tea", "milk"] * 18, "x": [1.5] * 36})
    hc.release(made, user="u", item="i", rho=1, sum="x", total=True, **call)
    assert len(read) == 1
