"""A file is there whole or not at all."""

import os
import stat

import pytest

from headcount.errors import OutputError
from headcount.outputs import AtomicFile, format_of
from tests.outputs.releases import release_of


def test_the_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "out.csv"
    with AtomicFile(path) as file:
        assert not path.exists()
        file.commit(b"content")
    assert path.read_bytes() == b"content"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_there_before_commit(tmp_path):
    with AtomicFile(tmp_path / "out.csv"):
        assert not list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def refuse(*args, **options):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("links", [True, False])
def test_without_force_no_file_is_replaced(tmp_path, monkeypatch, links):
    if not links:  # as on a file system that has none
        monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "out.csv"
    with pytest.raises(OutputError, match="has appeared in the meantime"), AtomicFile(path) as file:
        path.write_bytes(b"somebody else's")
        file.commit(b"content")
    assert path.read_bytes() == b"somebody else's"
    with pytest.raises(OutputError, match="with --force"), AtomicFile(path):
        pytest.fail("entered")
    path.unlink()
    with AtomicFile(path) as file:
        file.commit(b"content")
    assert path.read_bytes() == b"content"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("name", "paid"), [("c.CSV", True), ("p.html", False), ("d.md", False)])
def test_only_what_may_be_a_release_may_have_been_paid_for(tmp_path, name, paid):
    path = tmp_path / name
    path.touch()
    with pytest.raises(OutputError, match="already exists") as found, AtomicFile(path):
        pytest.fail("entered")
    assert ("paid for" in str(found.value)) is paid


def test_a_name_that_was_taken_for_nothing_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OutputError, match="not permitted"), AtomicFile(tmp_path / "o.csv") as file:
        file.commit(b"content")
    assert not list(tmp_path.iterdir())


def test_an_old_file_stays_until_it_is_replaced(tmp_path):
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    with AtomicFile(path, force=True) as file:
        assert path.read_bytes() == b"old"
        before = path.stat().st_ino
        file.commit(b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_ino != before  # whoever has the old one open still reads that


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "there" / "out.csv", tmp_path / "link.csv"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link.symlink_to(target)
    with AtomicFile(link, force=True) as file:
        file.commit(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    target.unlink()
    with AtomicFile(link) as file:
        file.commit(b"newer")
    assert link.is_symlink()
    assert target.read_bytes() == b"newer"


def test_the_mode_is_that_of_any_new_file(tmp_path):
    (tmp_path / "usual").touch()
    with AtomicFile(tmp_path / "out.csv") as file:
        file.commit(b"")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "out.csv")}
    assert len(modes) == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("absent/out.csv", "no folder"),
        ("folder.csv", "not a file"),
        ("pipe.csv", "not a file"),
        ("x" * 300 + ".csv", "too long"),
        ("x" * 300 + "/out.csv", "too long"),
        ("loop.csv", "leads back to itself"),
        ("to-loop.csv", "leads back to itself"),
        ("loop.csv/out.csv", "no folder"),
        ("to-nowhere.csv", "no folder"),
    ],
)
def test_a_place_that_cannot_be_written_to(tmp_path, name, says):
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    links = {"loop": "back", "back": "loop", "to-loop": "loop", "to-nowhere": "absent/out"}
    for link, target in links.items():
        (tmp_path / f"{link}.csv").symlink_to(f"{target}.csv")
    for force in (False, True):
        with pytest.raises(OutputError, match=says), AtomicFile(tmp_path / name, force=force):
            pytest.fail("entered")


def test_what_a_run_that_was_killed_left_there_disturbs_no_other(tmp_path):
    left = tmp_path / f".headcount-{os.getpid()}-0"
    left.write_bytes(b"half of a release")
    with AtomicFile(tmp_path / "out.csv") as file:
        file.commit(b"content")
    assert (tmp_path / "out.csv").read_bytes() == b"content"
    assert left.read_bytes() == b"half of a release"


def test_a_folder_that_takes_no_files():
    with pytest.raises(OutputError, match="cannot write to '/proc'"), AtomicFile("/proc/out.csv"):
        pytest.fail("entered")


def test_a_failure_at_the_end_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left"), AtomicFile(path, force=True) as file:
        file.commit(b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_formats_by_ending(tmp_path):
    for name, form in {"a.csv": "csv", "a.b.JSON": "json", "a.parquet": "parquet"}.items():
        assert format_of(tmp_path / name) == form
    for name in ("a", "a.txt", "csv", "a.csv.gz"):
        with pytest.raises(OutputError, match=r"\.csv, \.json, \.parquet"):
            format_of(tmp_path / name)


def test_what_is_not_written_is_refused_with_every_ending_that_is(tmp_path):
    release = release_of({"item": ["a"]})
    with pytest.raises(OutputError, match=r"known endings: \.csv, \.json, \.parquet, \.html$"):
        release.write(tmp_path / "c.md")
    with pytest.raises(OutputError, match=r"known endings: \.csv, \.json, \.parquet$"):
        format_of(tmp_path / "c.md")  # for --output, which writes no pages
