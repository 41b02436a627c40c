"""The generated sets are the paper's table."""

import pytest
from experiments.matched import generate
from experiments.paper_sets import PAPER_SETS


def check(row):
    data = generate(row)
    assert data.number_of_users == row.users
    assert data.number_of_items == row.items
    found = [data.percentile(percent) for percent in (50, 75, 95, 99)]
    assert found == pytest.approx(list(row.percentiles), rel=0.15)
    assert data.items_per_user.min() >= row.least * 0.85


@pytest.mark.parametrize("name", ["finance", "reddit-sample"])
def test_a_matched_set_has_the_tables_figures(name):
    check(PAPER_SETS[name])


@pytest.mark.parametrize("name", ["reddit-full", "wikipedia", "movielens"])
def test_a_tenth_of_a_large_set_has_them_too(name):
    """All takes up to a minute; `python -m experiments` writes what it has into results.md."""
    check(PAPER_SETS[name].scaled(0.1))


def test_a_seed_gives_the_same_set_again():
    row = PAPER_SETS["reddit-sample"]
    assert generate(row).items.tolist() == generate(row).items.tolist()
    assert generate(row).items.tolist() != generate(row, seed=2).items.tolist()
