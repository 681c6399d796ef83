"""Jobs on the engine spark go to the cluster that the settings name, and nowhere where none is named."""

import csv
import io
import json
import os
import shutil
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf

PLAN = {
    "version": 1,
    "data": {"source": "rows.parquet"},
    "columns": {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
        "pay": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 3}],
    "method": {"name": "optimal", "suppression": 0.1},
    "seed": 5,
}
# A job begins when both workers are there, and its file has parts for both.
CLUSTER = {
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.scheduler.minRegisteredResourcesRatio": "1",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s",
    "spark.sql.files.maxPartitionBytes": "400",
    "spark.sql.files.openCostInBytes": "0",
}


def ask(client, data):
    fields = {"kind": "anonymize", "plan": json.dumps(PLAN), "parameters": json.dumps({"engine": "spark"})}
    return client.post("/api/jobs", data=fields, files={"data": ("rows.parquet", data)})


@pytest.fixture
def spark_home(tmp_path, spark_settings, monkeypatch):
    """Spark with settings, and with a folder of its own for what workers leave."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    home = tmp_path / "spark"
    home.mkdir()
    for path in Path(pytest.importorskip("pyspark").__file__).parent.iterdir():
        (home / path.name).symlink_to(path)
    java = {"spark.executor.extraJavaOptions": os.environ["SPARK_SUBMIT_OPTS"]}
    lines = [f"{key} {value}\n" for key, value in (spark_settings | CLUSTER | java).items()]
    (tmp_path / "spark-defaults.conf").write_text("".join(lines))
    for name, value in (("HOME", home), ("CONF_DIR", tmp_path), ("LOCAL_IP", "127.0.0.1")):
        monkeypatch.setenv(f"SPARK_{name}", str(value))
    return home


def test_a_job_is_done_by_the_cluster_of_the_settings_with_the_rows_of_one_machine(
    serving, until, tmp_path, spark_home
):
    rows = range(120)
    frame = pl.DataFrame(
        {"sex": ["fm"[row % 2] for row in rows], "zip": [f"1{row % 7:04d}" for row in rows], "pay": [*rows]}
    )
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=30)
    with serving(tmp_path / "jobs", spark="local-cluster[2,1,600]") as client:
        answer = ask(client, (tmp_path / "rows.parquet").read_bytes())
        assert answer.status_code == 202, answer.text
        place = answer.headers["location"]
        until(lambda: client.get(place).json()["state"] not in ("queued", "running"))
        assert client.get(place).json()["state"] == "done", client.get(place).json()
        assert client.get(f"{place}/files/report.json").json()["engine"] == "spark"
        published = [*csv.reader(io.StringIO(client.get(f"{place}/files/data.csv").text))]
    assert len([*spark_home.glob("work/app-*/[01]/stderr")]) == 2, "two workers"
    expected = sf.anonymize(frame, PLAN | {"data": {}}).data
    assert published == [expected.columns, *([str(value) for value in row] for row in expected.rows())]


def test_without_a_cluster_such_a_job_is_refused(serving, tmp_path):
    with serving(tmp_path / "jobs") as client:
        answer = ask(client, b"")
        assert answer.status_code == 400
        assert "--spark" in answer.json()["errorMessage"]
