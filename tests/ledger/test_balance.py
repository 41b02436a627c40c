"""What entries add up to, in exact arithmetic, whatever their order."""

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headcount.errors import BudgetRefusedError, LedgerError, VerificationError
from headcount.ledger.amounts import Total, as_typed, charge_of, minus, what_fits
from headcount.ledger.balance import Books
from headcount.ledger.entries import NO_HASH, Entry, Kind, StoredEntry, link, read_chain
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost

budgets = st.builds(
    lambda rho, delta, of_epsilon: (
        Budget(epsilon=rho, delta=delta) if of_epsilon else Budget(rho=rho, delta=delta)
    ),
    st.floats(1e-6, 10),
    st.floats(1e-15, 1e-3),
    st.booleans(),
)


def test_ten_tenths_fit_into_one_and_no_more():
    total, tenth = Total.of(Budget(rho=1, delta=1e-5)).limit, charge_of(Budget(rho=0.1, delta=1e-6))
    assert (tenth * 10).fits(total)
    assert not (tenth * 11).fits(total)
    assert minus(total, tenth * 10) == Cost()


@settings(deadline=None)
@example(Budget(rho=0.1, delta=1e-40))  # the float 0.1 is above the decimal, by more than δ
@given(budgets)
def test_a_charge_covers_what_the_filter_may_spend(budget):
    assert Cost(budget.rho_for_filter, budget.delta_selection).fits(charge_of(budget))


@settings(deadline=None)
@given(budgets)
def test_a_charge_is_hardly_more_than_was_asked_for(budget):
    cost = charge_of(budget)
    assert cost.rho <= Fraction(budget.rho) * (1 + Fraction(1, 2**49))
    assert cost.delta <= budget.delta_selection * (1 + Fraction(1, 2**49))


@settings(deadline=None)
@given(budgets)
def test_the_epsilon_of_a_total_is_that_of_its_budget(budget):
    total = Total.of(budget)
    assert total.epsilon(total.limit) == pytest.approx(budget.epsilon, rel=1e-9)
    assert total.limit.delta < total.delta
    assert total.epsilon(Cost()) == 0


@settings(deadline=None)
@given(budgets, st.fractions(0, 1), st.fractions(0, 1))
@example(Budget(epsilon=1.9999999999999982, delta=0.001), Fraction(1), Fraction(1))
def test_what_is_said_to_fit_fits(budget, rho, delta):
    left = Cost(charge_of(budget).rho * rho, charge_of(budget).delta * delta)
    fits = what_fits(budget, left)
    if fits is not None:
        assert charge_of(fits).fits(left)
        assert fits.delta <= budget.delta
    elif left.rho > 1e-6 and left.delta > 1e-18:
        pytest.fail("something would have fitted")


def reserve(number, rho, delta=Fraction(0), actor="ann", dataset="a"):
    facts = {"rho": str(rho), "delta": str(delta), "asked": {}}
    return Entry(number, "", actor, Kind.RESERVE, dataset, facts)


def opening(rho=1, delta=1, datasets=("a",), group=None, number=1):
    facts = {"datasets": list(datasets), "group": group}
    facts |= {"rho": str(rho), "delta": str(Fraction(delta) / 2), "total_delta": str(delta)}
    return Entry(number, "", "owner", Kind.OPEN, datasets[0], facts)


amounts = st.fractions(0, Fraction(1, 2), max_denominator=1000)
steps = st.lists(st.tuples(amounts, amounts, st.integers(0, 2), st.fractions(0, 1)), max_size=30)


@settings(deadline=None)
@given(steps)
def test_no_sequence_overspends(steps):
    """Reserve, and then settle in part, return or leave alone: the sum stays within the total."""
    books = Books([opening()])
    limit = books.totals["a"].limit
    number = 1
    expected = Cost()
    for rho, delta, then, part in steps:
        number += 1
        cost = Cost(rho, delta)
        try:
            books.add(reserve(number, rho, delta))
        except BudgetRefusedError:
            assert not (expected + cost).fits(limit)
            continue
        assert (expected + cost).fits(limit)
        if then == 0:
            expected += cost
            continue
        spent = Cost(rho * part, delta * part) if then == 1 else Cost()
        kind = Kind.SETTLE if then == 1 else Kind.RETURN
        facts = {"reservation": number, "rho": str(spent.rho), "delta": str(spent.delta)}
        number += 1
        books.add(Entry(number, "", "ann", kind, "a", facts))
        expected += spent
    assert books.balance("a").used == expected
    assert books.left("a") == minus(limit, expected)


def test_nothing_is_settled_twice_or_for_more_than_was_reserved():
    for facts in (
        {"reservation": 2, "rho": "1/2", "delta": "1"},
        {"reservation": 3, "rho": "0", "delta": "0"},
    ):
        books = Books([opening(), reserve(2, Fraction(1, 2))])
        with pytest.raises(LedgerError):
            books.add(Entry(3, "", "ann", Kind.SETTLE, "a", facts))
    settled = Entry(3, "", "ann", Kind.SETTLE, "a", {"reservation": 2, "rho": "0", "delta": "0"})
    books.add(settled)
    with pytest.raises(LedgerError, match="not an open reservation"):
        books.add(settled)


def test_a_group_pays_for_all_of_its_datasets():
    books = Books([opening(datasets=("a", "b"), group="both")])
    books.add(reserve(2, Fraction(3, 4)))
    with pytest.raises(BudgetRefusedError):
        books.add(reserve(3, Fraction(1, 2), dataset="b"))
    books.add(reserve(3, Fraction(1, 4), dataset="b"))
    assert books.left("a").rho == books.left("b").rho == 0


