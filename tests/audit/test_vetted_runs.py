"""Vetted releases, told apart by somebody who hears all noise that a whole run draws.

Nothing is kept secret from them but who is nominated: noisy cut-offs, all tests and all counts.
`make audit` takes more runs.
"""

import os

import numpy as np

import headcount
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.settings import Settings
from headcount.privacy.mechanisms.pcr.vetted_release import vetted_release
from headcount.privacy.randomness import SeededEntropy
from tests.audit.estimator import rho_at_least, said
from tests.privacy.audit import gaussian_score

RUNS = int(os.environ.get("AUDIT_WHOLE_RUNS", "300"))
BUDGET = headcount.Budget(rho=2)
SETTINGS = Settings(k_bar=4, r=0.05)
ITEM, USERS = 300, 400


class Overheard(SeededEntropy):
    """Writes down what was measured, what came out, and with which σ."""

    def __init__(self, seed, scale):
        super().__init__(seed)
        self.scale, self.heard = scale, []

    def discrete_gaussian(self, values, sigma):
        noisy = super().discrete_gaussian(values, sigma * self.scale)
        sigmas = np.broadcast_to(sigma, len(values)).tolist()
        self.heard += zip(values, noisy, sigmas, strict=True)
        return noisy


def score(more, entropy):
    """ln of how much likelier all that is heard is with the user, who has both items."""
    entropy.heard = []
    counts = [ITEM + more] * 2
    gate = Gate(conditioned_total(BUDGET), entropy)
    made = vetted_release(counts, 0, USERS + more, SETTINGS, BUDGET, gate)
    assert made.positions.size == 2
    total = 0.0
    for value, out, sigma in entropy.heard:
        # N and 2h − N of the items rise with the user; 2h − N of what nobody has, c too, falls.
        moves = 1 if value > 0 else -1
        without = value - moves * more
        assert without in (USERS, 2 * ITEM - USERS, -USERS)
        total += gaussian_score(out, without + moves, without, sigma)
    return total


def at_least(what, scale=1.0):
    sides = (
        np.array([score(more, entropy) for _ in range(RUNS)])
        for more, entropy in ((1, Overheard(1, scale)), (0, Overheard(2, scale)))
    )
    what = f"vetted, {RUNS} runs with and without, {what}"
    return said(what, rho_at_least(*sides, BUDGET.rho), BUDGET.rho)


def test_whole_runs():
    assert 0 < at_least("as it is") <= BUDGET.rho


def test_half_the_noise():
    assert at_least("half the noise", 0.5) > BUDGET.rho
