"""Sums by OpenDP with bounded contributions, using the best bounds in hindsight.

Values are clipped to a bound, and each user keeps at most a fixed number of items, chosen at
random. Then OpenDP's own Gaussian mechanism adds its noise. It is given the names of the items.

Clipping and adding are done in NumPy, because the bounds are found by trying many of them, and
OpenDP's own data frames would take a minute for each on a million users. Trials of bounds use
NumPy's noise of the same scale; what is reported has OpenDP's noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: A sum is right if its relative error is at most this.
TARGET = 0.1


def scattered(users: Integers, rng: np.random.Generator) -> Integers:
    """Return numbers for each user's pairs, from 0 in cyclic order, beginning at a random one.

    Args:
        users: the user of each pair, in ascending order.
        rng: chooses where each user's numbering begins.
    """
    _, first, sizes = np.unique(users, return_index=True, return_counts=True)
    shifts = rng.integers(0, sizes)
    size = np.repeat(sizes, sizes)
    numbers: Integers = np.arange(users.size) - np.repeat(first - shifts, sizes)
    return numbers % size


def with_noise(sums: Floats, norm: float, rho: float) -> Floats:
    """Return sums with OpenDP's noise, where ``norm`` is their l2-sensitivity."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    mechanism: Any = dp.m.make_gaussian(*space, scale=norm / math.sqrt(2 * rho))
    if mechanism.map(norm) > rho * (1 + 1e-9):
        raise ValueError("this noise costs more than its share of ρ")
    return np.array(mechanism(sums.tolist()))


class Bounds(NamedTuple):
    """How far from 0 a value may be, and how many items of a user count at most."""

    value: float
    items: int


@dataclass(frozen=True)
class Hindsight:
    """The results with the best bounds, which may differ between the two measures.

    Attributes:
        right: the share of numbers within the target, with the bounds that maximise it.
        error: the median error, with the bounds that minimise it.
        for_right: the bounds that maximise ``right``.
        for_error: the bounds that minimise ``error``.
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
    """Return how good the sums are with the best of the bounds tried, chosen for each measure.

    Args:
        triples: users, items and values; users in ascending order, each with an item once.
        rho: what the sums may cost.
        counted: which items' errors are measured.
        bounds: the bounds to try on a value's distance from 0.
        most_items: the bounds to try on how many items of a user count.
        seed: the seed for the noise of the trials, and for which items are kept.
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
