"""Vetted selection: candidates are nominated in secret, and named if a noisy test vouches for them.

Unknown Domain Gumbel pays for ⊥, which must outweigh all candidates that one user may bring. Here
the exponential mechanism has no ⊥ and no δ: it nominates candidates and tells nobody which. A
centred Gaussian test then decides which of them are named, and only tests need δ. `vetting.md`,
next to this file, is the proof.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.gaussian import reach_of_two
from headcount.privacy.accounting.sensitivity import pick_cost
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.pcr.candidates import Candidates
from headcount.privacy.mechanisms.pcr.centred import centred, centred_cost

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: What rounds are for, as a label of what was spent on what; it is not published.
SELECTING = "selecting items"
# A candidate that only one side has is at most 1 above its side's cut-off: 2 in doubled counts.
_STRANGER = 2


@dataclass(frozen=True)
class Round:
    """All that a round does, fixed before any of its noise is drawn.

    Attributes:
        epsilon: ε of every nomination.
        nominations: how many candidates are nominated.
        tests: how many are tested: those, and some that were tested before.
        sigma: the standard error of a test, as a count of users.
        cutoff_sigma: that of the cut-off, which all tests of the round are compared with.
        delta: the chance that a candidate which only one neighbour has is named.
    """

    epsilon: float
    nominations: int
    tests: int
    sigma: float
    cutoff_sigma: float
    delta: Fraction

    @cached_property
    def cost(self) -> Cost:
        """Return what the round costs: each nomination, each test, the cut-off, and δ."""
        return Cost(
            self.nominations * pick_cost(self.epsilon)
            + centred_cost(self.sigma, self.tests)
            + centred_cost(self.cutoff_sigma),
            self.delta,
        )

    @cached_property
    def bound(self) -> int:
        """What a test minus the cut-off must exceed, in doubled counts.

        Formal guarantee: the probability that any candidate that only one neighbour has exceeds it
        in this round is at most δ (vetting.md).
        """
        noise = (2 * self.sigma, 2 * self.cutoff_sigma)
        return _STRANGER + reach_of_two(*noise, self.delta / self.tests)


class Vetting:
    """A run of rounds, and its secret state. Of it, only what is `named` may be published.

    Nominees are known by a number, in an order drawn by lot. **Nothing may depend on a candidate's
    place in the histogram**: that is not a function of what is paid for.

    Attributes:
        places: the nominees' places among the candidates.
        named: which nominees may be published.
    """

    def __init__(
        self,
        candidates: Candidates,
        k_bar: int,
        users: int,
        gate: Gate,
    ) -> None:
        self._real = candidates.counts.size
        # Beyond the end of the histogram there are candidates that nobody has, with the cut-off's
        # count, so that both neighbours have k̄.
        self._counts = np.full(k_bar, candidates.cutoff, dtype=np.int64)
        self._counts[: self._real] = candidates.counts
        self._cutoff = candidates.cutoff
        self._users = users
        self._gate = gate
        self._open = np.ones(k_bar, dtype=np.bool_)
        self.places = np.zeros(0, dtype=np.int64)
        self.named = np.zeros(0, dtype=np.bool_)
        self._precision = np.zeros(0)
        self._weighted = np.zeros(0)

    @property
    def not_nominated(self) -> int:
        """How many of the k̄ candidates, whether anybody has them or not, can still be nominated."""
        return int(self._open.size - self.places.size)

    @property
    def precision(self) -> Floats:
        """1 over the variance of what tests say about each nominee, as a count, given N."""
        return self._precision

    @property
    def tested(self) -> Floats:
        """2h − N of each nominee, according to its tests."""
        return self._weighted / self._precision

    def run(self, planned: Round, again: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
        """Nominate, test and name; return which new nominees were named, and the noisy N − 2c.

        Formal guarantee: all that the round does was fixed, in ``planned`` and ``again``, before
        any of its noise is drawn, and costs at most ``planned.cost``. Later rounds may depend on
        what the round returns, and on the secret state.

        Args:
            planned: the round.
            again: which of the earlier nominees are tested once more; none that is named.
        """
        nominations = min(planned.nominations, self.not_nominated)
        if nominations + int(again.sum()) > planned.tests or (again & self.named).any():
            raise ValueError("a round tests more than it was planned for")
        (cutoff,) = centred(
            [self._cutoff], self._users, planned.cutoff_sigma, self._gate, SELECTING
        )
        left = np.flatnonzero(self._open)
        gaps = self._counts[left] - self._cutoff
        self._add(left[self._gate.nominated(gaps, planned.epsilon, nominations, SELECTING)])
        tested = np.append(np.flatnonzero(again), np.arange(again.size, self.places.size))
        noisy = self.measure(tested, planned.sigma, SELECTING, planned.delta)
        passed = (noisy - int(cutoff) > planned.bound) & (self.places[tested] < self._real)
        self.named[tested[passed]] = True
        return self.named[again.size :], -int(cutoff)

    def measure(
        self,
        nominees: Integers,
        sigma: float | Floats,
        purpose: str,
        delta: Fraction = Fraction(0),
    ) -> Integers:
        """Return 2h − N of nominees with noise of 2σ; this also counts among their tests.

        Formal guarantee: as for `centred`.
        """
        counts = self._counts[self.places[nominees]]
        noisy = centred(counts, self._users, sigma, self._gate, purpose, delta)
        self._precision[nominees] += sigma**-2
        self._weighted[nominees] += noisy / sigma**2
        return noisy

    def _add(self, places: Integers) -> None:
        self._open[places] = False
        self.places = np.concatenate([self.places, places])
        none = np.zeros(places.size)
        self.named = np.concatenate([self.named, none.astype(np.bool_)])
        self._precision = np.concatenate([self._precision, none])
        self._weighted = np.concatenate([self._weighted, none])
