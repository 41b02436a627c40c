"""A datasheet of a release, in Markdown: for the page that it is published on."""

import re

from headcount.outputs.account import Account
from headcount.outputs.escapes import visible
from headcount.privacy.accounting.rounding import shown_above

#: What a release does not know, for someone to fill in.
TO_FILL_IN = (
    "What is it called, and who publishes it?",
    "Who are the people, and what period do the rows cover?",
    "What may it be used for, and what not?",
    "Why this budget? Which other releases are about the same people?",
    "Whom should readers ask?",
)


def to_datasheet(account: Account) -> bytes:
    """Return the datasheet."""
    stated, made = account.guarantee, account.guarantee.provenance
    ledger = made.ledger
    charged = (
        "no ledger"
        if ledger is None
        else f"dataset {ledger.get('dataset')}, reserved by entry {ledger.get('reservation')} "
        "of its ledger"
    )
    split = {} if account.listed else stated.delta_split  # with a list, nothing is selected
    facts = {
        "Released": f"{account.rows:,} values of {account.columns_in_words()}, each with "
        f"{account.what_is_released()}, a standard error and a 95 % interval",
        **{
            total.words: f"{total.count}, 95 % interval {total.interval}"
            for total in account.totals()
        },
        "Date": made.date or "not stated",
        "Period": "not stated",
        **made.asked.in_words(),
        "Protected": stated.unit,
        "Privacy unit": stated.privacy_unit or "not stated",
        "Adjacency": stated.adjacency or "not stated",
        "Variant": stated.variant or "not stated",
        "ε": shown_above(stated.epsilon),
        "δ": shown_above(stated.delta)
        + (
            f": {split['selection']:.3g} for selection, {split['conversion']:.3g} for conversion"
            if split
            else ""
        ),
        "ρ": shown_above(stated.rho),
        "Method": account.method(),
        "Version": f"headcount {stated.version}",
        "Charged to": charged,
        "Form": stated.format or "not stated",
    }
    lists = {
        "Private steps": made.mechanisms,
        "Post-processing": made.post_processing,
        "Taken as public": made.public,
    }
    within = stated.protected_period
    of_period = "" if within is None else f" of one {within}"
    lines = [
        "# Datasheet",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {_inert(value)} |" for name, value in facts.items()),
        "",
        "## What is promised",
        "",
        f"{_inert(str(stated))} No published table is much more likely with one person's "
        f"rows{of_period} than without them, whatever else a reader knows. ε bounds how much more "
        "likely; δ is a small extra probability that any result may have on top of that limit.",
    ]
    for heading, points in lists.items():
        if points:
            lines += ["", f"## {heading}", "", *(f"- {_inert(point)}" for point in points)]
    lines += [
        "",
        "## What is missing",
        "",
        account.what_is_missing(),
        "",
        "## To be filled in",
        "",
        *(f"- {question}" for question in TO_FILL_IN),
    ]
    return ("\n".join(lines) + "\n").encode()


def _inert(text: str) -> str:
    """Return text that Markdown shows as it is: no name becomes markup, a link, HTML or a cell."""
    # Code hosts make links of addresses.
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&]|(?<=:)//|(?<=www)\.)", r"\\\1", visible(text))
