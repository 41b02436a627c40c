"""Discrete Gaussian noise against OpenDP's sampler."""

from collections.abc import Callable
from pathlib import Path

from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian
from opendp.metrics import l2_distance
from opendp.mod import enable_features

from benchmarks.timing import Result, interleaved
from headcount.privacy.randomness import OsEntropy

#: Values per call: as many as a large release has items, and a single one.
MANY, ONE = 50_000, 1
SIGMAS = (0.3, 40.0, 1e6)


def run(folder: Path, rounds: int) -> list[Result]:
    """Time noise on a list of counts for three σ, and on a single count."""
    enable_features("contrib")
    ours = OsEntropy()

    def theirs(sigma: float) -> Callable[[list[int]], list[int]]:
        space = vector_domain(atom_domain(T="i64")), l2_distance(T="f64")
        made: Callable[[list[int]], list[int]] = make_gaussian(*space, scale=sigma)
        return made

    results = []
    for number, sigma in [*((MANY, sigma) for sigma in SIGMAS), (ONE, SIGMAS[1])]:
        counts, reference = [1000] * number, theirs(sigma)
        seconds = interleaved(
            {
                "ours": lambda c=counts, s=sigma: ours.discrete_gaussian(c, s),  # type: ignore[misc]
                "theirs": lambda c=counts, r=reference: r(c),  # type: ignore[misc]
            },
            rounds,
        )
        gain = seconds["theirs"] / seconds["ours"]
        each = seconds["ours"] / number
        took = f"{each * 1e9:.0f} ns" if number > ONE else f"{each * 1e6:.0f} µs"
        target = 20.0 if number > ONE else None
        results.append(
            Result(
                f"noise of σ = {sigma:g} on {number:,} counts ({took} each), against OpenDP's",
                f"{gain:.1f} times faster",
                f"at least {target:.0f}" if target else "below a millisecond",
                gain >= target if target else each < 1e-3,
            )
        )
    return results
