"""The mechanism against the literal pick-by-pick loop, and against itself at k̄ = 10⁶."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.privacy.literal import private_count_release_literally

from benchmarks.timing import Result, interleaved
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.private_count_release import (
    ReleasedCounts,
    private_count_release,
)
from headcount.privacy.mechanisms.pcr.schedule import delta_star
from headcount.privacy.mechanisms.pcr.settings import settings_for
from headcount.privacy.randomness import Entropy, OsEntropy


class SelectionOnly(OsEntropy):
    """The operating system's entropy for the race, and no noise on the counts."""

    def discrete_gaussian(
        self, values: Sequence[int], sigma: float | NDArray[np.float64]
    ) -> list[int]:
        """Return the values as they are."""
        return list(values)


def run(folder: Path, rounds: int) -> list[Result]:
    """Time runs at ρ = 1 on a histogram like that of words: counts fall as rank^−0.75."""
    budget, paper = Budget(rho=1, delta=1e-6), settings_for("pcr-paper")
    counts = (200_000 / np.arange(1, 1_000_002) ** 0.75).astype(np.int64)
    rng = np.random.default_rng(1)

    def fast(k_bar: int, entropy: Entropy, method: str = "pcr") -> Callable[[], ReleasedCounts]:
        settings = settings_for(method, k_bar=k_bar)
        return lambda: private_count_release(
            counts[: k_bar + 1], 0, settings, budget, Gate(budget.for_filter, entropy)
        )

    def literal() -> None:
        private_count_release_literally(
            counts[:10_001].tolist(),
            rho=budget.rho_for_filter,
            delta=budget.delta_selection,
            epsilon_star=paper.epsilon_star,
            delta_star=float(delta_star(paper, budget)),
            k_bar=10_000,
            r=paper.r,
            growth=paper.growth,
            rng=rng,
        )

    seconds = interleaved(
        {
            "literal": literal,
            "paper": fast(10_000, OsEntropy(), "pcr-paper"),
            "fast": fast(10_000, OsEntropy()),
            "selection": fast(10_000, SelectionOnly()),
            "large": fast(1_000_000, OsEntropy()),
        },
        rounds,
    )
    gains = {name: seconds["literal"] / seconds[name] for name in seconds}
    growth = seconds["large"] / seconds["fast"]

    def described(name: str, method: str) -> str:
        run = fast(10_000, OsEntropy(), method)()
        took = f"{seconds[name] * 1e3:.0f} ms"
        return f"{run.positions.size:,} items of {run.levels_run} levels, {took}"

    return [
        Result(
            f"pcr-paper at k̄ = 10,000, ρ = 1 ({described('paper', 'pcr-paper')}), "
            f"against the literal loop ({seconds['literal']:.2f} s), which does the same",
            f"{gains['paper']:.0f} times faster",
            "at least 50",
            gains["paper"] >= 50,
        ),
        Result(
            f"pcr's races at k̄ = 10,000, ρ = 1 ({described('fast', 'pcr')}), against the same "
            f"loop (its selection alone: {gains['selection']:.0f} times faster)",
            f"{gains['fast']:.0f} times faster",
            "at least 50",
            gains["fast"] >= 50,
        ),
        Result(
            "mechanism at k̄ = 1,000,000, against itself at 10,000",
            f"{growth:.1f} times its time",
            "at most 5",
            growth <= 5,
        ),
    ]
