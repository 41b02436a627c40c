"""headcount release: the counts, from a file or a database."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from headcount.cli.command import Command, examples
from headcount.cli.engines import FileEngine
from headcount.cli.limit import limit_option, rows_shown
from headcount.cli.numbers import Whole
from headcount.cli.options import (
    budget_from,
    budget_options,
    force_option,
    format_option,
    further_options,
    ledger_options,
    mechanism_options,
    memory_option,
    output_option,
    period_options,
    row_options,
    source_options,
)
from headcount.cli.report import page_of, page_path
from headcount.cli.stderr import say
from headcount.cli.stdout import write_release, write_stdout
from headcount.cli.talk import Talk, talk_options
from headcount.errors import OutputError, SettingsError
from headcount.ledger.charge import where_kept
from headcount.ledger.ledger import Ledger
from headcount.results.release import Release

_ALL_ROWS = (
    "The table shows only the highest counts. To get all of them, use --limit 0 or --output "
    "FILE. Running the command again is a new release and costs the same again, so choose before "
    "you run it."
)
_ALL_ROWS_IN_LEDGER = (
    "The table shows only the highest counts. The ledger keeps all of them: `headcount ledger "
    "fetch` writes the release again, at no cost."
)


@click.command(
    cls=Command,
    epilog=examples(
        "headcount release events.parquet -u user_id -i query -e 3",
        "headcount release events.parquet -u user_id -i query -e 3 -o counts.parquet",
        "headcount release 'logs/*.csv' -u uid -i country -i page -e 3 -n 50",
        "zcat events.csv.gz | headcount release - --input-format csv -u user_id -i query -e 3",
        "headcount release shop.duckdb -t plays -u listener -i artist --rho 0.5 \\",
        "  --ledger budget.db --dataset shop",
    ),
)
@partial(source_options, item_required=False)
@budget_options
@mechanism_options
@row_options
@period_options
@further_options
@click.option(
    "--engine",
    type=FileEngine(),
    help="The engine that reads files [default: duckdb].",
)
@click.option(
    "--spark-conf",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting for the Spark session to start; repeat it for several.",
)
@format_option
@output_option
@limit_option
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write an .html page about the release.",
)
@force_option
@click.option(
    "--columns",
    type=click.Choice(["standard", "all"]),
    default="standard",
    show_default=True,
    help="all adds the noisy counts that the counts are estimated from.",
)
@memory_option
@ledger_options
@click.option(
    "--unsafe-seed",
    type=Whole(),
    metavar="N",
    help="Make the run reproducible, for experiments. Such a run is NOT PRIVATE.",
)
@talk_options
def release(
    source: str,
    user: str,
    items: tuple[str, ...],
    rho: float | None,
    epsilon: float | None,
    delta: float,
    bounds: tuple[tuple[str, float, float], ...],
    spark_conf: tuple[str, ...],
    form: str | None,
    output: Path | None,
    limit: int | None,
    report: Path | None,
    force: bool,
    memory: str,
    ledger: str | None,
    dataset: str | None,
    actor: str | None,
    again: bool,
    unsafe_seed: int | None,
    quiet: bool,
    verbose: bool,
    **asked: Any,  # noqa: ANN401 (every other option is a field of the question, which checks it)
) -> None:
    """Release how many distinct users have each item of SOURCE.

    SOURCE is a path or a quoted glob of .parquet, .arrow (.feather), .csv, .tsv or .jsonl files, -
    for stdin with --input-format, a DuckDB or SQLite file or a postgres:// URL with --table or
    --sql, or a spark:// master with --table.
    """
    from headcount.engines.session import without_warnings
    from headcount.outputs import AtomicFile, agreed_format, render
    from headcount.pipeline import ask
    from headcount.question import Question

    talk = Talk(quiet=quiet, verbose=verbose)
    question = Question(
        source=source,
        user=user,
        item=items,
        budget=budget_from(rho, epsilon, delta),
        bounds=_bounds(bounds),
        spark_conf=_settings(spark_conf),
        **asked,
    )
    form = agreed_format(form, output)
    shown = rows_shown(limit, form)
    charged = _ledger(ledger, actor, talk, again=again)
    with ExitStack() as places:
        # Every place is checked before anything is spent.
        def place(path: Path) -> AtomicFile:
            made = AtomicFile(path, source=source, ledger=ledger, force=force)
            return places.enter_context(made)

        file = None if output is None else place(output)
        page = None if report is None else place(page_path(report, output))
        if unsafe_seed is None:
            talk.ensure_meant(question.budget)
        with talk.steps() as progress:
            result = ask(
                question,
                ledger=charged,
                dataset=dataset,
                again=again,
                memory=memory,
                unsafe_seed=unsafe_seed,
                progress=progress,
            )
        with without_warnings(), _kept_if_lost(charged, result):
            if file is None:
                write_release(result, form, shown)
            else:
                try:
                    file.commit(render(result, form))
                except OutputError:
                    # The budget is spent: what it bought must not be lost to a full disk.
                    say("headcount: writing the release to stdout as JSON instead")
                    write_stdout(render(result, "json"))
                    raise
        if page is not None:
            named = {"source": source, "user": user, "table": question.table, "sql": question.sql}
            try:
                page.commit(page_of(result, charged, named, datetime.now(UTC)))
            except BaseException:
                say(
                    "headcount: the page was not written. The release itself is safe; "
                    "`headcount report` can make a page from its .parquet or .json file"
                )
                raise
    talk.about(result)
    if file is None and shown is not None and shown < len(result):
        talk.say(_ALL_ROWS if ledger is None else _ALL_ROWS_IN_LEDGER)


@contextmanager
def _kept_if_lost(ledger: Ledger | None, release: Release) -> Iterator[None]:
    """Say how to get a release that was paid for, if what is done here fails."""
    try:
        yield
    except BaseException:
        if ledger is not None and (kept := where_kept(ledger, release)) is not None:
            say(kept)
        raise


def _ledger(where: str | None, actor: str | None, talk: Talk, *, again: bool) -> Ledger | None:
    if where is None and (again or _typed("actor")):
        raise SettingsError("--again and --actor need --ledger")
    return None if where is None else Ledger(where, actor=actor, tell=talk.say)


def _bounds(given: tuple[tuple[str, float, float], ...]) -> dict[str, tuple[float, float]]:
    bounds = {column: (low, high) for column, low, high in given}
    if len(bounds) < len(given):
        raise SettingsError("--bounds is given once for each column")
    return bounds


def _typed(name: str) -> bool:
    """Whether an option was given on the command line, and not only in the environment."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _settings(pairs: tuple[str, ...]) -> dict[str, str]:
    if not all("=" in pair for pair in pairs):
        raise SettingsError("--spark-conf takes KEY=VALUE, for instance spark.executor.memory=4g")
    return dict(pair.split("=", 1) for pair in pairs)
