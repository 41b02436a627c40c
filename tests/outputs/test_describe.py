"""What is told to the world about a release: its provenance, a datasheet, a registry entry."""

import json
import re
from datetime import UTC, datetime

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.errors import NotPrivateError, VerificationError
from headcount.ledger.published import account_of_file
from headcount.outputs import render
from headcount.outputs.account import Account
from headcount.outputs.datasheet import to_datasheet
from headcount.outputs.registry import BLANKS, to_registry_entry
from headcount.privacy import mechanisms
from tests.outputs.releases import release_of

#: The fields of an entry of github.com/opendp/deployments-registry-data that has all there are, as
#: deployments/transluce_mhusage.yaml has them at commit 406334b (2026). Fields of the registry
#: that are left out here are free notes.
FIELDS = {
    "": "url_slug status tier deployment",
    "deployment": "basic dp_variant privacy_loss deployment_model accounting implementation "
    "administrative",
    "deployment.basic": "name data_curators intended_use data_product_type data_product_region "
    "description publication_date data_product_sector",
    "deployment.basic.data_curators": "data_curator_name data_curator_type",
    "deployment.dp_variant": "variant_name data_domain unprotected_quantities",
    "deployment.privacy_loss": "privacy_unit privacy_unit_details privacy_parameters "
    "privacy_parameters_details",
    "deployment.privacy_loss.privacy_parameters": "epsilon delta rho",
    "deployment.deployment_model": "model_name model_name_details actors release_type "
    "release_type_details data_source_type access_type access_type_details",
    "deployment.accounting": "post_processing composition",
    "deployment.implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "deployment.administrative": "sources registry_authors",
}
#: The values that its schema allows, where it lists them.
ALLOWED = {
    "status": {"Draft"},
    "tier": {3},
    "deployment.basic.data_product_type": {"Summary statistics"},
    "deployment.dp_variant.variant_name": {"Zero-concentrated DP"},
    "deployment.deployment_model.model_name": {"Central"},
    "deployment.deployment_model.access_type": {"Non-interactive"},
}
NASTY = [
    "a: b",
    "- x",
    "'",
    '"',
    "# no",
    "|",
    "x\ny",
    "\x1b[0m",
    "\u202e",
    "{{x}}",
    "<b>",
    "\ud7ff",
]


def account(release):
    return Account(release.guarantee, tuple(release.item_columns), len(release))


def leaves(node, place=""):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, f"{place}.{key}".lstrip("."))
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value, place)
    else:
        yield place, node


@pytest.fixture
def charged(tmp_path):
    ledger = hc.Ledger(tmp_path / "ledger.db")
    ledger.init("shop", budget=hc.Budget(rho=9, delta=1e-4))
    events = pa.table({"u": list(range(4000)), "i": ["tea"] * 4000})
    return hc.release(
        events, user="u", item="i", budget=hc.Budget(rho=1), ledger=ledger, dataset="shop"
    )


def test_an_entry_has_the_fields_of_the_registry_and_no_other(charged):
    entry = yaml.safe_load(to_registry_entry(account(charged)))

    def check(node, place):
        assert set(node) == set(FIELDS[place].split()), place
        for key, value in node.items():
            inner = f"{place}.{key}".lstrip(".")
            value = value[0] if isinstance(value, list) else value
            if isinstance(value, dict):
                check(value, inner)

    check(entry, "")
    found = dict(leaves(entry))
    for place, values in ALLOWED.items():
        assert found[place] in values
    blank = {place for place, value in found.items() if value == ""}
    # The date is known, and marked because the day of publication may be another.
    assert blank == set(BLANKS) - {"deployment.basic.publication_date"}
    assert all(isinstance(v, str | int | float) for v in found.values())


def test_an_entry_states_what_the_release_states(charged):
    entry = yaml.safe_load(to_registry_entry(account(charged)))["deployment"]
    stated = charged.guarantee
    assert entry["privacy_loss"]["privacy_parameters"] == {
        "epsilon": stated.epsilon, "delta": stated.delta, "rho": stated.rho,
    }  # fmt: skip
    assert entry["privacy_loss"]["privacy_unit"] == "User-level"
    assert entry["basic"]["publication_date"] == stated.provenance.date
    for step in stated.provenance.mechanisms:
        assert step in entry["implementation"]["mechanisms"]
    for step in stated.provenance.post_processing:
        assert step in entry["accounting"]["post_processing"]
    assert "'shop'" in entry["accounting"]["composition"]


def test_a_datasheet_states_what_the_release_states(charged):
    sheet = to_datasheet(account(charged)).decode()
    for said in (
        "shop, reserved by entry 2 of its ledger",
        "8.39515",
        "user",
        "add or remove",
        "9e-07",
        "zCDP",
        "auto",
    ):
        assert said in sheet, said
    for step in charged.guarantee.provenance.mechanisms:
        assert step in sheet
    assert charged.guarantee.provenance.date in sheet


@given(st.lists(st.one_of(st.text(min_size=1), st.sampled_from(NASTY)), min_size=1, unique=True))
def test_names_are_inert(names):
    shown = release_of({f"{name}": ["a"] for name in names if name.casefold() not in
                        ("count", "std_error", "lower", "upper")} or {"i": ["a"]})  # fmt: skip
    entry = yaml.safe_load(to_registry_entry(account(shown)))
    assert set(entry) == set(FIELDS[""].split())
    sheet = to_datasheet(account(shown)).decode()
    assert sheet.count("\n") == to_datasheet(account(release_of({"i": ["a"]}))).count(b"\n")
    assert not re.search(r"(?<!\\)[<\[`]", sheet)


