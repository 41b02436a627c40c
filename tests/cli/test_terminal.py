"""What a terminal gets: no name of an item, a column or a file steers it. Seen from a real one."""

import csv
import io
import json
import os
import pty
import subprocess
import unicodedata

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headcount import Budget, Ledger
from headcount.ledger.entries import Kind
from tests.conftest import HEADCOUNT, RHO

#: A reset of the terminal, DEL, a C1 control, a title, a right-to-left override, a line to be
#: taken for another, and a character beyond the first 65,536.
NASTY = [
    "\x1bc", "a\x7fb", "\x9b31mred", "\x1b]0;title\a", "\u202eright to left\u2066", "one\ntwo",
    "back\rover", "tag\U000e0041", "sep\u2028", "é 漢字 😀",
]  # fmt: skip
COLUMN = "\x1b[31mitem\x9d"


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    path = tmp_path_factory.mktemp("nasty") / "e.parquet"
    users = [f"u{n}" for n in range(3000)]
    items = [item for item in NASTY for _ in users]
    pq.write_table(pa.table({"uid": users * len(NASTY), COLUMN: items}), path)
    return path


def on_a_terminal(*args, cwd, env=None, types=None):
    """Run the command with both of its streams on a terminal; return what that got.

    stdin is there too if something is typed, once there is a question.
    """
    ours, its = pty.openpty()
    # No bar, which moves the cursor itself, and room for whole sentences.
    env = {**os.environ, "TERM": "dumb", "COLUMNS": "1000", **(env or {})}
    stdin = subprocess.DEVNULL if types is None else its
    command = [HEADCOUNT, *map(str, args)]
    process = subprocess.Popen(command, stdin=stdin, stdout=its, stderr=its, cwd=cwd, env=env)
    os.close(its)
    got = b""
    try:
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            got += piece
            if types and got.endswith(b"[y/N] "):
                os.write(ours, types)
                types = None
    finally:
        os.close(ours)
        process.wait()
    return process.returncode, got.decode().replace("\r\n", "\n")


def steering(text):
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return {char for char in text if char != "\n" and unicodedata.category(char) in kinds}


def ask(path, *more):
    return ["release", path, "--user", "uid", "--item", COLUMN, "--rho", RHO, *more]


@pytest.mark.parametrize("form", ["csv", "json", "table"])
def test_a_release_on_a_terminal(nasty, spill, form):
    code, got = on_a_terminal(*ask(nasty, "--format", form), cwd=spill)
    assert code == 0
    assert not steering(got)
    assert "é 漢字 😀" in got
    shown = {
        "csv": '"one\\ntwo",',
        "json": '"\\u001b[31mitem\\u009d": "a\\u007fb"',
        "table": "a\\x7fb",
    }
    assert shown[form] in got
    assert got.count("one\ntwo") == 0


def test_sentences_and_tables_fit_into_a_terminal(nasty, spill):
    code, got = on_a_terminal(*ask(nasty), cwd=spill, env={"COLUMNS": "50"})
    assert code == 0
    assert max(map(len, got.splitlines())) <= 50
    assert "Protects one user: all rows of one user id, added or" in got.replace("\n", " ")


def test_csv_in_a_pipe_or_a_file_has_the_items_as_they_are(headcount, nasty, tmp_path):
    piped = subprocess.run(
        [HEADCOUNT, *ask(nasty, "--format", "csv")], capture_output=True, check=True, timeout=600
    )
    assert headcount(*ask(nasty, "--output", tmp_path / "o.csv")).code == 0
    for content in (piped.stdout, (tmp_path / "o.csv").read_bytes()):
        rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
        assert rows[0][0] == COLUMN
        assert {row[0] for row in rows[1:]} == set(NASTY)


