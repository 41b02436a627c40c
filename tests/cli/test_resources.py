"""Too little memory, and a Python that takes warnings for errors: the machine, not the data."""

import resource
import subprocess
import sys
import threading
import warnings

import pyarrow as pa
import pytest

import headcount as hc
from headcount import cli
from headcount.engines import Session
from headcount.engines.guard import opening, running
from headcount.errors import EngineError, SourceError
from tests.conftest import RHO, after_the_caution

MEGABYTE = 2**20


def limited(megabytes):
    """Return what limits a process to so much memory before it starts, as ulimit -v does."""
    most = megabytes * MEGABYTE
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))


@pytest.mark.parametrize("megabytes", [300, 1100, 1600])
def test_a_limit_of_memory_gives_the_documented_code(process, parquet, megabytes):
    """The libraries alone take more, or nearly so, and some end the process if they cannot."""
    ran = process(
        *("release", parquet, "--user", "uid", "--item", "item", "--rho", RHO, "--format", "csv"),
        preexec_fn=limited(megabytes),
    )
    assert ran.code in ((0, 4) if megabytes == 1600 else (4,)), ran.err
    if ran.code == 4:
        assert ran.out == ""
        assert "memory" in ran.err
        assert len(after_the_caution(ran.err).splitlines()) == 1


class OutOfMemoryException(Exception):
    """As DuckDB's is called."""


def unloaded():
    try:
        raise OSError("lib.so: failed to map segment from shared object")
    except OSError as error:
        raise Exception("Unable to load shared library", "lib.so", error)  # noqa: B904


SHORTAGES = {
    "Python": MemoryError(),
    "C++": MemoryError("std::bad_alloc"),
    "Arrow": pa.ArrowMemoryError("malloc of size 9 failed"),
    "DuckDB": OutOfMemoryException("somebody's value"),
    "Arrow reading what DuckDB streams": OSError("Out of Memory Error: could not allocate block"),
    "a thread": RuntimeError("can't start new thread"),
    "a thread of C++": RuntimeError("Resource temporarily unavailable"),
    "a library": ImportError("lib.so: failed to map segment from shared object"),
    "the system": OSError(12, "Cannot allocate memory"),
}


@pytest.mark.parametrize("name", [*SHORTAGES, "a wrapped library"])
def test_whoever_runs_out_of_memory(name, capsys):
    def fail():
        if name == "a wrapped library":
            unloaded()
        raise SHORTAGES[name]

    for guarded in (opening, running):
        with pytest.raises(EngineError, match="ran out of memory") as caught:
            guarded(fail, "it failed")
        assert "somebody" not in str(caught.value)
        assert caught.value.__context__ is None
    with pytest.raises(BaseException) as caught:
        fail()
    assert cli._exit_code(caught.value) == 4
    assert "not enough memory" in capsys.readouterr().err


class ResourceInUseException(Exception):
    """As DuckDB's is called, which `ulimit -v` makes it raise."""


@pytest.mark.parametrize("guarded", [opening, running])
def test_an_engine_that_fails_is_not_the_fault_of_the_input(guarded):
    def fail():
        raise ResourceInUseException("somebody's value")

    with pytest.raises(EngineError, match=r"^it failed: the engine failed \(Resource\w+\)$"):
        guarded(fail, "it failed")


class ConversionException(Exception):
    """As DuckDB's is called; it quotes what cannot be converted."""


def test_no_value_is_taken_for_a_lack_of_memory():
    def fail():
        raise ConversionException("cannot convert 'cannot allocate memory' to a number")

    with pytest.raises(SourceError):
        running(fail, "it failed")


def test_warnings_as_errors_change_nothing(parquet, tmp_path):
    """Ibis calls what DuckDB 2.0 deprecates; Polars and pandas warn, too."""
    command = ["release", parquet, "--user", "uid", "--item", "item", "--rho", RHO]
    command += ["--unsafe-seed", "1", "--format", "csv"]
    for engine in ("duckdb", "polars"):
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-m", "headcount", *command, "--engine", engine],
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert "bread" in ran.stdout


def test_what_python_does_with_warnings_is_as_before(monkeypatch):
    monkeypatch.undo()  # of what keeps tests from hiding warnings
    before = list(warnings.filters)
    inner, outer = threading.Event(), threading.Event()

    def second():
        with Session():
            inner.set()
            outer.wait(60)

    thread = threading.Thread(target=second)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Session():
            thread.start()
            inner.wait(60)
            warnings.warn("of a library", DeprecationWarning, stacklevel=1)
        warnings.warn("of a library", DeprecationWarning, stacklevel=1)  # the other goes on
        outer.set()
        thread.join()
        with pytest.raises(DeprecationWarning):
            warnings.warn("of the caller", DeprecationWarning, stacklevel=1)
    assert list(warnings.filters) == before


def test_a_release_leaves_warnings_as_they_were(events, monkeypatch):
    monkeypatch.undo()
    before = list(warnings.filters)
    hc.release(events, user="uid", item="item", budget=hc.Budget(rho=20.0))
    assert list(warnings.filters) == before
