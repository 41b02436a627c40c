"""README and the docs: their commands run, their links lead somewhere, their tables are true."""

import contextlib
import csv
import inspect
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount
import headcount.cli
from headcount.cli import cli
from headcount.privacy.settings import METHODS, Settings
from tests.engines import conftest as engines

postgres_url = engines.postgres_url  # the fixture

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
COMMAND_LINE = ROOT / "docs/reference/command-line.md"
PYTHON = ROOT / "docs/reference/python.md"
SETTINGS = ROOT / "docs/reference/settings.md"


def name_of(page):
    return str(page.relative_to(ROOT))


# --- reading Markdown ---------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line where it starts."""

    language: str
    text: str
    line: int


def blocks_of(page):
    found, language, start, lines = [], None, 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, start, lines = line[3:].strip(), number, []
        else:
            found.append(Block(language, "\n".join(lines) + "\n", start))
            language = None
    assert language is None, f"{name_of(page)}: the block at line {start} is not closed"
    return found


def prose_of(page):
    """Return a page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def sections_of(page):
    """Return the text below each heading of level 2."""
    parts = re.split(r"^## (.+)$", prose_of(page), flags=re.M)
    return dict(zip([p.replace("`", "") for p in parts[1::2]], parts[2::2], strict=True))


def rows_of(section):
    """Return the rows of the tables in a text, without their header lines."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rules = [n for n, row in enumerate(rows) if all(re.fullmatch(r":?-+:?", c) for c in row)]
    return [row for n, row in enumerate(rows) if n not in rules and n + 1 not in rules]


def first_name(row):
    """Return what stands in code at the beginning of a row, without its parentheses."""
    return re.match(r"`([^`]+?)(\(\))?`", row[0])[1]


def slug(heading):
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# --- the commands and the Python in them run --------------------------------------------------

USERS_OF_QUERY = {"weather": 4000, "news": 3000, "maps": 2000}
#: The database of the pages; where they are run, a real server stands for it.
EXAMPLE_URL = "postgres://analyst@db.example.org/shop"
#: Spark takes ten seconds to start on a quiet machine, and a minute on a busy one.
SECONDS_AT_MOST = 180


@pytest.fixture(scope="session")
def example_files(tmp_path_factory):
    """The files that the docs speak of, with counts so large that any run finds all items."""
    import duckdb

    folder = tmp_path_factory.mktemp("examples")
    searches = [(f"u{n}", query) for query, users in USERS_OF_QUERY.items() for n in range(users)]
    users, queries = zip(*searches, strict=True)
    events = pa.table({"user_id": users, "query": queries})
    pq.write_table(events, folder / "events.parquet")
    days = pa.array([f"2026-01-{1 + n % 3:02}" for n in range(len(events))])
    by_day = events.append_column("day", days)
    pq.write_to_dataset(by_day, folder / "searches", partition_cols=["day"])
    with (folder / "events.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"user_id": user, "query": query}) + "\n" for user, query in searches
        )
    (folder / "logs").mkdir()
    for day, first in enumerate((0, 2000)):
        with (folder / "logs" / f"day{day}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["uid", "country", "page"])
            rows.writerows(
                [n, country, "home"] for n in range(first, first + 2000) for country in ("NO", "SE")
            )
    plays = [(f"listener {n}", artist) for artist in ("Ada", "Bo") for n in range(3000)]
    with contextlib.closing(sqlite3.connect(folder / "music.sqlite")) as music:
        music.execute("CREATE TABLE plays (listener TEXT, artist TEXT)")
        music.executemany("INSERT INTO plays VALUES (?, ?)", plays)
        music.commit()
    with contextlib.closing(duckdb.connect(str(folder / "data.duckdb"))) as data:
        listeners, artists = zip(*plays, strict=True)
        data.register("arrow", pa.table({"listener": listeners, "artist": artists}))
        data.execute("CREATE TABLE plays AS SELECT * FROM arrow")
        jazz = "SELECT i AS uid, 'Jazz' AS term FROM range(4000) t(i)"
        data.execute(f"CREATE TABLE searches AS {jazz}")
    return folder


@pytest.fixture(scope="session")
def searches_in_postgres(postgres_url, example_files):
    engines.copied_to_postgres(
        postgres_url, pq.read_table(example_files / "events.parquet"), "searches"
    )
    return postgres_url


@dataclass(frozen=True)
class Command:
    """One shell command of a page, what it exits with, and what it prints (None: anything)."""

    text: str
    exit_code: int
    output: str | None


def command(line, output):
    text, _, comment = line.partition("  #")
    promised = re.search(r"exit code (\d+)", comment)
    return Command(text.strip(), int(promised[1]) if promised else 0, output)


def commands_of(block):
    if block.language == "bash":
        lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
        return [command(line, None) for line in lines if line.strip() and line[0] != "#"]
    sessions = re.split(r"^\$ ", block.text, flags=re.M)
    assert not sessions[0], "a console block begins with a command"
    found = []
    for session in sessions[1:]:
        line, _, output = session.partition("\n")
        found.append(command(line, output))
    return found


def check_without_running(words):
    """Check a command that installs or builds; return whether it was one."""
    match words:
        case ["make", *targets]:
            made = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M)
            assert targets and set(targets) <= set(made), f"no such make target: {targets}"
        case ["python", "-m", "pip", "install", what]:
            extras = re.search(r"\[(.*)\]", what)
            project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
            asked = set(extras[1].split(",")) if extras else set()
            assert asked <= set(project["optional-dependencies"]), f"no such extra: {asked}"
        case [".", ".venv/bin/activate"]:
            pass  # made by make
        case _:
            return False
    return True


