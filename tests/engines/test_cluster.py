"""A Spark standalone cluster of one master and two workers on this machine."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import BRIEF_JAVA, RHO
from tests.engines.servers import needs

DEADLINE = 600  # for what takes a few seconds, on a machine that others use too
OPTIONS = ["--user", "uid", "--item", "item", "--rho", RHO, "--unsafe-seed", "4"]
OPTIONS += ["--format", "csv"]


def wait_until(condition, processes=()):
    end = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not get that far"
        assert all(process.poll() is None for process in processes), "a part of it has ended"
        time.sleep(0.05)  # between two looks, not for something to happen
    return found


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """Return the address of the master."""
    pyspark = needs("pyspark")
    from headcount.engines.spark.start import java_variables

    folder = tmp_path_factory.mktemp("cluster")
    home = Path(pyspark.__file__).parent
    env = {**os.environ, **java_variables(), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    env |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_DIRS": str(folder)}
    env |= {"SPARK_WORKER_DIR": str(folder / "work"), "SPARK_NO_DAEMONIZE": "1"}
    processes = []

    def start(name, *arguments):
        log = folder / f"{name}-{len(processes)}.log"
        with log.open("wb") as file:
            processes.append(
                subprocess.Popen(
                    [
                        home / "bin" / "spark-class",
                        f"org.apache.spark.deploy.{name.lower()}.{name}",
                        *("--host", "127.0.0.1", "--port", "0", "--webui-port", "0"),
                        *arguments,
                    ],
                    stdout=file,
                    stderr=file,
                    stdin=subprocess.DEVNULL,
                    env=env,
                )
            )
        return log

    def logged(log, pattern):
        return wait_until(lambda: re.search(pattern, log.read_text(errors="replace")), processes)

    try:
        log = start("Master")
        url = logged(log, r"Starting Spark master at (spark://\S+)")[1]
        workers = [start("Worker", "--cores", "1", "--memory", "512m", url) for _ in range(2)]
        for worker in workers:
            logged(worker, "Successfully registered with master")
        yield url
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


SMALL = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": BRIEF_JAVA,
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}


# Each worker has one core, so that each runs one executor; no task begins before both are there.
BOTH = {
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
}
TASK = "SparkListenerTaskEnd"
LOGGED = {"enabled": "true", "compress": "false", "rolling.enabled": "false"}


def confs(**more):
    return [
        part
        for key, value in {**SMALL, **more}.items()
        for part in ("--spark-conf", f"{key}={value}")
    ]


@pytest.fixture(scope="module")
def parts(tmp_path_factory, events):
    """Return a folder of Parquet files, partitioned by a column that they do not have."""
    folder = tmp_path_factory.mktemp("lake") / "events"
    for n, half in enumerate((events.slice(0, 400), events.slice(400))):
        (folder / f"day={n}").mkdir(parents=True)
        pq.write_table(half, folder / f"day={n}" / "part-0.parquet")
    return folder


def test_a_table_of_a_cluster_is_released_as_files_on_one_machine(
    master, parts, process, headcount, tmp_path
):
    """Both workers have something to do; what they share is the files of this machine.

    Spark's SQL takes files for tables of a catalog that is always there.
    """
    here = headcount("release", parts / "*" / "*.parquet", *OPTIONS)
    logged = {f"spark.eventLog.{key}": value for key, value in LOGGED.items()}
    conf = confs(**{"spark.eventLog.dir": tmp_path, **BOTH, **logged})
    there = process("release", master, "--table", f"parquet.`{parts}`", *conf, *OPTIONS)
    assert (there.code, there.out) == (0, here.out)
    assert there.err.startswith(here.err)
    # The catalog does not know whether files are a table. Of Spark itself nothing is heard.
    [said] = there.err.removeprefix(here.err).strip().splitlines()
    assert "read like one" in said
    [log] = tmp_path.iterdir()
    done = [event for event in map(json.loads, log.open()) if event["Event"] == TASK]
    assert {event["Task Info"]["Executor ID"] for event in done} == {"0", "1"}
