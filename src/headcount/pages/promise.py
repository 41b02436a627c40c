"""The promise of a release in plain words, from its numbers."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from headcount.privacy.accounting.conversion import chance_beyond
from headcount.privacy.accounting.rounding import shown_above
from headcount.results.guarantee import Guarantee

#: Factors from here on are written as a power of ten: no one reads longer numbers.
_LONGEST_FACTOR = 1e6


@dataclass(frozen=True)
class Promise:
    """The promise, with a short text for each part.

    Attributes:
        whom: who is protected.
        epsilon: the change in odds that ε allows, and how often it may be more.
        delta: what δ allows on top.
        formal: both, in the terms of the field.
    """

    whom: str
    epsilon: str
    delta: str
    formal: str


def promise_of(guarantee: Guarantee) -> Promise:
    """Return the promise of a guarantee; numbers are rounded so that they never promise more."""
    epsilon, delta = shown_above(guarantee.epsilon), shown_above(guarantee.delta)
    pure = guarantee.settings.get("pure_zcdp") is True  # δ is spent only on converting ρ to ε
    selection = 0.0 if pure else guarantee.delta_split.get("selection", guarantee.delta)
    beyond = chance_beyond(guarantee.epsilon, guarantee.rho, guarantee.delta, selection)
    whose, is_there = _protected(guarantee)
    own_items = (
        "No item is ever published by chance: all of them were already public."
        if pure
        else f"For {whose}, an item that no one else has is published in at most "
        f"{_how_often(guarantee.delta)} releases."
    )
    # With hyphens and spaces at which no line is broken.
    zcdp = f"{'' if pure else f'{delta}‑approximate '}{shown_above(guarantee.rho)}‑zCDP"
    return Promise(
        _whom(guarantee.unit),
        f"For someone who knows everything else in the data, this release changes the odds that "
        f"{is_there} by a factor of at most {_factor(guarantee.epsilon)}. If they thought the "
        f"chances were 50:50, they end up at most {_percent(guarantee.epsilon)} sure. In at most "
        f"{_how_often(beyond)} releases, the odds change by more than that.{_several(guarantee)}",
        f"It is a small extra probability that any result may have on top of that limit. "
        f"{own_items}",
        f"(ε\u00a0=\u00a0{epsilon}, δ\u00a0=\u00a0{delta})-differential privacy, and {zcdp}. "
        f"Neighbouring datasets differ by {guarantee.unit}.",
    )


def _whom(unit: str) -> str:
    """Return in plain words whom a unit protects, or the unit if it is none of headcount's."""
    who, colon, rest = unit.partition(": ")
    rows, changed, _ = rest.partition(", added or removed")
    if not (colon and changed and who.startswith("one ")):
        return f"{unit[:1].upper()}{unit[1:]}."
    each = re.sub(r"\bone\b", "each", who)
    return (
        f"{each[:1].upper()}{each[1:]}. The promise compares what could be released from the data "
        f"with and without {rows}."
    )


def _protected(guarantee: Guarantee) -> tuple[str, str]:
    """Return who is protected, and the statement about them that no one can be sure of."""
    within = guarantee.protected_period
    if within is not None:
        there = f"a given person’s rows of one {within} are in the data"
        return f"each person and {within}", there
    if guarantee.unit.startswith("one user"):
        return "each person", "a given person is in the data"
    return "each of those protected", "what is protected is in the data"


def _several(guarantee: Guarantee) -> str:
    """Return the promise to someone with rows in several protected periods, or an empty text."""
    within = guarantee.protected_period
    if within is None:
        return ""
    return (
        f" All rows of someone who has some in k {within}s are protected less: with k times "
        "the ε and k·e^((k−1)·ε) times the δ."
    )


def _factor(epsilon: float) -> str:
    """Return e^ε, rounded up to three digits, and that odds may change so both ways."""
    if epsilon < math.log(_LONGEST_FACTOR):
        digits = max(0, 2 - math.floor(epsilon / math.log(10)))
        factor = math.ceil(math.exp(epsilon) * 10**digits) / 10**digits
        return f"{factor:,.{digits}f} in either direction"
    return f"10 to the power of {math.ceil(epsilon / math.log(10)):,}, which is no limit at all"


def _percent(epsilon: float) -> str:
    """Return e^ε / (1 + e^ε), rounded up, with more digits if it would round up to 100 %."""
    share = 1 / (1 + math.exp(-epsilon))
    for digits in (1, 2, 3):
        percent = math.ceil(share * 10 ** (2 + digits)) / 10**digits
        if percent < 100:
            return f"{percent:.{digits}f} %"
    return "100 %"


def _how_often(chance: float) -> str:
    """Return a chance, rounded up to two digits. 1e-5 counts as it was typed: 1 of 100,000."""
    number = math.floor(1 / Fraction(repr(chance)))
    left_out = 10 ** max(0, len(str(number)) - 2)
    return f"1 of {number // left_out * left_out:,}"
