"""The same question again is answered at no cost, and nothing of the data is kept for that."""

import headcount as hc
from tests.ledger.conftest import ask, kinds


def test_the_same_question_is_answered_at_no_cost(opened, parquet_of):
    told = []
    ledger = opened(tell=told.append)
    path = parquet_of()
    first = ask(ledger, path)
    second = ask(hc.Ledger(ledger._where, actor="ann", tell=told.append), str(path))
    assert second.table.equals(first.table, check_metadata=True)
    assert second.guarantee == first.guarantee
    assert kinds(ledger) == ["open", "reserve", "settle"]
    assert told[0].startswith("Charged to 'shop'")
    assert "entry 3 of the ledger), at no cost" in told[1]
    third = ask(ledger, path, again=True)
    assert kinds(ledger)[3:] == ["reserve", "settle"]
    assert ask(ledger, path).table.equals(third.table)


def test_another_question_is_charged(opened, parquet_of):
    ledger = opened(delta=1e-4)
    path = parquet_of()
    ask(ledger, path)
    ask(ledger, path, relative_error=0.2)
    ask(ledger, path, budget=hc.Budget(rho=0.11, delta=1e-6))
    ask(ledger, path, method="pcr-paper")
    ask(ledger, parquet_of(name="other.parquet"))
    ask(ledger, parquet_of(users=3001))  # the file has changed
    assert kinds(ledger).count("settle") == 6


def test_nothing_of_the_data_is_in_the_entries(opened, parquet_of):
    ledger = opened()
    path = parquet_of(users=3137)
    ask(ledger, path)
    bodies = "".join(entry.body() for entry in ledger.log())
    assert "tea" not in bodies
    assert "3137" not in bodies
    assert str(path.stat().st_size) not in bodies
