"""What was paid for is written, whoever listens, and whatever ends the run."""

import errno
import io
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines.session import Session, without_warnings
from tests.conftest import HEADCOUNT, RHO, USERS

#: Nobody can be told anything: a full disk, a reader that has gone, and no stderr at all.
UNHEARD = ["2>/dev/full", "2> >(true)", "2>&-"]
COUNTS = {"bread": 4000, "milk": 1500}
BUDGET = hc.Budget(rho=float(RHO), delta=1e-6)


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """Return a ledger in the current folder."""
    monkeypatch.chdir(tmp_path)
    made = hc.Ledger("budget.db")
    made.init("shop", budget=hc.Budget(rho=100, delta=1e-5))
    return made


@pytest.fixture
def ask(ledger, parquet):
    """Return a command whose release is charged to the ledger."""
    asked = ["release", parquet, "--user", "uid", "--item", "item", "--rho", RHO]
    return [*asked, "--ledger", "budget.db", "--dataset", "shop"]


def kinds(ledger):
    return [str(entry.kind) for entry in ledger.log()]


# --- talk that cannot be heard ------------------------------------------------------------------


@pytest.mark.parametrize("unheard", UNHEARD)
def test_what_cannot_be_said_costs_no_release(unheard, ask, ledger):
    words = [HEADCOUNT, *ask, "--verbose", "-o", "counts.parquet", "--report", "page.html"]
    ran = subprocess.run(
        ["bash", "-c", f"{' '.join(map(str, words))} {unheard}"], timeout=600, check=False
    )
    assert ran.returncode == 0
    assert pq.read_table("counts.parquet")["item"].to_pylist() == list(USERS)
    assert Path("page.html").exists()
    assert kinds(ledger) == ["open", "reserve", "settle"]


class Full(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_nor_does_an_error_that_cannot_be_said(headcount, ask, monkeypatch):
    monkeypatch.setattr("headcount.outputs.files.os.fsync", lambda handle: Full().write(""))
    monkeypatch.setattr(sys, "stderr", Full())
    ran = headcount(*ask, "-o", "counts.parquet")
    assert ran.code == 2
    assert [row["item"] for row in json.loads(ran.out)["items"]] == list(USERS)


def asked_of(source, ledger, **options):
    given = {"budget": BUDGET, "ledger": ledger, "dataset": "shop", **options}
    if isinstance(source, dict):
        return hc.release_counts(source, user="uid", **given)
    return hc.release(source, user="uid", item="item", **given)


@pytest.fixture(params=["events", "counts"])
def source(request, events):
    return events if request.param == "events" else COUNTS


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_who_cannot_be_told_gets_the_release(error, source, ledger):
    def fail(sentence):
        raise error(sentence)

    made = asked_of(source, hc.Ledger("budget.db", tell=fail))
    assert len(made) >= 2
    assert ledger.released(3).table.equals(made.table)


def test_progress_that_fails_costs_nothing_before_noise_and_loses_nothing_after(source, ledger):
    class Failing:
        def __init__(self, after):
            self.said, self.after = [], after

        def __call__(self, message):
            self.said.append(message)
            if len(self.said) > self.after:
                raise ZeroDivisionError

    more = {"total": True, "mean": [], "count": "rows"} if source is not COUNTS else {}
    heard = Failing(after=99)
    asked_of(source, ledger, progress=heard, **more)
    places = {"finding and counting items", "choosing and measuring items"}
    noise = next(place for place, said in enumerate(heard.said) if said in places)
    for place in range(noise):
        with pytest.raises(ZeroDivisionError):
            asked_of(source, ledger, progress=Failing(after=place), **more)
        assert kinds(ledger)[-2:] == ["reserve", "return"]
    late = Failing(after=noise)
    asked_of(source, ledger, progress=late, **more)
    assert late.said == heard.said
    assert kinds(ledger)[-2:] == ["reserve", "settle"]


def warn(*given, **options):
    warnings.warn("what a library uses will change", DeprecationWarning, stacklevel=1)


def test_a_warning_that_is_an_error_loses_no_release(source, ledger, monkeypatch):
    monkeypatch.setattr("headcount.engines.session.without_warnings", without_warnings)
    settle = hc.Ledger.settle
    monkeypatch.setattr(hc.Ledger, "settle", lambda *given: (warn(), settle(*given))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", hc.PrivacyWarning)
        assert len(asked_of(source, ledger)) >= 2


def test_nor_does_one_while_it_is_written(headcount, ask, monkeypatch):
    monkeypatch.setattr("headcount.engines.session.without_warnings", without_warnings)
    render = hc.outputs.render
    monkeypatch.setattr("headcount.outputs.render", lambda *given: (warn(), render(*given))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert headcount(*ask, "-o", "counts.parquet").code == 0
    assert Path("counts.parquet").exists()


# --- interrupted after it was paid for ----------------------------------------------------------


def interrupted_after(monkeypatch, owner, name):
    """Interrupt a run once something is done."""
    true = getattr(owner, name)

    def interrupted(*given, **options):
        true(*given, **options)
        monkeypatch.setattr(owner, name, true)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupted)


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
@pytest.mark.parametrize(
    "place", [(hc.Ledger, "settle"), (Session, "__exit__"), (hc.outputs, "render")], ids=str
)
def test_an_interrupt_after_payment_says_how_to_fetch_the_release(
    place, quiet, headcount, ask, ledger, monkeypatch
):
    interrupted_after(monkeypatch, *place)
    ran = headcount(*ask, *quiet, "-o", "counts.csv")
    assert ran.code == 130
    assert not Path("counts.csv").exists()
    assert kinds(ledger) == ["open", "reserve", "settle"]
    assert ran.err.count("paid for") == 1
    assert "counts as spent" not in ran.err
    assert "`headcount ledger fetch LEDGER 3`" in ran.err
    assert headcount("ledger", "fetch", "budget.db", "3", "-o", "counts.csv").code == 0
    assert Path("counts.csv").exists()


def test_an_interrupt_in_python_says_it_in_a_note(source, ledger, monkeypatch):
    interrupted_after(monkeypatch, Session, "__exit__")
    with pytest.raises(KeyboardInterrupt) as raised:
        asked_of(source, ledger)
    [note] = raised.value.__notes__
    assert "Ledger.released(3)" in note
    assert len(ledger.released(3)) >= 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_release_that_cannot_be_written_can_be_fetched(ask):
    words = " ".join(map(str, [HEADCOUNT, *ask, "-f", "json"]))
    ran = subprocess.run(
        ["bash", "-c", f"{words} >/dev/full"], capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 2
    assert "`headcount ledger fetch LEDGER 3`" in ran.stderr


def test_what_cannot_be_closed_loses_no_release():
    with Session() as session:
        session.at_end(lambda: 1 / 0)
