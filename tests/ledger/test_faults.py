"""A ledger without room, without rights or locked: refused or reserved, never uncharged."""

import os
import resource
import signal
import sqlite3
import tempfile
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import headcount as hc
from headcount.ledger import file, store
from headcount.privacy.randomness import OsEntropy
from tests.engines.test_faults import wait_until
from tests.ledger.conftest import made_of, release


@pytest.fixture
def little_room(monkeypatch):
    monkeypatch.setattr(file, "ROOM", 2**12)


@pytest.fixture
def shop(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db", patience=0.05)
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    return ledger


def in_a_process(work):
    """Run a function in a process of its own, which may lose its rights; return what it raised."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        try:
            work()
            said = ""
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return said


def files_end_at(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_refuses(shop):
    size = Path(shop._where).stat().st_size

    def fill():
        files_end_at(size)
        for _ in range(1000):  # until a page more is needed
            shop.reserve("shop", hc.Budget(rho=1e-6, delta=1e-11), {})

    assert "disk is full" in in_a_process(fill)
    shop.verify()


def settled_on_a_full_disk(shop, made):
    reservation = shop.reserve("shop", hc.Budget(rho=0.5, delta=1e-6), {})

    def settle():
        for name in ("", "-journal"):
            assert Path(f"{shop._where}{name}").stat().st_size
        files_end_at(Path(shop._where).stat().st_size)
        shop.settle(reservation, made, None)

    return reservation, in_a_process(settle)


def test_a_full_disk_at_settling_is_no_fault(shop):
    """There is room for it: that was made sure of when it was reserved."""
    made = made_of(300, 0.5)
    _, said = settled_on_a_full_disk(shop, made)
    assert said == ""
    assert shop.released(3).table.equals(made.table)
    shop.verify()


def test_more_than_there_is_room_for_leaves_the_reservation(little_room, shop):
    reservation, said = settled_on_a_full_disk(shop, made_of(300, 0.5))
    assert "disk is full" in said
    assert list(shop.books().open) == [reservation.number]
    shop.verify()


def sizes_of(ledger):
    return [Path(f"{ledger._where}{name}").stat().st_size for name in ("", "-journal")]


def test_settling_lengthens_neither_file(tmp_path):
    """So a disk that is full by then does no harm; SQLite's secure_delete used to ask for 4 MB."""
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=1000, delta=1e-4))
    made = [made_of(items, 0.5) for items in (1, 300, 3000)]
    for many in (1, 5, 5):
        reserved = [ledger.reserve("shop", hc.Budget(rho=0.5, delta=1e-6), {}) for _ in range(many)]
        before = sizes_of(ledger)
        for number, reservation in enumerate(reserved[many // 2 :], many):
            ledger.settle(reservation, made[number % 3], None)
        assert sizes_of(ledger) == before
        ledger.extend("shop", rho=1, reason="it takes some of the room")
    ledger.verify()


def test_the_room_is_on_the_disk(shop):
    """Not a hole in the file, which takes no room until it is written."""
    shop.reserve("shop", hc.Budget(rho=0.5, delta=1e-6), {})
    found = Path(shop._where).stat()
    assert 512 * found.st_blocks >= found.st_size > file.ROOM


def test_runs_that_died_share_one_room(shop):
    for _ in range(30):
        shop.reserve("shop", hc.Budget(rho=0.01, delta=1e-8), {})
    assert sum(sizes_of(shop)) < file.ROOM + 2**20


def test_a_failure_to_settle_says_that_the_reservation_stays(shop, monkeypatch):
    def failing(*given):
        raise hc.LedgerUnavailableError("the ledger cannot be used: it is locked")

    monkeypatch.setattr(shop, "settle", failing)
    with pytest.raises(hc.LedgerUnavailableError) as found:
        release(shop)
    assert str(found.value) == (
        "the ledger cannot be used: it is locked. Nothing was released. What was reserved for it "
        "(entry 2 of the ledger) counts as spent, until the owner of the budget decides otherwise "
        "(headcount ledger return)."
    )


def test_a_reader_that_comes_and_goes_does_not_cost_a_release(shop, monkeypatch):
    """Somebody looks at the file in a transaction of their own while a release is settled."""
    monkeypatch.setattr(store, "SILENCE", 0.0)
    told = []
    ledger = hc.Ledger(shop._where, tell=told.append)
    made = made_of(1)
    reservation = ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    reader = sqlite3.connect(shop._where, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM headcount_entries").fetchall()
    told.clear()
    settling = threading.Thread(target=ledger.settle, args=(reservation, made, None))
    settling.start()
    with sqlite3.connect(shop._where, timeout=0) as other:  # until it waits for the reader alone
        wait_until(lambda: cannot_read(other))
    other.close()
    reader.execute("ROLLBACK")
    reader.close()
    settling.join()
    assert [str(entry.kind) for entry in shop.log()][-1] == "settle"


def cannot_read(connection):
    try:
        connection.execute("SELECT 1 FROM headcount_entries").fetchall()
    except sqlite3.OperationalError:
        return True
    return False


def test_what_can_fail_without_data_fails_before_anything_is_reserved(shop, monkeypatch):
    def broken(*given):
        raise OSError("no random numbers here")

    events = {"user": "u", "item": "q", "budget": hc.Budget(rho=0.1), "dataset": "shop"}
    table = pa.table({"u": [1], "q": ["tea"]})
    with pytest.raises(hc.SettingsError, match="memory"):
        hc.release(table, **events, ledger=shop, memory="much")
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "tempdir", "/nowhere")
        with pytest.raises(hc.EngineError, match="no folder"):
            hc.release(table, **events, ledger=shop)
    monkeypatch.setattr(OsEntropy, "discrete_gaussian", broken)
    for use in (lambda: hc.release(table, **events, ledger=shop), lambda: release(shop)):
        with pytest.raises(hc.EngineError, match=r"noise cannot be drawn: .*Nothing was spent"):
            use()
    assert [str(entry.kind) for entry in shop.log()] == ["open"]


def test_a_ledger_and_its_journal_are_for_their_owner_only(shop):
    release(shop)
    for name in ("", "-journal"):
        assert Path(f"{shop._where}{name}").stat().st_mode & 0o777 == 0o600


def test_a_user_without_a_name(monkeypatch, tmp_path):
    """As in most containers: no entry for the id, and nothing in the environment."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)

    def missing(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr("pwd.getpwuid", missing)
    assert hc.Ledger(tmp_path / "budget.db").actor == f"user {os.getuid()}"


def test_a_read_only_ledger_can_be_read_and_not_charged():
    with tempfile.TemporaryDirectory() as name:  # where another user may look
        folder = Path(name)
        ledger = hc.Ledger(folder / "budget.db")
        ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
        (folder / "budget.db").chmod(0o444)
        folder.chmod(0o555)

        def charge():
            if os.getuid() == 0:
                os.setuid(65534)
            ledger.verify()
            ledger.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})

        said = in_a_process(charge)
        folder.chmod(0o755)
    assert said == "LedgerUnavailableError: the ledger cannot be used: it is read-only"


def test_a_folder_that_may_not_be_looked_into_is_said():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = hc.Ledger(folder / "closed" / "budget.db")
        (folder / "closed").mkdir()
        ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
        folder.chmod(0o755)
        (folder / "closed").chmod(0o000)

        def look():
            if os.getuid() == 0:
                os.setuid(65534)
            ledger.books()

        said = in_a_process(look)
        (folder / "closed").chmod(0o755)
    assert said == "LedgerUnavailableError: the ledger cannot be used: Permission denied"


def test_a_locked_ledger_refuses(shop):
    made = hc.release_counts({"a": 9000}, budget=hc.Budget(rho=0.1, delta=1e-6))
    reservation = shop.reserve("shop", hc.Budget(rho=0.1, delta=1e-6), {})
    other = sqlite3.connect(shop._where, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(hc.LedgerUnavailableError, match="locked"):
        release(shop)
    with pytest.raises(hc.LedgerUnavailableError, match="locked"):
        shop.settle(reservation, made, None)
    other.execute("ROLLBACK")
    other.close()
    assert list(shop.books().open) == [reservation.number]


def test_waiting_for_another_process_is_told(shop, monkeypatch):
    monkeypatch.setattr(store, "SILENCE", 0.0)
    told = []
    ledger = hc.Ledger(shop._where, tell=told.append)
    other = sqlite3.connect(shop._where, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    for use in (ledger.verify, lambda: ledger.retire("shop", reason="the end")):
        told.clear()
        waiting = threading.Thread(target=use)
        waiting.start()
        wait_until(lambda: told)
        other.execute("ROLLBACK")
        waiting.join()
        other.execute("BEGIN EXCLUSIVE")
        assert told[0].startswith("Waiting for the ledger: another process holds it")
    other.close()
    assert shop.books().retired == {"shop"}


@pytest.mark.parametrize("content", [b"", b"not a database", None])
def test_what_is_no_ledger(tmp_path, content):
    path = tmp_path / "budget.db"
    if content is None:
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE people (name)")
        other.close()
        with pytest.raises(hc.LedgerError, match="but not a ledger"):
            hc.Ledger(path).init("shop", budget=hc.Budget(rho=1))
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(hc.LedgerError, match="not a ledger"):
        release(hc.Ledger(path))
    assert path.read_bytes() == before


def test_a_commit_is_on_disk(shop):
    with shop._store._connected(writes=True) as connection:
        [(synchronous,)] = connection.exec_driver_sql("PRAGMA synchronous").fetchall()
        [(journal,)] = connection.exec_driver_sql("PRAGMA journal_mode").fetchall()
    assert (synchronous, journal) == (2, "persist")  # 2 is FULL


def test_a_ledger_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(hc.LedgerError, match="headcount ledger init"):
        release(hc.Ledger(tmp_path / "budget.db"))
    assert not list(tmp_path.iterdir())
