"""The choice between Private Count Release and a rationed release, as a mechanism."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.conditioning import conditioned_total
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms.auto.choice import release_automatically
from headcount.privacy.mechanisms.base import (
    Mechanism,
    MechanismResult,
    Options,
    Progress,
    refuse,
)
from headcount.privacy.mechanisms.pcr import PCR
from headcount.privacy.mechanisms.pcr.mechanism import CENTRED_LOOK
from headcount.privacy.mechanisms.rationed import Rationed
from headcount.privacy.mechanisms.rationed.mechanism import SIZES
from headcount.privacy.mechanisms.rationed.rationed_release import RationedCounts
from headcount.privacy.questions import DataView, NamedCounts, Pairs


@dataclass(frozen=True)
class Auto(Mechanism):
    """Whichever of two promises more, chosen under the same privacy (look.md)."""

    pcr: PCR
    rationed: Rationed
    budget: Budget

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "chooses between pcr and rationed"
    pays_what_it_gets: ClassVar[bool] = True

    @classmethod
    def of(cls, options: Options, budget: Budget) -> Mechanism:
        """Check what was asked for; k̄ is a parameter of pcr, so who gives one means that."""
        refuse(cls, options, "max_items_per_user")
        pcr = PCR.of(options, budget)
        if options.candidates is not None:
            return pcr
        return cls(pcr, Rationed.of(options, budget), budget)

    @classmethod
    def for_histogram(cls, options: Options, budget: Budget) -> Mechanism:
        """Return pcr: without events there is nothing to choose from."""
        return PCR.for_histogram(options, budget)

    @property
    def r(self) -> float:
        """The relative error that is aimed at."""
        return self.pcr.r

    def to_dict(self) -> dict[str, object]:
        """Return the parameters as plain values."""
        return self.pcr.to_dict()

    def prepare(
        self, view: DataView, gate: Gate, progress: Progress
    ) -> Callable[[], MechanismResult]:
        """Gather the pairs of users and items, or the histogram if nothing can be kept."""
        if not view.several_passes:
            prepared = self.pcr.prepare(view, gate, progress)
            return lambda: _chosen(prepared(), self.pcr)
        progress("collecting user–item pairs")
        pairs = view.pairs()
        top = pairs.highest_counts(self.pcr.histogram_limit)  # one snapshot for both mechanisms
        return partial(self._run, top, pairs, gate, progress)

    def _run(
        self, top: NamedCounts, pairs: Pairs, gate: Gate, progress: Progress
    ) -> MechanismResult:
        part = gate.part(conditioned_total(self.budget))
        released = release_automatically(
            top.values, pairs, self.pcr.settings, self.budget, part, progress
        )
        if isinstance(released, RationedCounts):
            rationed = _chosen(self.rationed.result(pairs, released), self.rationed)
            return replace(rationed, mechanisms=(CENTRED_LOOK, *rationed.mechanisms))
        vetted = _chosen(self.pcr.vetted_result(top, released), self.pcr)
        looked, *rest = vetted.mechanisms  # by ranks: with k̄ given it is no choice (`of`)
        return replace(vetted, mechanisms=(looked, SIZES, *rest))


def _chosen(result: MechanismResult, mechanism: Mechanism) -> MechanismResult:
    return replace(result, settings={**result.settings, "chosen": mechanism.name})
