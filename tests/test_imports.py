"""What is imported is there; and what is not there is noticed."""

import pytest

from tests import imports


def test_everything_that_is_imported_is_there():
    assert imports.missing() == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("from tests.sources import x", "no module tests.sources"),
        ("import headcount.absent", "no module headcount.absent"),
        ("def f():\n    from tests.conftest import absent", "tests.conftest has no absent"),
        ("from headcount.engines import absent", "headcount.engines has no absent"),
        ("from headcount.engines import duckdb, Reader; import numpy.absent", None),
    ],
)
def test_what_is_not_there_is_noticed(tmp_path, monkeypatch, line, says):
    monkeypatch.setattr(imports, "ROOT", tmp_path)
    (tmp_path / "x.py").write_text(line)
    found = list(imports.missing_from(tmp_path / "x.py"))
    assert [says in one for one in found] == ([True] if says else [])
