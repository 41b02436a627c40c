"""The exact law of whole small vetted runs, with secret state and retests, by enumeration.

Plain code over the formulas of vetting.md. What a round costs and what a test must exceed come from
the program's own `Round`, and how many rounds run from its filter, so that a charge that is
forgotten there, or a bound that is too low, breaks what `test_vetting_claims` checks.
"""

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.privacy.accounting.filter import Cost, PrivacyFilter
from headcount.privacy.mechanisms.pcr.vetting import Round

ORDERS = np.array([1.01, 1.5, 2.0, 4.0, 8.0])
# All noisy values that matter: the noise has σ of 1.6 to 4 here, and orders up to 8 look 8 further.
# Farther away a float would hold no probability.
VALUES = np.arange(-45, 46)


def discrete_gaussian(mean, sigma):
    weights = np.exp(-((VALUES - mean) ** 2) / (2 * sigma**2))
    return weights / weights.sum()


@dataclass(frozen=True)
class Side:
    """One neighbour: candidates by name, padded to k̄ with those that nobody has (None), c and N."""

    counts: dict
    k_bar: int
    users: int
    floor: int = 0

    @property
    def ranked(self):
        some = [(item, n) for item, n in self.counts.items() if n > self.floor]
        return sorted(some, key=lambda row: (-row[1], row[0]))

    @property
    def cutoff(self):
        ranked = self.ranked
        return ranked[self.k_bar][1] if len(ranked) > self.k_bar else self.floor

    @property
    def candidates(self):
        ranked = self.ranked[: self.k_bar]
        return ranked + [(None, self.floor)] * (self.k_bar - len(ranked))


def matched(here, there):
    """Coordinates (name or None for a stranger, count here, count there)."""
    ours, theirs = dict(here.candidates), dict(there.candidates)
    common = sorted(item for item in ours if item is not None and item in theirs)
    strangers = [
        sorted(n for item, n in side.candidates if item not in common) for side in (here, there)
    ]
    return [(item, ours[item], theirs[item]) for item in common] + [
        (None, a, b) for a, b in zip(*strangers, strict=True)
    ]


@dataclass(frozen=True)
class Policy:
    """How a run goes on, as a function of its whole transcript, secrets included.

    A nominee that failed by little is tested again. σ depends on how many failed by much, and ε
    on whether the last noisy cut-off was high.
    """

    epsilon: float
    sigma: float
    cutoff_sigma: float
    nominations: int
    delta: Fraction
    rounds: int
    total: Fraction
    nearly: int = 3

    def round(self, open_, again, failed, high):
        nominations = min(self.nominations, open_)
        if nominations + again == 0:
            return None
        return Round(
            epsilon=self.epsilon * (1.5 if high else 1.0),
            nominations=nominations,
            tests=nominations + again,
            sigma=self.sigma * (1 + failed / 4),
            cutoff_sigma=self.cutoff_sigma,
            delta=self.delta,
        )


# What a test says: named with a low or a high value, nearly, or failed.
LOW, HIGH, NEARLY, FAILED = range(4)


def _outcomes(sums, bound, nearly):
    """What the noisy value plus the cut-off's says, for every pair of values."""
    said = np.full(sums.shape, FAILED)
    said[sums > bound - nearly] = NEARLY
    said[sums > bound] = LOW
    said[sums > bound + 2] = HIGH
    return said


def moments(p, q):
    """p^λ·q^(1−λ) and the other way round, of arrays, along a new first axis."""
    with np.errstate(divide="ignore"):
        lp, lq = np.log(p), np.log(q)
    orders = ORDERS.reshape(-1, *[1] * np.ndim(p))
    return np.concatenate(
        [np.exp(orders * lp + (1 - orders) * lq), np.exp(orders * lq + (1 - orders) * lp)]
    )


@dataclass
class Weight:
    """Of a state: its probability on both sides, and its part of the moments of all of V."""

    here: float
    there: float
    moments: np.ndarray

    def __iadd__(self, other):
        self.here += other.here
        self.there += other.there
        self.moments = self.moments + other.moments
        return self


