"""Nothing tells a table without rows from one that has a few users."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TABLES = {
    "no rows": {"u": [], "i": []},
    "null users": {"u": [None, None], "i": ["a", "b"]},
    "null items": {"u": ["x", "y"], "i": [None, None]},
    "one user": {"u": ["x"], "i": ["a"]},
    "three users": {"u": ["x", "y", "z"], "i": ["a", "a", ""]},
}


# With k̄ given, no noisy answer chooses it: what is left to chance is an item that comes out, of at
# most two users where about 260 are needed.
ASK = ["--user", "u", "--item", "i", "--rho", "0.01", "--candidates", "1000"]


def write(folder, rows, name):
    schema = pa.schema([("u", pa.string()), ("i", pa.string())])
    if name.endswith("parquet"):
        pq.write_table(pa.table(rows, schema=schema), folder / name)
    else:
        lines = [
            ",".join("" if value is None else f'"{value}"' for value in row)
            for row in zip(*rows.values(), strict=True)
        ]
        (folder / name).write_text("\n".join(["u,i", *lines]) + "\n")


def without_chance(account):
    """Leave out what follows from noise that was paid for, and so differs from run to run."""
    document = json.loads(account)
    for key in ("k_bar", "rounds_run"):
        document["settings"].pop(key, None)
    return json.dumps(document)


@pytest.mark.parametrize("name", ["e.parquet", "e.csv"])
@pytest.mark.parametrize("method", ["pcr", "pcr-paper"])
def test_small_tables_all_look_the_same(headcount, tmp_path, name, method):
    seen = set()
    for rows in TABLES.values():
        write(tmp_path, rows, name)
        ran = headcount("release", tmp_path / name, *ASK, "--method", method, "--format", "json")
        assert ran.code == 0
        assert json.loads(ran.out)["items"] == []
        assert "Nothing was released: with this budget, no item was found" in ran.err
        assert "On events, the method auto may find more." in ran.err
        seen.add((without_chance(ran.out), ran.err))
    assert len(seen) == 1
    assert json.loads(seen.pop()[0])["spent"]["rho"] > 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_files_are_the_same_too(headcount, tmp_path, ending):
    seen = set()
    for rows in TABLES.values():
        write(tmp_path, rows, "e.parquet")
        output = tmp_path / f"o.{ending}"
        args = [*ASK, "--output", output, "--force"]
        assert headcount("release", tmp_path / "e.parquet", *args).code == 0
        if ending == "parquet":
            table = pq.read_table(output)
            account = without_chance(table.schema.metadata[b"headcount"])
            seen.add((account, str(table.schema.remove_metadata()), len(table)))
        else:
            seen.add(output.read_bytes())
    assert len(seen) == 1
