"""Whole runs on neighbours: the same answers lead to the same release, and are paid for.

A run is recorded on some people's data and played, with its noisy answers, nominees and lots, to a
run without one of them (`replaying`). The control flow and all that comes out are the same. And
what the missing user moved is, question by question and exactly, at most what the gate charged.
"""

import os
from fractions import Fraction

import numpy as np
import pytest

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.mechanisms import Options, mechanism
from headcount.privacy.mechanisms.further import Aggregates, Further, Totals
from headcount.privacy.mechanisms.known import Known
from tests.privacy.replaying import Data, Stage, published

#: `make audit` has thousands.
RUNS = int(os.environ.get("AUDIT_NEIGHBOURS", "1"))
SUMS = Further(
    Totals(total=True, other=True),
    Aggregates(rows=True, sums=("v",), means=("v", "w"), bounds={"w": (0.0, 9.0)}),
)
# Name: the method, its options, what else is asked for, whether the number of users is known.
CASES = {
    "auto": ("auto", Options(), Further(), True),
    "pcr": ("pcr", Options(), Further(), True),
    "pcr-races": ("pcr", Options(), Further(), False),
    "pcr-paper": ("pcr-paper", Options(), Further(), False),
    "pcr-noise-reduction": ("pcr-noise-reduction", Options(), Further(), False),
    "rationed": ("rationed", Options(), Further(), True),
    "rationed-and-sums": ("rationed", Options(), SUMS, True),
    "threshold": ("threshold", Options(max_items_per_user=4), Further(), True),
    "list": ("known", Options(), SUMS, True),
    "list-with-a-bound": ("known", Options(max_items_per_user=2), Further(), True),
}
WHOM = ("ordinary", "everything", "loner")


def people(seed):
    """Some ordinary users, a few with everything, and one with items that nobody else has."""
    rng = np.random.default_rng(seed)
    items, ordinary = int(rng.integers(8, 40)), int(rng.integers(150, 600))
    each = 1 + rng.poisson(rng.uniform(0.5, 6), ordinary)
    mine = {
        ("ordinary", user): {int(items * place**2) for place in rng.random(number)}
        for user, number in enumerate(each)
    }
    mine |= {("everything", user): set(range(items)) for user in range(int(rng.integers(1, 9)))}
    mine["loner", 0] = {("own", item) for item in range(int(rng.integers(1, 300)))}
    rows = [
        (user, item, {"v": value, "w": 4.0})
        for user, has in mine.items()
        for item in sorted(has, key=repr)
        for value in rng.normal(50, 30, int(rng.integers(1, 3))).tolist()
    ]
    return Data([(user, item) for user, item, _ in rows], [], rows=rows)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("whom", WHOM)
def test_a_user_moves_no_more_than_is_charged(case, whom, monkeypatch):
    name, options, further, users_known = CASES[case]
    stage = Stage(monkeypatch)
    for run in range(RUNS):
        seed = 3 * run + WHOM.index(whom)
        budget = Budget(rho=float(10 ** np.random.default_rng(seed).uniform(0, 2)))
        part = budget.part(1 - further.share)
        method = (Known if name == "known" else mechanism(name)).of(options, part)
        data = people(seed)
        data = Data(data.pairs, [], users_known=users_known, rows=data.rows)
        tape, made, again = stage.without_one(method, data, (whom, 0), seed, further)
        assert published(again) == published(made)
        assert sum((charged for _, charged, _ in tape.costs), Fraction(0)) <= Fraction(budget.rho)
        for asked, charged, moved in tape.costs:
            assert moved <= charged, asked
        assert whom == "loner" or any(moved for *_, moved in tape.costs)
