"""Canary users, in or out by a coin, and what the noisy answers of one release say of each.

Every canary has items that no other canary has; ordinary users have one of these each, so that it
comes out. The auditor knows everything but the coins.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from headcount.privacy.mechanisms.rationed import rationed_release as rationed
from headcount.privacy.mechanisms.rationed.prices import NOT_CENTRED
from tests.privacy.audit import gaussian_score

# Ids of canaries are above those of all others.
FIRST_ID = 10**9


class Canaries:
    """So many, each with so many items, which so many others have too."""

    def __init__(self, number, each, others, seed=0):
        self.each, self.others = each, others
        self.inside = np.random.default_rng(seed).random(number) < 0.5

    def events(self):
        items = np.arange(self.inside.size * self.each)
        what = np.concatenate([np.repeat(items, self.others), items[self.inside[self.of(items)]]])
        people = np.arange(items.size * self.others)
        canaries = FIRST_ID + self.of(what[people.size :])
        return pa.table({"who": np.concatenate([people, canaries]), "what": what})

    def of(self, items):
        """Whose canary each item is."""
        return items // self.each

    def sums(self, items, values):
        """Sums of one value per item, for each canary."""
        return np.bincount(self.of(items), weights=values, minlength=self.inside.size)

    def scores(self, items, noisy, sigmas, shifts):
        """ln of the ratio of densities, for each canary: of being in, and of being out.

        Args:
            items: that came out.
            noisy: their noisy values; without the canary ordinary users make up `others`.
            sigmas: σ of these.
            shifts: what the canary adds, if in.
        """
        each = gaussian_score(noisy, self.others + shifts, self.others, sigmas)
        return self.sums(items, each)

    def clipped(self, items, sigmas, ration):
        """What a canary counts for in each of these items when a user has such a ration."""
        spent = self.sums(items, 1 / (2 * sigmas**2))[self.of(items)]
        return np.minimum(1.0, np.sqrt(float(ration) / spent))

    def parted(self, scores):
        """Scores of those in and of those out."""
        return scores[self.inside], scores[~self.inside]


def published(release):
    """Return items, noisy counts and σ of a release with all columns."""
    columns = release.table.select(["what", "noisy_count", "noisy_std_error"])
    items, noisy, sigmas = (column.to_numpy() for column in columns)
    return items.astype(np.int64), noisy, sigmas


@dataclass(frozen=True)
class Step:
    """Noisy answers about found items: weights of discovery, or counts within a ration."""

    items: np.ndarray
    noisy: np.ndarray
    sigmas: np.ndarray
    ration: float | None = None


def overheard(monkeypatch):
    """Return a list that the steps of rationed releases come into: all that they may publish."""
    steps = []

    class Overheard(rationed.PaidQueries):
        found = 0

        def discover(self, *arguments):
            noisy, sigma = super().discover(*arguments)
            places = self.found + np.arange(noisy.size)
            self.found += noisy.size
            steps.append(Step(self.named(places), noisy, np.full(noisy.size, sigma)))
            return noisy, sigma

        def counts(self, sigmas, rho, centring=NOT_CENTRED):
            # There are so many items that counts are not centred: their noise is independent.
            assert not centring.centre
            noisy = super().counts(sigmas, rho)
            places = np.flatnonzero(np.isfinite(sigmas))
            steps.append(Step(self.named(places), noisy[places], sigmas[places], float(rho)))
            return noisy

        def named(self, places):
            return self.population.found_names()["what"].to_numpy()[places].astype(np.int64)

    monkeypatch.setattr(rationed, "PaidQueries", Overheard)
    return steps


def scores_of_all(canaries, steps):
    """Score canaries by every noisy answer of a rationed release."""
    scores = np.zeros(canaries.inside.size)
    hidden = np.full(canaries.inside.size, canaries.each)
    for step in steps:
        items = step.items
        if step.ration is None:
            shifts = 1 / np.sqrt(hidden[canaries.of(items)])
            hidden = hidden - canaries.sums(items, None)
        else:
            shifts = canaries.clipped(items, step.sigmas, step.ration)
        scores += canaries.scores(items, step.noisy, step.sigmas, shifts)
    return scores
