"""headcount ledger: one budget for all releases of a dataset, by anyone."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headcount.cli.command import Command, examples
from headcount.cli.limit import limit_option, rows_shown
from headcount.cli.numbers import Float, Whole
from headcount.cli.options import budget_from, force_option, format_option, output_option
from headcount.cli.report import page_path
from headcount.cli.stderr import say as _say
from headcount.cli.stdout import write_release, write_stdout
from headcount.cli.talk import Talk
from headcount.inputs.unit import PROTECTED_PERIODS

if TYPE_CHECKING:
    from headcount.ledger import Ledger
    from headcount.ledger.entries import Entry

#: Enough for ten releases with the default δ of one.
DEFAULT_TOTAL_DELTA = 1e-5

_where = click.argument("where", metavar="LEDGER")
# Where no other argument follows, the environment may name it.
_where_alone = click.argument("where", metavar="LEDGER", envvar="HEADCOUNT_LEDGER")
_dataset = click.option("--dataset", required=True, metavar="NAME", help="The dataset.")
_form = click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="The format of what goes to stdout.",
)
_actor = click.option(
    "--actor",
    metavar="NAME",
    envvar="HEADCOUNT_ACTOR",
    show_envvar=True,
    help="Who is acting [default: the operating system's user name].",
)
_reason = click.option(
    "--reason", required=True, metavar="TEXT", help="The reason, which is recorded."
)


class _Commands(click.Group):
    command_class = Command


@click.group(
    cls=_Commands,
    epilog=examples(
        "headcount ledger init budget.db --dataset searches --epsilon 10",
        "headcount ledger show budget.db",
    ),
)
def ledger() -> None:
    """Keep one budget for all releases of a dataset, by anyone.

    LEDGER is the path of a SQLite file, or a postgres:// URL.
    """


def _open(where: str, actor: str | None = None) -> "Ledger":
    from headcount.ledger import Ledger

    return Ledger(where, actor=actor, tell=_say)


def _say_total(ledger: "Ledger", dataset: str) -> None:
    from headcount.inputs.unit import Unit
    from headcount.ledger.refusal import short, shown

    books = ledger.books()
    total, whose = books.total(dataset), books.known(dataset)
    within = PROTECTED_PERIODS[books.protects(dataset)]
    about = "" if within is None else f" It protects {Unit.USER.stated(within)}."
    _say(
        f"All releases of {whose!r} together may use {shown(total.as_given(total.limit))}: "
        f"(ε = {short(total.epsilon(total.limit))}, δ = {short(total.delta)})-differential "
        f"privacy. {shown(total.as_given(books.left(dataset)))} are left.{about}"
    )


@ledger.command(
    epilog=examples(
        "headcount ledger init budget.db --dataset searches --epsilon 10",
        "headcount ledger init budget.db --dataset plays --dataset likes --group music --rho 2",
    )
)
@_where_alone
@click.option("--dataset", "datasets", required=True, multiple=True, metavar="NAME",
              help="The dataset; several with --group.")  # fmt: skip
@click.option("--group", metavar="NAME", help="A name for datasets that share one budget.")
@click.option("--user", metavar="COLUMN",
              help="The column that identifies the user in all releases [default: the one in the "
                   "first release].")  # fmt: skip
@click.option("--protect", type=click.Choice(list(PROTECTED_PERIODS)), default="user",
              show_default=True,
              help="What the total protects: all rows of a user, or only those within one "
                   "period. Every release must protect the same.")  # fmt: skip
@click.option("--rho", type=Float(), help="ρ of all releases together, as in zCDP.")
@click.option("-e", "--epsilon", type=Float(), help="ε of all releases together, as in (ε, δ)-DP.")
@click.option("--delta", type=Float(), default=DEFAULT_TOTAL_DELTA, show_default=True,
              help="δ of all releases together; each takes its own δ from it.")  # fmt: skip
@_actor
def init(
    where: str,
    datasets: tuple[str, ...],
    group: str | None,
    user: str | None,
    protect: str,
    rho: float | None,
    epsilon: float | None,
    delta: float,
    actor: str | None,
) -> None:
    """Give a dataset a total budget.

    Creates the ledger if there is none.
    """
    ledger = _open(where, actor)
    budget = budget_from(rho, epsilon, delta)
    ledger.init(*datasets, budget=budget, group=group, user=user, protect=protect)
    _say_total(ledger, datasets[0])


@ledger.command(
    epilog=examples(
        "headcount ledger show budget.db", "headcount ledger show budget.db --format json"
    )
)
@_where_alone
@_form
@click.option("--html", "page", type=click.Path(path_type=Path), metavar="FILE",
              help="Write an .html page instead.")  # fmt: skip
@force_option
def show(where: str, form: str, page: Path | None, force: bool) -> None:
    """Show how much of each budget is spent and left."""
    from headcount.ledger.account import accounts

    if page is not None:
        _write_page(where, page_path(page), force=force)
        return
    found = accounts(_open(where).books())
    if form == "json":
        _write_json([account.to_dict() for account in found])
        return
    header = ["budget", "", "ρ", "δ", "ε", "at δ", "share"]
    rows = [row for account in found for row in account.rows()]
    _write_table(header, rows, [False, False, True, True, True, True, False])
    _say(
        "ρ and δ add up. ε does not: each ε is computed from the ρ in its row and the total's δ. "
        "The shares are of ρ or of δ, whichever has less left of its total."
    )


def _write_page(where: str, path: Path, *, force: bool) -> None:
    from headcount.outputs import AtomicFile
    from headcount.pages import ledger_page

    with AtomicFile(path, ledger=where, force=force) as file:
        file.commit(ledger_page(_open(where).log(), datetime.now(UTC)))
    _say(f"Wrote {str(path)!r}.")


@ledger.command(epilog=examples("headcount ledger log budget.db --dataset searches"))
@_where_alone
@click.option("--dataset", metavar="NAME", help="Only entries about this dataset.")
@_form
def log(where: str, dataset: str | None, form: str) -> None:
    """Show who did what and when, and what it cost."""
    from headcount.ledger.account import in_words

    ledger = _open(where)
    entries = ledger.log(dataset)
    if form == "json":
        _write_json([_plain(entry) for entry in entries])
        return
    books = ledger.books()
    rows = [
        [str(e.number), e.time, e.actor, e.dataset, str(e.kind), in_words(e, books)]
        for e in entries
    ]
    header = ["entry", "time", "actor", "dataset", "kind", "what"]
    _write_table(header, rows, [True, *[False] * 5])


@ledger.command(epilog=examples("headcount ledger verify budget.db"))
@_where_alone
@click.option(
    "--head",
    metavar="HASH",
    help="A hash that this command printed earlier; it must still be in the ledger.",
)
def verify(where: str, head: str | None) -> None:
    """Check that no entry was edited, removed or reordered.

    Prints the hash of the last entry.
    """
    checked = _open(where).verify(head)
    write_stdout(f"{checked.head}\n".encode())
    _say(
        f"{checked.entries:,} entries, none edited, removed or reordered, and no budget exceeded. "
        "Keep the hash elsewhere: anyone who can write to the ledger could rebuild all of it."
    )


@ledger.command(
    epilog=examples(
        "headcount ledger extend budget.db --dataset searches --rho 0.5 --reason 'a new year'"
    )
)
@_where_alone
@_dataset
@click.option("--rho", type=Float(), default=0.0, show_default=True, help="How much ρ to add.")
@click.option("--delta", type=Float(), default=0.0, show_default=True, help="How much δ to add.")
@_reason
@_actor
def extend(
    where: str, dataset: str, rho: float, delta: float, reason: str, actor: str | None
) -> None:
    """Raise the total of a dataset, or of its group."""
    ledger = _open(where, actor)
    ledger.extend(dataset, rho=rho, delta=delta, reason=reason)
    _say_total(ledger, dataset)


@ledger.command(
    epilog=examples(
        "headcount ledger retire budget.db --dataset searches --reason 'the study is over'"
    )
)
@_where_alone
@_dataset
@_reason
@_actor
def retire(where: str, dataset: str, reason: str, actor: str | None) -> None:
    """Allow no more releases of a dataset.

    Past releases stay in the ledger and can be written again.
    """
    _open(where, actor).retire(dataset, reason=reason)
    _say(f"{dataset!r} gets no more releases.")


@ledger.command(
    epilog=examples("headcount ledger cap budget.db --dataset searches --of ann --rho 0.2")
)
@_where_alone
@_dataset
@click.option("--of", required=True, metavar="ACTOR", help="Whose spending is limited.")
@click.option("--rho", type=Float(), required=True, help="The most ρ that they may spend.")
@click.option("--delta", type=Float(), help="The most δ that they may spend [default: no limit].")
@_actor
def cap(
    where: str, dataset: str, of: str, rho: float, delta: float | None, actor: str | None
) -> None:
    """Limit how much of a dataset's budget one actor may spend."""
    from headcount.ledger.refusal import short, shown

    ledger = _open(where, actor)
    ledger.cap(dataset, of, rho=rho, delta=delta)
    most = f"ρ = {short(rho)}" + ("" if delta is None else f" and δ = {short(delta)}")
    _say(f"{of!r} may use at most {most} of {dataset!r}.")
    total = ledger.books().total(dataset)
    if rho > total.limit.rho or (delta or 0) > total.delta:
        _say(
            f"The dataset's total of {shown(total.as_given(total.limit))} is lower and still "
            "applies."
        )