class Law:
    """The law of a run over matched coordinates, on both sides at once.

    Attributes:
        published: for what is published, and whether no stranger was ever above a bound: the
            probability here and there.
        moments: Σ p^λ·q^(1−λ) over all transcripts V, last measurement included; then q and p.
        left: what of the filter the last measurement used, for everything that is published.
    """

    def __init__(self, coordinates, here, there, policy, real=None):
        self.coordinates, self.policy = coordinates, policy
        self.users, self.cutoffs = (here.users, there.users), (here.cutoff, there.cutoff)
        #: On one side alone: whether a stranger is an item, which is named if it passes.
        self.real = real
        self.published = defaultdict(lambda: np.zeros(2))
        self.moments = np.zeros(2 * ORDERS.size)
        start = ((), frozenset(), (), 0, False, Fraction(0), True)
        states = {start: Weight(1.0, 1.0, np.ones(2 * ORDERS.size))}
        for _ in range(policy.rounds):
            states = self._round(states)
        for state, weight in states.items():
            self._end(state, weight)

    def _end(self, state, weight):
        pub, _, _, _, _, spent, good = state
        # The rest of the filter goes into one number that a user moves by 1.
        left = self.policy.total - spent
        gained = np.exp(np.tile(ORDERS * (ORDERS - 1), 2) * float(left))
        self.moments += weight.moments * gained
        self.published[(pub, left), good] += (weight.here, weight.there)

    def _round(self, states):
        after = {}
        for state, weight in states.items():
            pub, nominated, again, failed, high, spent, good = state
            planned = self.policy.round(
                len(self.coordinates) - len(nominated), len(again), failed, high
            )
            privacy_filter = PrivacyFilter(Cost(self.policy.total - spent, Fraction(1)))
            if planned is None or not planned.cost.fits(privacy_filter.left):
                self._end(state, weight)
                continue
            privacy_filter.reserve(planned.cost)
            privacy_filter.settle(planned.cost)
            now = spent + privacy_filter.spent.rho
            said = self._tests(planned)
            for picks, picked in self._picks(planned, nominated):
                tested = (*picks, *again)
                for outcome, part in self._results(planned, said, tested).items():
                    (high_now, results) = outcome
                    new = self._next(pub, nominated, picks, tested, results, failed, good)
                    key = (*new[:4], high_now, now, new[4])
                    added = Weight(
                        weight.here * picked.here * part.here,
                        weight.there * picked.there * part.there,
                        weight.moments * picked.moments * part.moments,
                    )
                    if key in after:
                        after[key] += added
                    else:
                        after[key] = added
        return after

    def _next(self, pub, nominated, picks, tested, results, failed, good):
        names, waiting = [], []
        for place, result in zip(tested, results, strict=True):
            name = self.coordinates[place][0]
            if result in (LOW, HIGH) and name is not None:
                names.append((name, result))
            elif result in (LOW, HIGH):
                good = False
            elif result == NEARLY:
                waiting.append(place)
            else:
                failed += 1
        done = (*pub, tuple(sorted(names)))
        return done, nominated | set(picks), tuple(sorted(waiting)), failed, good

    def _picks(self, planned, nominated):
        open_ = [place for place in range(len(self.coordinates)) if place not in nominated]
        weights = [
            np.exp(planned.epsilon * np.array([row[side] for row in self.coordinates]))
            for side in (1, 2)
        ]
        for order in itertools.permutations(open_, planned.nominations):
            chances, left = np.ones(2), set(open_)
            for place in order:
                chances *= [w[place] / sum(w[other] for other in left) for w in weights]
                left.discard(place)
            yield order, Weight(*chances, moments(*chances))

    def _tests(self, planned):
        """For each coordinate and each noisy cut-off: the weight of each result."""
        sums = (
            VALUES[:, None] - VALUES[None, :]
        )  # a test less the cut-off, both in twice the counts
        said = _outcomes(sums, planned.bound, self.policy.nearly)
        tables = []
        for _, *counts in self.coordinates:
            p, q = (
                discrete_gaussian(2 * count - users, 2 * planned.sigma)
                for count, users in zip(counts, self.users, strict=True)
            )
            every = np.vstack([p, q, moments(p, q)])
            tables.append(np.stack([every @ (said == result) for result in range(4)]))
        return tables

    def _results(self, planned, tables, tested):
        """The weight of each list of results, and of whether the cut-off was high."""
        p, q = (
            discrete_gaussian(2 * cutoff - users, 2 * planned.cutoff_sigma)
            for cutoff, users in zip(self.cutoffs, self.users, strict=True)
        )
        cutoff = np.vstack([p, q, moments(p, q)])
        found = {}
        for high, results in itertools.product(
            (False, True), itertools.product(range(4), repeat=len(tested))
        ):
            part = cutoff * ((VALUES > 0) == high)
            for place, result in zip(tested, results, strict=True):
                part = part * tables[place][result]
            here, there, *rest = part.sum(axis=1)
            if here + there > 0:
                found[high, results] = Weight(here, there, np.array(rest))
        return found


def real_law(side, policy):
    """The law of what a run on one side publishes, items named whoever else has them."""
    named = [(item, n, n) for item, n in side.candidates]
    law = Law(named, side, side, policy)
    published = defaultdict(float)
    for (what, _), (p, _) in law.published.items():
        published[what] += p
    return published


def divergence(law_moments):
    """ρ at which each order's moment would be exactly used up."""
    orders = np.tile(ORDERS * (ORDERS - 1), 2)
    return np.log(law_moments) / orders


def lemma(rho, delta):
    """ρ' of vetting.md's lemma at each order."""
    t = ORDERS * (ORDERS - 1)
    return np.array(
        [
            math.log1p(math.expm1(x * rho) * (1 - delta) ** -order) / x
            for order, x in zip(ORDERS, t, strict=True)
        ]
    )
