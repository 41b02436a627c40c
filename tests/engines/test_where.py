"""A condition on rows keeps the same rows on every engine."""

import pytest

from headcount.engines import Session
from headcount.errors import SourceError
from tests.inputs.test_where import LIKE, MEANT, ROWS, kept


@pytest.mark.parametrize("engine", ["duckdb", "duckdb file", "polars", "postgres", "spark"])
def test_a_condition_means_the_same_on_every_engine(on_engine, engine):
    call = on_engine(engine, ROWS)
    with Session() as session:
        for text, users in MEANT.items():
            if engine == "polars" and text in LIKE:
                with pytest.raises(SourceError, match="cannot be run on this engine"):
                    kept(session, call, text)
            else:
                assert kept(session, call, text) == users, text
