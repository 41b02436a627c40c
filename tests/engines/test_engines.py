"""One body for all engines: the same release, up to noise, wherever the data is."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import headcount
from tests.engines.conftest import ENGINES

BUDGET = headcount.Budget(rho=20.0)
TYPED = [engine for engine in ENGINES if engine != "sqlite"]  # SQLite has no such types

# Items that a collation, a trim or a normalisation would take for one another.
ALIKE = [
    "a",
    "A",
    "a ",
    " a",
    "ä",
    "a\u0308",
    "Ä",
    "ss",
    "ß",
    "",
    " ",
    "ﬁ",
    "fi",
    "🙂",
    "a\tb",
    "'",
    '"',
    "\\",
]


def table_of(items, people=60, kind=None):
    """Item number n has `people − n` users; each user has each item twice."""
    rows = [
        (f"u{person}", item) for n, item in enumerate(items) for person in range(people - n)
    ] * 2
    users, values = zip(*rows, strict=True)
    return pa.table({"who": pa.array(users), "what": pa.array(values, kind)})


def released(call, **changes):
    call = {"user": "who", "item": "what", "budget": BUDGET, "unsafe_seed": 4, **call, **changes}
    return headcount.release(call.pop("source"), **call)


@pytest.mark.parametrize("engine", ENGINES)
def test_text_is_compared_byte_by_byte(engine, on_engine):
    table = table_of(ALIKE)
    ours = released(on_engine(engine, table))
    assert sorted(ours.table["what"].to_pylist()) == sorted(ALIKE)
    assert ours.table.equals(released({"source": table}).table)


@pytest.mark.parametrize("engine", ENGINES)
def test_null_users_and_items_are_left_out_and_rows_counted_once(engine, on_engine):
    table = table_of(["x", "y"])
    nulls = pa.table({"who": [None, "u1", None] * 50, "what": ["x", None, None] * 50})
    with_nulls = pa.concat_tables([table, nulls.cast(table.schema)])
    assert released(on_engine(engine, with_nulls)).table.equals(released({"source": table}).table)


@pytest.mark.parametrize("engine", ENGINES)
def test_ties_at_the_cut_are_broken_alike(engine, on_engine):
    """Six items with the same count, of which two are candidates: by their bytes."""
    items = ["é", "b", "B", "a", "Z", "_"]
    rows = [(f"u{n}", item) for item in items for n in range(40)]
    more = [(f"u{n}", "most") for n in range(90)]
    users, values = zip(*rows, *more, strict=False)
    table = pa.table({"who": list(users), "what": list(values)})
    from headcount.engines.session import Session
    from headcount.histogram import count_distinct_users
    from headcount.sources import Request, open_source

    call = on_engine(engine, table)
    with Session() as session:
        request = Request(call.get("table"), engine=call.get("engine"))
        events = open_source(session, call["source"], request)
        top = count_distinct_users(events, "who", ["what"], 4)
    assert top.items["what"].to_pylist() == ["most", "B", "Z", "_"]
    assert top.counts.to_pylist() == [90, 40, 40, 40]


@pytest.mark.parametrize("engine", ENGINES)
def test_large_integers_keep_their_value(engine, on_engine):
    numbers = [2**53, 2**53 + 1, 2**63 - 1, -(2**63), 0]
    table = table_of(numbers, kind=pa.int64())
    ours = released(on_engine(engine, table))
    assert sorted(ours.table["what"].to_pylist()) == sorted(numbers)


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.date32(), [datetime.date(1582, 10, 4), datetime.date(2026, 2, 28)]),
        (pa.timestamp("us"), [datetime.datetime(2026, 1, 1, 0, 0, 0, n) for n in (1, 2)]),
        (pa.decimal128(30, 4), [Decimal("12345678901234567890.0001"), Decimal("0.0002")]),
        (pa.binary(), [b"\x00\xff", b"\x00"]),
        (pa.bool_(), [True, False]),
    ],
    ids=str,
)
def test_items_of_other_types_keep_their_value(engine, kind, values, on_engine):
    ours = released(on_engine(engine, table_of(values, kind=kind)))
    assert sorted(ours.table["what"].to_pylist()) == sorted(values)


@pytest.mark.parametrize("engine", ENGINES)
def test_several_item_columns(engine, on_engine):
    table = table_of(["x", "y"]).append_column("where", pa.array(["d", "e"] * 119))
    ours = released(on_engine(engine, table), item=["where", "what"])
    assert ours.table.column_names[:2] == ["where", "what"]
    assert ours.table.equals(released({"source": table}, item=["where", "what"]).table)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_without_rows_is_no_error(engine, on_engine):
    ours = released(on_engine(engine, table_of(["x"]).slice(0, 0)))
    assert len(ours) == 0
    assert ours.spent == released({"source": table_of(["x"]).slice(0, 1)}).spent


@pytest.mark.parametrize("engine", ENGINES)
def test_a_missing_column_is_named(engine, on_engine):
    call = on_engine(engine, table_of(["x"]))
    with pytest.raises(headcount.SourceError, match=r"no column 'whom'; there are: 'who', 'what'"):
        released(call, user="whom")


@pytest.mark.parametrize("engine", ENGINES)
def test_no_more_than_the_candidates_and_one_row_are_fetched(engine, on_engine, monkeypatch):
    from headcount.engines.base import Engine

    fetched = []
    run = Engine.run

    def counting(self, query, says):
        fetched.append(query)
        result = run(self, query, says)
        fetched.append(result.num_rows)
        return result

    monkeypatch.setattr(Engine, "run", counting)
    released(on_engine(engine, table_of(ALIKE)), candidates=3)
    assert fetched[-1] == 4
