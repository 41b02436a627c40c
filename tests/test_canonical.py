"""The texts that releases are hashed by. None of them may ever change."""

import datetime as dt
import hashlib
import json
import subprocess
import sys
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.results.canonical import (
    FORMAT,
    METADATA_KEY,
    canonical_json,
    fingerprint,
    fingerprint_of_document,
    plain_column,
    strict_json,
)

NANOSECONDS = 1_709_209_801_000_000_500


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        (pa.bool_(), [True, None, False], [True, None, False]),
        (pa.int8(), [-128, 127], [-128, 127]),
        (pa.uint64(), [2**64 - 1], [18446744073709551615]),
        (pa.float64(), [0.1, -0.0, 1e300], [0.1, -0.0, 1e300]),
        (
            pa.float64(),
            [float("nan"), float("inf"), float("-inf"), None],
            ["nan", "inf", "-inf", None],
        ),
        (pa.float32(), [0.1], [0.10000000149011612]),
        (pa.string(), ["tea", "", None], ["tea", "", None]),
        (pa.large_string(), ["tea"], ["tea"]),
        (pa.binary(), [b"\x00\xff", b""], ["00ff", ""]),
        (pa.large_binary(), [b"a"], ["61"]),
        (pa.decimal128(9, 2), [Decimal("1.5"), Decimal("-0.01")], ["1.50", "-0.01"]),
        (pa.decimal256(50, 0), [Decimal(10**49)], ["1" + "0" * 49]),
        (pa.date32(), [0, 19782, 10**7, -(10**6), None],
         ["1970-01-01", "2024-02-29", "29349-01-26", "-768-02-04", None]),
        (pa.date64(), [dt.date(2024, 2, 29)], ["2024-02-29"]),
        (pa.time32("s"), [3723], ["01:02:03"]),
        (pa.time32("ms"), [3723004], ["01:02:03.004000"]),
        (pa.time64("us"), [3723000004], ["01:02:03.000004"]),
        (pa.time64("ns"), [3723000000004, 3723000004000],
         ["01:02:03.000000004", "01:02:03.000004"]),
        (pa.timestamp("s"), [0, -1], ["1970-01-01T00:00:00", "1969-12-31T23:59:59"]),
        (pa.timestamp("ms"), [1], ["1970-01-01T00:00:00.001000"]),
        (pa.timestamp("us"), [-1], ["1969-12-31T23:59:59.999999"]),
        (pa.timestamp("ns"), [NANOSECONDS, NANOSECONDS - 500],
         ["2024-02-29T12:30:01.000000500", "2024-02-29T12:30:01"]),
        (pa.timestamp("us", "UTC"), [0], ["1970-01-01T00:00:00+00:00"]),
        (pa.timestamp("us", "Asia/Tokyo"), [0], ["1970-01-01T00:00:00+00:00"]),
        (pa.null(), [None], [None]),
    ],
)  # fmt: skip
def test_the_text_of_each_type(kind, values, texts):
    found = plain_column(pa.chunked_array([pa.array(values, kind)]))
    assert found == texts
    assert list(map(type, found)) == list(map(type, texts))


def test_a_type_that_has_no_text_is_refused():
    with pytest.raises(TypeError, match="list"):
        plain_column(pa.chunked_array([pa.array([[1]])]))


def test_values_do_not_depend_on_whether_pandas_is_there():
    """PyArrow gives timestamps in nanoseconds as objects of pandas, where that is installed."""
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pandas': raise ModuleNotFoundError(name)\n"
        "if sys.argv[1] == 'without': sys.meta_path.insert(0, Without())\n"
        "import pyarrow as pa\n"
        "from headcount.results.canonical import plain_column\n"
        f"values = pa.array([{NANOSECONDS}], pa.timestamp('ns'))\n"
        "print(plain_column(pa.chunked_array([values])))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code, how], capture_output=True, check=True, text=True
        ).stdout
        for how in ("with", "without")
    }
    assert said == {"['2024-02-29T12:30:01.000000500']\n"}


@given(st.datetimes())
def test_microseconds_are_written_as_python_does(value):
    column = pa.chunked_array([pa.array([value], pa.timestamp("us"))])
    assert plain_column(column) == [value.isoformat()]


ACCOUNT = {"format": FORMAT, "guarantee": {"rho": 1.0}, "spent": {}, "settings": {}}


def table_with(account, **more):
    table = pa.table({"q": ["tea"], "count": [7], "std_error": [0.5]})
    return table.replace_schema_metadata({METADATA_KEY: json.dumps(account).encode(), **more})


def test_a_fingerprint_is_of_what_was_published_as_it_was_published():
    """A key that this version does not know, as a later one may add, is hashed like any other."""
    for account in (ACCOUNT, {**ACCOUNT, "later": [1]}, {k: ACCOUNT[k] for k in ("spent",)}):
        document = {**account, "items": [{"q": "tea", "count": 7, "std_error": 0.5}]}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        wanted = hashlib.sha256(text.encode()).hexdigest()
        assert fingerprint(table_with(account)) == wanted
        assert fingerprint_of_document(document) == wanted


def test_what_is_no_release_has_no_fingerprint():
    with pytest.raises(ValueError, match="newer headcount"):
        fingerprint(table_with({**ACCOUNT, "format": "headcount-release-3"}))
    with pytest.raises(ValueError, match="nothing else"):
        fingerprint(table_with(ACCOUNT, note=b"x"))
    with pytest.raises(ValueError, match="once"):
        fingerprint(table_with({**ACCOUNT, "items": []}))
    doubled = pa.table([[999], ["tea"], [7]], names=["count", "q", "count"])
    with pytest.raises(ValueError, match="once"):
        fingerprint(doubled.replace_schema_metadata(table_with(ACCOUNT).schema.metadata))
    with pytest.raises(ValueError, match="twice"):
        strict_json('{"a": 1, "a": 2}')
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))
