"""The server is killed in the middle of a job: after the restart the job is done whole, or can be cancelled."""

import signal
from pathlib import Path

import pytest
import yaml

from sfumato.datasets import census, patients


def ask(client, dataset, path, plan):
    dataset.write(path)
    files = {"data": (path.name, path.read_bytes())}
    sent = {"kind": "anonymize", "plan": yaml.safe_dump(plan)}
    answer = client.post("/api/jobs", data=sent, files=files)
    assert answer.status_code == 202
    return answer.headers["location"]


def workers(folder):
    """The workers of the jobs in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                place = (entry / "cwd").readlink()  # a worker stands in the folder of its job
            except OSError:
                continue
            if place.is_relative_to(folder.resolve()):
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_a_killed_server_leaves_neither_half_a_result_nor_an_upload(served, until, tmp_path) -> None:
    folder = tmp_path / "jobs"
    endless = census(1).plan("census.csv", 5) | {"method": {"name": "k-optimize", "time_limit": 600}}
    with served("--jobs", folder, "--lease-seconds", 2) as (process, client):
        long = ask(client, census(20_000), tmp_path / "census.csv", endless)
        short = ask(client, patients(), tmp_path / "patients.csv", patients().plan("patients.csv", 5))
        until(lambda: client.get(long).json()["progress"]["stage"] == "search")
        process.send_signal(signal.SIGKILL)
        process.wait()
        until(lambda: not workers(folder))  # the worker ends with its server
    assert not list(folder.glob("*/output-*"))
    with served("--jobs", folder, "--lease-seconds", 2) as (process, client):
        assert client.get(long).json()["state"] == "running"  # until its server is known to be gone
        until(lambda: workers(folder) and client.get(short).json()["state"] == "done")
        until(lambda: client.get(long).json()["progress"]["stage"] == "search")
        assert client.delete(long).status_code == 204
        report = client.get(f"{short}/files/report.json").json()
        assert report["rows"] == 300
        assert {path.name for path in folder.iterdir() if path.is_dir()} == {short.rsplit("/", 1)[1]}
        assert not list(folder.glob("*/input"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0
    with served("--jobs", folder) as (_, client):  # a result outlives its server
        assert client.get(f"{short}/result").status_code == 200
