"""What comes out: the counts, and what may be said about them."""

import json
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from headcount.arrays import to_arrow
from headcount.errors import MissingExtraError, NotPrivateError
from headcount.inputs.unit import Unit
from headcount.privacy.accounting.budget import Budget
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.rounding import float_above, shown_above
from headcount.results.canonical import FORMAT, METADATA_KEY, account_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from headcount.privacy.mechanisms import MechanismResult

#: How often ``lower`` to ``upper`` is meant to hold the true count.
CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

_NO_FURTHER = "does not carry over to the tables below"
#: What there is to say about a guarantee that is not about the rows of a table.
CAUTIONS = {
    Unit.QUERY: (
        "Caution: the SQL may look at several rows at a time (a join, LIMIT, aggregate, window, a "
        "view, a function that headcount does not know). The guarantee is about the rows of its "
        f"result; if one person's rows can change another's there, it {_NO_FURTHER}."
    ),
    Unit.VIEW: (
        "Caution: the table is a view, or is read like one (a foreign table, row-level security). "
        "The guarantee is about the rows and the user column of the view; if one person's rows can "
        f"change another's there, or it computes the user column, it {_NO_FURTHER}."
    ),
    Unit.EXPRESSION: (
        "Caution: the guarantee is about the rows and the user column of the given Ibis "
        "expression; if one person's rows can change another's there, or it computes the user "
        f"column, it {_NO_FURTHER}."
    ),
    Unit.COMPUTED: (
        "Caution: the user column is computed by the SQL, or headcount cannot tell that it is not. "
        "One of its values is what the guarantee protects, and that may be less than all rows of "
        "one person. Select the column that says who a person is, unchanged, to protect them."
    ),
}
#: Beyond these the promise on paper says little about a person.
WEAK_EPSILON = 10.0
WEAK_DELTA = 1e-4
CAUTION_FOR_BUDGET = (
    f"Caution: with ε above {WEAK_EPSILON:g} or δ above {WEAK_DELTA:g} the guarantee is a weak "
    "promise to each person. Was the budget typed as it was meant?"
)
CAUTION_FOR_BOUND = (
    "Caution: of each user {}. If somebody has more, the rest do not count, and counts are "
    "too low by as much; the guarantee holds all the same."
)
ADVICE_WHEN_EMPTY = (
    "Nothing was released, which is a result like any other: no item was found to have enough "
    "users for this budget. `headcount plan` says how many it takes. A larger budget, a larger "
    "relative error, coarser items or, if another method was asked for, the method auto may help."
)


@dataclass(frozen=True)
class Guarantee:
    """What may be told to the world about a release: nothing in it depends on unreleased data.

    The release is ``delta``-approximate ``rho``-CDP and (``epsilon``, ``delta``)-DP.
    ``private`` is False for a run with a seed, about which nothing of this is true.

    Attributes:
        unit: whose privacy is protected.
        rho: ρ of the whole release.
        delta: δ of the whole release.
        epsilon: ε of the whole release.
        private: whether all this is true.
        method: how the release was made.
        spent: what of the budget was used: {"rho", "delta"}, rounded up.
        settings: the mechanism's parameters.
        version: of headcount.
    """

    unit: str
    rho: float
    delta: float
    epsilon: float
    private: bool
    method: str
    spent: dict[str, float] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=dict)
    version: str = field(default_factory=lambda: version("headcount"))

    @classmethod
    def of(
        cls, budget: Budget, *, method: str, private: bool, unit: Unit = Unit.USER
    ) -> "Guarantee":
        """State what a budget promises."""
        return cls(
            unit=unit.value,
            rho=budget.rho,
            delta=budget.delta,
            epsilon=budget.epsilon,
            private=private,
            method=method,
        )

    def require_private(self) -> None:
        """Refuse a release made with a seed."""
        if not self.private:
            raise NotPrivateError("this release was made with a seed and is not private")

    def to_dict(self) -> dict[str, Any]:
        """Return the account that is published: the guarantee, what was spent, and the settings."""
        promise = {
            "rho": self.rho,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "unit": self.unit,
            "private": self.private,
            "method": self.method,
            "version": self.version,
        }
        return {
            "format": FORMAT,
            "guarantee": promise,
            "spent": self.spent,
            "settings": self.settings,
        }

    def __str__(self) -> str:
        if not self.private:
            return "NOT PRIVATE: made with a seed, for experiments only. Do not publish."
        return (
            f"(ε = {shown_above(self.epsilon)}, δ = {shown_above(self.delta)})-differential "
            f"privacy, from {shown_above(self.delta)}-approximate {shown_above(self.rho)}-zCDP. "
            f"Protects {self.unit}."
        )