def test_json_is_escaped_everywhere_and_the_same_to_a_parser(headcount, nasty, tmp_path):
    ledger, output = tmp_path / "budget.db", tmp_path / "o.json"
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "90")
    charge = ["--ledger", ledger, "--dataset", "shop", "--output", output]
    assert headcount(*ask(nasty, *charge)).code == 0
    text = output.read_bytes().decode()
    assert not steering(text)
    assert {row[COLUMN] for row in json.loads(text)["items"]} == set(NASTY)
    assert headcount("verify", output, "--ledger", ledger).code == 0


@pytest.mark.parametrize(
    "args",
    [
        ["release", "{}.csv", "--user", "u", "--item", "i", "--rho", "1"],
        ["release", "e.parquet", "--user", "{}", "--item", "i", "--rho", "1"],
        ["release", "e.parquet", "--user", "u", "--item", "i", "--rho", "1", "--output", "{}.csv"],
        ["release", "e.parquet", "--user", "u", "--item", "i", "--rho", "{}"],
        ["release", "e.parquet", "--user", "u", "--item", "i", "--rho", "1", "--{}"],
        ["release", "e.parquet", "--user", "u", "--item", "i", "--rho", "1", "--memory", "{}"],
        ["plan", "--rho", "1", "{}"],
        ["{}"],
        ["ledger", "show", "{}"],
    ],
    ids=lambda args: " ".join(args),
)
def test_what_was_given_is_quoted_without_its_effect(nasty, tmp_path, args):
    (tmp_path / "e.parquet").write_bytes(nasty.read_bytes())
    if "--output" in args:
        (tmp_path / f"{NASTY[2]}{NASTY[4]}.csv").touch()
    given = f"{NASTY[2]}{NASTY[4]}" if "--output" in args else "".join(NASTY[:5])
    code, got = on_a_terminal(*(arg.format(given) for arg in args), cwd=tmp_path)
    assert code == 2
    assert not steering(got)
    assert "31mred" in got


@pytest.mark.parametrize("form", ["table", "json"])
def test_what_a_ledger_holds_is_shown_without_its_effect(headcount, tmp_path, form):
    ledger, reason = tmp_path / "budget.db", "".join(NASTY[:5])
    headcount("ledger", "init", ledger, "--dataset", "shop", "--rho", "1")
    headcount("ledger", "retire", ledger, "--dataset", "shop", "--reason", reason)
    code, got = on_a_terminal("ledger", "log", ledger, "--format", form, cwd=tmp_path)
    assert code == 0
    assert not steering(got)
    if form == "json":
        assert json.loads(got)[1]["facts"]["reason"] == reason


@pytest.mark.parametrize(
    ("types", "charged"), [(b"\n", 0), (b"no\n", 0), (b"\x04", 0), (b"y\n", 1)]
)
def test_a_weak_budget_is_asked_about_before_it_is_spent(nasty, spill, tmp_path, types, charged):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=Budget(rho=100, delta=1e-5))
    rest = ["--ledger", tmp_path / "budget.db", "--dataset", "shop"]
    code, got = on_a_terminal(*ask(nasty, *rest), cwd=spill, types=types)
    assert got.count("weak promise") == got.count("Is this the budget you meant?") == 1
    assert [entry.kind for entry in ledger.log()].count(Kind.SETTLE) == charged
    assert code == (0 if charged else 2)
    assert ("nothing was read or spent" in got) is not bool(charged)


def test_a_weak_budget_is_said_before_anything_is_read(headcount, tmp_path):
    ran = headcount("release", tmp_path / "missing.csv", "-u", "u", "-i", "i", "-e", "1e9", "-q")
    assert ran.code == 2
    assert ran.err.index("Is this the budget you meant?") < ran.err.index("there is no file")


def test_nothing_asks_where_nobody_answers(nasty, spill):
    """Without a terminal on stdin, or for a run that promises nothing anyway."""
    for more in ([], ["--unsafe-seed", "1"]):
        code, got = on_a_terminal(*ask(nasty, *more), cwd=spill)
        assert code == 0 and "[y/N]" not in got
    code, got = on_a_terminal(*ask(nasty, "--unsafe-seed", "1"), cwd=spill, types=b"n\n")
    assert code == 0 and "[y/N]" not in got
