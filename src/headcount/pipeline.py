"""Question → charge → view → mechanism → release: the one way in which a release is made."""

from collections.abc import Mapping
from datetime import datetime
from os import PathLike
from typing import TypeAlias

from headcount.cautions import Caution
from headcount.engines import DEFAULT_MEMORY, CancelToken, Session
from headcount.errors import EngineError, LedgerError, SettingsError
from headcount.histogram_question import HistogramQuestion
from headcount.inputs import Request, check_named, is_deferred, open_source
from headcount.inputs.periods import in_periods
from headcount.inputs.unit import Unit
from headcount.ledger.charge import Charge
from headcount.ledger.ledger import Ledger, utc_now
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms import Progress
from headcount.privacy.randomness import Entropy, OsEntropy, SeededEntropy
from headcount.question import Question, column_names
from headcount.results.guarantee import Guarantee
from headcount.results.provenance import ALWAYS_PUBLIC, Asked, Provenance
from headcount.results.release import Release, build_release
from headcount.views.engine_view import EngineView
from headcount.views.histogram import (
    check_columns,
    check_numbers,
    require_items,
    table_of,
    top_of_histogram,
)

#: A ledger, the path of one, or its ``postgres://…`` URL.
LedgerName: TypeAlias = Ledger | str | PathLike[str]


def silent(message: str) -> None:
    """Say nothing."""


def ask(
    question: Question,
    *,
    ledger: LedgerName | None = None,
    dataset: str | None = None,
    again: bool = False,
    memory: str = DEFAULT_MEMORY,
    unsafe_seed: int | None = None,
    progress: Progress = silent,
    cancel: CancelToken | None = None,
) -> Release:
    """Answer a question with a private release. `headcount.release` describes the parameters.

    Formal guarantee: the result is (``budget.epsilon``, ``budget.delta``)-DP and
    ``budget.delta``-approximate ``budget.rho``-CDP for one user's rows, added or removed, where
    ``budget`` is that of the question.
    """
    if not isinstance(question, Question):
        raise TypeError("question must be a headcount.Question")
    if question.data_version is not None and ledger is None:
        raise SettingsError(
            "a version of the data needs a ledger, which knows what was asked before"
        )
    entropy, today = _entropy(unsafe_seed), utc_now()
    question = question.with_list_read()  # the list is public; the ledger knows its contents
    charge = Charge(ledger, dataset, question, private=entropy.private)
    answer = charge.answer(question, again=again)
    if answer is not None:
        return answer
    caution = Caution(
        question.source, question.table, question.budget,
        ledger=ledger is not None, private=entropy.private,
    )  # fmt: skip
    charge.ensure_allowed()  # what is refused anyway is not warned of
    caution.warn()  # outside of the session, which keeps warnings silent
    chosen, further = question.mechanism, question.further
    user, items, periods = question.user, question.items, question.periods
    cancel = _token(cancel)
    progress = _checking(cancel, progress, charge)
    with (
        charge.accounted_for(),
        cancel.translating(),
        Session(memory, cancel, progress) as session,
    ):
        # All that can fail without data fails before anything is reserved.
        check_named(session, question.source, question.request)
        deferred = is_deferred(question.source)
        opening = deferred or bool(question.request.layout)
        if question.sql is None and not opening and not charge.may_count_by(user):
            # It will be refused. If there is no such column, say that instead: names are public.
            check_columns(open_source(session, question.source, question.request), user, items)
        _try_out(entropy)
        charge.reserve(None if question.sql is not None else user)
        with charge.while_reading(chosen_rows=opening), cancel.translating():
            progress("opening the source")
            events = open_source(session, question.source, question.request)
        with charge.while_reading(chosen_rows=deferred), cancel.translating():
            check_columns(events, user, items)
            values = question.values
            check_numbers(events, values or ())
            stated: dict[str, dict[str, str | None]] = {}
            if periods is not None:
                stated = {"by": periods.described(events.table)}
                read = [*items, *(values or ())]
                events = in_periods(events, user, read, periods, with_person=bool(further.totals))
            charge.ensure_counted_by(events.counted_by(user), stated.get("by"))
            guarantee = Guarantee.of(
                question.budget,
                method=chosen.name,
                private=entropy.private,
                unit=events.unit,
                within=None if periods is None else periods.protected_period,
                settings=stated,
                provenance=provenance(charge, today, question.asked, private=entropy.private),
            )
            listed, most = question.listed(events.table.schema())
            view = EngineView(
                events,
                user,
                question.counted,
                listed,
                most,
                one_snapshot=bool(further),
                values=values,
                max_rows=question.max_rows_per_user_item,
            )
        chosen_rows = question.sql is not None or events.unit is not Unit.USER or opening
        chosen_rows = chosen_rows or question.where is not None
        # How much fits, and where fields end, also decides whose rows make it fail.
        chosen_rows = chosen_rows or bool(question.spark_conf) or memory != DEFAULT_MEMORY
        with charge.while_reading(chosen_rows=chosen_rows), cancel.translating():
            gate = Gate(question.budget.whole, entropy)
            counts = chosen.prepare(view, gate, progress)
            run = further.prepare(counts, view, question.budget, gate, progress)
        charge.drawing = True
        made = build_release(run(), guarantee, question.columns)
        return caution.noted(charge.settled(question.row_limits.applied_to(made)))