def run_command(page, line, folder):
    if check_without_running(shlex.split(line.text)):
        return
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line.text],
        cwd=folder,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS_AT_MOST,
        encoding="utf-8",
    )
    said = f"{name_of(page)}: {line.text}\nexit code {done.returncode}\n{done.stdout}"
    assert done.returncode == line.exit_code, said
    if line.output is not None:
        assert done.stdout == line.output, said


def run_python(page, block, names):
    # Blank lines before the code make the traceback point at the line of the page.
    code = compile("\n" * block.line + block.text, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)


RUN = [
    page
    for page in PAGES
    if any(b.language in ("bash", "console", "python") for b in blocks_of(page))
]


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_commands_and_python_of_a_page_run(page, example_files, tmp_path, monkeypatch, request):
    folder = tmp_path / "folder"
    shutil.copytree(example_files, folder)
    monkeypatch.chdir(folder)
    names = {"__name__": "__main__"}
    for block in blocks_of(page):
        if EXAMPLE_URL in block.text and block.language != "text":
            url = request.getfixturevalue("searches_in_postgres")
            shown = url if block.language == "python" else shlex.quote(url)
            block = replace(block, text=block.text.replace(EXAMPLE_URL, shown))
        if block.language == "python":
            run_python(page, block, names)
        elif block.language in ("bash", "console"):
            for line in commands_of(block):
                run_command(page, line, folder)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_that_are_not_run_can_be_parsed(page):
    """They need a cluster, or start Spark once more."""
    for block in blocks_of(page):
        if block.language == "text" and block.text.startswith("headcount release "):
            for line in commands_of(replace(block, language="bash")):
                _, name, *arguments = shlex.split(line.text)
                group = click.Context(cli, **cli.context_settings)
                cli.commands[name].make_context(name, arguments, parent=group)


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_blocks_have_a_language_that_is_run_or_known(page):
    for block in blocks_of(page):
        known = ("bash", "console", "python", "json", "text")
        assert block.language in known, f"{name_of(page)}:{block.line}"


def test_commands_for_contributors_exist():
    contributing = ROOT / "CONTRIBUTING.md"
    for block in blocks_of(contributing):
        for line in commands_of(block):
            assert check_without_running(shlex.split(line.text)), line.text
    named = re.findall(r"`((?:src|tests|docs|\.ci)/[\w./-]*)`", prose_of(contributing))
    named += re.findall(r"pytest ([\w./]+)", prose_of(contributing))
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def test_tests_named_for_contributors_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"(tests/[\w/]+\.py)::(\w+)", text)
    assert len(named) > 10
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


