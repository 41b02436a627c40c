"""stdin as a source: kept privately, read several times, and gone afterwards."""

import errno
import gzip
import sys
from contextlib import ExitStack

import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines import CancelToken, Session
from headcount.engines.layout import Layout
from headcount.errors import CancelledError, EngineError, SettingsError, SourceError
from headcount.inputs import stdin
from headcount.inputs.stdin import kept_stdin
from headcount.ledger.names import public_name, source_key
from tests.inputs.counting import counts
from tests.inputs.test_arrow import file, stream

CSV = b"u,i\n1,a\n2,a\n"


@pytest.fixture
def piped(monkeypatch, tmp_path):
    with ExitStack() as opened:

        def piped(content: bytes) -> None:
            (tmp_path / "piped").write_bytes(content)
            monkeypatch.setattr(sys, "stdin", opened.enter_context((tmp_path / "piped").open()))

        yield piped


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        (CSV, Layout("csv")),
        (gzip.compress(CSV), Layout("csv")),
        (CSV.replace(b",", b";"), Layout("csv", ";")),
        (CSV.replace(b",", b"\t"), Layout("tsv")),
        (b'{"u":1,"i":"a"}\n{"u":2,"i":"a"}\n', Layout("json")),
    ],
    ids=["csv", "gzip", "semicolons", "tabs", "json"],  # a gzip file says when it was made
)
def test_text(piped, content, layout):
    piped(content)
    assert counts("-", layout=layout) == {"a": 2}


@pytest.mark.parametrize("form", ["parquet", "arrow file", "arrow stream"])
def test_binary_forms(piped, tmp_path, form):
    path, table = tmp_path / "e", pa.table({"u": [1, 2], "i": ["a", "a"]})
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    else:
        (stream if form == "arrow stream" else file)(path, table)
    piped(path.read_bytes())
    assert counts("-", layout=Layout(form.split()[0])) == {"a": 2}


def test_it_is_kept_until_the_session_ends(piped, monkeypatch):
    """More than a chunk of it; a second call reads nothing."""
    monkeypatch.setattr(stdin, "_CHUNK", 3)
    piped(CSV)
    with Session() as session:
        path = kept_stdin(session, Layout("csv"))
        assert path.read_bytes() == CSV
        assert kept_stdin(session, Layout("csv")) == path
        assert path.is_relative_to(session.folder)
        assert not session.folder.stat().st_mode & 0o077
    assert not session.folder.exists()


def test_several_passes_see_the_same_rows(piped):
    piped(b"u,i\n" + b"".join(b"%d,tea\n" % n for n in range(3000)))
    asked = {"user": "u", "item": "i", "rho": 1, "input_format": "csv", "total": True}
    made = hc.release("-", method="rationed", **asked)
    assert made.table["i"].to_pylist() == ["tea"]


def test_it_needs_a_format(piped):
    piped(CSV)
    with pytest.raises(SettingsError, match="say what format stdin is in: --input-format"):
        counts("-")


def test_nothing_comes_in(piped):
    piped(b"")
    with pytest.raises(SourceError, match="nothing came in on stdin"):
        counts("-", layout=Layout("csv"))


@pytest.mark.parametrize("there", [None, object()])
def test_there_is_no_stdin(monkeypatch, there):
    monkeypatch.setattr(sys, "stdin", there)
    with pytest.raises(SourceError, match="there is no stdin to read from"):
        counts("-", layout=Layout("csv"))


def test_errors_call_it_stdin(piped):
    piped(CSV)
    with pytest.raises(
        SourceError, match=r"^stdin is not what the input format says it is \(parquet\)"
    ):
        counts("-", layout=Layout("parquet"))
    piped(b"u,u\n1,2\n")
    with pytest.raises(SourceError) as refused:
        counts("-", layout=Layout("csv"))
    assert "headcount-" not in str(refused.value)


def test_a_full_disk_is_told(piped, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    piped(CSV)
    monkeypatch.setattr(stdin, "_arrived", full)
    with pytest.raises(EngineError, match="no space left for temporary files"):
        counts("-", layout=Layout("csv"))


def test_it_can_be_cancelled(piped):
    piped(CSV)
    token = CancelToken()
    token.cancel()
    with Session(cancel=token) as session, pytest.raises(CancelledError):
        kept_stdin(session, Layout("csv"))


def test_what_a_ledger_calls_it():
    assert public_name("-") == source_key("-") == "stdin"