def ask_of_histogram(
    question: HistogramQuestion,
    *,
    ledger: LedgerName | None = None,
    dataset: str | None = None,
    unsafe_seed: int | None = None,
    progress: Progress = silent,
    cancel: CancelToken | None = None,
) -> Release:
    """Answer a question about a histogram. `headcount.release_counts` describes the parameters."""
    if ledger is not None and question.user is None:
        raise LedgerError(
            "with a ledger, say which column identified the users who were counted (user=): a "
            "budget protects one kind of user"
        )
    entropy, today = _entropy(unsafe_seed), utc_now()
    chosen, minimum = question.mechanism, question.minimum
    charge = Charge(ledger, dataset, question, private=entropy.private)
    caution = Caution(
        question.counts, None, question.budget, ledger=ledger is not None, private=entropy.private
    )
    charge.ensure_allowed()
    caution.warn()
    cancel = _token(cancel)
    progress = _checking(cancel, progress, charge)
    with charge.accounted_for(), cancel.translating(), Session(cancel=cancel) as session:
        _try_out(entropy)
        charge.reserve(question.user)
        guarantee = Guarantee.of(
            question.budget,
            method=chosen.name,
            private=entropy.private,
            provenance=provenance(charge, today, question.asked, private=entropy.private),
        )
        counts, item, count = question.counts, question.item, question.count
        with charge.while_reading(chosen_rows=is_deferred(counts)), cancel.translating():
            if isinstance(counts, Mapping):
                counts, item, count = table_of(counts), "item", "count"
            wanted = None if item is None else [count, *column_names(item)]
            histogram = open_source(session, counts, Request(columns=wanted))
            if item is None:
                item = [column for column in histogram.table.columns if column != count]
            items = list(column_names(item))
            require_items(items)
            check_columns(histogram, count, items)
        # The asker chose the rows and the columns, and what is not a histogram is an error.
        with charge.while_reading(chosen_rows=True), cancel.translating():
            limit = chosen.histogram_limit
            top = top_of_histogram(histogram, count, items, minimum, limit, question.users)
        charge.drawing = True
        gate = Gate(question.budget.whole, entropy)
        counts_made = chosen.on_histogram(top, minimum - 1, gate, progress)
        made = build_release(counts_made, guarantee, question.columns)
        return caution.noted(charge.settled(question.row_limits.applied_to(made)))


def provenance(charge: Charge, today: datetime, asked: Asked, *, private: bool) -> Provenance:
    """Return what a release can say about how it came about before it reads anything.

    Args:
        charge: where it is charged.
        today: when it was asked for.
        asked: which rows and items were asked for.
        private: whether it has no seed; a run with a seed is a function of that seed.
    """
    date = today.date().isoformat() if private else None
    public = (*ALWAYS_PUBLIC, *asked.public)
    return Provenance(public=public, date=date, ledger=charge.reference, asked=asked)


def _token(cancel: CancelToken | None) -> CancelToken:
    if not isinstance(cancel, CancelToken | None):
        raise TypeError("cancel must be a headcount.CancelToken")
    return cancel or CancelToken()


def _checking(cancel: CancelToken, progress: Progress, charge: Charge) -> Progress:
    """Return a progress function that first checks whether the release was cancelled.

    What the caller's own raises ends a run only while that costs nothing.
    """
    if not callable(progress):
        raise TypeError("progress must be a function that takes a text")

    def step(message: str) -> None:
        cancel.check()
        try:
            progress(message)
        except (Exception, SystemExit):
            if not charge.drawing:
                raise

    return step


def _try_out(entropy: Entropy) -> None:
    try:
        entropy.try_out()
    except Exception as error:
        raise EngineError(
            "noise cannot be drawn: the operating system's random numbers, or NumPy, do not "
            f"work here ({type(error).__name__}). Nothing was spent"
        ) from None


def _entropy(unsafe_seed: int | None) -> Entropy:
    if unsafe_seed is None:
        return OsEntropy()
    if isinstance(unsafe_seed, bool) or not isinstance(unsafe_seed, int) or unsafe_seed < 0:
        raise SettingsError("a seed must be a whole number of at least 0")
    return SeededEntropy(unsafe_seed)
