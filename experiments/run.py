"""Trials in two processes that share each set, resumed where the last run stopped."""

import functools
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from experiments.sets import Source
from experiments.store import Description, ResultStore
from headcount.evaluation.dataset import Dataset
from headcount.evaluation.methods import Method, Target
from headcount.evaluation.trials import TrialOutcome, run_trial

RHOS = (0.1, 0.5, 1.0)
DELTA = 1e-6
RELATIVE_ERROR = 0.1
TRIALS = 10
QUICK_TRIALS = 3
PROCESSES = min(2, os.cpu_count() or 1)


def targets() -> list[Target]:
    """Return the budgets of the paper's figures."""
    return [Target(rho, DELTA, RELATIVE_ERROR) for rho in RHOS]


#: Returns the methods to run on a set in which no user has more items than this.
Methods = Callable[[int], list[Method]]


def run_all(
    found: Sequence[Source], store: ResultStore, trials: int, methods_for: Methods
) -> list[Description]:
    """Run what is missing from the store, and return the descriptions of the sets."""
    descriptions = []
    with _pool() as pool, _bar() as bar:
        task = bar.add_task("", total=len(found) * len(RHOS) * trials)
        for source in found:
            bar.update(task, description=source.name)
            description = store.description(source.name, source.stamp)
            missing = _missing(store, description, trials, methods_for) if description else None
            if missing is None or any(methods for _, _, methods in missing):
                with tempfile.TemporaryDirectory(prefix="headcount-paper-") as folder:
                    bar.update(task, description=f"{source.name}: reading")
                    dataset = source.read()
                    dataset.save(Path(folder))
                    if description is None:
                        description = Description.of(
                            source.name, source.origin, source.stamp, dataset
                        )
                        store.describe(description)
                    del dataset
                    bar.update(task, description=source.name)
                    missing = _missing(store, description, trials, methods_for)
                    for _ in _run(pool, Path(folder), description, missing, store):
                        bar.advance(task)
                    bar.advance(task, sum(not methods for _, _, methods in missing))
            else:
                bar.advance(task, len(missing))
            assert description is not None
            descriptions.append(description)
    return descriptions


Piece = tuple[Target, int, list[Method]]


def _missing(
    store: ResultStore, description: Description, trials: int, methods_for: Methods
) -> list[Piece]:
    """Return each target and seed, with the methods that have no outcome yet."""
    methods = methods_for(description.most_items)
    pieces: list[Piece] = []
    for target in targets():
        there = {(o.method, o.seed) for o in store.outcomes(description, target)}
        for seed in range(trials):
            pieces.append((target, seed, [m for m in methods if (m.name, seed) not in there]))
    return pieces


def _run(
    pool: ProcessPoolExecutor,
    folder: Path,
    description: Description,
    pieces: Sequence[Piece],
    store: ResultStore,
) -> Iterator[None]:
    running: dict[Future[list[TrialOutcome]], Target] = {
        pool.submit(_trial, folder, target, seed, methods): target
        for target, seed, methods in pieces
        if methods
    }
    try:
        for future in as_completed(running):
            store.add(description, running[future], future.result())
            yield
    except BaseException:
        for future in running:
            future.cancel()
        raise


def _trial(folder: Path, target: Target, seed: int, methods: list[Method]) -> list[TrialOutcome]:
    return list(run_trial(_shared(folder), methods, target, seed))


@functools.lru_cache(maxsize=1)
def _shared(folder: Path) -> Dataset:
    return Dataset.load(folder)


def _pool() -> ProcessPoolExecutor:
    # Each gets a fresh interpreter, because forking a process with DuckDB's threads can hang.
    return ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn"))


@contextmanager
def _bar() -> Iterator[Progress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        yield bar
