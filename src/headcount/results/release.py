"""What comes out: the counts, and what may be said about them."""

import json
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import PurePath
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from headcount.arrays import to_arrow
from headcount.errors import MissingExtraError
from headcount.privacy.accounting.filter import Cost
from headcount.privacy.accounting.rounding import float_above, shown_above
from headcount.privacy.mechanisms.base import COUNT
from headcount.results.canonical import METADATA_KEY, account_of, as_text_unless
from headcount.results.digits import rounded_interval
from headcount.results.guarantee import SPENT_ON, Guarantee
from headcount.results.notices import Notice, notices_about
from headcount.results.provenance import LONGEST_ASKED, shortened
from headcount.results.totals import totals_in_words

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from headcount.privacy.mechanisms import Measure, MechanismResult
    from headcount.privacy.mechanisms.base import Total

#: How often ``lower`` to ``upper`` is meant to hold the true count.
CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class Release:
    """A private release of counts.

    Attributes:
        table: an Arrow table: the item columns under their own names, then ``count``,
            ``std_error``, ``lower`` and ``upper`` (95 %), highest counts first. Its metadata
            carries the guarantee.
        guarantee: what may be told to the world.
        answered: whether a ledger gave it as the answer to a question that was asked before, which
            cost nothing.
    """

    table: "pa.Table"
    guarantee: Guarantee
    answered: bool = field(default=False, compare=False)

    @property
    def spent(self) -> dict[str, float]:
        """How much of the budget was used."""
        return self.guarantee.spent

    @property
    def totals(self) -> dict[str, dict[str, float]]:
        """How many users there are in all, if that was asked for."""
        return self.guarantee.totals

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
        """Return the counts as a pandas data frame.

        Dates and times that Python does not have, such as the year 10,000, make their column text.
        """

        def holds(column: "pa.ChunkedArray") -> None:
            _in_python(column)
            column.to_pandas()

        return as_text_unless(self.marked_table(), holds).to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """Return the counts as a Polars data frame; see `to_pandas` for dates and times."""
        try:
            import polars
        except ModuleNotFoundError:
            raise MissingExtraError("polars", "polars") from None
        frame = polars.from_arrow(as_text_unless(self.marked_table(), _in_python))
        assert isinstance(frame, polars.DataFrame)  # noqa: S101 (a table gives a frame)
        return frame

    @property
    def item_columns(self) -> list[str]:
        """The columns that say which item a row is about."""
        names: list[str] = self.table.column_names
        return names[: names.index(COUNT)]

    @property
    def measure_columns(self) -> list[str]:
        """The columns that say what was released about an item, ``count`` first."""
        names: list[str] = self.table.column_names
        return names[names.index(COUNT) :]

    def notices(self) -> list[Notice]:
        """Return what to know about the release, none of which depends on unreleased data."""
        return list(notices_about(self.guarantee, len(self)))

    def summary(self) -> list[str]:
        """Return a few sentences about the release, none of which depends on unreleased data."""
        chosen = self.settings.get("chosen")
        by = f" with the method {chosen}, chosen by {self.guarantee.method}" if chosen else ""
        released, spent, now = "Released", "Spent:", ""
        if self.answered:
            released, spent, now = "Released earlier:", "Spent then:", "; nothing now"
        return [
            f"{released} {self._items()}{by}.",
            *(
                f"{name}: {shortened(words, LONGEST_ASKED)}"
                for name, words in self.guarantee.provenance.asked.in_words().items()
            ),
            f"Guarantee: {self.guarantee}",
            f"{spent} ρ = {shown_above(self.spent['rho'])}, "
            f"δ = {shown_above(self.spent['delta'], 3)}{now}.",
            *(
                f"{total.words}: {total.count} (standard error {total.std_error})."
                for total in totals_in_words(self.totals)
            ),
            *map(str, self.notices()),
        ]

    def write(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the release to a file, whole or not at all; its suffix sets the format.

        Parquet and JSON carry the guarantee, and HTML is a page for people, which states it. CSV
        cannot, but says if the release is not private.

        Args:
            path: a file that ends in ``.parquet``, ``.json``, ``.csv`` or ``.html``.
            force: whether to replace an existing file; a database is never replaced.
        """
        from headcount.outputs import write

        if PurePath(path).suffix.lower() == ".html":
            from headcount.pages import write_page

            write_page(self, path, force=force)
        else:
            write(self, path, force=force)

    def plot(self, top: int = 20, ax: "Axes | None" = None) -> "Axes":
        """Draw the highest counts as bars with their 95 % intervals; needs Matplotlib.

        Args:
            top: how many items to show at most.
            ax: what to draw on; a new figure if not given.
        """
        from headcount.outputs.plot import plot

        return plot(self, top, ax)

    def _repr_html_(self) -> str:
        from headcount.outputs.notebook import to_html

        return to_html(self)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"<Release of {self._items()}: {self.guarantee}>"

    def _items(self) -> str:
        return f"{len(self):,} item{'' if len(self) == 1 else 's'}"


def _in_python(column: "pa.ChunkedArray") -> None:
    """Fail at dates that Python does not have: pandas and Polars cannot show them."""
    from pyarrow import types as of

    kind = column.type
    if of.is_date(kind) or (of.is_timestamp(kind) and kind.unit != "ns"):
        column.to_pylist()


def build_release(
    made: "MechanismResult", guarantee: Guarantee, columns: str = "standard"
) -> Release:
    """Put what a method released into a table, highest counts first.

    Everything here is post-processing.
    """
    import numpy as np
    import pyarrow as pa

    order = np.argsort(-made.counts.estimates, kind="stable")
    # Rationed release has put them in order, and taking rows makes Arrow import all its functions.
    ordered = np.array_equal(order, np.arange(order.size))
    named = made.items if ordered else made.items.take(to_arrow(order))
    table: dict[str, Any] = dict(zip(named.column_names, named.columns, strict=True))
    for measure in made.measures:
        table |= _columns_of(measure, order, with_noisy=columns == "all")
    guarantee = replace(
        guarantee,
        spent=spent_of(made.spent),
        settings={**guarantee.settings, **made.settings, **_spent_on(made.spent_on)},
        provenance=guarantee.provenance.after(made.mechanisms, made.post_processing),
        totals={total.name: _shown(total) for total in made.totals},
    )
    return Release(pa.table(table, metadata=metadata_of(guarantee)), guarantee)


def _shown(total: "Total") -> dict[str, float]:
    """Return a total as it is published, with the names of the columns of a count."""
    import numpy as np

    noisy, sigma = np.array([float(total.noisy)]), np.array([total.sigma])
    error, lower, upper = _interval(noisy, sigma, 0.0)
    return {
        "count": max(total.noisy, 0),
        "std_error": float(error[0]),
        "lower": float(lower[0]),
        "upper": float(upper[0]),
    }


def _interval(
    values: "NDArray[np.float64]", errors: "NDArray[np.float64]", lowest: float
) -> tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64]"]:
    """Return standard errors and 95 % intervals as they are published.

    The interval of what cannot be below ``lowest`` ends as far above it as noise reaches, even
    where the noise made the value much lower: one of no width would claim to be exact.
    """
    import numpy as np

    reach = _Z * errors
    upper = np.maximum(values, lowest) + reach
    errors, lower, upper = rounded_interval(errors, values - reach, upper)
    return errors, np.maximum(lower, lowest), upper


def _columns_of(
    measure: "Measure", order: "NDArray[np.int64]", *, with_noisy: bool
) -> dict[str, "pa.Array"]:
    """Return the columns of a measure; those of the count have names of their own."""
    import numpy as np

    name, prefix = measure.name, "" if measure.name == COUNT else f"{measure.name}_"
    values, errors = measure.estimates[order], measure.errors[order]
    lowest = -np.inf if measure.lowest is None else measure.lowest
    shown = np.rint(values).astype(np.int64) if measure.whole else values
    errors, lower, upper = _interval(values, errors, lowest)
    columns = {
        name: to_arrow(np.maximum(shown, lowest).astype(shown.dtype)),
        f"{prefix}std_error": to_arrow(errors),
        f"{prefix}lower": to_arrow(lower),
        f"{prefix}upper": to_arrow(upper),
    }
    if with_noisy:
        columns |= {
            f"noisy_{name}": to_arrow(measure.noisy[order]),
            f"{prefix}noisy_std_error": to_arrow(measure.sigmas[order]),
        }
    return columns


def metadata_of(guarantee: Guarantee) -> dict[bytes, bytes]:
    """Return the metadata of a table that carries its guarantee."""
    return {METADATA_KEY: json.dumps(guarantee.to_dict(), ensure_ascii=False).encode()}


def release_of_table(table: "pa.Table") -> Release:
    """Return the release in a table that has its guarantee in its metadata."""
    return Release(table, Guarantee.from_account(account_of(table)))


def _spent_on(costs: dict[str, Cost]) -> dict[str, object]:
    """Return what was spent on what, as a setting; nothing if all was for one purpose."""
    parts = {purpose: spent_of(cost) for purpose, cost in costs.items()}
    return {SPENT_ON: parts} if len(parts) > 1 else {}


def spent_of(cost: Cost) -> dict[str, float]:
    """Return a cost as floats, rounded up."""
    return {"rho": float_above(cost.rho), "delta": float_above(cost.delta)}
