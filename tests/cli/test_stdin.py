"""headcount release -: what is piped in."""

import os
import signal
import subprocess

import pytest

from tests.cli.test_signals import DEADLINE, wait_until
from tests.conftest import HEADCOUNT, RHO, after_the_caution

ASKED = ["--user", "u", "--item", "i", "--rho", RHO]
CSV = "u;i\n" + "".join(f"{n};tea\n" for n in range(500))


@pytest.fixture
def events(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text(CSV)
    return path


def test_what_is_piped_in_is_released(process, events):
    with events.open() as piped:
        ran = process(
            "release", "-", "--input-format", "csv", "--delimiter", ";", *ASKED, "-f", "csv",
            stdin=piped,
        )  # fmt: skip
    assert ran.code == 0
    assert ran.out.splitlines()[1].startswith('"tea",')


def test_it_needs_a_format(process, events):
    with events.open() as piped:
        ran = process("release", "-", *ASKED, stdin=piped)
    assert (ran.code, ran.out) == (2, "")
    assert "say what format stdin is in" in ran.err


def test_a_terminal_is_no_data(process):
    shown, typed = os.openpty()
    try:
        ran = process("release", "-", "--input-format", "csv", *ASKED, stdin=typed)
    finally:
        os.close(shown)
        os.close(typed)
    assert (ran.code, ran.out) == (2, "")
    assert "stdin is a terminal: pipe the data in" in ran.err


def test_the_output_must_not_replace_it(process, events):
    with events.open() as piped:
        ran = process(
            "release", "-", "--input-format", "csv", *ASKED, "-o", events, "--force", stdin=piped
        )
    assert (ran.code, ran.out) == (2, "")
    assert "would replace what stdin is read from" in ran.err
    assert events.read_text() == CSV


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_waits_leaves_nothing_behind(spill, number):
    command = [HEADCOUNT, "release", "-", "--input-format", "csv", *ASKED]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            process.stdin.write(CSV.encode() * 5000)
            process.stdin.flush()
            wait_until(lambda: any(path.is_file() for path in spill.rglob("*")))
            process.send_signal(number)
            process.wait(DEADLINE)  # its stdin is still open
        finally:
            process.kill()
        assert process.returncode == 128 + number
        said = after_the_caution(process.stderr.read().decode())
        assert said.strip() == "headcount: interrupted"
    assert not list(spill.iterdir())
