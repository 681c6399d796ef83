"""Jobs over real HTTP with real worker processes: results, progress, refusals, limits, cancelling, expiry."""

import io
import json
import os
import re
import signal
import time
import zipfile
from hashlib import sha256
from html import unescape
from typing import Any

import jsonschema
import pytest
import yaml

from sfumato.datasets import census, patients
from sfumato.service.access.keys import new_key
from sfumato.service.jobs.store import new_id
from sfumato.service.settings import JobSettings, Settings

WAITING_SECONDS = 120


@pytest.fixture(scope="module")
def jobs_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("jobs") / "root"


@pytest.fixture(scope="module")
def client(jobs_folder, serving, tmp_path_factory):
    sources = tmp_path_factory.mktemp("sources")
    patients().write(sources / "patients.csv")
    (sources.parent / "secret.csv").write_text("a\n1\n")
    with serving(jobs_folder, sources=sources, keep_seconds=600, upload_bytes=20_000_000) as started:
        yield started


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "patients.csv"
    patients().write(path)
    return path


def plan(**more):
    return patients().plan("patients.csv", 5) | more


def repeatable():
    """A plan whose release is the same in every process: seed and order are named."""
    return plan(seed=7, output={"format": "csv", "order": "shuffle"})


def large_plan():
    """Work for a minute and more: K-Optimize without end on many rows."""
    found = census(1).plan("census.csv", 5)
    found["method"] = {"name": "k-optimize", "time_limit": 600}
    return found


def ask(client, rows, given=None, kind="anonymize", headers=None, **fields):
    files = {"data": (rows.name, rows.read_bytes())} if rows is not None else {"none": ("", b"")}
    text = yaml.safe_dump(given or plan())
    return client.post("/api/jobs", data={"kind": kind, "plan": text, **fields}, files=files, headers=headers or {})


