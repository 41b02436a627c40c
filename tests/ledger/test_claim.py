"""The step of ledger.md that all else rests on, checked by enumeration."""

import itertools
from fractions import Fraction

import pytest

# With weights that are powers of a rational the law of a race is exact arithmetic.
GROWTH = Fraction(3, 2)  # exp(ε)


def law(weights, bottom, most):
    """Return P(order read up to ⊥ or to the most entries) of a race."""
    found = {}

    def read(order, left, chance):
        total = sum(left.values()) + bottom
        if len(order) == most:
            found[order] = chance
            return
        found[(*order, None)] = chance * bottom / total
        for item, weight in left.items():
            rest = {other: w for other, w in left.items() if other != item}
            read((*order, item), rest, chance * weight / total)

    read((), weights, Fraction(1))
    return found


def candidates(counts, k_bar):
    ordered = sorted(counts, key=lambda item: (-counts[item], item))
    cut = counts[ordered[k_bar]] if len(ordered) > k_bar else 0
    return {item: counts[item] for item in ordered[:k_bar] if counts[item]}, cut


def races(counts, common, k_bar, delta):
    """Return the weights of M's race, of Q's, and of ⊥ in each: ⊥ has k̄·exp(ε(c+1))/δ."""
    there, cut = candidates(counts, k_bar)
    weights = {item: GROWTH**count for item, count in there.items()}
    bottom = k_bar * GROWTH ** (cut + 1) / delta
    ideal = {item: weight for item, weight in weights.items() if item in common}
    return (weights, bottom), (ideal, bottom * (1 + delta))


HISTOGRAMS = list(itertools.product(range(4), repeat=3))


@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(1, 100)])
@pytest.mark.parametrize("k_bar", [1, 2, 3])
def test_a_level_is_at_least_one_minus_delta_of_a_race_with_fixed_candidates(delta, k_bar):
    for counts in HISTOGRAMS:
        for user in itertools.product((0, 1), repeat=3):
            sides = [
                dict(zip("abc", counts, strict=True)),
                dict(zip("abc", map(sum, zip(counts, user, strict=True)), strict=True)),
            ]
            common = set.intersection(*(set(candidates(side, k_bar)[0]) for side in sides))
            for side, most in itertools.product(sides, (1, 2, 4)):
                (weights, bottom), ideal = races(side, common, k_bar, delta)
                real = law(weights, bottom, most)
                for order, chance in law(*ideal, most).items():
                    assert real[order] >= (1 - delta) * chance
