"""The reference pages: every command, option, name and setting, and no other."""

import importlib
import inspect
import json
import re

import click
import pyarrow as pa
import pytest

import headcount
import headcount.cli
from headcount.cli import cli
from headcount.privacy.mechanisms.pcr.settings import PRESETS, Settings
from tests.markdown import (
    ROOT,
    TEXTS,
    blocks_of,
    first_name,
    name_of,
    prose_of,
    rows_of,
    sections_of,
)

COMMAND_LINE = ROOT / "docs/reference/command-line.md"
PYTHON = ROOT / "docs/reference/python.md"
OUTPUTS = ROOT / "docs/reference/outputs.md"
SETTINGS = ROOT / "docs/reference/settings.md"

# --- the command-line reference ------------------------------------------------------------


def commands_below(name, command):
    found = {name: command}
    for below in command.list_commands(None) if isinstance(command, click.Group) else ():
        found |= commands_below(f"{name} {below}", command.get_command(None, below))
    return found


COMMANDS = commands_below("headcount", cli)


def options_of(command):
    # The group's context has the names of the help option, which the commands inherit.
    context = click.Context(cli, **cli.context_settings)
    if command is not cli:
        context = click.Context(command, parent=context)
    options = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    return {name: option for option in options for name in option.opts}


def documented_options(command_name):
    rows = rows_of(sections_of(COMMAND_LINE)[command_name])
    return {name: row for row in rows for name in re.findall(r"`(-{1,2}[a-z][a-z-]*)", row[0])}


def test_every_command_is_documented_and_no_other():
    headings = {h for h in sections_of(COMMAND_LINE) if re.match(r"headcount\b", h)}
    assert headings == set(COMMANDS)


@pytest.mark.parametrize("command_name", COMMANDS)
def test_every_option_is_documented_and_no_other(command_name):
    assert set(documented_options(command_name)) == set(options_of(COMMANDS[command_name]))


@pytest.mark.parametrize("command_name", COMMANDS)
def test_documented_defaults_and_values_are_right(command_name):
    shown_elsewhere = {
        "--relative-error": str(Settings().r),
        "--format": "table",
    }
    options = options_of(COMMANDS[command_name])
    for name, row in documented_options(command_name).items():
        if not name.startswith("--"):
            continue  # a short form of the option in the same row
        option, (spelled, default, _) = options[name], row
        if name in shown_elsewhere and not isinstance(option.default, str):
            assert default == shown_elsewhere[name]
        elif option.required:
            assert default == "required"
        elif option.is_flag or not isinstance(option.default, str | float):
            assert default == ""
        else:
            assert default == str(option.default)
        if isinstance(option.type, click.Choice):
            choices = r"\|".join(option.type.choices)
            assert f"[{choices}]" in spelled
        elif option.metavar:
            assert f"{name} {option.metavar}`" in spelled


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_no_page_names_an_option_that_does_not_exist(page):
    known = {name for c in COMMANDS.values() for name in options_of(c)}
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= known


def test_exit_codes_are_documented_and_no_other():
    rows = rows_of(sections_of(COMMAND_LINE)["Exit codes"])
    documented = {int(row[0]) for row in rows}
    # "128 plus its number for a signal" is how codes are made, and no code.
    stated = {int(code) for code in re.findall(r"\b(\d+) (?!plus)[a-z]", headcount.cli.__doc__)}
    raised = {error.exit_code for error in errors().values()}
    assert documented == stated
    assert raised <= documented


