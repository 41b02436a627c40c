"""The public face as a typed program uses it; `make lint` checks this file, strictly.

Where a line says ``type: ignore``, a type checker must refuse it: if it no longer does, the
ignore is unused, and that is an error too.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, assert_type

import headcount as hc

if TYPE_CHECKING:
    import pandas as pd

    from headcount.engines import Opened, Reader, Session


def a_release(path: Path) -> hc.Release:
    budget = hc.Budget(epsilon=3, delta=1e-6)
    assert_type(budget.rho, float)
    made = hc.release(
        path,
        user="user_id",
        item=["query", "country"],
        budget=budget,
        method="auto",
        relative_error=0.1,
        columns="all",
        engine="duckdb",
        progress=lambda message: None,
    )
    assert_type(made, hc.Release)
    assert_type(made.guarantee, hc.Guarantee)
    assert_type(made.guarantee.epsilon, float)
    assert_type(len(made), int)
    return made


def a_question(text: str) -> hc.Release:
    question = hc.Question.from_json(text)
    assert_type(question, hc.Question)
    made = hc.ask(question, ledger="budget.db", dataset="shop")
    assert_type([notice.severity for notice in made.notices()], list[Literal["caution", "advice"]])
    assert_type(made.item_columns, list[str])
    return made


def a_histogram(counts: Mapping[str, int]) -> hc.Release:
    return hc.release_counts(counts, rho=1, unsafe_seed=1)


def forecasts(path: Path) -> float:
    budget = hc.Budget(rho=1)
    guessed = hc.plan(budget=budget, users=1000, items_per_user=2.5, items=100, method="pcr")
    assert_type(guessed, hc.Forecast)
    assert_type(guessed.basis, Literal["guess", "stand-in"])
    assert_type(guessed.smallest, hc.Estimate | None)
    assert_type(guessed.summary(), list[str])
    read = hc.plan(budget=budget, like=path, user="u", item=["i", "j"])
    return read.released.typical


def shown(made: hc.Release, path: Path) -> None:
    made.write(path, force=True)
    made.write("counts.json")
    made.plot(top=5).set_title("searches")


def frames(made: hc.Release) -> "pd.DataFrame":
    return made.to_pandas()


def a_ledger(where: Path, made: hc.Release) -> None:
    ledger = hc.Ledger(where, actor="ann")
    ledger.init("shop", budget=hc.Budget(rho=1, delta=1e-5))
    hc.release(
        "events.parquet", user="u", item="i", budget=hc.Budget(rho=0.1), ledger=ledger,
        dataset="shop",
    )  # fmt: skip


def errors() -> None:
    try:
        a_histogram({})
    except hc.BudgetRefusedError as error:
        assert_type(error.exit_code, int)
    except hc.HeadcountError:
        pass


def refused(path: Path) -> None:
    budget = hc.Budget(rho=1)
    hc.release(path, user="u", item="i", epsilon="3")  # type: ignore[arg-type]
    hc.release(path, "u", "i", budget)  # type: ignore[call-arg]
    hc.release(path, user=1, item="i", budget=budget)  # type: ignore[arg-type]
    hc.release(path, user="u", item="i", budget=1.0)  # type: ignore[arg-type]
    hc.release(path, user="u", item="i", budget=budget, candidates="9")  # type: ignore[arg-type]
    hc.release(path, user="u", item="i", budget=budget, method="guess")  # type: ignore[arg-type]
    hc.release(path, user="u", item="i", budget=budget, columns="some")  # type: ignore[arg-type]
    hc.plan(epsilon="3", users=5, items_per_user=2, items=3)  # type: ignore[arg-type]
    hc.plan(budget=budget, users=5.5)  # type: ignore[arg-type]
    hc.ask("events.parquet")  # type: ignore[arg-type]


def an_engine(reader: "Reader", session: "Session", path: Path) -> "Opened":
    return reader.read_files(session, str(path), columns=None, settings={})
