"""No secret of a source's address stands in a ledger, and none makes another question."""

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import headcount as hc
from headcount.ledger.names import public_name, source_key
from headcount.ledger.stored_releases import known_by

SECRET = "hunter2"


@pytest.mark.parametrize(
    "name",
    [
        "postgres://ann:hunter2@localhost/shop",
        "postgres://ann:hunter2#x@localhost/shop",
        "postgres://ann:x?hunter2@localhost/shop",
        "postgres://ann:x/hunter2@localhost/shop",
        "postgres://ann:12/hunter2@localhost/shop",
        "postgres://ann:hunter2/x@localhost/shop",
        "postgres://ann@localhost/shop?password=hunter2",
        "postgres://ann@localhost/shop?sslpassword=hunter2",
        "postgres://localhost/?dbname=postgres%3A//ann:hunter2@localhost/shop",
        "postgres://ann:hunter2@:x/shop",
        "postgresql://[ann:hunter2@localhost/shop",
        "jdbc:postgresql://ann:hunter2@localhost/shop",
        "host=localhost password=hunter2",
        Path("postgres://ann:hunter2@localhost/shop"),
        "s3a://key:hunter2@bucket/events",
        "s3a://bucket/events?token=hunter2",
        "mysql://[hunter2@x",
        "no such file hunter2\0",
    ],
)
def test_no_password_is_in_a_name(name, tmp_path):
    assert SECRET not in public_name(name)
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=1))
    options = {"user": "u", "item": "q", "budget": hc.Budget(rho=0.1), "table": "t"}
    with pytest.raises(hc.HeadcountError):
        hc.release(name, ledger=ledger, dataset="shop", **options)
    assert SECRET.encode() not in (tmp_path / "budget.db").read_bytes()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("postgresql://ann@db.example.org:5432/shop", "postgres://ann@db.example.org:5432/shop"),
        ("postgres:///shop?host=/run/pg", "postgres://%2Frun%2Fpg/shop"),
        ("spark://localhost:7077", "spark://localhost:7077"),
        ("spark://ann:hunter2@localhost:7077", "spark://…"),
        ("s3a://bucket/events", "s3a://bucket/events"),
        ("postgres://ann@h/shop?options=-csearch_path%3Dx", "postgres://ann@h/shop"),
        (__file__, __file__),  # whatever it is: an input format may say it
        (pa.table({}), "a table in memory (Table)"),
    ],
)
def test_a_name_says_where(name, shown):
    assert public_name(name) == shown


def test_what_is_not_there_is_refused_before_anything_is_reserved(tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=1))
    budget = hc.Budget(rho=0.1)
    with pytest.raises(hc.SourceError, match="there is no file"):
        hc.release("none.csv", user="u", item="q", budget=budget, ledger=ledger, dataset="shop")
    assert len(ledger.log()) == 1


def test_everything_but_the_password_makes_another_source():
    one = source_key("postgres://ann:hunter2@h/shop")
    assert one == source_key("postgres://ann:other@h/shop")
    assert one != source_key("postgres://ann@h/shop?options=-csearch_path%3Dx")
    assert one != source_key("postgres://bob@h/shop")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PGDATABASE", "other"), ("PGHOST", "elsewhere"), ("PGOPTIONS", "-csearch_path=x")],
)
def test_what_the_environment_adds_to_an_address_makes_another_source(monkeypatch, variable, value):
    monkeypatch.delenv(variable, raising=False)
    before = source_key("postgres://ann@/")
    monkeypatch.setenv(variable, value)
    assert source_key("postgres://ann@/") != before
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert SECRET not in str(source_key("postgres://ann@/"))


def test_a_service_makes_another_source(monkeypatch, tmp_path):
    services = tmp_path / "services"
    services.write_text("[one]\ndbname=one\n[two]\ndbname=two\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    found = set()
    for service in ("one", "two"):
        monkeypatch.setenv("PGSERVICE", service)
        found.add(str(source_key("postgres:///")))
    assert len(found) == 2


def test_a_name_that_is_not_utf8_can_be_written_down(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    path.write_text("u,q\n1,tea\n")
    assert public_name(path).endswith("caf\\udce9.csv")
    assert source_key(path) == public_name(path)


@pytest.mark.parametrize(
    "name", ["s3a://key:hunter2@bucket/x", "https://host/d.parquet?version=1", "spark://a@b:1"]
)
def test_an_address_that_may_hold_a_secret_is_never_the_same_source(name):
    assert source_key(name) is None
    asked = hc.Question(
        source=name, user="u", item="q", budget=hc.Budget(rho=1), data_version="May"
    )
    assert known_by("shop", asked) is None
    assert known_by("shop", replace(asked, source="s3a://bucket/x")) is not None