def shape(value):
    """Return a JSON value with its keys, in order, and without its values."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}, list(value)
    if isinstance(value, list):
        return [shape(value[0])]
    return type(value).__name__


@pytest.fixture(scope="module")
def release():
    users = [f"u{n}" for n in range(4000)]
    budget = headcount.Budget(epsilon=3, delta=1e-6)
    searches = pa.table({"user_id": users, "query": ["weather"] * len(users)})
    return headcount.release(
        searches, user="user_id", item="query", budget=budget, method="pcr", columns="all"
    )


def test_output_columns_are_documented(release):
    rows = rows_of(sections_of(OUTPUTS)["Output columns"])
    assert ["query", *(first_name(row) for row in rows)] == release.table.column_names


def test_the_json_object_has_the_documented_form(release):
    from headcount.outputs import render

    documented = [json.loads(b.text) for b in blocks_of(OUTPUTS) if b.language == "json"]
    real = json.loads(render(release, "json"))
    assert [shape(example) for example in documented] == [shape(real)]
    assert documented[0]["guarantee"] == real["guarantee"]
    keys = [first_name(row) for row in rows_of(sections_of(OUTPUTS)["The JSON object"])]
    assert keys == list(real)


# --- the Python reference --------------------------------------------------------------------


def errors():
    named = {name: getattr(headcount, name) for name in headcount.__all__}
    kinds = {name: kind for name, kind in named.items() if isinstance(kind, type)}
    return {
        name: kind for name, kind in kinds.items() if issubclass(kind, headcount.HeadcountError)
    }


def test_every_public_name_is_documented_and_no_other():
    headings = {h.removeprefix("headcount.") for h in sections_of(PYTHON) if h != "Errors"}
    assert headings | set(errors()) == set(headcount.__all__)


def test_errors_are_documented_with_their_parents_and_exit_codes():
    rows = rows_of(sections_of(PYTHON)["Errors"])
    documented = {first_name(row): (row[1].strip("`"), int(row[2])) for row in rows}
    assert documented == {
        name: (error.__base__.__name__, error.exit_code) for name, error in errors().items()
    }


@pytest.mark.parametrize("function", ["plan", "release", "release_counts"])
def test_parameters_are_documented_with_their_defaults(function):
    rows = rows_of(sections_of(PYTHON)[f"headcount.{function}"])
    documented = {first_name(row): row[1] for row in rows}
    parameters = inspect.signature(getattr(headcount, function)).parameters
    assert list(documented) == list(parameters)
    for name, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty:
            assert documented[name] == ""
        elif not callable(parameter.default):
            default = parameter.default
            shown = json.dumps(default) if isinstance(default, str) else repr(default)
            assert documented[name] == f"`{shown}`".replace("1e-06", "1e-6")


@pytest.mark.parametrize("name", ["Budget", "Forecast", "Guarantee", "Release"])
def test_attributes_are_documented_and_no_other(name):
    rows = rows_of(sections_of(PYTHON)[f"headcount.{name}"])
    kind = getattr(headcount, name)
    public = {a for a in (*dir(kind), *kind.__dataclass_fields__) if not a.startswith("_")}
    assert {first_name(row) for row in rows} == public


def test_what_a_ledger_does_is_documented_and_nothing_else():
    rows = rows_of(sections_of(PYTHON)["headcount.Ledger"])
    public = {name for name in vars(headcount.Ledger) if not name.startswith("_")}
    parameters = set(inspect.signature(headcount.Ledger).parameters)
    assert {first_name(row) for row in rows} == public | parameters


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_no_page_names_an_attribute_that_does_not_exist(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\bheadcount\.((?:engines\.)?[A-Za-z_]\w*)", text):
        module, _, attribute = name.rpartition(".")
        if module:
            inner = importlib.import_module(f"headcount.{module}")
            assert attribute in inner.__all__ or hasattr(inner, attribute), f"headcount.{name}"
        else:
            assert name in {*headcount.__all__, "engines"}, f"headcount.{name}"


# --- the settings ------------------------------------------------------------------------------


def test_every_setting_is_documented_with_its_values():
    rows = rows_of(prose_of(SETTINGS).partition("\n## ")[0])
    documented = {first_name(row): row for row in rows}
    assert list(documented) == list(Settings.__dataclass_fields__)
    values = {"√2": 2**0.5, "from δ": None, "false": False}
    for column, method in ((3, "pcr"), (4, "pcr-paper")):
        for field, row in documented.items():
            real = getattr(PRESETS[method], field)
            shown = row[column]
            if shown in values:
                assert values[shown] == real, (method, field)
            elif isinstance(real, tuple):
                assert shown == (", ".join(map(str, real)) or "none"), (method, field)
            elif isinstance(real, str):
                assert shown == str(real), (method, field)
            else:
                assert float(shown) == real, (method, field)


def test_settings_of_a_release_are_documented(release):
    named = set(re.findall(r"`(\w+)`", prose_of(SETTINGS)))
    assert set(release.settings) <= named


def test_settings_of_other_methods_are_documented():
    rows = rows_of(sections_of(SETTINGS)["Other methods"])
    documented = {first_name(row): set(re.findall(r"`(\w+)`", row[1])) for row in rows}
    budget = headcount.Budget(rho=1)
    events = pa.table({"u": ["a"], "i": ["b"]})
    for method, bound in (("threshold", 5), ("rationed", None)):
        release = headcount.release(
            events, user="u", item="i", budget=budget, method=method, max_items_per_user=bound
        )
        assert set(release.settings) <= documented[method]
