"""Pairs in arrays: each once, whatever codes they have, and every question answered exactly."""

import math
import mmap
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.engines import CancelToken
from headcount.engines.codes import CodedRows, Division, bits_for, fits
from headcount.errors import CancelledError
from headcount.privacy.questions import GRID, RATION
from headcount.views import array_population, pair_arrays
from headcount.views.array_population import ArrayPopulation
from headcount.views.pair_arrays import Part, gathered
from headcount.views.shelf import Shelf
from headcount.views.workers import Workers
from tests.privacy.population import PlainPopulation, both, by_item


def coded(divisions, users, items, batch=7):
    """Return rows, given as pairs of codes for each division, as an engine gives them."""

    def keys(rows):
        for start in range(0, len(rows), batch):
            some = rows[start : start + batch]
            yield np.array([user << bits_for(items) | item for user, item in some], dtype=np.int64)

    return CodedRows(None, "n", items, iter([Division(users, keys(rows)) for rows in divisions]))


def workers(cancel=None):
    return Workers(cancel or CancelToken())


def in_memory():
    return Shelf(Path(), math.inf)


def pairs_of(parts):
    """Return the items of each user, sorted: users have no codes any more."""
    found = []
    for part in parts:
        assert part.sizes.min() > 0
        assert part.sizes.sum() == part.items.size
        found += [tuple(each.tolist()) for each in np.split(part.items, part.starts[1:])]
    return sorted(found)


# How many users and items codes may be of: within 32 bits, beyond them, and with items beyond.
SPANS = [(1, 1), (5, 1), (1, 9), (300, 40), (2**20, 2**18), (2**31, 2**30), (4, 2**34), (9, 2**32)]


@pytest.mark.parametrize(("users", "items"), SPANS)
@pytest.mark.parametrize(
    ("most_bytes", "few"), [(math.inf, 0), (math.inf, 600), (1000, 600), (0, 600)]
)
def test_every_pair_is_there_once(users, items, most_bytes, few, tmp_path, monkeypatch):
    monkeypatch.setattr(pair_arrays, "_FEW", few)
    rng = np.random.default_rng(1)
    some = [int(n) for n in rng.integers(0, users, 40)] + [0, users - 1]
    what = [int(n) for n in rng.integers(0, items, 30)] + [0, items - 1]
    chosen = rng.integers(0, [len(some), len(what)], (600, 2))
    divisions = [[(some[u], what[i]) for u, i in part] for part in (chosen[:400], chosen[400:])]
    true = []
    for rows in divisions:  # the same code is another user in another division
        of_user = {}
        for user, item in rows:
            of_user.setdefault(user, set()).add(item)
        true += [tuple(sorted(mine)) for mine in of_user.values()]
    parts = gathered(coded(divisions, users, items), workers(), Shelf(tmp_path, most_bytes))
    assert pairs_of(parts) == sorted(true)
    mapped = {part.items.filename for part in parts if isinstance(part.items, np.memmap)}
    assert bool(mapped) <= (most_bytes < math.inf)
    assert bool(mapped) or most_bytes > 0
    assert mapped <= set(tmp_path.iterdir())  # and keys are there no longer
    assert len(list(tmp_path.iterdir())) <= 2 * len(parts)
    if most_bytes == math.inf:
        assert (len(parts) == 1) == (few > 0)


def test_no_rows_give_no_parts():
    assert gathered(coded([[]], 0, 0), workers(), in_memory()) == []


def test_codes_that_no_key_holds_are_known():
    assert fits(2**32, 2**31)
    assert not fits(2**33, 2**31)


def population(pairs, items=10):
    rows = coded([pairs], 1 + max(user for user, _ in pairs), items)
    shelf = in_memory()
    return ArrayPopulation(gathered(rows, workers(), shelf), items, workers(), shelf)


@settings(max_examples=200, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9)), min_size=1, max_size=60),
    costs=st.lists(st.integers(0, RATION), min_size=10, max_size=10),
    base=st.integers(0, RATION),
    items=st.sampled_from([10, 10_000]),  # few: sums by counting; many: one by one
    exact=st.sampled_from([2**53, 1]),  # and the same where floats would not hold the sums
    data=st.data(),
)
def test_arrays_answer_like_plain_python(pairs, costs, base, items, exact, data):
    plain = PlainPopulation(pairs)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(array_population, "_EXACT", exact)
        arrays = population(pairs, items)
        assert arrays.number_of_users == len(plain.items_of)
        for _ in range(2):
            assert arrays.sizes([1, 2, 5]) == plain.sizes([1, 2, 5])
            weights, expected = (each.weights(2**14, 6, 2**13) for each in (arrays, plain))
            names = weights.items.tolist()
            assert names == sorted(names)
            assert dict(zip(names, weights.values.tolist(), strict=True)) == by_item(expected)
            chosen = data.draw(st.permutations(names)) if names else []
            chosen = chosen[: data.draw(st.integers(0, len(names)))]
            arrays.found(weights, [names.index(name) for name in chosen])
            plain.found(expected, [expected.items.index(name) for name in chosen])
        assert arrays.found_items.tolist() == plain.names
        costs = np.array(costs[: len(plain.names)], dtype=np.int64)
        assert both(arrays.clipped_sums(costs, base)) == both(plain.clipped_sums(costs, base))
        asked = costs, np.arange(costs.size) % 2, [1, 2, 100, GRID], base
        assert arrays.losers(*asked) == plain.losers(*asked)
        assert arrays.sizes([1, 2, 5]) == plain.sizes([1, 2, 5])  # also after items were counted


