"""An entry for OpenDP's registry of deployments, filled in as far as a release allows.

The format is that of github.com/opendp/deployments-registry-data in autumn 2026, with every field
of its third and fullest tier. Fields that only a person can fill in are left blank, with a comment
on what belongs there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from headcount.outputs.account import Account
from headcount.outputs.escapes import steers, to_json_text
from headcount.privacy.accounting.rounding import shown_above

#: Blank fields, by their path, and what someone should write there.
BLANKS = {
    "url_slug": "a few words with hyphens, such as top-searches-example-2026",
    "deployment.basic.name": "what the data product is called",
    "deployment.basic.data_curators.data_curator_name": "who publishes it",
    "deployment.basic.data_curators.data_curator_type": "such as Company, Government, Nonprofit",
    "deployment.basic.intended_use": "what it is for",
    "deployment.basic.data_product_region": "where the people are, or whose law applies",
    "deployment.basic.data_product_sector": "such as Technology, Healthcare, Education, Government",
    "deployment.basic.publication_date": "the day of the release; correct it if it was "
    "published on another day",
    "deployment.deployment_model.actors": "who holds the data, who runs headcount, who sees the "
    "result, and whom each of them trusts",
    "deployment.deployment_model.release_type": "One release or Many releases",
    "deployment.deployment_model.release_type_details": "whether the same people are in other "
    "releases, and when a new budget begins",
    "deployment.deployment_model.data_source_type": "Static or Dynamic",
    "deployment.implementation.preprocessing_and_hyperparameter_tuning": "what was done to the "
    "rows beforehand; whether anyone looked at the data to choose the budget or the columns",
    "deployment.implementation.justification": "why this budget, this unit and this method",
    "deployment.administrative.sources": "where the data product and its documentation are",
    "deployment.administrative.registry_authors": "who wrote this entry",
}
_INDENT = "  "


def to_registry_entry(account: Account) -> bytes:
    """Return the entry, as YAML."""
    return "".join(_lines(_entry(account), "", 0)).encode()


def _entry(account: Account) -> dict[str, Any]:
    stated, made = account.guarantee, account.guarantee.provenance
    columns = account.columns_in_words()
    return {
        "url_slug": "",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": "",
                "data_curators": [{"data_curator_name": "", "data_curator_type": ""}],
                "intended_use": "",
                "data_product_type": "Summary statistics",
                "data_product_region": "",
                "description": f"How many distinct people have each value of {columns}: "
                f"{account.rows:,} rows, each with {account.what_is_released()}, a standard error "
                f"and a 95 % interval. {''.join(f'{total}. ' for total in account.totals())}"
                f"{''.join(f'{name}: {words}. ' for name, words in made.asked.in_words().items())}"
                f"{account.what_is_missing()}",
                "publication_date": made.date or "",
                "data_product_sector": "",
            },
            "dp_variant": {
                "variant_name": "Zero-concentrated DP",
                "data_domain": "Tables of events: each row names a user and an item, and a user "
                "may have any number of rows and items.",
                "unprotected_quantities": _listed(
                    "No quantity computed from the data is published without noise. Taken as "
                    "public, because it is decided without looking at the data:",
                    made.public,
                ),
            },
            "privacy_loss": {
                "privacy_unit": f"{(stated.privacy_unit or 'user').capitalize()}-level",
                "privacy_unit_details": f"Adjacent datasets differ by {stated.unit}.",
                "privacy_parameters": {
                    "epsilon": stated.epsilon,
                    "delta": stated.delta,
                    "rho": stated.rho,
                },
                "privacy_parameters_details": _about_parameters(account),
            },
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": "The curator holds the rows and adds the noise.",
                "actors": "",
                "release_type": "",
                "release_type_details": "",
                "data_source_type": "",
                "access_type": "Non-interactive",
                "access_type_details": "The released table is published as a file.",
            },
            "accounting": {
                "post_processing": _listed("After the noise:", made.post_processing),
                "composition": _about_composition(account),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "",
                "mechanisms": _listed(
                    f"headcount {stated.version}, method {account.method()}:",
                    (
                        *made.mechanisms,
                        "Noise is discrete, drawn by an exact sampler from the operating "
                        "system's random numbers; costs are exact rationals, rounded up.",
                        "How long a run takes is not protected.",
                    ),
                ),
                "justification": "",
            },
            "administrative": {"sources": "", "registry_authors": [""]},
        },
    }


def _about_parameters(account: Account) -> str:
    stated = account.guarantee
    split = {} if account.listed else stated.delta_split  # a list selects nothing
    said = (
        f"The release is δ-approximate ρ-zCDP with ρ = {shown_above(stated.rho)} and "
        f"δ = {stated.delta:g}, and (ε, δ)-DP with ε = {shown_above(stated.epsilon)} and the same "
        "δ."
    )
    if split:
        said += (
            f" Of δ, {split['selection']:.3g} is for the selection of items and "
            f"{split['conversion']:.3g} for the conversion from ρ to ε."
        )
    return said


def _about_composition(account: Account) -> str:
    said = (
        "All steps of the release are composed adaptively under zCDP, by a privacy filter that is "
        "asked before each of them."
    )
    ledger = account.guarantee.provenance.ledger
    if ledger is None:
        return f"{said} The release was not charged to a ledger: the cost of anything else that "\
            "was released about the same people must be added."  # fmt: skip
    return (
        f"{said} The release was charged to the total of the dataset {ledger.get('dataset')!r} in "
        f"a ledger, whose entry {ledger.get('reservation')} reserved the budget; the ledger "
        "refuses charges that exceed the total."
    )


def _listed(head: str, points: Sequence[str]) -> str:
    return "\n".join([head, *(f"- {point}" for point in points)])


# --- YAML, only of text, numbers, lists and mappings ----------------------------------------------


def _lines(values: Mapping[str, Any], place: str, depth: int, first: str = "") -> list[str]:
    """Return the lines of a mapping; ``first`` replaces the indentation of its first line."""
    lines = []
    for key, value in values.items():
        here, margin = f"{place}.{key}".lstrip("."), first or _INDENT * depth
        first = ""
        comment = f"  # {BLANKS[here]}" if here in BLANKS else ""
        match value:
            case dict():
                lines += [f"{margin}{key}:\n", *_lines(value, here, depth + 1)]
            case [dict() as only]:
                inner = _INDENT * (depth + 1) + "- "
                lines += [f"{margin}{key}:\n", *_lines(only, here, depth + 2, inner)]
            case [text]:
                lines.append(f"{margin}{key}:\n{_INDENT * (depth + 1)}- {_scalar(text)}{comment}\n")
            case str() if "\n" in value and not any(steers(c) for c in value if c != "\n"):
                inner = _INDENT * (depth + 1)
                text = "".join(f"{inner}{line}\n" for line in value.split("\n"))
                lines.append(f"{margin}{key}: |\n{text}")
            case _:
                lines.append(f"{margin}{key}: {_scalar(value)}{comment}\n")
    return lines


def _scalar(value: str | float) -> str:
    """Return a value as JSON, which is also YAML, except for numbers such as 1e-06."""
    if isinstance(value, float) and "e" in repr(value) and "." not in repr(value):
        return repr(value).replace("e", ".0e")
    return to_json_text(value)
