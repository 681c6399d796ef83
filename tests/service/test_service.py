"""Routes about the service itself: health, metrics, OpenAPI document, examples of the documentation."""

import json
import logging
import re
import sqlite3
import threading
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from sfumato.app import create_app
from sfumato.attributes.knowledge_graph.configurations import configuration_of
from sfumato.attributes.knowledge_graph.parsing import parse
from sfumato.attributes.operations import operation
from sfumato.errors import PlanError
from sfumato.service.access.keys import digest, new_key, read_keys
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.worker import REHEARSED_PLAN, REHEARSED_ROWS
from sfumato.service.settings import JobSettings, Limits, Settings, from_environment, to_environment
from sfumato.service.workers import fork_server
from sfumato.service.workers.fork_server import Template
from sizes import size

MASK = {"name": {"anonymisationType": "Masking", "dataType": "String"}}
BODY = {"configuration": MASK, "data": [{"name": "Ada"}]}
SECRET = "Zaphod-7c1f"


def test_about_and_health(client):
    assert client.get("/").json()["version"] == "1.0.0"
    assert "anonymization" in client.get("/").json()["service"]
    assert client.get("/health/live").json() == {"status": "alive"}
    assert client.get("/health/ready").json() == {"status": "ready"}


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html"])
def test_without_pages_the_start_tells_everyone_the_same(client, accept):
    answer = client.get("/", headers={"accept": accept})
    assert answer.status_code == 200
    assert answer.json()["documentation"] == "/docs"


def test_not_ready_without_its_folder(start, tmp_path):
    with start(Settings(ontologies=tmp_path / "gone")) as client:
        assert client.get("/health/ready").status_code == 503


def test_hosted_ontology(start, tmp_path, configs):
    entry = {
        "@id": "https://a.example/age",
        "http://www.w3.org/2002/07/owl#equivalentClass": {
            "@type": "http://www.w3.org/2002/07/owl#Restriction",
            "http://www.w3.org/2002/07/owl#onProperty": {"@id": "https://a.example/anonymizationType"},
            "http://www.w3.org/2002/07/owl#someValuesFrom": {
                "http://www.w3.org/2002/07/owl#oneOf": {"@list": [{"@id": "https://a.example/Masking"}]}
            },
        },
    }
    import json

    folder = tmp_path / "ontologies"
    folder.mkdir()
    (folder / "mine.json").write_text(json.dumps(entry))
    (tmp_path / "outside.json").write_text(json.dumps(entry))
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    address = configs.put("/ontology", entry)
    with start(Settings(folder, frozenset({"127.0.0.1"}))) as client:
        body = {"configuration": {"age": {"anonymisationType": "Masking", "dataType": "Integer"}}, "data": [{"age": 1}]}
        for name, status in {
            "mine.json": 202,
            address: 202,
            "../outside.json": 400,
            "link.json": 400,
            str(tmp_path / "outside.json"): 400,
            "http://localhost/x": 400,
        }.items():
            assert client.put("/api/anonymise", json=body | {"ontology": name}).status_code == status, name
        other = {"age": {"anonymisationType": "Generalization", "dataType": "Integer"}}
        refused = client.put("/api/anonymise", json=body | {"ontology": "mine.json", "configuration": other})
        assert "does not allow" in refused.json()["errorMessage"]


def test_keys(start, tmp_path):
    key, line = new_key("clinic")
    assert key not in line
    path = tmp_path / "keys"
    path.write_text(f"# keys\n{line}\n")
    with start(Settings(api_keys=path)) as client:
        assert client.put("/api/anonymise", json=BODY).status_code == 401
        assert client.put("/api/anonymise", json=BODY, headers={"X-API-Key": key[:-1]}).status_code == 401
        assert client.put("/api/anonymise", json=BODY, headers={"X-API-Key": key}).status_code == 202
        bearer = {"Authorization": f"Bearer {key}"}
        assert client.post("/api/anonymise/flatjson", json={}, headers=bearer).status_code == 400
        assert client.get("/health/live").status_code == 200


@pytest.mark.parametrize("content", ["", "plain-key", "name:short", "na me:" + digest("x")])
def test_file_of_keys_that_is_none(tmp_path, content):
    path = tmp_path / "keys"
    path.write_text(content)
    with pytest.raises(PlanError):
        read_keys(path)


def test_settings_survive_the_environment(tmp_path):
    settings = Settings(
        tmp_path, frozenset({"Intra.Example:8080"}), api_keys=tmp_path / "keys", limits=Limits(records=7)
    )
    jobs = JobSettings(tmp_path, tmp_path / "sources", slots=3)
    assert from_environment(to_environment(settings, jobs)) == (settings, jobs)
    assert from_environment({}) == (Settings(), None)