def test_a_dataset_joins_a_group_with_what_it_has_used():
    books = Books([opening(), opening(datasets=("b",), group="g", number=2)])
    books.add(reserve(3, Fraction(3, 4)))
    books.add(Entry(4, "", "owner", Kind.JOIN, "a", {"group": "g", "reason": "same people"}))
    assert books.left("b").rho == books.left("a").rho == Fraction(1, 4)
    assert list(books.totals) == ["g"]
    books = Books([opening(), opening(datasets=("b",), group="g", number=2)])
    books.add(reserve(3, Fraction(3, 4)))
    books.add(reserve(4, Fraction(1, 2), dataset="b"))
    with pytest.raises(BudgetRefusedError):
        books.add(Entry(5, "", "owner", Kind.JOIN, "a", {"group": "g", "reason": "too late"}))


_names = st.sampled_from("abgh")
_openings = st.tuples(st.just(Kind.OPEN), st.lists(_names, max_size=3), st.none() | _names)
_joins = st.tuples(st.just(Kind.JOIN), _names, _names)
_reserves = st.tuples(st.just(Kind.RESERVE), _names, st.just(None))


@settings(deadline=None)
@example(  # a group with the name of a member
    [
        (Kind.OPEN, ["a", "b"], "a"),
        (Kind.RESERVE, "b", None),
        (Kind.OPEN, ["h"], "g"),
        (Kind.JOIN, "a", "g"),
    ]
)
@given(st.lists(_openings | _joins | _reserves, max_size=12))
def test_whatever_is_used_belongs_to_a_budget(steps):
    """However groups are opened and joined, and whatever they are called."""
    books = Books()
    used = Cost()
    for number, (kind, who, group) in enumerate(steps, 1):
        if kind is Kind.OPEN:
            dataset, facts = "".join(who[:1]), opening().facts | {"datasets": who, "group": group}
        elif kind is Kind.JOIN:
            dataset, facts = who, {"group": group, "reason": "same people"}
        else:
            dataset, facts = who, reserve(number, Fraction(1, 4), Fraction(1, 100)).facts
        before = dict(books.totals), dict(books.budget_of)
        try:
            books.add(Entry(number, "", "ann", kind, dataset, facts))
        except LedgerError:
            assert (books.totals, books.budget_of) == before
            continue
        used += Cost(Fraction(1, 4), Fraction(1, 100)) if kind is Kind.RESERVE else Cost()
        assert set(books.budget_of.values()) == set(books.totals)
        balances = [books.balance(name).used for name in books.totals]
        assert sum(balances, Cost()) == used
        assert all(
            b.fits(books.totals[n].limit) for b, n in zip(balances, books.totals, strict=True)
        )


def test_a_total_is_never_lowered():
    lower = opening().facts | {"rho": "1/2", "reason": "less"}
    with pytest.raises(LedgerError, match="never lowered"):
        Books([opening()]).add(Entry(2, "", "owner", Kind.EXTEND, "a", lower))


@pytest.mark.parametrize("delta", [None, "1/5"])  # half of which is for selection, as of the total
def test_a_cap_limits_one_actor(delta):
    books = Books([opening()])
    facts = {"of": "ann", "rho": "1/2", "delta": delta}
    books.add(Entry(2, "", "owner", Kind.CAP, "a", facts))
    books.add(reserve(3, Fraction(1, 2), Fraction(1, 10)))
    assert books.left("a", "ann").rho == 0
    assert books.left("a", "ann").delta == (Fraction(2, 5) if delta is None else 0)
    with pytest.raises(BudgetRefusedError):
        books.add(reserve(4, Fraction(1, 1000)))
    books.add(reserve(4, Fraction(1, 2), actor="bob"))


def test_an_overspent_ledger_is_not_true():
    with pytest.raises(VerificationError, match="entry 3"):
        Books([opening(), reserve(2, 1), reserve(3, 1)])


# --- the chain ----------------------------------------------------------------------------------


def chain(number):
    rows, hash_ = [], NO_HASH
    for n in range(1, number + 1):
        body = Entry(n, "", "ann", Kind.RETIRE, "a", {"reason": f"r{n}"}).body()
        hash_ = link(hash_, body)
        rows.append(StoredEntry(n, body, hash_))
    return rows


def swapped(rows, i, j):
    rows[i], rows[j] = (
        StoredEntry(i + 1, rows[j].body, rows[j].hash),
        StoredEntry(j + 1, rows[i].body, rows[i].hash),
    )
    return rows


def edited(rows, i, *, rehash=False):
    body = rows[i].body.replace("ann", "bob")
    hash_ = link(rows[i - 1].hash if i else NO_HASH, body) if rehash else rows[i].hash
    rows[i] = StoredEntry(rows[i].number, body, hash_)
    return rows


@pytest.mark.parametrize("place", range(5))
def test_every_edit_removal_and_exchange_is_found(place):
    rows = chain(5)
    head = rows[-1]
    assert len(read_chain(rows, head)) == 5
    broken = [
        edited(chain(5), place),
        edited(chain(5), place, rehash=True),
        [row for row in chain(5) if row.number != place + 1],
        swapped(chain(5), place, (place + 1) % 5),
        chain(6),
        chain(5)[:place],
    ]
    for rows in broken:
        with pytest.raises(VerificationError):
            read_chain(rows, head)


def test_amounts_are_taken_as_typed():
    assert as_typed(0.1) == Fraction(1, 10)
    assert as_typed(1e-6) == Fraction(1, 10**6)
