"""A run that fails: what was reserved comes back before noise was drawn, and never after."""

from contextlib import suppress

import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines.duckdb.count import DuckDB
from headcount.privacy.mechanisms.auto import Auto
from headcount.privacy.mechanisms.pcr import PCR
from headcount.privacy.mechanisms.rationed import Rationed
from headcount.privacy.mechanisms.threshold import Threshold
from headcount.privacy.randomness import OsEntropy, SeededEntropy

BUDGET = hc.Budget(rho=1, delta=1e-6)
COUNTS = {f"i{n}": 5000 - 1000 * n for n in range(4)}
EVENTS = pa.table(
    {
        "u": [user for n in range(4) for user in range(900 - 200 * n)],
        "i": [f"i{n}" for n in range(4) for _ in range(900 - 200 * n)],
    }
)
UNBOUNDED = ("auto", "pcr", "pcr-paper", "pcr-noise-reduction", "rationed")
METHODS = {
    **{method: {"method": method} for method in UNBOUNDED},
    "threshold": {"method": "threshold", "max_items_per_user": 4},
    "release_counts": {},
}


class Stopped(BaseException):
    """Whatever ends a run; Ctrl-C is no `Exception` either."""


class Steps:
    """Writes down in which order a run reads and draws noise, and ends it at one of its steps.

    From the reservation on. The noise is the same in every run, so that its steps are.
    """

    def __init__(self, monkeypatch, stop_at=None):
        self.log, self.stop_at, self.reserved = [], stop_at, False
        same = SeededEntropy(1)
        for owner, name, does, step in (
            (OsEntropy, "words", lambda self, *given: same.words(*given), "noise"),
            (
                OsEntropy,
                "discrete_gaussian",
                lambda self, *given: same.discrete_gaussian(*given),
                "noise",
            ),
            (DuckDB, "fetch", DuckDB.fetch, "read"),
            (DuckDB, "materialise", DuckDB.materialise, "read"),
            *(
                (kind, "prepare", kind.prepare, "prepared")
                for kind in (Auto, PCR, Rationed, Threshold)
            ),
            (hc.Ledger, "reserve", hc.Ledger.reserve, "reserved"),
        ):
            monkeypatch.setattr(owner, name, self._watched(does, step))

    def _watched(self, does, step):
        def watched(*given):
            done = does(*given)
            if self.reserved:
                self.log.append(step)
            self.reserved |= step == "reserved"
            if len(self.log) - 1 == self.stop_at:
                raise Stopped
            return done

        return watched


def steps_of(tmp_path, method, stop_at=None):
    """Run once; return the steps, and the ledger."""
    options = {"budget": BUDGET, "dataset": "shop", **METHODS[method]}
    ledger = hc.Ledger(tmp_path / f"{stop_at}.db")
    ledger.init("shop", budget=BUDGET)
    with pytest.MonkeyPatch.context() as monkeypatch, suppress(Stopped):
        steps = Steps(monkeypatch, stop_at)
        if method == "release_counts":
            hc.release_counts(COUNTS, ledger=ledger, user="u", **options)
        else:
            hc.release(EVENTS, user="u", item="i", ledger=ledger, **options)
    return steps.log, ledger


@pytest.mark.parametrize("method", METHODS)
def test_what_is_reserved_comes_back_only_if_no_noise_was_drawn(tmp_path, method):
    steps, ledger = steps_of(tmp_path, method)
    assert [str(entry.kind) for entry in ledger.log()] == ["open", "reserve", "settle"]
    noise = [place for place, step in enumerate(steps) if step == "noise"]
    prepared = steps.index("prepared") if "prepared" in steps else noise[0]
    assert 0 < prepared <= noise[0]
    for place in sorted({0, prepared - 1}):
        stopped, ledger = steps_of(tmp_path, method, stop_at=place)
        assert "noise" not in stopped
        kinds = [str(entry.kind) for entry in ledger.log()]
        if method == "release_counts":  # whose rows are chosen by whoever asks
            assert kinds == ["open", "reserve"]
            continue
        assert kinds == ["open", "reserve", "return"]
        assert ledger.books().left("shop") == ledger.books().total("shop").limit
    reads_after_noise = [n for n, step in enumerate(steps) if step == "read" and n > noise[0]]
    for place in {noise[0], noise[len(noise) // 2], noise[-1], *reads_after_noise[-1:]}:
        stopped, ledger = steps_of(tmp_path, method, stop_at=place)
        assert stopped == steps[: place + 1]
        assert [str(entry.kind) for entry in ledger.log()] == ["open", "reserve"]
        assert ledger.books().left("shop").rho == 0
        with pytest.raises(hc.BudgetRefusedError):
            hc.release_counts(COUNTS, budget=BUDGET, ledger=ledger, dataset="shop", user="u")


@pytest.mark.parametrize("method", ["pcr", "release_counts"])
def test_a_run_that_fails_after_the_last_noise_counts_as_spent(tmp_path, method, monkeypatch):
    def failing(*given):
        raise MemoryError

    monkeypatch.setattr("headcount.pipeline.build_release", failing)
    with pytest.raises(MemoryError):
        steps_of(tmp_path, method)
    ledger = hc.Ledger(tmp_path / "None.db")
    assert [str(entry.kind) for entry in ledger.log()] == ["open", "reserve"]