def ended(client, answer, headers=None):
    assert answer.status_code == 202, answer.text
    address = answer.headers["location"]
    deadline = time.monotonic() + WAITING_SECONDS
    while time.monotonic() < deadline:
        found = client.get(address, headers=headers or {}).json()
        if found["state"] not in ("queued", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError("the job did not end")


def state_of(client, answer, state):
    deadline = time.monotonic() + WAITING_SECONDS
    while time.monotonic() < deadline:
        found = client.get(answer.headers["location"]).json()
        if found["state"] == state:
            return found
        time.sleep(0.05)
    raise AssertionError(f"the job did not get {state}")


KEY = {"Idempotency-Key": "0123456789abcdef"}


@pytest.fixture(scope="module")
def events(client, rows):
    """The lines that a job says while it runs."""
    answer = ask(client, rows, repeatable(), headers=KEY)
    with client.stream("GET", f"{answer.headers['location']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        return list(stream.iter_lines())


@pytest.fixture(scope="module")
def done(client, rows, events):
    return ended(client, ask(client, rows, repeatable(), headers=KEY))


def test_a_job_gives_the_release_of_the_command_line(client, done, rows, tmp_path) -> None:
    """Byte by byte: data and recoding are those that `sfumato anonymize` writes for the same plan that names a seed."""
    from sfumato.cli.main import run

    assert done["state"] == "done", done
    (tmp_path / "patients.csv").write_bytes(rows.read_bytes())
    asked = repeatable()
    asked["output"]["formulas"] = "quote"  # which a job has unless its plan says otherwise
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(asked))
    assert run(["anonymize", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    for name in ("data.csv", "recoding.json"):
        answer = client.get(f"{done['links']['self']}/files/{name}")
        assert answer.content == (tmp_path / "out" / name).read_bytes()


def test_the_plan_of_an_unpacked_result_runs_beside_the_data(client, done, rows, tmp_path) -> None:
    """It looked for the data in the server's folders; and the report printed another plan than the one it seals."""
    from sfumato.cli.main import run

    archive = zipfile.ZipFile(io.BytesIO(client.get(done["links"]["result"]).content))
    archive.extractall(tmp_path)
    (tmp_path / "patients.csv").write_bytes(rows.read_bytes())
    page, report = ((tmp_path / f"report.{kind}").read_text(encoding="utf-8") for kind in ("html", "json"))
    printed = unescape(re.search(r"<pre [^>]*>(version.*?)</pre>", page, re.S)[1])
    assert sha256(printed.encode()).hexdigest() == json.loads(report)["plan_sha256"]
    assert run(["anonymize", str(tmp_path / "plan.yaml"), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert (tmp_path / "out" / "data.csv").read_bytes() == (tmp_path / "data.csv").read_bytes()
    again, sealed = ((tmp_path / "out" / f"report.{kind}").read_text(encoding="utf-8") for kind in ("html", "json"))
    printed = unescape(re.search(r"<pre [^>]*>(version.*?)</pre>", again, re.S)[1])
    assert sha256(printed.encode()).hexdigest() == json.loads(sealed)["plan_sha256"]


FORMULAS = "zip;note\n12345;=cmd|'/c calc'!A1\n12346;plain\n"


@pytest.mark.parametrize(("output", "cell"), [({}, "'=cmd"), ({"formulas": "keep"}, "=cmd")])
def test_a_file_that_is_opened_by_a_click_computes_nothing(client, output, cell) -> None:
    columns = {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}}}
    formulas = {
        "version": 1,
        "data": {"separator": ";"},
        "columns": columns | {"note": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "optimal"},
        "output": output,
    }
    fields = {"kind": "anonymize", "plan": json.dumps(formulas)}
    answer = client.post("/api/jobs", data=fields, files={"data": ("rows.csv", FORMULAS)})
    job = ended(client, answer)
    assert job["state"] == "done", job
    assert f";{cell}" in client.get(f"{job['links']['self']}/files/data.csv").text


def test_the_result_comes_as_one_archive_and_as_files(client, done) -> None:
    archive = zipfile.ZipFile(io.BytesIO(client.get(done["links"]["result"]).content))
    names = {"data.csv", "report.html", "report-external.html", "report.json", "report-external.json"}
    names |= {"plan.yaml", "recoding.json"}
    assert set(archive.namelist()) == names
    listed = client.get(done["links"]["files"]).json()
    assert {name: archive.getinfo(name).file_size for name in names} == listed
    report = client.get(done["links"]["report"])
    assert "All guarantees are satisfied" in report.text
    assert "default-src 'none'" in report.headers["content-security-policy"]
    assert client.get(f"{done['links']['self']}/files/..%2Frequest.json").status_code == 404


def test_what_was_uploaded_is_erased_when_the_job_ends(done, jobs_folder) -> None:
    folder = jobs_folder / done["id"]
    assert [path.name for path in folder.iterdir()] == ["output-1"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert jobs_folder.stat().st_mode & 0o777 == 0o700


def test_progress_comes_as_events(events) -> None:
    told = [line.partition(": ")[2] for line in events if line.startswith("event: ")]
    assert told[-1] == "done"
    assert "running" in told
    last = json.loads([line for line in events if line.startswith("data: ")][-1][6:])
    assert last["links"]["result"].endswith("/result")


def test_a_source_of_the_server_and_erasing_a_job_that_had_ended(client, jobs_folder) -> None:
    body = {"kind": "anonymize", "plan": plan(), "source": "patients.csv"}
    found = ended(client, client.post("/api/jobs", json=body))
    assert found["state"] == "done"
    assert client.get(f"{found['links']['self']}/files/report.json").json()["seed"] is None
    assert len(client.get(f"{found['links']['self']}/files/recoding.json").json()["secret"]) == 32
    assert client.delete(found["links"]["self"]).status_code == 204
    assert client.get(found["links"]["self"]).status_code == 404
    assert not (jobs_folder / found["id"]).exists()


@pytest.mark.parametrize("source", ["../secret.csv", "/etc/hostname", "absent.csv", 7, "\ud800", "a" * 300, ["a"]])
def test_no_source_leads_out_of_its_folder(client, source) -> None:
    body = json.dumps({"kind": "anonymize", "plan": plan(), "source": source})
    answer = client.post("/api/jobs", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 404)


def test_risk_and_compare(client, rows) -> None:
    risk = ended(client, ask(client, rows, kind="risk", parameters='{"population_size": 100000}'))
    assert risk["state"] == "done", risk
    figures = client.get(f"{risk['links']['self']}/files/report.json").json()
    assert figures["figures"]["uniques"] == 300
    compared = ended(client, ask(client, rows, kind="compare", parameters='{"methods": ["optimal"], "k": [2, 5]}'))
    assert compared["state"] == "done", compared
    assert client.get(compared["links"]["report"]).status_code == 200


def test_a_release_is_attacked_where_that_is_asked_for(client, rows) -> None:
    asked = plan(method={"name": "mondrian"})  # which is run again as control
    job = ended(client, ask(client, rows, asked, parameters='{"attack": true}'))
    assert job["state"] == "done", job
    figures = client.get(f"{job['links']['self']}/files/report.json").json()["attack"]
    assert figures["control"] == "rerun" and figures["attacks"]
    assert set(client.get(f"{job['links']['self']}/files/report-external.json").json()["attack"]) >= {
        "found",
        "attempts",
    }


def test_protecting_a_table(client, tmp_path) -> None:
    cells = tmp_path / "cells.csv"
    cells.write_text("area,n\nTotal,24\na,2\nb,9\nc,13\n")
    given = {
        "version": 1,
        "table": {"source": "cells.csv", "value": "n"},
        "dimensions": {"area": {"column": "area"}},
        "primary": [{"rule": "range", "min": 1, "max": 3}],
    }
    found = ended(client, ask(client, cells, given, kind="protect"))
    assert found["state"] == "done", found
    lines = client.get(f"{found['links']['self']}/files/published.csv").text.splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["24", "*", "*", "13"]


def linked(**more):
    """Two tables that share their totals by area."""
    rule = {"rule": "range", "min": 1, "max": 3}
    tables = [
        {"name": name, "source": f"{name}.csv", "dimensions": {"area": {"column": "area"}, name: {"column": name}}}
        for name in ("sex", "age")
    ]
    return {"version": 1, "table": {"value": "n"}, "tables": tables, "primary": [rule]} | more


def test_protecting_linked_tables_of_several_files(client) -> None:
    sex = "area,sex,n\nTotal,Total,30\nTotal,f,14\nTotal,m,16\na,Total,12\na,f,2\na,m,10\nb,Total,18\nb,f,12\nb,m,6\n"
    age = "area,age,n\nTotal,Total,30\nTotal,y,13\nTotal,o,17\na,Total,12\na,y,5\na,o,7\nb,Total,18\nb,y,8\nb,o,10\n"
    files = [("data", ("sex.csv", sex.encode())), ("data", ("age.csv", age.encode()))]
    fields = {"kind": "protect", "plan": yaml.safe_dump(linked())}
    found = ended(client, client.post("/api/jobs", files=files, data=fields))
    assert found["state"] == "done", found
    figures = client.get(f"{found['links']['self']}/files/report.json").json()
    assert figures["satisfied"]
    assert set(figures["tables"]) == {"sex", "age"}
    lines = client.get(f"{found['links']['self']}/files/sex/table-external.csv").text.splitlines()
    assert sum(",*," in line for line in lines) >= 4


def test_no_release_of_before_leads_out_of_the_request(client) -> None:
    files = [("data", ("sex.csv", b"area,sex,n\n")), ("data", ("age.csv", b"area,age,n\n"))]
    fields = {"kind": "protect", "plan": yaml.safe_dump(linked(previous=["../other/result"]))}
    answer = client.post("/api/jobs", files=files, data=fields, headers={"Accept": "application/problem+json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "plan.path")


REFUSED = {
    "no kind": ({"kind": "explode"}, None, "jobs.kind"),
    "no YAML": ({"plan": "a: [1"}, None, "plan.yaml"),
    "no mapping": ({"plan": "just text"}, None, "jobs.plan"),
    "parameters that are no JSON": ({"parameters": "{"}, None, "jobs.parameters"),
    "unknown parameters": ({"parameters": '{"engine": "x"}'}, None, "jobs.parameters"),
    "parameters of another type": ({"kind": "risk", "parameters": '{"threshold": "x"}'}, None, "jobs.parameters"),
    "parameters too deep": ({"parameters": "[" * 100_000}, None, "jobs.parameters"),
    "a list for a type": (
        {"plan": yaml.safe_dump(plan(privacy=[{"model": ["k-anonymity"], "k": 2}]))},
        None,
        "plan.faults",
    ),
    "unknown keys": ({"plan": yaml.safe_dump(plan() | {"privat": []})}, None, "plan.faults"),
    "no mapping of data": ({"plan": yaml.safe_dump(plan() | {"data": [1]})}, None, "plan.faults"),
    "references": ({"plan": "a: &a [x, x]\nb: [*a, *a]"}, None, "jobs.plan"),
    "a plan that refers to itself": ({"plan": "a: &a [*a]"}, None, "jobs.plan"),
    "a plan too deep": ({"plan": "[" * 3000 + "]" * 3000}, None, "limit.depth"),
    "a source that is no name": ({"source": "a\0b"}, None, "jobs.source"),
    "a short idempotency key": ({}, {"Idempotency-Key": "abc"}, "jobs.idempotency"),
}


# Kind and parameters that were once taken on and then failed, or ended with no answer.
WRONG_PARAMETERS = [
    ("compare", '{"k": ["a"]}'),
    ("compare", '{"k": [[2]]}'),
    ("compare", '{"k": [2.5]}'),
    ("compare", '{"k": [1e400]}'),
    ("compare", '{"k": [0]}'),
    ("compare", '{"k": [true]}'),
    ("compare", '{"k": 2}'),
    ("compare", '{"methods": [1]}'),
    ("compare", '{"methods": []}'),
    ("compare", '{"k": [null], "methods": [{}]}'),
    ("compare", '{"suppression": ["x"]}'),
    ("compare", '{"suppression": [NaN]}'),
    ("risk", '{"population_size": %s}' % ("9" * 40)),
    ("risk", '{"population_size": 2.5}'),
    ("risk", '{"threshold": 1e400}'),
    ("risk", '{"threshold": true}'),
    ("risk", "[]"),
    ("anonymize", '{"k": [2]}'),
]


@pytest.mark.parametrize(("kind", "parameters"), WRONG_PARAMETERS)
def test_wrong_parameters_are_refused_at_once(client, rows, kind, parameters) -> None:
    accept = {"Accept": "application/problem+json"}
    answer = ask(client, rows, kind=kind, parameters=parameters, headers=accept)
    assert (answer.status_code, answer.json()["code"]) == (400, "jobs.parameters")
    assert "parameters" in answer.json()["detail"]
    body = '{"kind": "%s", "plan": %s, "source": "patients.csv", "parameters": %s}'
    sent = body % (kind, json.dumps(plan()), parameters)
    answer = client.post("/api/jobs", content=sent, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


@pytest.mark.parametrize("given", ['"{}"', '""', "[]", "0"])
def test_in_json_parameters_are_an_object(client, given) -> None:
    body = {"kind": "risk", "plan": plan(), "source": "patients.csv", "parameters": json.loads(given)}
    assert client.post("/api/jobs", json=body).status_code == 400


def test_the_document_says_what_bodies_of_jobs_are(client, rows) -> None:
    """What JSON bodies and forms are differs; and every status that is answered is there."""
    asked = client.get("/openapi.json").json()["paths"]["/api/jobs"]["post"]
    content = asked["requestBody"]["content"]
    document = content["application/json"]["schema"]
    body = {"kind": "risk", "plan": plan(), "source": "patients.csv", "parameters": {"threshold": 0.5}}
    jsonschema.validate(body, document)
    assert ended(client, client.post("/api/jobs", json=body))["state"] == "done"
    for wrong in ("{}", {"k": ["a"]}, {"population_size": 2.5}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(body | {"parameters": wrong}, document)
    assert content["multipart/form-data"]["schema"]["properties"]["parameters"]["type"] == "string"
    assert "415" in asked["responses"]
    assert client.post("/api/jobs", content="x", headers={"Content-Type": "text/plain"}).status_code == 415


def test_the_media_type_of_a_form_may_be_in_capitals(client, rows) -> None:
    made = client.build_request("POST", "/api/jobs", data={"kind": "explode"}, files={"data": ("a.csv", b"a\n1\n")})
    made.headers["content-type"] = made.headers["content-type"].replace("multipart/form-data", "Multipart/Form-Data")
    answer = client.send(made)
    assert (answer.status_code, answer.json()["errorMessage"][:16]) == (400, "kind must be one")


@pytest.mark.parametrize(("fields", "headers", "code"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_refused_at_once(client, rows, fields, headers, code) -> None:
    sent = {"kind": "anonymize", "plan": yaml.safe_dump(plan()), **fields}
    accept = {"Accept": "application/problem+json", **(headers or {})}
    answer = client.post("/api/jobs", data=sent, files={"data": (rows.name, rows.read_bytes())}, headers=accept)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_plan_reads_no_file_of_the_server(client, rows) -> None:
    """Wherever a plan can name a file, only files that came along are taken."""
    for change in (
        {
            "columns": plan()["columns"]
            | {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "/etc/passwd"}}}
        },
        {"privacy": [{"model": "k-map", "k": 2, "population": {"source": "/etc/passwd"}}]},
        {"privacy": [{"model": "k-map", "k": 2, "population": "/etc/passwd"}]},
        {"data": {"source": "patients.csv", "temp_folder": "/tmp"}},
        {
            "columns": {
                "parents": {"role": "quasi-identifier", "hierarchy": {"type": "file", "path": "/etc/passwd"}},
            }
        },
    ):
        answer = ask(client, rows, plan(**change))
        assert answer.status_code == 400
        assert "did not come with it" in answer.json()["errorMessage"]
    answer = client.post(
        "/api/jobs",
        data={"kind": "anonymize", "plan": yaml.safe_dump(plan(data={"source": "/etc/passwd"}))},
        files={"a": ("a.csv", b"x\n1\n"), "b": ("b.csv", b"x\n1\n")},
    )
    assert answer.status_code == 400
    answer = client.post(
        "/api/jobs",
        data={"kind": "anonymize", "plan": yaml.safe_dump(plan(data={"source": "x.duckdb"}))},
        files={"data": ("x.duckdb", b"x")},
    )
    assert "DuckDB files are not taken" in answer.json()["errorMessage"]


def test_a_job_that_cannot_be_done_says_why_and_leaves_nothing(client, rows, jobs_folder) -> None:
    found = ended(
        client, ask(client, rows, plan(columns={"zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}))
    )
    assert found["state"] == "failed"
    assert found["error"]["code"] == "plan.columns"
    assert "is not mentioned" in found["error"]["message"]
    assert not (jobs_folder / found["id"]).exists()
    assert client.get(f"{found['links']['self']}/result").status_code == 409


def test_an_upload_that_is_no_table_fails_with_a_clear_message(client, tmp_path) -> None:
    picture = tmp_path / "patients.csv"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    found = ended(client, ask(client, picture))
    assert found["state"] == "failed"
    assert found["error"]["code"].startswith(("data.", "plan."))


def test_the_same_idempotency_key_is_the_same_job(client, rows, done, jobs_folder) -> None:
    assert ask(client, rows, repeatable(), headers=KEY).headers["location"] == done["links"]["self"]
    assert ask(client, rows, plan(seed=9), headers=KEY).status_code == 409
    assert len([path for path in jobs_folder.iterdir() if path.name.startswith("upload-")]) == 0


def test_an_upload_that_is_too_large_is_refused(client, rows) -> None:
    files = {"data": ("patients.csv", b"x" * 21_000_000)}
    answer = client.post("/api/jobs", data={"kind": "anonymize", "plan": yaml.safe_dump(plan())}, files=files)
    assert answer.status_code == 413


def test_there_is_no_such_job(client) -> None:
    for path in (new_id(), "x", f"{new_id()}/result"):
        assert client.get(f"/api/jobs/{path}").status_code == 404


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = tmp_path_factory.mktemp("census") / "census.csv"
    census(20_000).write(path)
    return path


def test_cancelling_and_time_and_kill(serving, tmp_path, many, rows) -> None:
    """A running job can be cancelled, runs out of time, or loses its process; the next one is not harmed."""
    folder = tmp_path / "jobs"
    with serving(folder) as client:
        cancelled = ask(client, many, large_plan())
        state_of(client, cancelled, "running")
        waits = ask(client, rows)
        assert client.delete(cancelled.headers["location"]).status_code == 204
        assert client.get(cancelled.headers["location"]).json()["state"] == "cancelled"
        assert client.delete(cancelled.headers["location"]).status_code == 204
        assert client.get(cancelled.headers["location"]).status_code == 404
        assert ended(client, waits)["state"] == "done"

        killed = ask(client, many, large_plan())
        state_of(client, killed, "running")
        for pid in workers_of(folder):
            os.kill(pid, signal.SIGKILL)
        found = ended(client, killed)
        assert (found["state"], found["error"]["code"]) == ("failed", "internal.worker")
        assert "SIGKILL" in found["error"]["message"]
        kept = {found["id"] for found in [ended(client, waits)]}
        assert {path.name for path in folder.iterdir() if path.is_dir()} == kept


def workers_of(folder):
    """The worker processes of the jobs in a folder, once there are some."""
    from pathlib import Path

    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    place = (entry / "cwd").readlink()  # a worker stands in the folder of its job
                except OSError:
                    continue
                if place.is_relative_to(folder.resolve()):
                    found.append(int(entry.name))
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("there is no worker")


def test_a_job_may_not_take_longer_than_allowed(serving, tmp_path, many) -> None:
    with serving(tmp_path / "jobs", seconds=1.0) as client:
        found = ended(client, ask(client, many, large_plan()))
        assert (found["state"], found["error"]["code"]) == ("failed", "limit.time")


def test_a_job_may_not_use_more_memory_than_allowed(serving, tmp_path, many) -> None:
    with serving(tmp_path / "jobs", memory_bytes=120_000_000, seconds=60.0) as client:
        found = ended(client, ask(client, many, census(1).plan("census.csv", 5)))
        assert found["state"] == "failed"
        assert found["error"]["code"] == "limit.memory"
        assert client.get("/health/ready").status_code == 200


def test_results_expire(serving, tmp_path, rows) -> None:
    with serving(tmp_path / "jobs", keep_seconds=0.5) as client:
        answer = ask(client, rows)
        deadline = time.monotonic() + WAITING_SECONDS
        while client.get(answer.headers["location"]).status_code != 404:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert [path.name for path in (tmp_path / "jobs").iterdir() if path.is_dir()] == []


def test_too_many_jobs_are_turned_away(serving, tmp_path, many, rows) -> None:
    with serving(tmp_path / "jobs", waiting=1) as client:
        first = ask(client, many, large_plan())
        state_of(client, first, "running")
        assert ask(client, rows).status_code == 202
        assert ask(client, rows).status_code == 429


def test_a_key_opens_only_its_own_jobs(serving, tmp_path, rows) -> None:
    (one, first), (two, second) = new_key("one"), new_key("two")
    (tmp_path / "keys").write_text(f"{first}\n{second}\n")
    with serving(tmp_path / "jobs", Settings(api_keys=tmp_path / "keys")) as client:
        assert ask(client, rows).status_code == 401
        answer = ask(client, rows, headers={"X-API-Key": one})
        assert client.get(answer.headers["location"], headers={"X-API-Key": two}).status_code == 404
        assert client.get(answer.headers["location"], headers={"Authorization": f"Bearer {one}"}).status_code == 200


def test_limits_are_greater_than_zero(tmp_path) -> None:
    with pytest.raises(ValueError, match="greater than zero"):
        JobSettings(tmp_path, slots=0)


AGE = "area,age,n\nTotal,Total,30\nTotal,y,13\nTotal,o,17\na,Total,12\na,y,5\na,o,7\nb,Total,18\nb,y,8\nb,o,10\n"
SEX = "area,sex,n\nTotal,Total,30\nTotal,f,14\nTotal,m,16\na,Total,12\na,f,2\na,m,10\nb,Total,18\nb,f,12\nb,m,6\n"


def one_table(name: str, **more: Any) -> dict[str, Any]:
    """The plan of one of the linked tables."""
    plain = linked()
    own = next(table for table in plain.pop("tables") if table["name"] == name)
    return plain | {"dimensions": own["dimensions"]} | more


def test_a_release_of_before_is_named_by_its_job_or_sent_as_zip(client) -> None:
    def protect(plan: dict[str, Any], *files: tuple[str, bytes]) -> Any:
        sent = [("data", file) for file in files]
        return client.post("/api/jobs", files=sent, data={"kind": "protect", "plan": yaml.safe_dump(plan)})

    first = ended(client, protect(one_table("sex"), ("sex.csv", SEX.encode())))
    assert first["state"] == "done", first
    second = ended(client, protect(one_table("age", previous=[first["id"]]), ("age.csv", AGE.encode())))
    packed = client.get(first["links"]["result"]).content
    third = protect(one_table("age", previous=["sex.zip"]), ("age.csv", AGE.encode()), ("sex.zip", packed))
    reports = []
    for job in (second, ended(client, third)):
        assert job["state"] == "done", job
        assert client.get(job["links"]["report"]).status_code == 200
        reports.append(client.get(f"{job['links']['self']}/files/report.json").json())
    assert all(report["satisfied"] for report in reports)
    assert reports[0]["masked"] == reports[1]["masked"] > 0
    for name in ("../" + first["id"], "0" * 32):
        wrong = protect(one_table("age", previous=[name]), ("age.csv", AGE.encode()))
        assert (wrong.status_code, "did not come with it" in wrong.text) == (400, True)
    broken = ended(
        client, protect(one_table("age", previous=["x.zip"]), ("age.csv", AGE.encode()), ("x.zip", b"nothing"))
    )
    assert broken["error"]["code"] == "plan.no-release"
