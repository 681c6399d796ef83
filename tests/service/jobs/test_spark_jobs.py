"""Jobs on the engine spark go to the cluster that the settings name, and nowhere where none is named."""

import json
import os
import shutil

import pytest

from sfumato.service.jobs.worker import REHEARSED_PLAN, REHEARSED_ROWS


def ask(client):
    fields = {"kind": "anonymize", "plan": json.dumps(REHEARSED_PLAN)}
    fields["parameters"] = json.dumps({"engine": "spark"})
    return client.post("/api/jobs", data=fields, files={"data": ("rows.csv", REHEARSED_ROWS)})


def test_a_job_on_spark_is_done_by_the_cluster_of_the_settings(serving, until, tmp_path, spark_settings, monkeypatch):
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    (tmp_path / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in spark_settings.items()))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    with serving(tmp_path / "jobs", spark="local[2]") as client:
        answer = ask(client)
        assert answer.status_code == 202, answer.text
        place = answer.headers["location"]
        until(lambda: client.get(place).json()["state"] not in ("queued", "running"))
        assert client.get(place).json()["state"] == "done", client.get(place).json()
        assert client.get(f"{place}/files/report.json").json()["engine"] == "spark"


def test_without_a_cluster_such_a_job_is_refused(serving, tmp_path):
    with serving(tmp_path / "jobs") as client:
        answer = ask(client)
        assert (answer.status_code, "--spark" in answer.json()["errorMessage"]) == (400, True)
