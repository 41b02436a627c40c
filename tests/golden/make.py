"""Make the golden files of a form: a ledger with releases of every type, and their files.

    python -m tests.golden.make tests/golden/4      # a new form of ledgers
    python -m tests.golden.make tests/golden/3.2    # a new form of releases in it

Run it once for each new form of ledgers or releases, with the version that introduces it, and
commit what it makes. What is there already is never made again: every later version must open it.
"""

import datetime as dt
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

import headcount as hc
from headcount.ledger import file
from headcount.outputs import render

USERS = 4000
ASKED = {"user": "u", "method": "pcr", "budget": hc.Budget(rho=1), "dataset": "shop"}
#: The question that the ledger can be asked again.
VERSION = "May"


def tables() -> dict[str, pa.Table]:
    """Return events whose item columns are of every type that a release can have."""
    nanoseconds = 1_709_209_801_000_000_500
    each: dict[str, dict[str, tuple[list[object], pa.DataType]]] = {
        "text": {"q": (["tea", "<b>café</b> \u202e\x1b[0m"], pa.string())},
        "numbers": {
            "i": ([1, -(2**62)], pa.int64()),
            "w": ([2**64 - 1, 0], pa.uint64()),
            "f": ([0.1, float("nan")], pa.float64()),
            "g": ([0.1, float("inf")], pa.float32()),
            "b": ([True, False], pa.bool_()),
        },
        "times": {
            "d": ([dt.date(2024, 2, 29), dt.date(1, 1, 1)], pa.date32()),
            "t": ([dt.datetime(2024, 2, 29, 12, 30, 1, 500), dt.datetime(1900, 1, 1)],
                  pa.timestamp("us")),
            "n": ([nanoseconds, nanoseconds + 1], pa.timestamp("ns")),
            "z": ([dt.datetime(2024, 2, 29, 12, 30, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
            "c": ([dt.time(1, 2, 3), dt.time(23, 59, 59, 999_999)], pa.time64("us")),
        },
        "others": {
            "m": ([Decimal("1.50"), Decimal("-0.01")], pa.decimal128(9, 2)),
            "x": ([b"\x00\xff", b""], pa.binary()),
        },
    }  # fmt: skip
    return {
        name: pa.table(
            {
                "u": list(range(USERS)) * 2,
                **{
                    column: pa.array([values[0]] * USERS + [values[1]] * USERS, kind)
                    for column, (values, kind) in columns.items()
                },
            }
        )
        for name, columns in each.items()
    }


def main(folder: Path) -> None:
    """Write the files; refuse to replace any."""
    folder.mkdir()
    file.ROOM = file.ROOM_IN_JOURNAL = 2**12  # the ledger need not be large
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    ledger = hc.Ledger(folder / "ledger.db", actor="ann", clock=lambda: noon)
    ledger.init("shop", budget=hc.Budget(rho=40, delta=1e-4))
    for name, table in tables().items():
        items = [column for column in table.column_names if column != "u"]
        columns = "all" if name == "text" else "standard"
        made = hc.release(
            table, item=items, columns=columns, ledger=ledger, data_version=VERSION, **ASKED
        )
        if len(made) < 2:
            sys.exit("a release came out too small; try again")
        for form in ("json", "parquet"):
            (folder / f"{name}.{form}").write_bytes(render(made, form))
    ledger.reserve("shop", hc.Budget(rho=0.5), {"source": "a table in memory", "method": "pcr"})
    ledger.verify()
    (folder / "ledger.db-journal").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