@pytest.mark.parametrize("over", [0, 1, 2**20, 2**61])
def test_a_user_at_the_edge_of_a_ration(over):
    """Costs that floats would not add up: one more than the ration is one more."""
    pairs = [(0, item) for item in range(4)] + [(1, 0)]
    costs = np.array([RATION // 2, RATION // 2 - 1, 1, over])
    arrays, plain = population(pairs), PlainPopulation(pairs)
    for each in (arrays, plain):
        weights = each.weights(2**14, 9, 1)
        each.found(weights, range(4))
    assert both(arrays.clipped_sums(costs)) == both(plain.clipped_sums(costs))
    ones = np.ones(4, dtype=np.int64)
    assert (arrays.losers(costs, ones, [1]) == [1]) == (over > 0)


def test_roots_are_rounded_down_where_floats_round_up():
    """A share or a weight that is one too large moves more than is charged for."""
    numbers = [k**2 + more for k in (1, 2**26 + 1, 2**31, 3_037_000_499) for more in (-1, 0, 1)]
    assert array_population._root(np.array(numbers)).tolist() == [
        math.isqrt(number) for number in numbers
    ]


def test_bounds_make_a_difference_and_are_those_of_plain_python():
    """Of users with 7 items nothing counts."""
    pairs = [(u, i) for u in range(60) for i in range(1 + u % 7)]
    costs = np.array([2**50, 2**51, 2**51, 2**40])
    for most_items in (6, 100):
        arrays, plain = population(pairs), PlainPopulation(pairs)
        weights, expected = (each.weights(2**14, most_items, 1) for each in (arrays, plain))
        assert weights.values.tolist() == expected.values.tolist()
        arrays.found(weights, range(4))
        plain.found(expected, range(4))
        assert both(arrays.clipped_sums(costs)) == both(plain.clipped_sums(costs))


def test_counts_are_those_of_all_users():
    assert population([(0, 3), (1, 3), (1, 3), (2, 0)]).counts().tolist() == [1, 0, 0, 2] + [0] * 6


@pytest.mark.parametrize("keep", [[True, False, False], [False] * 3, [True] * 3])
def test_users_without_pairs_fall_away(keep):
    part = Part(np.array([4, 5, 6]), np.array([2, 1]))
    kept = part.where(np.array(keep), part.items)
    assert kept.items.tolist() == [n for n, kept in zip([4, 5, 6], keep, strict=True) if kept]
    assert kept.sizes.tolist() == [n for n in (sum(keep[:2]), keep[2]) if n]


def test_a_token_ends_what_threads_do():
    token, begun = CancelToken(), []

    def work(number):
        begun.append(number)
        token.cancel()

    with pytest.raises(CancelledError):
        workers(token).all(work, range(10**9))
    assert len(begun) < 100


QUESTIONS = {
    "counts": lambda held: held.counts(),
    "sizes": lambda held: held.sizes([1]),
    "weights": lambda held: held.weights(2**20, 9, 1),
    "open pairs": lambda held: held._open_parts(),
    "found pairs": lambda held: held._known_parts(),
    "sums": lambda held: held.clipped_sums(np.array([1])),
    "losers": lambda held: held.losers(np.array([1]), np.array([1]), [1]),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_token_ends_every_question(question):
    """Each goes through threads that look at the token, and not in one go."""
    token = CancelToken()
    parts = gathered(coded([[(1, 0), (2, 0), (2, 1)]], 4, 2), workers(token), in_memory())
    held = ArrayPopulation(parts, 2, workers(token), in_memory())
    held.found(held.weights(2**20, 9, 1), [0])
    if question in ("sums", "losers"):
        held._known_parts()  # they are there already: it is this pass that ends
    token.cancel()
    with pytest.raises(CancelledError):
        QUESTIONS[question](held)


@pytest.mark.parametrize("step", ["put", "part"])
def test_a_token_ends_the_making_of_pairs(step, monkeypatch):
    """While keys are dealt out, and while parts are sorted."""
    token, done, do = CancelToken(), [], getattr(pair_arrays._Deal, step)

    def cancelling(self, given):
        done.append(1)
        token.cancel()
        return do(self, given)

    monkeypatch.setattr(pair_arrays._Deal, step, cancelling)
    rows = [(user, user % 7) for user in range(20_000)]
    with pytest.raises(CancelledError):
        gathered(coded([rows], 2**17, 2**20), workers(token), in_memory())
    assert len(done) < 50  # of 2,858 batches, or 64 parts


def resident():
    """Return how many bytes of memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_what_was_read_of_files_does_not_stay_in_memory(tmp_path):
    """Eight parts of 32 MB each: after a pass about one of them may still be there."""
    shelf, number = Shelf(tmp_path, 0), 2**23
    parts = [
        Part(np.zeros(number, dtype=np.int32), np.full(1, number)).kept(shelf) for _ in range(8)
    ]
    assert all(isinstance(part.items, np.memmap) for part in parts)
    held = ArrayPopulation(parts, 1, workers(), shelf)
    before = resident()
    assert held.counts().tolist() == [8 * number]
    assert resident() - before < 4 * 4 * number


INTERRUPTED = """
import sys
from headcount.engines import CancelToken
from headcount.views.workers import Workers
import numpy as np

begun = []

def work(number):
    begun.append(number)
    np.sort(np.arange(2**20) % 1009)
    if number == 5:
        print("begun", flush=True)

try:
    Workers(CancelToken()).all(work, range(10**9))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_what_threads_do():
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)  # 10⁹ things would take days
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "interrupted\n")


def test_results_are_in_order_and_errors_are_raised():
    assert list(workers().each(lambda n: n * n, range(50))) == [n * n for n in range(50)]
    with pytest.raises(ZeroDivisionError):
        workers().all(lambda n: 1 // n, range(50))
