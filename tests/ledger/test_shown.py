"""A ledger as it is printed and pickled: an address, and never a password."""

import pickle
from fractions import Fraction

import pyarrow as pa
import pytest

import headcount as hc
from headcount.ledger.account import accounts
from headcount.ledger.amounts import Total
from headcount.ledger.balance import Books
from headcount.privacy.accounting.filter import Cost


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("budget.db", "'budget.db'"),
        ("missing/budget.db", "'missing/budget.db'"),
        ("postgres://ann:s3cret@db.example.org:5432/shop", "'postgres://ann@db.example.org:5432/shop'"),
        ("postgres://db.example.org/shop?user=ann&password=s3cret", "'postgres://ann@db.example.org/shop'"),
        ("postgres://ann:s3/cret@db.example.org/shop", "'postgres://…'"),
        ("postgresql+psycopg://ann:s3cret@db/shop", "'postgresql+psycopg://…'"),
        ("host=db user=ann password=s3cret", "'(not understood)'"),
    ],
)  # fmt: skip
def test_a_ledger_shows_its_address_without_secrets(where, shown):
    said = repr(hc.Ledger(where, actor="ann"))
    assert said == f"Ledger({shown}, actor='ann')"
    assert "s3cret" not in str(hc.Ledger(where, actor="ann"))


def test_a_ledger_is_pickled_to_its_address(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db", actor="ann", patience=3.0, tell=lambda text: None)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    _ = ledger.books()  # a store is open, which no pickle could hold
    again = pickle.loads(pickle.dumps(ledger))
    assert repr(again) == repr(ledger)
    assert again._patience == 3.0
    assert again.books().left("shop") == ledger.books().left("shop")


def test_amounts_are_shown_as_decimals(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=0.1, delta=1e-5))
    assert repr(ledger.books().left("shop")).startswith("Cost(rho=0.1, delta=9")
    assert repr(ledger.books()).startswith(
        "<Books of 'shop': Total(delta=1e-05, limit=Cost(rho=0.1"
    )
    assert repr(Books()) == "<Books of no budget>"
    assert repr(Cost(Fraction(1, 3))) == "Cost(rho=0.333333333333, delta=0)"
    assert "limit=Cost(rho=0.1," in repr(Total.of(hc.Budget(rho=0.1)))


def test_a_budget_that_is_used_up_has_nothing_left(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=0.1, delta=1e-5))
    events = pa.table({"u": range(99), "q": ["tea"] * 99})
    hc.release(
        events, user="u", item="q", items_from=["tea"], rho=0.1, ledger=ledger, dataset="shop"
    )
    [account] = accounts(ledger.books())
    left = account.to_dict()["left"]
    assert [str(left[part]) for part in ("rho", "epsilon")] == ["0.0", "0.0"]
