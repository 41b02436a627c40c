"""Engines are found, not known: one from outside is used like headcount's own."""

import tomllib
from pathlib import Path

import click
import pytest

import headcount as hc
from headcount.cli.release import release as command
from headcount.engines import registry
from tests.conftest import USERS
from tests.engines import shop

ROOT = Path(__file__).parents[2]
BUDGET = hc.Budget(rho=50.0)
OPTIONS = ("--user", "uid", "--item", "item", "--rho", "50")


@pytest.fixture
def open_shop(events):
    registry.register(shop.reader)
    shop.TABLES["events"] = events
    yield
    registry.unregister("shop")
    shop.TABLES.clear()


def released(source, **options):
    found = hc.release(source, user="uid", item="item", budget=BUDGET, **options)
    return set(found.table["item"].to_pylist())


def test_an_engine_from_outside_reads_urls_files_and_objects(open_shop, events, parquet):
    assert released("shop://corner", table="events") == set(USERS)
    assert released(parquet, engine="shop") == set(USERS)
    assert released(shop.Basket(events)) == set(USERS)
    with pytest.raises(hc.SourceError, match="the shop has no table 'absent'"):
        released("shop://corner", table="absent")


def test_it_counts_in_one_pass_where_it_cannot_keep_pairs(open_shop):
    with pytest.raises(hc.SourceError, match="do not run on duckdb"):
        released("shop://corner", table="events", method="rationed")


def test_what_it_raises_quotes_no_data(open_shop, monkeypatch):
    def leak(*args):
        raise RuntimeError("canary-item-91c2")

    monkeypatch.setattr(shop.ShopReader, "open_database", leak)
    with pytest.raises(hc.EngineError) as raised:
        released("shop://corner", table="events")
    assert str(raised.value) == "the source cannot be opened: the engine failed (RuntimeError)"
    assert raised.value.__context__ is None


def test_messages_name_it(open_shop, parquet, tmp_path):
    with pytest.raises(hc.SourceError, match="supported are postgres://, shop:// and spark://"):
        released("unknown://x")
    with pytest.raises(hc.SourceError, match=r"\(postgres://, shop:// or spark://\)"):
        released(parquet, table="t")
    with pytest.raises(hc.SettingsError, match="there are: duckdb, polars, shop, spark"):
        released(parquet, engine="absent")
    with pytest.raises(hc.SourceError, match=r"SQL works with .*; for The shop, name a table"):
        released("shop://corner", sql="SELECT 1")
    lines = tmp_path / "e.jsonl"
    lines.write_text('{"uid": 1, "item": 1}\n')
    with pytest.raises(hc.SourceError, match="The shop reads CSV and Parquet files here"):
        released(lines, engine="shop")


def test_it_is_a_choice_of_the_command_line(open_shop, headcount, parquet):
    assert "[duckdb|polars|shop|spark]" in headcount("release", "--help").out
    ran = headcount("release", parquet, "--engine", "shop", "--format", "csv", *OPTIONS)
    assert (ran.code, ran.out.count("\n")) == (0, 1 + len(USERS))


def test_without_it_nothing_speaks_of_it(headcount, parquet):
    with pytest.raises(hc.SourceError, match="supported are postgres:// and spark://"):
        released("shop://corner", table="events")
    ran = headcount("release", parquet, "--engine", "shop", *OPTIONS)
    assert ran.code == 2
    assert "'shop' is not one of 'duckdb', 'polars', 'spark'" in ran.err


def test_a_package_declares_one(process, tmp_path, parquet):
    """As an installed package does: metadata on the path, and no line of headcount changed."""
    declared = tmp_path / "shop-1.0.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1.0\n")
    (declared / "entry_points.txt").write_text("[headcount.engines]\nshop = shop_engine:reader\n")
    (tmp_path / "shop_engine.py").write_text(Path(shop.__file__).read_text())
    path = f"{tmp_path}:{ROOT / 'src'}"
    call = ("release", parquet, "--engine", "shop", "--format", "csv", *OPTIONS)
    ran = process(*call, env={"PYTHONPATH": path})
    assert (ran.code, ran.out.count("\n")) == (0, 1 + len(USERS))
    (tmp_path / "shop_engine.py").write_text("import a_package_that_is_not_there")
    ran = process(*call, env={"PYTHONPATH": path})
    assert ran.code == 4
    assert "the engine 'shop' cannot be loaded from shop_engine:reader" in ran.err


def test_two_engines_of_one_name_or_scheme_are_refused(open_shop):
    with pytest.raises(hc.SettingsError, match="an engine 'shop' is already registered"):
        registry.register(shop.reader)

    class Rival(shop.ShopReader):
        name = "rival"

    registry.register(Rival())
    try:
        with pytest.raises(hc.SettingsError, match="several engines read shop://: rival and shop"):
            released("shop://corner", table="events")
    finally:
        registry.unregister("rival")


def test_headcounts_own_are_declared_once():
    """Where metadata are older than the code, the folders are taken: they are the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = project["entry-points"][registry.GROUP]
    folders = (ROOT / "src" / "headcount" / "engines").glob("*/__init__.py")
    assert declared == {
        path.parent.name: f"headcount.engines.{path.parent.name}:reader" for path in folders
    }
    assert registry.names() == sorted(declared)
    for name in declared:
        assert registry.reader(name).name == name


def test_extras_are_named_like_their_engines():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    need = {one.name for one in registry.readers() if one.package is not None}
    others = {"plot"}  # for pictures
    assert need == set(project["optional-dependencies"]) - others


def test_engines_are_imported_when_used(process):
    """Neither the engines nor their libraries are loaded by importing headcount."""
    import subprocess
    import sys

    program = (
        "import sys, headcount; "
        "from headcount.engines import registry; "
        "registry.readers(); "
        "print([m for m in sys.modules if m.startswith('headcount.engines.') and m.count('.') > 2]"
        ", {'ibis', 'duckdb', 'polars', 'pyspark', 'psycopg'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")
    assert (done.stdout, done.stderr) == ("[] set()\n", "")


def test_the_choices_of_the_command_are_those_of_the_registry():
    [option] = [option for option in command.params if option.name == "engine"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == tuple(registry.file_engines())
