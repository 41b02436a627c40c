"""A forecast: figures with their ranges, and sentences that explain them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, NamedTuple

from headcount.privacy.accounting.budget import Budget
from headcount.results.notices import WEAK_BUDGET, is_weak

#: What a forecast was made from.
Basis = Literal["guess", "stand-in"]


class Estimate(NamedTuple):
    """A forecast figure: its typical value, and its range over all simulations."""

    typical: float
    low: float
    high: float

    @classmethod
    def of(cls, typical: Iterable[float], others: Iterable[float] = ()) -> "Estimate":
        """Return the mean of the typical runs, and the range over these and the others."""
        runs = list(typical)
        seen = [*runs, *others]
        return cls(fmean(runs), min(seen), max(seen))


@dataclass(frozen=True)
class Forecast:
    """What a budget will give, from simulations on a stand-in. It is not a release.

    Attributes:
        basis: ``"guess"``, or ``"stand-in"`` if data was read.
        budget: the budget.
        method: the method.
        chosen: what it chose in the simulations, most frequent first; empty if it never chooses.
        relative_error: r, the target relative error.
        users: how many users the stand-in has.
        items_per_user: how many items they have on average.
        items: how many items there are.
        counts: for some ranks, how many users the item of that rank has.
        runs: how many simulations there were.
        simulated_users: how many users were simulated. If ``users`` is larger by some factor, ρ is
            raised by its square, so that the noise is as large in proportion.
        released: how many items come out.
        smallest: the smallest count that comes out; None if nothing does.
        within: the share of counts within ``relative_error`` of the truth; None if nothing does.
        std_error: the median standard error, as a share of the count; None if nothing does.
        at_least: whether more items may come out than in the simulations, because too few users
            were simulated for counts that small.
        max_items_per_user: how many items of a user count at most, if bounded.
    """

    basis: Basis
    budget: Budget
    method: str
    chosen: tuple[str, ...]
    relative_error: float
    users: int
    items_per_user: float
    items: int
    counts: Mapping[int, int] = field(hash=False)
    runs: int
    simulated_users: int
    released: Estimate
    smallest: Estimate | None
    within: Estimate | None
    std_error: Estimate | None
    at_least: bool
    max_items_per_user: int | None = None

    @property
    def table(self) -> str:
        """The figures with their ranges, as aligned columns."""
        from headcount.outputs.table import aligned

        rows = [[name, *shown] for name, shown in self._figures().items() if shown]
        return aligned(["", "forecast", "range"], rows, [False, True, True])

    @property
    def shape(self) -> str:
        """The shape of the data that the forecast is for, in a few words."""
        return (
            f"{_some(self.users, 'user')}, {_some(self.items_per_user, 'item')} each on average, "
            f"{_some(self.items, 'item')} in all"
        )

    def origin(self) -> str:
        """Return what the forecast was made from, and that it is not a release."""
        told = f"A forecast from a {self.basis}: {self.shape}."
        if self.basis == "guess":
            return f"{told} No data was read, nothing was charged and nothing was released."
        return (
            f"{told} The stand-in was read without any privacy, so it must not be secret. Nothing "
            "was charged, and nothing was released."
        )

    def summary(self) -> list[str]:
        """Return a few sentences on how to read the figures."""
        said = []
        if not self.released.high and not self.at_least:
            said.append(
                "Nothing came out. A larger budget, a larger relative error, or coarser items, "
                "each with more users, would help."
            )
        bound = self.max_items_per_user
        if bound is not None and bound < self.items_per_user:
            said.append(
                f"Only {_some(bound, 'item')} of each user {'counts' if bound == 1 else 'count'}, "
                f"and users have {_few(self.items_per_user)} on average. So counts come out too "
                f"low, by {100 * (1 - bound / self.items_per_user):.0f} % or more in total, which "
                "no standard error shows. Choose a bound that few users exceed, or the method "
                "auto, which needs none."
            )
        if self.chosen:
            said.append(f"The method {self.method} chose {' or '.join(self.chosen)}.")
        data = "made-up data" if self.basis == "guess" else "stand-in"
        ranks = [f"rank {rank:,}: {count:,}" for rank, count in self.counts.items()]
        said.append(f"Users per item in the {data}: {'; '.join(ranks)}.")
        if self.basis == "guess":
            said.append(
                "If your data is very different, so will the result be. The range covers "
                f"{self.runs} simulations, in which popularity falls faster or slower and users "
                "are more or less alike. On real data, two forecasts in three were within a factor "
                "of two, and most others within a factor of four. "
                "Data like yours that is not secret gives a better forecast (--like, like=)."
            )
        else:
            said.append(f"The range covers {self.runs} simulations, which differ in noise.")
        if self.simulated_users < self.users:
            said.append(
                f"To save time, {self.simulated_users:,} simulated users represented all of them, "
                "with the noise scaled down in proportion."
            )
        if self.at_least:
            said.append("They are too few for counts as small as these, so more may come out.")
        return said

    def __repr__(self) -> str:
        budget = f"ε = {self.budget.epsilon:g}, δ = {self.budget.delta:g}"
        least = "at least " if self.at_least else ""
        items = least + _some(self.released.typical, "item")
        return f"<Forecast for {budget}: {items}, from a {self.basis} of {self.shape}>"

    def __str__(self) -> str:
        weak = is_weak(self.budget.epsilon, self.budget.delta)
        caution = [str(WEAK_BUDGET)] if weak else []
        return "\n".join([*caution, self.origin(), "", self.table, *self.summary()])

    def _figures(self) -> dict[str, list[str]]:
        """Return each figure and its range by name; the list is empty if there is no figure."""
        least, most = ("at least ", "at most ") if self.at_least else ("", "")
        return {
            "items that come out": _shown(self.released, _few, least),
            "smallest count": _shown(self.smallest, _count, most),
            f"within {100 * self.relative_error:g} % of the truth": _shown(self.within, _percent),
            "typical standard error": _shown(self.std_error, _tenths),
        }


def compared(forecasts: Sequence[Forecast]) -> str:
    """Return forecasts for several shapes of data, as aligned columns."""
    from headcount.outputs.table import aligned

    target = f"within {100 * forecasts[0].relative_error:g} %"
    about = ["users", "items per user", "items"]
    header = [*about, "come out", "smallest count", target, "std error"]
    rows = [
        [
            _count(each.users),
            _few(each.items_per_user),
            _count(each.items),
            *(shown[0] if shown else "–" for shown in each._figures().values()),
        ]
        for each in forecasts
    ]
    return aligned(header, rows, [True] * len(header))


def _shown(
    estimate: Estimate | None, written: Callable[[float], str], before: str = ""
) -> list[str]:
    if estimate is None:
        return []
    typical, low, high = map(written, estimate)
    return [before + typical, low if low == high else f"{low} to {high}"]


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _few(number: float) -> str:
    """Format a mean of counts so that small values are not rounded to 0."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _some(number: float, noun: str) -> str:
    return f"{_few(number)} {noun}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _tenths(share: float) -> str:
    return f"{100 * share:.1f} %"
