"""stdout is data, stderr is talk, and either may be gone."""

import errno
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import HEADCOUNT, RHO, USERS, after_the_caution

COLUMNS = ["--user", "uid", "--item", "item", "--rho", RHO]


def shell(command: str, parquet, **env):
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
        env={**os.environ, "RUN": f"{HEADCOUNT} release {parquet} {' '.join(COLUMNS)}", **env},
    )


def test_nobody_reads_stdout(parquet, spill):
    done = shell("$RUN --format json | true", parquet)
    assert done.returncode == 141
    assert after_the_caution(done.stderr) == ""
    assert not list(spill.iterdir())


def test_a_reader_that_takes_one_line(parquet):
    done = shell("$RUN --format csv | head -1", parquet)
    assert done.stdout == '"item","count","std_error","lower","upper"\n'
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_stdout_is_full(parquet):
    done = shell("$RUN > /dev/full", parquet)
    assert done.returncode == 2
    said = after_the_caution(done.stderr)
    assert said == "headcount: cannot write to stdout: No space left on device\n"


def test_stdout_is_closed(parquet):
    done = shell("$RUN >&-", parquet)
    assert done.returncode == 2
    said = after_the_caution(done.stderr)
    assert said == "headcount: cannot write to stdout: it is closed\n"


def test_stderr_is_closed(parquet):
    done = shell("$RUN --format json 2>&-", parquet)
    assert done.returncode == 0
    assert [row["item"] for row in json.loads(done.stdout)["items"]] == list(USERS)


def test_a_terminal_that_knows_no_unicode(parquet):
    done = shell("$RUN", parquet, LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "─────" in done.stdout
    assert "ρ = " in done.stderr


def test_a_full_disk_does_not_cost_the_release(headcount, parquet, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("headcount.outputs.files.os.fsync", full)
    ran = headcount("release", parquet, *COLUMNS, "--output", tmp_path / "o.parquet")
    assert ran.code == 2
    assert [row["item"] for row in json.loads(ran.out)["items"]] == list(USERS)
    assert "to stdout as JSON" in ran.err
    assert "No space left on device" in ran.err
    assert not list(tmp_path.iterdir())


def test_no_place_for_temporary_files(headcount, parquet, monkeypatch):
    def nowhere(*args, **options):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("headcount.engines.session.tempfile.TemporaryDirectory", nowhere)
    ran = headcount("release", parquet, *COLUMNS)
    assert (ran.code, ran.out) == (4, "")
    assert "temporary files" in ran.err


def test_too_little_memory(headcount, parquet):
    ran = headcount("release", parquet, *COLUMNS, "--memory", "1KB")
    assert (ran.code, ran.out) == (4, "")
    assert "--memory" in ran.err


def test_a_fault_of_our_own_shows_no_data(headcount, parquet, monkeypatch):
    def fault(*args, **options):
        raise RuntimeError("canary")

    monkeypatch.setattr("headcount.privacy.mechanisms.auto.mechanism.release_automatically", fault)
    ran = headcount("release", parquet, *COLUMNS)
    assert (ran.code, ran.out) == (1, "")
    assert "unexpected error (RuntimeError)" in ran.err
    assert "canary" not in ran.err
    monkeypatch.setenv("HEADCOUNT_UNSAFE_TRACEBACK", "1")
    assert "canary" in headcount("release", parquet, *COLUMNS).err
