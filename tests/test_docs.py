"""README and the docs: their commands run, their links lead somewhere."""

import contextlib
import csv
import gzip
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import headcount
from headcount import cli as command_line
from headcount.cli import cli
from tests.engines import servers
from tests.markdown import PAGES, ROOT, TEXTS, blocks_of, name_of, prose_of, slug

# --- the commands and the Python in them run --------------------------------------------------

USERS_OF_QUERY = {"weather": 4000, "news": 3000, "maps": 2000}
#: The database of the pages; where they are run, a real server stands for it.
EXAMPLE_URL = "postgres://analyst@db.example.org/shop"
#: Spark takes ten seconds to start on a quiet machine, and a minute on a busy one.
SECONDS_AT_MOST = 600


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
    lists = pa.table({"user_id": users, "terms": [[query] for query in queries]})
    pq.write_table(lists, folder / "lists.parquet")
    with (folder / "events.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"user_id": user, "query": query}) + "\n" for user, query in searches
        )
    pyarrow.feather.write_feather(events, str(folder / "events.feather"))
    for name, between in (("excel.csv", ";"), ("events.txt", ";"), ("events.csv.gz", ",")):
        rows = [("user_id", "query"), *searches]
        lines = "".join(f"{user}{between}{query}\n" for user, query in rows)
        zipped = name.endswith(".gz")
        (folder / name).write_bytes(gzip.compress(lines.encode()) if zipped else lines.encode())
    (folder / "logs").mkdir()
    for day, first in enumerate((0, 2000)):
        with (folder / "logs" / f"day{day}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["uid", "country", "page"])
            rows.writerows(
                [n, country, "home"] for n in range(first, first + 2000) for country in ("NO", "SE")
            )
    with (folder / "customers.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["customer", "country"])
        rows.writerows([n, "NO" if n % 3 else "SE"] for n in range(3000))
    visits = folder / "visits"
    visits.mkdir()
    for week in range(2):
        people = [f"u{n}" for n in range(1000 * week, 1000 * week + 3000)]
        at = [datetime(2026, 1, 5 + 7 * week + n % 7, 12, tzinfo=UTC) for n in range(3000)]
        pages = ["home"] * 2000 + ["prices"] * 1000
        of_week = pa.table({"user_id": people, "page": pages, "visited_at": at})
        pq.write_table(of_week, visits / f"2026-W{2 + week:02}.parquet")
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
    servers.copied_to_postgres(
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


#: Every command of these is a process of its own, as for who types it.
AS_TYPED = ("README.md", "docs/tutorial.md")
#: What a shell makes something else of, outside of quotes.
_SHELL = re.compile(r"[][|&;<>(){}$`*?!~#\\]")


def needs_no_shell(text):
    """Whether a command is headcount's own, with nothing for a shell to do, and starts no Spark.

    Of a Spark there is one in a process, with settings that last.
    """
    bare = re.sub(r"'[^']*'", "", text)
    bare = re.sub(r'"[^"$`\\!]*"', "", bare)
    return text.startswith("headcount ") and not _SHELL.search(bare) and "spark" not in text


def run_here(words):
    """Run headcount in this process, with both streams in one file, as in a process of its own."""
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        both = stack.enter_context(tempfile.TemporaryFile())
        kept = [(fd, os.dup(fd)) for fd in (1, 2)]
        try:
            for fd, _ in kept:
                os.dup2(both.fileno(), fd)
            out = stack.enter_context(os.fdopen(os.dup(1), "w", encoding="utf-8"))
            err = stack.enter_context(os.fdopen(os.dup(2), "w", encoding="utf-8", buffering=1))
            patch.setattr(sys, "stdin", stack.enter_context(Path(os.devnull).open()))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "argv", words)
            patch.setattr(command_line, "_received", [])
            patch.setattr("headcount.engines.registry._registered", {})
            code = command_line._run()
            out.flush()
        finally:
            for fd, before in kept:
                os.dup2(before, fd)
                os.close(before)
        both.seek(0)
        return code, both.read().decode()


def run_command(page, line, folder):
    words = shlex.split(line.text)
    if check_without_running(words):
        return
    if needs_no_shell(line.text) and name_of(page) not in AS_TYPED:
        code, output = run_here(words)
    else:
        code, output = run_in_shell(line, folder)
    said = f"{name_of(page)}: {line.text}\nexit code {code}\n{output}"
    assert code == line.exit_code, said
    if line.output is not None:
        assert output == line.output, said


def run_in_shell(line, folder):
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
    return done.returncode, done.stdout


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
    monkeypatch.setattr("headcount.engines.registry._registered", {})  # a page may add engines
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
                cli.get_command(group, name).make_context(name, arguments, parent=group)


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_blocks_have_a_language_that_is_run_or_known(page):
    for block in blocks_of(page):
        known = ("bash", "console", "python", "json", "text", "toml")
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


# --- links and the changelog ---------------------------------------------------------------------


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


def test_the_changelog_has_this_version_below_what_is_not_released():
    text = (ROOT / "CHANGELOG.md").read_text()
    entries = re.findall(r"^## \[([^\]]+)\]", text, flags=re.M)
    assert entries[:2] == ["Unreleased", headcount.__version__]
    dated = re.findall(r"^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$", text, flags=re.M)
    assert len(dated) == len(entries) - 1
