"""Sums with bounds on what each user adds, by OpenDP, with the best bounds in hindsight.

Values are clipped to a bound and each user keeps so many items at most, chosen at random; then
OpenDP's own Gaussian mechanism adds its noise. It is given the names of the items.

Clipping and adding up is done in NumPy: the bounds are found by trying many of them, and OpenDP's
own data frames would take a minute for each on a million users. What is tried has NumPy's noise of
the same scale; what is reported has OpenDP's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: Sums are right within this, relative to the truth.
TARGET = 0.1


def scattered(users: Integers, rng: np.random.Generator) -> Integers:
    """Return a number for each pair, from 0 for each user, in an order that begins anywhere.

    Args:
        users: the user of each pair, in rising order.
        rng: where it begins.
    """
    _, first, sizes = np.unique(users, return_index=True, return_counts=True)
    shifts = rng.integers(0, sizes)
    size = np.repeat(sizes, sizes)
    numbers: Integers = np.arange(users.size) - np.repeat(first - shifts, sizes)
    return numbers % size


def with_noise(sums: Floats, norm: float, rho: float) -> Floats:
    """Return sums with OpenDP's noise, for users who move them by so much at most."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    mechanism: Any = dp.m.make_gaussian(*space, scale=norm / math.sqrt(2 * rho))
    if mechanism.map(norm) > rho * (1 + 1e-9):
        raise ValueError("this noise costs more than it may")
    return np.array(mechanism(sums.tolist()))


class Bounds(NamedTuple):
    """How far from 0 a value may be, and how many items of a user may count."""

    value: float
    items: int


@dataclass(frozen=True)
class Hindsight:
    """What came out with the best bounds, which may differ from measure to measure.

    Attributes:
        right: the share of numbers within the target, with the bounds that make it largest.
        error: the median error, with the bounds that make that least.
        for_right: the bounds of the first.
        for_error: those of the second.
    """

    right: float
    error: float
    for_right: Bounds
    for_error: Bounds


def best(
    triples: tuple[Integers, Integers, Floats],
    rho: float,
    counted: NDArray[np.bool_],
    bounds: Sequence[float],
    most_items: Sequence[int],
    seed: int,
) -> Hindsight:
    """Return how good sums are with the best of all bounds that are tried, one for each measure.

    Args:
        triples: users, items and values; users in rising order, each with an item once.
        rho: what the sums may cost.
        counted: the items whose errors are looked at.
        bounds: how far from 0 a value may be; those that are tried.
        most_items: how many items of a user may count; those that are tried.
        seed: of the noise that is tried, and of which items are kept.
    """
    users, items, values = triples
    rng = np.random.default_rng(seed)
    order, tried = scattered(users, rng), []
    truth = np.bincount(items, values, counted.size)
    noise = rng.standard_normal(counted.size)

    def errors(found: Floats) -> Floats:
        off: Floats = (np.abs(found - truth) / np.abs(truth))[counted]
        return off

    for most in most_items:
        kept = order < most
        here, there = items[kept], values[kept]
        for bound in bounds:
            sums = np.bincount(here, np.clip(there, -bound, bound), counted.size).astype(float)
            norm = bound * math.sqrt(most)
            off = errors(sums + noise * norm / math.sqrt(2 * rho))
            tried.append((np.mean(off <= TARGET), np.median(off), sums, norm, Bounds(bound, most)))
    _, _, sums, norm, for_right = max(tried, key=lambda one: (one[0], -one[1]))
    right = float(np.mean(errors(with_noise(sums, norm, rho)) <= TARGET))
    _, _, sums, norm, for_error = min(tried, key=lambda one: one[1])
    error = float(np.median(errors(with_noise(sums, norm, rho))))
    return Hindsight(right, error, for_right, for_error)