def test_no_value_in_logs_metrics_or_errors(client, configs, caplog):
    caplog.set_level(logging.DEBUG)
    data = [{"name": SECRET, "income": SECRET, "home": {"town": SECRET}}]
    requests = [
        {"configurationURL": configs.url("/Patient"), "data": data},
        {"configuration": {"income": {"anonymisationType": "generalization", "dataType": "Numeric"}}, "data": data},
        {"configuration": MASK, "data": [{"name": SECRET}], SECRET: SECRET},
    ]
    for body in requests:
        for path in ("/api/anonymise", "/api/anonymise/flatjson", "/api/anonymise/jsonld"):
            client.put(path, json=body, headers={"X-Request-ID": SECRET})
    graph = {"@context": {"x": "https://clinic.example/Patient/"}, "@id": f"x:{SECRET} <", "@type": "x:Patient"}
    graph["x:born"] = {"@value": SECRET, "@type": "http://www.w3.org/2001/XMLSchema#date"}
    answer = client.put("/api/anonymise/jsonld", json={"configurationUrl": configs.url("/Patient"), "data": graph})
    assert answer.status_code == 400
    client.get(f"/{SECRET}?q={SECRET}")
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert any(record.name == "sfumato.service" for record in ours)
    assert not [record for record in ours if SECRET in record.getMessage()]
    assert SECRET not in client.get("/metrics").text


PLUGIN = """from sfumato.attributes.operations.operation import operation

@operation("failing", "string")
class Failing:
    range_suffix = graph_suffix = ""

    def apply(self, values, task):
        raise KeyError(values[0])
"""


def test_unforeseen_error_tells_nothing(start, tmp_path, caplog, monkeypatch):
    """An operation of somebody else's fails: its error's text, which quotes data, reaches neither client nor log."""
    (tmp_path / "failing.py").write_text(PLUGIN)
    information = tmp_path / "failing-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: failing\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[sfumato.operations]\nfailing = failing\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = Template()  # the one of this process has been started without the plugin
    monkeypatch.setattr(fork_server, "_shared", own)
    caplog.set_level(logging.INFO)
    entry = {"name": {"anonymisationType": "Failing", "dataType": "String"}}
    with start(Settings()) as client:
        answer = client.put("/api/anonymise", json={"configuration": entry, "data": [{"name": SECRET}]})
        assert client.put("/api/anonymise", json=BODY).status_code == 202
    own.close()
    assert answer.status_code == 500
    assert SECRET not in answer.text
    ours = [record for record in caplog.records if record.name.startswith(("sfumato", "uvicorn"))]
    assert any("KeyError" in record.getMessage() and "failing.py" in record.getMessage() for record in ours)
    assert not [record for record in ours if SECRET in record.getMessage() or record.exc_info]


def test_metrics_count(client):
    def counted() -> float:
        text = client.get("/metrics").text
        found = re.search(r'_count\{method="PUT",route="/api/anonymise",status="202"\} (\d+)', text)
        return float(found[1]) if found else 0

    before = counted()
    client.put("/api/anonymise", json=BODY)
    assert counted() == before + 1


def test_request_id_is_echoed_or_made(client):
    given = "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert client.get("/", headers={"X-Request-ID": given}).headers["x-request-id"] == given
    assert re.fullmatch("[0-9a-f]{32}", client.get("/", headers={"X-Request-ID": "a b"}).headers["x-request-id"])


def test_documentation_loads_nothing_from_elsewhere(client):
    answer = client.get("/docs")
    assert answer.status_code == 200
    assert "/api/anonymise/flatjson" in answer.text
    assert "Hauptplatz" in answer.text
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', answer.text)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_examples_of_the_documentation_are_answered(client):
    document = client.get("/openapi.json").json()
    content = document["paths"]["/api/anonymise"]["put"]["requestBody"]["content"]["application/json"]
    answer = client.put("/api/anonymise", json=content["examples"]["inline"]["value"])
    assert answer.status_code == 202
    assert answer.json()["anonymisedData"][0]["Adresse"] == "Steiermark"


