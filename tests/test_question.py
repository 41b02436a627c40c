"""A question is one frozen value, and says the same as JSON, in a ledger and in Python."""

import json
from dataclasses import FrozenInstanceError, fields, replace
from typing import get_args

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headcount as hc
from headcount.inputs import Request
from headcount.ledger.entries import Kind
from headcount.privacy import mechanisms
from headcount.question import FORMAT, Method, Question

ROWS = pa.table({"who": list(range(400)) * 2, "what": ["tea"] * 400 + ["milk"] * 400})


@pytest.fixture
def asked(tmp_path):
    pa.parquet.write_table(ROWS, tmp_path / "events.parquet")
    path = tmp_path / "events.parquet"
    return Question(source=path, user="who", item="what", budget=hc.Budget(rho=1))


def text():
    return st.text(st.characters(codec="utf-8"), min_size=1)


numbers = st.floats(1e-3, 100)
questions = st.builds(
    Question,
    source=text(),
    user=text().map("user {}".format),
    item=st.lists(text().map("item {}".format), min_size=1, max_size=3, unique=True),
    budget=st.one_of(
        st.builds(lambda rho, delta: hc.Budget(rho=rho, delta=delta), numbers, st.just(1e-6)),
        st.builds(lambda epsilon: hc.Budget(epsilon=epsilon, delta=1e-9), numbers),
    ),
    table=st.none() | text().filter(lambda some: "\0" not in some),
    engine=st.sampled_from([None, "duckdb", "polars", "spark"]),
    spark_conf=st.dictionaries(text(), text(), max_size=2),
    method=st.just("auto"),
    relative_error=st.none() | st.floats(0.01, 0.5),
    columns=st.sampled_from(["standard", "all"]),
    data_version=st.none() | text().filter(lambda some: some.strip() and some.isprintable()),
)


@given(questions)
def test_json_says_all_of_a_question(question):
    assert Question.from_json(question.to_json()) == question
    assert hash(Question.from_json(question.to_json())) == hash(question)


def test_json_has_every_field_and_its_format(asked):
    written = json.loads(asked.to_json())
    assert written.pop("format") == FORMAT == "headcount-question-1"
    assert set(written) == {each.name for each in fields(Question)}
    assert written["budget"] == {"rho": 1.0, "delta": 1e-6}


def test_what_json_leaves_out_has_its_default():
    least = {"format": FORMAT, "source": "a.csv", "user": "u", "item": "i", "budget": {"rho": 1}}
    budget = hc.Budget(rho=1)
    assert Question.from_dict(least) == Question(source="a.csv", user="u", item="i", budget=budget)


def test_a_question_is_frozen(asked):
    with pytest.raises(FrozenInstanceError):
        asked.user = "other"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"format": "headcount-question-2"}, hc.SettingsError),
        ({"format": None}, hc.SettingsError),
        ({"candidate": 3}, hc.SettingsError),
        ({"budget": 1}, hc.SettingsError),
        ({"budget": {"rho": 1, "eps": 1}}, hc.SettingsError),
        ({"budget": {"rho": 1, "epsilon": 1}}, hc.BudgetError),
        ({"budget": {"rho": "1"}}, hc.BudgetError),
        ({"source": 5}, hc.SourceError),
        ({"user": None}, hc.SourceError),
        ({"item": 5}, hc.SourceError),
        ({"table": 5}, hc.SourceError),
        ({"table": "t", "sql": "SELECT 1"}, hc.SourceError),
        ({"engine": "abacus"}, hc.SettingsError),
        ({"spark_conf": {"a": 1}}, hc.SettingsError),
        ({"method": "guess"}, hc.SettingsError),
        ({"method": ["auto"]}, hc.SettingsError),
        ({"relative_error": 2}, hc.SettingsError),
        ({"columns": "some"}, hc.SettingsError),
        ({"data_version": " "}, hc.SettingsError),
        ({"data_version": "a\nb"}, hc.SettingsError),
        ({"item": []}, hc.SourceError),
        ({"item": ["what", "what"]}, hc.SourceError),
        ({"item": "who"}, hc.SourceError),
        ({"budget": {"rho": 10**400}}, hc.BudgetError),
    ],
)
def test_json_that_is_no_question_is_refused(asked, change, error):
    with pytest.raises(error):
        Question.from_dict({**asked.to_dict(), **change})


@pytest.mark.parametrize("missing", ["source", "user", "budget", "format"])
def test_what_is_needed_is_needed(asked, missing):
    written = asked.to_dict()
    del written[missing]
    with pytest.raises(hc.SettingsError, match=missing):
        Question.from_dict(written)


@pytest.mark.parametrize(
    "content", ["", "[", "[]", "1", '{"a": 1, "a": 2}', b"\xff", "[" * 10**5, None, {}]
)
def test_text_that_is_no_question_is_refused(content):
    with pytest.raises(hc.SettingsError):
        Question.from_json(content)


def test_asking_is_what_release_does(asked):
    direct = hc.release(asked.source, user="who", item="what", budget=asked.budget, unsafe_seed=7)
    assert hc.ask(asked, unsafe_seed=7).table.equals(direct.table)


def test_only_a_question_is_asked(asked):
    with pytest.raises(TypeError, match="Question"):
        hc.ask(asked.to_dict())


def test_a_table_in_memory_is_asked_about_but_not_written_down():
    question = Question(source=ROWS, user="who", item="what", budget=hc.Budget(rho=1))
    assert len(hc.ask(question)) == 2
    with pytest.raises(hc.SourceError, match="memory"):
        question.to_json()


def test_the_ledger_has_the_question_and_it_can_be_asked_again(asked, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=5, delta=1e-5))
    question = replace(asked, data_version="monday")
    first = hc.ask(question, ledger=ledger, dataset="shop")
    reserved = next(entry for entry in ledger.log() if entry.kind is Kind.RESERVE)
    kept = Question.from_dict(reserved.facts["asked"])
    assert kept == replace(question, source=str(question.source))
    assert hc.ask(kept, ledger=ledger, dataset="shop").table.equals(first.table)


def test_the_ledger_has_no_secret_of_a_question(asked, tmp_path):
    ledger = hc.Ledger(tmp_path / "budget.db")
    ledger.init("shop", budget=hc.Budget(rho=5, delta=1e-5))
    conf = {
        "spark.hadoop.fs.s3a.secret.key": "hush-hush",
        "spark.hadoop.fs.azure.account.key.x": "hush-hush",
        "spark.jars.repositories": "https://me:hush-hush@host",
        "spark.driver.extraJavaOptions": "-Dkey=hush-hush",
    }
    question = replace(asked, source="postgres://me:hush-hush@nowhere.invalid/db", table="t")
    for each in (question, replace(question, source="gone.parquet", table=None, spark_conf=conf)):
        with pytest.raises(hc.HeadcountError):
            hc.ask(each, ledger=ledger, dataset="shop")
    assert b"hush" not in (tmp_path / "budget.db").read_bytes()


def test_no_secret_of_a_question_is_shown(asked):
    shown = repr(replace(asked, source="postgres://me:hush@host/db", spark_conf={"a": "hush"}))
    assert "hush" not in shown
    assert "user='who'" in shown


def test_the_methods_of_the_type_are_those_there_are():
    assert set(get_args(Method)) == set(mechanisms.names())


def test_what_is_read_is_what_was_asked_for(asked):
    assert asked.request == Request(columns=["who", "what"], user="who")
