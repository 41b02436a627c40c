"""Releases as the ledger keeps them, and what identifies the question that one answers."""

import hashlib
import io
from dataclasses import replace
from typing import Any, TypeAlias

from headcount.histogram_question import HistogramQuestion
from headcount.ledger.names import public_name, source_key, without_secrets
from headcount.question import Question
from headcount.results.canonical import canonical_json
from headcount.results.release import Release, release_of_table

AnyQuestion: TypeAlias = Question | HistogramQuestion


def to_bytes(release: Release) -> bytes:
    """Return a release as it is kept, with all of its types."""
    import pyarrow as pa

    out = io.BytesIO()
    with pa.ipc.new_stream(out, release.table.schema) as writer:
        writer.write_table(release.table)
    return out.getvalue()


def from_bytes(content: bytes) -> Release:
    """Return a release that was kept."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as reader:
        return release_of_table(reader.read_all())


def written_down(question: AnyQuestion) -> dict[str, Any]:
    """Return a question as the ledger keeps it, without any password."""
    if isinstance(question, Question):
        public = public_name(question.source)
        # Any value may hold a password: an address, a Java option, a key.
        conf = dict.fromkeys(question.spark_conf, "…")
        listed = None if question.items_from is None else "a list"
        written = replace(question, source=public, spark_conf=conf, items_from=listed).to_dict()
        return written | {"items_from": question.asked.items_from}
    return {
        "source": public_name(question.counts),
        "method": question.method,
        "settings": question.mechanism.to_dict(),
        "budget": question.budget.given,
        "minimum": question.minimum,
        "users given": question.users is not None,
        "user": question.user,
        **question.row_limits.to_dict(),
    }


def known_by(dataset: str, question: AnyQuestion) -> str | None:
    """Return what identifies a question; None if it is new each time it is asked.

    No data goes into it, nor anything that depends on the data, such as the size of a file or when
    it was changed: people can see whether a question is answered at no cost. It is for the owner of
    the data to say, with a version, that it is the same. The form of what is hashed never changes:
    ledgers answer questions for as long as they are kept.
    """
    if not isinstance(question, Question) or question.data_version is None:
        return None
    place = source_key(question.source)
    if place is None:
        return None
    budget, chosen = question.budget, question.mechanism
    known = {
        "dataset": dataset,
        "source": place,
        "read with": [question.engine, without_secrets(question.spark_conf)],
        "table": question.table,
        "sql": question.sql,
        "user": question.user,
        "item": question.items,
        "method": chosen.name,
        "settings": chosen.to_dict(),
        "budget": {"rho": budget.rho, "epsilon": budget.epsilon, "delta": budget.delta},
        "columns": question.columns,
        "data_version": question.data_version,
    }
    # What questions did not have when the first were hashed is added only if it is asked for.
    known |= {} if question.where is None else {"where": question.where}
    if layout := question.request.layout:
        known["layout"] = [layout.form, layout.delimiter]
    known |= {} if question.items_from is None else {"items_from": question.asked.items_from}
    known |= {"per": list(question.per)} if question.per else {}
    known |= question.row_limits.to_dict()
    if question.by is not None:
        known["by"] = [*question.by, question.timezone, question.protect]
    known |= {} if question.between is None else {"between": list(question.between)}
    known |= {"further": question.further.to_dict()} if question.further else {}
    return hashlib.sha256(canonical_json(known).encode()).hexdigest()
