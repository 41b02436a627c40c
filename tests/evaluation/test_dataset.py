"""Codes in memory: bounding, restricting, reading."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.errors import SourceError
from headcount.evaluation.dataset import Dataset, read_dataset

pairs = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9)), max_size=80)


def dataset(rows):
    users, items = zip(*rows, strict=True) if rows else ((), ())
    return Dataset.of(np.array(users, dtype=np.int64), np.array(items, dtype=np.int64))


def as_pairs(data):
    return list(zip(data.users.tolist(), data.items.tolist(), strict=True))


@given(pairs)
def test_a_dataset_is_distinct_pairs_by_falling_count(rows):
    data = dataset(rows)
    assert len(as_pairs(data)) == len(set(rows)) == len(set(as_pairs(data)))
    assert data.number_of_users == len({user for user, _ in rows})
    assert data.number_of_items == len({item for _, item in rows}) == data.counts.size
    assert (np.diff(data.counts) <= 0).all()
    assert (np.diff(data.users) >= 0).all()
    expected = sorted(len({u for u, i in rows if i == item}) for item in {i for _, i in rows})
    assert sorted(data.counts.tolist()) == expected


@given(pairs, st.integers(1, 5), st.integers(0, 100))
def test_bounding_keeps_some_of_each_users_own_items(rows, most, seed):
    data = dataset(rows)
    bounded = data.bounded(most, np.random.default_rng(seed))
    assert set(as_pairs(bounded)) <= set(as_pairs(data))
    assert len(as_pairs(bounded)) == bounded.users.size
    assert bounded.items_per_user.tolist() == np.minimum(data.items_per_user, most).tolist()


@given(pairs, st.integers(0, 9))
def test_restricting_keeps_the_pairs_of_the_items(rows, kept):
    data = dataset(rows)
    mask = np.arange(data.number_of_items) < kept
    assert as_pairs(data.restricted(mask)) == [p for p in as_pairs(data) if p[1] < kept]


def test_the_sample_of_a_user_is_uniform():
    """Of 10 items 3 are kept: each in 30 % of 20,000 users, within 4.9 standard deviations."""
    users, size = 20_000, 10
    data = Dataset.of(np.repeat(np.arange(users), size), np.tile(np.arange(size), users))
    kept = data.bounded(3, np.random.default_rng(1)).counts / users
    assert np.abs(kept - 0.3).max() < 4.9 * (0.3 * 0.7 / users) ** 0.5 + 1e-3
    together = data.bounded(2, np.random.default_rng(2)).items.reshape(users, 2)
    both = np.mean((np.sort(together) == [0, 1]).all(axis=1))  # one pair of 45
    assert abs(both - 1 / 45) < 4.9 * (1 / 45 / users) ** 0.5


def test_percentiles_are_values_of_users_that_have_any():
    per_user = [1] * 94 + [7] * 5 + [40]
    users = np.repeat(np.arange(100), per_user)
    data = Dataset.of(users, np.concatenate([np.arange(n) for n in per_user]))
    assert [data.percentile(p) for p in (50, 94, 95, 99, 100)] == [1, 1, 7, 7, 40]
    only_rare = data.restricted(np.arange(data.number_of_items) >= 6)
    assert only_rare.percentile(50) == 1  # six users are left, and five have the seventh item only
    nobody = data.restricted(np.zeros(data.number_of_items, dtype=bool))
    assert nobody.percentile(95) == 0


@settings(max_examples=10, deadline=None)
@given(st.permutations([("a", "x"), ("a", "y"), ("b", "y"), ("c", "y"), ("c", "z"), ("a", "x")]))
def test_codes_do_not_depend_on_the_order_of_rows(rows):
    users, items = zip(*rows, strict=True)
    table = pa.table({"u": users, "i": items})
    data = read_dataset(table, user="u", item=["i"])
    # y has three users; x and z tie, and x comes first by its name.
    assert sorted(as_pairs(data)) == [(0, 0), (0, 1), (1, 0), (2, 0), (2, 2)]


def test_several_item_columns_and_nulls():
    table = pa.table(
        {"u": ["a", "b", "c", None, "d"], "i": [1, 1, 1, 1, None], "j": [2.0, 2.0, 3.0, 3.0, 3.0]}
    )
    data = read_dataset(table, user="u", item=["i", "j"])
    assert data.counts.tolist() == [2, 1]
    with pytest.raises(SourceError, match="no column 'k'"):
        read_dataset(table, user="u", item=["k"])


def test_a_dataset_survives_being_shared(tmp_path):
    data = dataset([(3, 1), (3, 2), (5, 2)])
    data.save(tmp_path)
    again = Dataset.load(tmp_path)
    assert as_pairs(again) == as_pairs(data)
    assert (again.number_of_users, again.number_of_items) == (2, 2)