@ledger.command(
    epilog=examples(
        "headcount ledger join budget.db --dataset searches --group music --reason 'same people'"
    )
)
@_where_alone
@_dataset
@click.option("--group", required=True, metavar="NAME", help="The group.")
@_reason
@_actor
def join(where: str, dataset: str, group: str, reason: str, actor: str | None) -> None:
    """Put a dataset into a group of datasets that share one budget.

    The group's budget pays for its past and future releases.
    """
    ledger = _open(where, actor)
    ledger.join(dataset, group, reason=reason)
    _say(f"{dataset!r} is in the group {group!r}.")
    _say_total(ledger, dataset)


@ledger.command(
    "return",
    epilog=examples("headcount ledger return budget.db 12 --reason 'the machine was switched off'"),
)
@_where
@click.argument("entry", type=Whole())
@_reason
@_actor
def give_back(where: str, entry: int, reason: str, actor: str | None) -> None:
    """Return the reservation of a run that released nothing.

    ENTRY is the number of the reservation. Return it only if you know that its run released
    nothing. If the run is still alive, it ends without releasing anything.
    """
    _open(where, actor).give_back(entry, reason=reason)
    _say(
        f"What entry {entry} had reserved is available again. If its run is still going, it will "
        "release nothing."
    )


@ledger.command(
    epilog=examples(
        "headcount ledger fetch budget.db 3", "headcount ledger fetch budget.db 3 -o counts.parquet"
    )
)
@_where
@click.argument("entry", type=Whole())
@format_option
@output_option
@limit_option
@force_option
def fetch(
    where: str, entry: int, form: str | None, output: Path | None, limit: int | None, force: bool
) -> None:
    """Write the release of ENTRY again, unchanged, at no cost."""
    from headcount.outputs import AtomicFile, agreed_format, render

    form = agreed_format(form, output)
    shown = rows_shown(limit, form)
    if output is None:
        made = _open(where).released(entry)
        write_release(made, form, shown)
    else:
        with AtomicFile(output, ledger=where, force=force) as file:
            made = _open(where).released(entry)
            file.commit(render(made, form))
    Talk(quiet=False, verbose=False).about(replace(made, answered=True))


def _plain(entry: "Entry") -> dict[str, Any]:
    return json.loads(entry.body())  # type: ignore[no-any-return]


def _write_json(value: object) -> None:
    from headcount.outputs.escapes import to_json_text

    write_stdout(f"{to_json_text(value, indent=2)}\n".encode())


def _write_table(header: list[str], rows: list[list[str]], to_right: list[bool]) -> None:
    from headcount.outputs.escapes import visible
    from headcount.outputs.table import aligned

    shown = [[visible(cell) for cell in row] for row in rows]
    write_stdout(aligned(header, shown, to_right).encode())
