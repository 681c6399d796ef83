"""A release on a standalone cluster: a master and two workers of their own, the same rows as on the embedded engine."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf

pyspark = pytest.importorskip("pyspark")

SPARK_HOME = Path(pyspark.__file__).parent
LOCAL = "127.0.0.1"
PLAN = {
    "version": 1,
    "columns": {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
        "pay": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "method": {"name": "optimal", "suppression": 0.1},
    "output": {"format": "parquet"},
    "seed": 5,
}
DRIVER = """
import os, sys, time
from pathlib import Path
from pyspark.sql import SparkSession
import sfumato as sf
from test_cluster import PLAN

folder, master = Path(sys.argv[1]), sys.argv[2]
settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": "2", "spark.log.level": "OFF", "spark.sql.session.timeZone": "UTC",
            "spark.executor.extraJavaOptions": os.environ["SPARK_SUBMIT_OPTS"], "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
builder = SparkSession.builder.master(master).appName("sfumato-cluster")
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
tracker, limit = spark._jsc.sc(), time.monotonic() + 600
while tracker.getExecutorMemoryStatus().size() < 3 and time.monotonic() < limit:  # the driver, and one a worker
    time.sleep(0.1)
release = sf.anonymize(folder / "rows", PLAN, engine="spark")
release.save(folder / "cluster")
print("executors", tracker.getExecutorMemoryStatus().size() - 1)
spark.stop()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a master with two workers, each a process of its own."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    port = free_port()
    address = f"spark://{LOCAL}:{port}"
    place = ["--host", LOCAL, "--webui-port", "0"]
    commands = [["org.apache.spark.deploy.master.Master", *place, "--port", str(port)]]
    worker = ["org.apache.spark.deploy.worker.Worker", *place, "--cores", "1", "--memory", "600m"]
    commands += [[*worker, "--work-dir", str(tmp_path / f"worker{number}"), address] for number in (1, 2)]
    surroundings = os.environ | {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_DAEMON_JAVA_OPTS": os.environ["SPARK_SUBMIT_OPTS"],
        "SPARK_LOCAL_IP": LOCAL,
        "PYSPARK_PYTHON": sys.executable,
    }
    processes = []
    try:
        for command in commands:
            run = [str(SPARK_HOME / "bin" / "spark-class"), *command]
            with (tmp_path / "cluster.log").open("ab") as log:
                processes.append(subprocess.Popen(run, env=surroundings, stdout=log, stderr=log))
            wait_for(port)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(20)


def wait_for(port: int) -> None:
    """Until the master listens."""
    limit = time.monotonic() + 600
    while time.monotonic() < limit:
        with socket.socket() as probe:
            if probe.connect_ex((LOCAL, port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the master does not listen")


def test_two_workers_publish_the_same_rows(master: str, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    for file in range(4):
        rows = range(file * 30, file * 30 + 30)
        frame = {"sex": ["fm"[row % 2] for row in rows], "zip": [f"1{row % 7:04d}" for row in rows], "pay": [*rows]}
        pl.DataFrame(frame).write_parquet(tmp_path / "rows" / f"part{file}.parquet")
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, str(tmp_path), master]
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    surroundings = os.environ | {"PYTHONPATH": paths, "SPARK_LOCAL_IP": LOCAL, "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, env=surroundings, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "executors 2" in ran.stdout
    one = sf.anonymize(tmp_path / "rows", PLAN)
    parts = sorted((tmp_path / "cluster" / "data.parquet").glob("*.parquet"))
    shown = [pl.read_parquet(one.data), pl.concat([pl.read_parquet(part) for part in parts])]
    assert shown[0].rows() == shown[1].rows()
    assert sf.verify(tmp_path / "cluster").satisfied
