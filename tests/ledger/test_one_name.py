"""A file that can be opened by two names is no ledger: the journal has one of them only."""

import os
import shutil
import sqlite3

import pytest

import headcount as hc
from headcount.ledger import file
from tests.ledger.conftest import release
from tests.ledger.test_faults import in_a_process

#: How a journal begins from which SQLite rolls back.
HOT = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


@pytest.fixture
def shop(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    return ledger


def uses_of(path):
    ledger = hc.Ledger(path)
    return [
        ledger.verify,
        ledger.books,
        lambda: ledger.init("web", budget=hc.Budget(rho=1, delta=1e-5)),
        lambda: release(ledger),
    ]


def die_in_a_commit(path):
    """Leave a journal behind from which whoever opens the file by this name rolls back."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = PERSIST")
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("CREATE TABLE more (text)")
    connection.execute("INSERT INTO more VALUES (replace(hex(zeroblob(50000)), '00', 'half'))")
    os._exit(0)


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_hard_links_are_refused_before_anything_is_read(shop, tmp_path):
    path, other = tmp_path / "budget.db", tmp_path / "same.db"
    in_a_process(lambda: die_in_a_commit(path))
    other.hardlink_to(path)
    before = content_of(tmp_path)
    assert b"half" in before["budget.db"]
    assert before["budget.db-journal"].startswith(HOT)
    for name in (path, other):
        for use in uses_of(name):
            with pytest.raises(hc.LedgerError, match=r"more than one name .*remove every name but"):
                use()
    assert content_of(tmp_path) == before
    other.unlink()
    shop.verify()
    release(shop)
    assert not (tmp_path / "budget.db-journal").read_bytes().startswith(HOT)


LISTED = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
25 24 0:23 / /dev/shm rw,relatime shared:4 - tmpfs tmpfs rw,size=24684092k
91 27 254:0 /home/ann/budget.db {0} rw,relatime - ext4 /dev/vda rw
"""


@pytest.mark.parametrize("name", ["budget.db", "the budget.db", "a\\b\té\n.db"])
def test_a_file_that_is_mounted_is_refused(tmp_path, monkeypatch, name):
    path = tmp_path.resolve() / name
    hc.Ledger(path).init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    as_written = str(path)
    for unusual in "\\ \t\n":  # as Linux writes them
        as_written = as_written.replace(unusual, f"\\{ord(unusual):03o}")
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(file, "MOUNTS", mounts)
    mounts.write_text(LISTED.format(as_written), encoding="utf-8")
    before = content_of(tmp_path)
    link = tmp_path / "link.db"
    for given in (path, link):
        if given == link:
            link.symlink_to(path)
        for use in uses_of(given):
            with pytest.raises(hc.LedgerError, match=r"mounted as a single file.*mount its folder"):
                use()
    link.unlink()
    assert content_of(tmp_path) == before
    mounts.write_text(LISTED.format(str(tmp_path)), encoding="utf-8")  # its folder, that is
    release(hc.Ledger(path))
    monkeypatch.setattr(file, "MOUNTS", tmp_path / "none")  # not Linux
    release(hc.Ledger(path))


def test_a_symlink_is_no_second_name(shop, tmp_path):
    """SQLite keeps the journal next to the file that a link leads to."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(tmp_path / "budget.db")
    in_a_process(lambda: die_in_a_commit(link))
    assert [path.name for path in link.parent.iterdir()] == ["link.db"]
    release(shop)
    hc.Ledger(link).verify()
    shutil.rmtree(link.parent)
    shop.verify()


def test_a_ledger_made_through_a_symlink_is_its_owners_only(tmp_path):
    link, target = tmp_path / "link.db", tmp_path / "budget.db"
    link.symlink_to(target)
    hc.Ledger(link).init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    assert target.stat().st_mode & 0o777 == 0o600
