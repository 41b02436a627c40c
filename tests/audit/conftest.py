"""Audits run on the same real engines as the tests of engines."""

import pytest

from tests.engines import conftest as engines

on_engine, postgres_url, spark = engines.on_engine, engines.postgres_url, engines.spark


@pytest.fixture(autouse=True)
def _auditor():
    engines.needs("jax_privacy.auditing")
