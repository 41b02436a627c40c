"""Many processes at one ledger: killed at random moments, or racing for the last of the budget.

    python -m tests.ledger.crowd kill LEDGER FOLDER 1000
    python -m tests.ledger.crowd race LEDGER 32 5

A process of its own, because the workers are forked: nothing may have started a thread before.
"""

import heapq
import json
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa

import headcount as hc
from headcount.histogram_question import HistogramQuestion
from headcount.ledger import Charge
from headcount.ledger.entries import Kind
from headcount.ledger.published import fingerprint_of_file
from headcount.ledger.stored_releases import to_bytes
from headcount.outputs import AtomicFile, render
from headcount.privacy.gate import Gate
from headcount.privacy.mechanisms import Options
from headcount.privacy.mechanisms.pcr import PCR
from headcount.privacy.randomness import OsEntropy
from headcount.results.release import build_release
from headcount.views.histogram import TopCounts

WORKERS = 4
BUDGET = hc.Budget(rho=0.1, delta=1e-6)
QUESTION = HistogramQuestion(counts={}, budget=BUDGET, method="pcr")
#: A few releases long.
SECONDS_TO_LIVE = 0.6


def fork(work):
    """Run a function in a process of its own; its exit code is what it returns."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        os._exit(work())
    except hc.HeadcountError as error:
        os._exit(error.exit_code)
    except BaseException:
        os._exit(1)


def warm():
    """Do all but the counting once, here: what it imports, each worker has then."""
    made = run(Charge(None, None, QUESTION, private=True))
    render(made, "json")
    to_bytes(made)


def run(charge):
    """Release as `headcount.release_counts` does, from what an engine would have counted."""
    charge.reserve(None)
    guarantee = hc.Guarantee.of(BUDGET, method="pcr", private=True)
    counts = pa.chunked_array([pa.array([4000, 1500])])
    top = TopCounts(items=pa.table({"item": ["bread", "milk"]}), counts=counts)
    how = PCR.of(Options(candidates=50), BUDGET)
    made = how.on_histogram(top, 0, Gate(BUDGET.whole, OsEntropy()), lambda said: None)
    return charge.settled(build_release(made, guarantee))


def release_for_ever(where, folder, name):
    ledger = hc.Ledger(where, actor="worker")
    number = 0
    while True:
        number += 1
        with AtomicFile(folder / f"{name}-{number}.json") as file:
            try:
                made = run(Charge(ledger, "shop", QUESTION, private=True))
            except hc.BudgetRefusedError:
                continue
            file.commit(render(made, "json"))


def kill(where, folder, kills):
    """Kill so many workers, each at a random moment of its life; return what was left behind."""
    moments = random.Random(kills)
    total = hc.Budget(rho=0.2 * kills, delta=min(2e-6 * kills, 1e-3))
    hc.Ledger(where).init("shop", budget=total)
    warm()
    deadlines, killed, started = [], 0, 0
    while killed < kills:
        while len(deadlines) < WORKERS and started < kills:
            started += 1
            name = started
            pid = fork(lambda name=name: release_for_ever(where, folder, name))
            end = time.monotonic() + moments.uniform(0, SECONDS_TO_LIVE)
            heapq.heappush(deadlines, (end, pid))
        end, pid = heapq.heappop(deadlines)
        select.select([], [], [], max(0, end - time.monotonic()))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), f"a worker ended by itself: {status}"
        killed += 1
    return left_behind(where, folder, total)


def left_behind(where, folder, total):
    ledger = hc.Ledger(where)
    ledger.verify()
    books = ledger.books()
    balance, limit = books.balance("shop"), books.totals["shop"].limit
    entries = ledger.log()
    charged = {entry.facts["release"] for entry in entries if entry.kind is Kind.SETTLE}
    outputs = {fingerprint_of_file(path) for path in folder.glob("*.json")}
    kinds = Counter(str(entry.kind) for entry in entries)
    return {
        "within the total": balance.used.fits(limit),
        "rho": [float(limit.rho), float(balance.spent.rho), float(balance.reserved.rho)],
        "released without a charge": len(outputs - charged),
        "released": len(outputs),
        "charged and stored, not written": len(charged - outputs),
        "reserved and died": len(books.open),
        **kinds,
    }


def race(where, racers, winners):
    """Let so many reserve at once what is enough for fewer; return how they ended."""
    total = hc.Budget(rho=0.1 * winners, delta=round(1e-6 * winners, 9))
    hc.Ledger(where).init("shop", budget=total)
    reading, writing = os.pipe()

    def reserve():
        os.close(writing)
        ledger = hc.Ledger(where, actor="racer")
        os.read(reading, 1)  # until the starter closes the other end
        ledger.reserve("shop", BUDGET, {})
        return 0

    pids = [fork(reserve) for _ in range(racers)]
    os.close(writing)
    codes = Counter(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids)
    books = hc.Ledger(where).books()
    hc.Ledger(where).verify()
    left = books.left("shop")
    return {"won": codes.pop(0, 0), "refused": codes.pop(3, 0), "failed": dict(codes)} | {
        "left": [float(left.rho), float(left.delta)]
    }


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["kill", where, folder, kills]:
            result = kill(where, Path(folder), int(kills))
        case ["race", where, racers, winners]:
            result = race(where, int(racers), int(winners))
        case _:
            sys.exit(__doc__)
    print(json.dumps(result))