# --- links -----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_relative_links_resolve(page):
    for link in re.findall(r"\]\(([^)]+)\)", prose_of(page)):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), f"{link} leads out of the project"
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", prose_of(target), flags=re.M)
            assert anchor in map(slug, headings), f"{link}: no such heading"


def test_the_index_links_to_every_page():
    index = ROOT / "docs/README.md"
    links = {
        (index.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)", prose_of(index))
    }
    assert {page for page in PAGES[1:] if page != index} <= links


# --- the command-line reference ------------------------------------------------------------


def commands_below(name, command):
    found = {name: command}
    for below, inner in getattr(command, "commands", {}).items():
        found |= commands_below(f"{name} {below}", inner)
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
        "--candidates": str(Settings().k_bar),
        "--format": "table",
    }
    options = options_of(COMMANDS[command_name])
    for name, row in documented_options(command_name).items():
        option, (spelled, default, _) = options[name], row
        if name in shown_elsewhere:
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


@pytest.fixture(scope="session")
def release(example_files):
    budget = headcount.Budget(epsilon=3, delta=1e-6)
    source = example_files / "events.parquet"
    return headcount.release(source, user="user_id", item="query", budget=budget)


def test_output_columns_are_documented(release):
    rows = rows_of(sections_of(COMMAND_LINE)["Output columns"])
    assert ["query", *(first_name(row) for row in rows)] == release.table.column_names


def test_the_json_object_has_the_documented_form(release):
    from headcount.writers import render

    documented = [json.loads(b.text) for b in blocks_of(COMMAND_LINE) if b.language == "json"]
    real = json.loads(render(release, "json"))
    assert [shape(example) for example in documented] == [shape(real)]
    assert documented[0]["guarantee"] == real["guarantee"]
    keys = [first_name(row) for row in rows_of(sections_of(COMMAND_LINE)["The JSON object"])]
    assert keys == list(real)


# --- the Python reference --------------------------------------------------------------------


def errors():
    named = {name: getattr(headcount, name) for name in headcount.__all__}
    return {n: e for n, e in named.items() if isinstance(e, type) and issubclass(e, Exception)}


def test_every_public_name_is_documented_and_no_other():
    headings = {h.removeprefix("headcount.") for h in sections_of(PYTHON) if h != "Errors"}
    assert headings | set(errors()) == set(headcount.__all__)


def test_errors_are_documented_with_their_parents_and_exit_codes():
    rows = rows_of(sections_of(PYTHON)["Errors"])
    documented = {first_name(row): (row[1].strip("`"), int(row[2])) for row in rows}
    assert documented == {
        name: (error.__base__.__name__, error.exit_code) for name, error in errors().items()
    }


@pytest.mark.parametrize("function", ["release", "release_counts"])
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


@pytest.mark.parametrize("name", ["Budget", "Guarantee", "Release"])
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
    for name in re.findall(r"\bheadcount\.([A-Za-z_]\w*)", text):
        assert name in headcount.__all__, f"headcount.{name}"


# --- the settings ------------------------------------------------------------------------------


def test_every_setting_is_documented_with_its_values():
    rows = rows_of(prose_of(SETTINGS).partition("\n## ")[0])
    documented = {first_name(row): row for row in rows}
    assert list(documented) == list(Settings.__dataclass_fields__)
    values = {"√2": 2**0.5, "from δ": None}
    for column, method in ((3, "pcr"), (4, "pcr-paper")):
        for field, row in documented.items():
            real = getattr(METHODS[method], field)
            shown = row[column]
            if shown in values:
                assert values[shown] == real, (method, field)
            elif isinstance(real, str):
                assert shown == str(real), (method, field)
            else:
                assert float(shown) == real, (method, field)


def test_settings_of_a_release_are_documented(release):
    named = set(re.findall(r"`(\w+)`", prose_of(SETTINGS)))
    assert set(release.settings) <= named


# --- the changelog ------------------------------------------------------------------------------


def test_the_changelog_begins_with_this_version():
    entries = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert entries[0] == headcount.__version__
