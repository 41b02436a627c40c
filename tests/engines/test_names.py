"""The name of a file that is there is that file, to every engine: nothing in it is a pattern."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.errors import SourceError
from tests.inputs.counting import counts

ENGINES = ["duckdb", "polars", "spark"]
# Each would match others of these, or nothing, if it were taken for a pattern, an escape or a URL.
NAMES = [
    *("ev1", "ev2", "ev[12]", "ev*", "ev?", "ev{1,2}", "ev\\1", "ev,1", "[a-z]v1", "**", "ev1 "),
    *("ev%31", "ev#1", "ev;1", "e'v", 'e"v', "évé", "$ev", "~", "a=b", "ev[!2]", "ev\n1"),
]
# What Spark takes for one of its own files, or, before any engine, for the end of a URL's scheme.
HIDDEN = ["_ev1", ".ev1", "ev:1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file for each name, with an item that is called the same; in folders that differ, too."""
    root = tmp_path_factory.mktemp("names")
    for inner in (".", "u=1", "ev[12]", "ev1"):
        (root / inner).mkdir(exist_ok=True)
        for name in [*NAMES, *HIDDEN]:
            table = pa.table({"u": ["a", "b"], "i": [f"{inner} {name}"] * 2})
            pq.write_table(table, root / inner / f"{name}.parquet")
    return root


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "spark":
        request.getfixturevalue("spark")
    return request.param


@pytest.mark.parametrize("inner", [".", "u=1", "ev[12]"])
def test_a_name_is_that_file(engine, folder, inner):
    # Spark takes a second for each.
    some = ["ev[12]", "ev*"] if inner != "." else [name for name in NAMES if name.startswith("ev")]
    names = some if engine == "spark" else NAMES
    for name in names:
        if engine == "duckdb" and "[" in inner and "\\" in name:
            continue  # DuckDB, which takes either sign or the other for itself, finds no such file
        found = counts(folder / inner / f"{name}.parquet", engine=engine)
        assert found == {f"{inner} {name}": 2}, name


def test_a_name_that_is_hidden_from_an_engine_is_that_file_or_refused(engine, folder):
    for name in HIDDEN:
        try:
            assert counts(folder / f"{name}.parquet", engine=engine) == {f". {name}": 2}, name
        except SourceError:
            assert engine == "spark"


def test_a_pattern_is_the_files_that_it_matches(engine, folder):
    """Which are names then: `ev[12]` is among them, and is not asked for as a pattern again."""
    matched = {f"ev1 {name}": 2 for name in ("ev1", "ev2", "ev*", "ev?")}
    assert counts(f"{folder}/ev1/[e]v?.parquet", engine=engine) == matched
    assert counts(f"{folder}/ev[[]*/ev[[]12].parquet", engine=engine) == {"ev[12] ev[12]": 2}


def test_folders_add_no_columns(engine, folder):
    for source in (f"{folder}/u=1/ev1.parquet", f"{folder}/u=1/ev[12].parquet"):
        assert list(counts(source, engine=engine).values()) == [2]


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("engine_of_text", ["duckdb", "spark"])
def test_names_of_text_files(form, engine_of_text, request, tmp_path):
    if engine_of_text == "spark":
        request.getfixturevalue("spark")
    rows = {"csv": "u,i\n1,{0}\n", "json": '{{"u": 1, "i": "{0}"}}\n'}[form]
    for name in ("ev1", "ev2", "ev[12]", "ev*"):
        (tmp_path / f"{name}.{form}").write_text(rows.format(name))
    for name in ("ev[12]", "ev*"):
        assert counts(tmp_path / f"{name}.{form}", engine=engine_of_text) == {name: 1}


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize(
    "names", [("u", "u", "i"), ("u", "i", "i"), ("u", "i", "I"), ("u", "U", "i")], ids="-".join
)
def test_a_column_that_stands_twice_is_refused(tmp_path, engine, names):
    """Which of the two is the user, or the item, would be a guess."""
    path = tmp_path / "e.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a", "b"])] * 3, names=list(names)), path)
    with pytest.raises(SourceError, match="appears twice"):
        hc.release(path, user="u", item="i", budget=hc.Budget(rho=1), engine=engine)


def test_a_column_that_stands_twice_and_is_not_asked_for_is_no_obstacle(tmp_path):
    path = tmp_path / "e.parquet"
    columns = [pa.array(["a", "b"])] * 4
    pq.write_table(pa.Table.from_arrays(columns, names=["u", "i", "x", "x"]), path)
    hc.release(path, user="u", item="i", budget=hc.Budget(rho=1))