@pytest.mark.parametrize("method", mechanisms.names())
def test_every_method_names_its_private_steps(method):
    events = pa.table({"u": list(range(500)), "i": ["tea"] * 500})
    bound = 3 if method == "threshold" else None
    made = hc.release(
        events, user="u", item="i", budget=hc.Budget(rho=1), method=method, max_items_per_user=bound
    ).guarantee.provenance
    assert any("discrete Gaussian noise" in step for step in made.mechanisms)
    chooses = method not in ("threshold", "rationed")
    assert any("at fixed ranks" in step for step in made.mechanisms) == (
        chooses and not method.startswith("pcr-")
    )


def test_the_date_is_that_of_the_question_and_of_no_seed(monkeypatch):
    late = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    monkeypatch.setattr("headcount.pipeline.utc_now", lambda: late)
    for ask in (
        lambda **seed: hc.release_counts({"a": 500}, budget=hc.Budget(rho=1), **seed),
        lambda **seed: hc.release(
            pa.table({"u": [1], "i": ["x"]}), user="u", item="i", budget=hc.Budget(rho=1), **seed
        ),
    ):
        assert ask().guarantee.provenance.date == "2026-12-31"
        assert ask(unsafe_seed=1).guarantee.provenance.date is None


def test_what_was_left_out_before_is_said_to_be_public():
    made = hc.release_counts({"a": 500}, budget=hc.Budget(rho=1), minimum=20)
    assert made.guarantee.provenance.public[-1] == "items below 20 users were left out before"


def test_what_delta_pays_for_adds_up():
    for budget in (hc.Budget(rho=1, delta=1e-6), hc.Budget(epsilon=2, delta=1e-9)):
        split = hc.Guarantee.of(budget, method="pcr", private=True).delta_split
        assert sum(split.values()) == pytest.approx(budget.delta, rel=1e-12)
        assert split["selection"] == float(budget.delta_selection)


def test_the_command_writes_both(headcount, charged, tmp_path):
    for form in ("json", "parquet"):
        path = tmp_path / f"counts.{form}"
        path.write_bytes(render(charged, form))
        said = account(charged)
        assert account_of_file(path) == said
        assert headcount("describe", path).out.encode() == to_datasheet(said)
        assert headcount("describe", path, "--format", "yaml").out.encode() == (
            to_registry_entry(said)
        )
    output = tmp_path / "entry.yaml"
    args = ["describe", path, "--format", "yaml", "--output", output]
    assert headcount(*args).code == 0
    assert output.read_bytes() == to_registry_entry(said)
    assert headcount(*args).code == 2  # there is a file already
    assert headcount("describe", path, "--output", path, "--force").code == 2  # the release itself


def test_what_has_a_seed_is_not_described(headcount, tmp_path):
    path = tmp_path / "counts.json"
    path.write_bytes(render(release_of({"i": ["a"]}, private=False), "json"))
    ran = headcount("describe", path)
    assert (ran.code, ran.out) == (2, "")
    assert "made with a seed" in ran.err
    with pytest.raises(NotPrivateError):
        account_of_file(path)


def test_a_release_of_nothing_is_described(tmp_path):
    path = tmp_path / "counts.json"
    path.write_bytes(render(release_of({"i": pa.array([], pa.string())}), "json"))
    assert "the item columns" in to_datasheet(account_of_file(path)).decode()


@pytest.mark.parametrize(
    "change",
    [
        {"guarantee": {}},
        {"guarantee": None},
        {"format": "headcount-release-9"},
        {"provenance": None},
        {"provenance": {}},
        {"provenance": {"mechanisms": 1}},
        {"spent": None, "settings": []},
        {"items": None},
        {"items": [{}]},
    ],
)
def test_what_is_no_release_is_refused(tmp_path, change):
    path = tmp_path / "counts.json"
    document = json.loads(render(release_of({"i": ["a"]}), "json"))
    path.write_text(json.dumps({**document, **change}))
    with pytest.raises(VerificationError, match="not a release that headcount wrote"):
        account_of_file(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("rho", "x"), ("unit", 1), ("delta_split", {"a": 1}), ("delta_split", 3), ("extra", 1)],
)
def test_a_guarantee_of_other_types_is_refused(tmp_path, key, value):
    path = tmp_path / "counts.json"
    document = json.loads(render(release_of({"i": ["a"]}), "json"))
    document["guarantee"][key] = value
    path.write_text(json.dumps(document))
    with pytest.raises(VerificationError):
        account_of_file(path)


def test_a_list_of_items_and_limits_on_rows_are_stated():
    events = pa.table({"u": list(range(500)), "i": ["tea"] * 500})
    asked = {"user": "u", "item": "i", "budget": hc.Budget(rho=1)}
    made = hc.release(events, items_from=["tea", "milk"], top=1, **asked)
    stated = made.guarantee.provenance
    assert "the list of items" in stated.public
    assert "discrete Gaussian noise on the counts of listed items" in stated.mechanisms[-1]
    assert "(top, min_users)" in stated.post_processing[-1]
    for written in (to_datasheet(account(made)), to_registry_entry(account(made))):
        assert "those of a public list" in written.decode()
        assert "left out. That" not in written.decode()
    other = hc.release(events, **asked).guarantee.provenance
    assert "the list of items" not in other.public
    assert "(top, min_users)" not in other.post_processing[-1]