def test_client_that_goes_away_does_no_harm(client):
    import socket

    with socket.create_connection(("127.0.0.1", client.base_url.port)) as connection:
        connection.sendall(b"PUT /api/anonymise HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
    assert client.get("/health/live").status_code == 200
    assert isinstance(client, httpx.Client)


def ask(client):
    fields = {"kind": "anonymize", "plan": json.dumps(REHEARSED_PLAN)}
    return client.post("/api/jobs", data=fields, files={"data": ("rows.csv", REHEARSED_ROWS)})


def figures(client):
    lines = client.get("/metrics").text.splitlines()
    pairs = [line.rsplit(" ", 1) for line in lines if line and not line.startswith("#")]
    return {name: float(value) for name, value in pairs}


def test_figures_of_jobs_workers_disk_and_store(serving, until, tmp_path):
    with serving(tmp_path / "jobs", slots=2) as client:
        answer = ask(client)
        until(lambda: client.get(answer.headers["location"]).json()["state"] == "done")
        until(lambda: figures(client)['sfumato_workers{state="idle"}'] == 4)
        told = figures(client)
        assert (told['sfumato_jobs{state="done"}'], told['sfumato_jobs{state="queued"}']) == (1, 0)
        assert (told["sfumato_store_up"], told["sfumato_servers"], told["sfumato_job_threads"]) == (1, 1, 6)
        assert 0 < told["sfumato_disk_free_bytes"] <= told["sfumato_disk_bytes"]
        assert told["sfumato_store_seconds"] < 5
        assert {"sfumato_queue_seconds", "sfumato_job_processes"} <= set(told)


def test_a_store_that_cannot_be_written_is_no_ready_service(serving, until, tmp_path):
    with serving(tmp_path / "jobs", lease_seconds=1.0, busy_seconds=0.2) as client:
        assert client.get("/health/ready").status_code == 200
        connection = sqlite3.connect(tmp_path / "jobs" / "jobs.sqlite", isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE")
        until(lambda: client.get("/health/ready").status_code == 503)
        answer = client.get("/health/ready")
        assert (answer.json()["status"], answer.headers["retry-after"]) == ("the store of jobs cannot be written", "10")
        assert figures(client)["sfumato_store_up"] == 0
        assert client.get("/health/live").status_code == 200
        connection.execute("ROLLBACK")
        connection.close()
        until(lambda: client.get("/health/ready").status_code == 200)


def test_a_disk_that_is_nearly_full_takes_no_job(serving, tmp_path):
    with serving(tmp_path / "jobs", free_bytes=1 << 60) as client:
        assert "nearly full" in client.get("/health/ready").json()["status"]
        refused = ask(client)
        assert (refused.status_code, refused.headers["retry-after"]) == (507, "60")
        assert not list((tmp_path / "jobs").glob("upload-*"))


def test_a_thread_that_ended_is_told(tmp_path):
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False))
    pool.leases.renew()
    assert pool.fault() is None
    pool._threads = [threading.Thread()]
    assert "thread" in (pool.fault() or "")


def test_a_full_disk_is_told_before_the_store_that_it_keeps_from_being_written(tmp_path):
    pool = Pool(JobSettings(tmp_path / "jobs", pages=False, free_bytes=1 << 60, lease_seconds=1e-9))
    assert not pool.writes_store()
    assert "nearly full" in (pool.fault() or "")


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


SCHEMA = schemathesis.openapi.from_dict(create_app().openapi())
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}
BOUNDED = settings(
    max_examples=size(12, 20),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


RUNS = [(label, GenerationMode.POSITIVE) for label in OPERATIONS]
RUNS += [(label, GenerationMode.NEGATIVE) for label, operation in OPERATIONS.items() if operation.body]


@pytest.mark.parametrize(("label", "mode"), RUNS)
def test_service_does_what_its_document_says(client, label, mode):
    operation = OPERATIONS[label]

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def drive(case):
        case.call_and_validate(base_url=str(client.base_url), checks=CHECKS)

    drive()


def test_the_document_has_every_endpoint():
    paths = create_app().openapi()["paths"]
    attributes = {
        f"/api/{word}{tail}" for word in ("anonymise", "anonymization") for tail in ("", "/jsonld", "/flatjson")
    }
    arxaas = {"/api/analyze", "/api/anonymize", "/api/hierarchy"}
    assert attributes | arxaas | {"/", "/health/live", "/health/ready", "/metrics"} == set(paths)
    assert all(set(paths[path]) == {"put", "post"} for path in attributes)


DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("name", ["service.md", "attributes.md"])
def test_python(name, monkeypatch):
    operation.load_all()
    monkeypatch.setattr(operation, "_REGISTRY", dict(operation._REGISTRY))
    found = blocks(name, "python")
    assert found
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, name, "exec"), names)


def test_turtle():
    (block,) = blocks("service.md", "turtle")
    rules = configuration_of(parse(block, "text/turtle")).rules
    assert [rule.attribute for rule in rules] == ["name", "pay", "home"]
    assert rules[2].data_type.levels == ("street", "town")


def test_curl(client):
    import json

    (body,) = re.findall(r"-d '(.*?)'", blocks("service.md", "sh")[1], re.S)
    response = client.put("/api/anonymise", json=json.loads(body))
    assert response.status_code == 202, response.text
    answer = response.json()
    assert [record["pay"] for record in answer["anonymisedData"]] == ["<= 26000.0"] * 2 + [">= 26000.0"] * 2


def test_entry_points_are_loaded(tmp_path, monkeypatch):
    """A package beside this one that names its module is found by a fresh interpreter."""
    import subprocess
    import sys

    (tmp_path / "first_letter.py").write_text(blocks("attributes.md", "python")[0])
    information = tmp_path / "first_letter-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: first-letter\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[sfumato.operations]\nfirst = first_letter\n")
    code = "from sfumato.attributes.operations.operation import known_operations; print(known_operations())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert "first-letter" in done.stdout
