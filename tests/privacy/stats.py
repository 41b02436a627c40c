"""Statistical tests with one false-failure rate."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from scipy import stats

ALPHA = 1e-6


def chi_square_p(observed: Mapping[Hashable, int], expected: Mapping[Hashable, float]) -> float:
    """p-value of counts against a law; outcomes expected fewer than 10 times are pooled."""
    total = sum(observed.values())
    assert math.isclose(math.fsum(expected.values()), 1, rel_tol=1e-9)
    impossible = [outcome for outcome in observed if expected.get(outcome, 0) == 0]
    assert not impossible, f"outcomes that the law gives no probability: {impossible[:3]}"
    cells: list[tuple[float, float]] = []
    pooled = [0.0, 0.0]
    for outcome, probability in expected.items():
        cell = (observed.get(outcome, 0), probability * total)
        if cell[1] < 10:
            pooled = [pooled[0] + cell[0], pooled[1] + cell[1]]
        else:
            cells.append(cell)
    if pooled[1] >= 10:
        cells.append((pooled[0], pooled[1]))
    elif pooled[1]:
        seen, wanted = cells.pop()
        cells.append((seen + pooled[0], wanted + pooled[1]))
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    return float(stats.chi2.sf(statistic, len(cells) - 1))


def same_law_p(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """p-value of two samples having one law; rare outcomes are pooled."""
    one, two = Counter(first), Counter(second)
    rows, pooled = [], [0, 0]
    for outcome in sorted(one | two, key=repr):
        if one[outcome] + two[outcome] < 20:
            pooled = [pooled[0] + one[outcome], pooled[1] + two[outcome]]
        else:
            rows.append([one[outcome], two[outcome]])
    if sum(pooled):
        rows.append(pooled)
    return float(stats.chi2_contingency(np.array(rows)).pvalue)


def fits(p_value: float) -> bool:
    return p_value >= ALPHA


def false_failure(p_value: float) -> str:
    return f"p = {p_value:.2e}; a right implementation fails with probability {ALPHA:g}"


def assert_noise_of_this_scale(standardised):
    """Σ of squares is χ² for the claimed σ, and not for one 12 % off."""
    squares, number = float(np.sum(np.square(standardised))), len(standardised)

    def p(scale):
        tail = stats.chi2(number).sf(squares / scale**2)
        return 2 * min(tail, 1 - tail)

    assert fits(p(1.0)), false_failure(p(1.0))
    assert p(1.12) < ALPHA
    assert p(1 / 1.12) < ALPHA