@dataclass(frozen=True)
class Release:
    """A private release of counts.

    Attributes:
        table: an Arrow table: the item columns under their own names, then ``count``,
            ``std_error``, ``lower`` and ``upper`` (95 %), highest counts first. Its metadata
            carries the guarantee.
        guarantee: what may be told to the world.
    """

    table: "pa.Table"
    guarantee: Guarantee

    @property
    def spent(self) -> dict[str, float]:
        """What of the budget was used."""
        return self.guarantee.spent

    @property
    def settings(self) -> dict[str, object]:
        """The mechanism's parameters."""
        return self.guarantee.settings

    def marked_table(self) -> "pa.Table":
        """Return the table for places that do not keep its metadata.

        What is not private says so in a column of its own.
        """
        import pyarrow as pa

        if self.guarantee.private:
            return self.table
        return self.table.append_column("private", pa.array([False] * len(self), pa.bool_()))

    def to_pandas(self) -> "pd.DataFrame":
        """Return the counts as a pandas data frame."""
        return self.marked_table().to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """Return the counts as a Polars data frame."""
        try:
            import polars
        except ModuleNotFoundError:
            raise MissingExtraError("polars", "polars") from None
        frame = polars.from_arrow(self.marked_table())
        assert isinstance(frame, polars.DataFrame)  # noqa: S101 (a table gives a frame)
        return frame

    def summary(self) -> list[str]:
        """Return a few sentences about the release, none of which depends on unreleased data."""
        chosen = self.settings.get("chosen")
        by = f" by the method {chosen}, which {self.guarantee.method} chose" if chosen else ""
        lines = [
            f"Released {len(self):,} item{'' if len(self) == 1 else 's'}{by}.",
            f"Guarantee: {self.guarantee}",
            f"Spent: ρ = {shown_above(self.spent['rho'])}, "
            f"δ = {shown_above(self.spent['delta'], 3)}.",
        ]
        if self.guarantee.epsilon > WEAK_EPSILON or self.guarantee.delta > WEAK_DELTA:
            lines.append(CAUTION_FOR_BUDGET)
        lines += [says for unit, says in CAUTIONS.items() if unit.value == self.guarantee.unit]
        bound = self.settings.get("max_items_per_user")
        if bound is not None:
            most = "one item counts" if bound == 1 else f"at most {bound:,} items count"
            lines.append(CAUTION_FOR_BOUND.format(most))
        if not len(self):
            lines.append(ADVICE_WHEN_EMPTY)
        return lines

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<Release of {len(self)} items: {self.guarantee}>"


def build_release(
    made: "MechanismResult", guarantee: Guarantee, columns: str = "standard"
) -> Release:
    """Put what a method released into a table, highest counts first.

    Everything here is post-processing.
    """
    import numpy as np
    import pyarrow as pa

    order = np.argsort(-made.estimates, kind="stable")
    counts, errors = made.estimates[order], made.errors[order]
    named = made.items.take(to_arrow(order))
    table: dict[str, Any] = dict(zip(named.column_names, named.columns, strict=True))
    table |= {
        "count": to_arrow(np.maximum(np.rint(counts), 0).astype(np.int64)),
        "std_error": to_arrow(errors),
        "lower": to_arrow(np.maximum(counts - _Z * errors, 0.0)),
        "upper": to_arrow(np.maximum(counts + _Z * errors, 0.0)),
    }
    if columns == "all":
        table |= {
            "noisy_count": to_arrow(made.noisy[order]),
            "noisy_std_error": to_arrow(made.sigmas[order]),
        }
    guarantee = replace(guarantee, spent=spent_of(made.spent), settings=made.settings)
    return Release(pa.table(table, metadata=metadata_of(guarantee)), guarantee)


def metadata_of(guarantee: Guarantee) -> dict[bytes, bytes]:
    """Return the metadata of a table that carries its guarantee."""
    return {METADATA_KEY: json.dumps(guarantee.to_dict(), ensure_ascii=False).encode()}


def release_of_table(table: "pa.Table") -> Release:
    """Return the release that a table with its guarantee in its metadata holds."""
    account = account_of(table)
    guarantee = Guarantee(
        **account["guarantee"], spent=account["spent"], settings=account["settings"]
    )
    return Release(table, guarantee)


def spent_of(cost: Cost) -> dict[str, float]:
    """Return a cost as floats, rounded up."""
    return {"rho": float_above(cost.rho), "delta": float_above(cost.delta)}
