"""The client against a real service; webhooks that a real receiver checks."""

import hashlib
import hmac
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import sfumato as sf
from sfumato.datasets import patients
from sfumato.service.access.keys import new_key
from sfumato.service.jobs import webhooks
from sfumato.service.settings import Settings

SECRET = "a secret of the receiver's own"
MASK = {"name": {"anonymisationType": "Masking", "dataType": "String"}}


@pytest.fixture(scope="module")
def receiver():
    """Keeps what it is told; says no to the first two under /twice."""
    told = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.append((self.path, dict(self.headers), body))
            refused = self.path == "/twice" and sum(path == "/twice" for path, _, _ in told) <= 2
            self.send_response(503 if refused else 302 if self.path == "/elsewhere" else 204)
            self.send_header("Location", "/inside")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", told
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def client(serving, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    key, line = new_key("tests")
    (folder / "keys").write_text(line)
    settings = Settings(api_keys=folder / "keys", allowed_hosts=frozenset({"127.0.0.1"}))
    with serving(folder / "jobs", settings) as http, sf.Client(str(http.base_url), key) as own:
        yield own


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "patients.csv"
    patients().write(path)
    return path


def test_attributes(client):
    answer = client.anonymize_attributes([{"name": "Ada"}, {"name": "Bob"}], MASK)
    assert (answer.data, answer.kpis["kAnonymity"], answer.warnings) == ([{"name": "*****"}] * 2, 2, ())
    with pytest.raises(sf.PlanError, match="not an operation"):
        client.anonymize_attributes([{"name": "A"}], {"name": {"anonymisationType": "Hashing", "dataType": "String"}})
    with pytest.raises(sf.DataError, match="the input of record 1 is not numeric"):
        numeric = {"age": {"anonymisationType": "Generalization", "dataType": "Numeric"}}
        client.anonymize_attributes([{"age": "old"}, {"age": 3}], numeric)


def test_a_job_from_plan_to_files(client, rows, tmp_path):
    job = client.submit("anonymize", patients().plan("patients.csv", 5), [rows], idempotency_key="0123456789")
    again = client.submit("anonymize", patients().plan("patients.csv", 5), [rows], idempotency_key="0123456789")
    assert again.id == job.id
    done = client.wait(job)
    assert (done.state, done.error, done.ended) == ("done", None, True)
    sizes = client.files(done)
    assert client.download(done, tmp_path / "data.csv", "data.csv").stat().st_size == sizes["data.csv"]
    assert set(zipfile.ZipFile(client.download(done.id, tmp_path / "all.zip")).namelist()) == set(sizes)
    client.cancel(done)
    with pytest.raises(sf.SfumatoError, match="no such job"):
        client.job(done)


def test_what_fails_is_raised_as_the_library_raises_it(client, rows, tmp_path):
    impossible = patients().plan("patients.csv", 5) | {
        "columns": {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    }
    with pytest.raises(sf.SfumatoError) as failed:
        client.wait(client.submit("anonymize", impossible, [rows]))
    assert failed.value.code.startswith(("plan.", "data."))
    with pytest.raises(sf.EngineError, match="cannot be reached"):
        sf.Client("http://127.0.0.1:1").job("0")
    address = str(client._http.base_url)
    with pytest.raises(sf.EngineError, match="key is needed") as refused, sf.Client(address, "wrong") as stranger:
        stranger.job("0")
    assert refused.value.code == "engine.access.key"
    with pytest.raises(sf.DataError, match=r"absent\.csv cannot be read"):
        client.submit("anonymize", impossible, [tmp_path / "absent.csv"])
    with pytest.raises(sf.PlanError, match=r"absent\.yaml cannot be read"):
        client.submit("anonymize", tmp_path / "absent.yaml", [rows])
    with pytest.raises(sf.SfumatoError, match="webhook cannot be called: the address is not an http"):
        client.submit("risk", patients().plan("patients.csv", 5), [rows], webhook=("file:///etc/passwd", SECRET))
    listed = client._http.get("/api/jobs", params={"limit": 0})
    assert (listed.status_code, "limit: Input should be greater" in listed.json()["detail"]) == (400, True)


def test_a_plan_of_the_other_kind_is_told_as_such(client, rows, tmp_path):
    (tmp_path / "table.yaml").write_text("version: 1\ntable: {value: n}\ndimensions: {area: {column: area}}\n")
    (tmp_path / "rows.yaml").write_text(
        "version: 1\ncolumns: {zip: {role: identifier}}\nprivacy: [{model: k-anonymity, k: 2}]\n"
    )
    with pytest.raises(sf.PlanError, match="this is the plan of a table, not of rows"):
        client.submit("anonymize", tmp_path / "table.yaml", [rows])
    with pytest.raises(sf.PlanError, match="this is the plan of rows, not of a table"):
        client.submit("protect", tmp_path / "rows.yaml", [rows])


def test_a_quota_is_no_fault_of_the_plan(serving, rows, tmp_path):
    key, line = new_key("tests")
    (tmp_path / "keys").write_text(line)
    with (
        serving(tmp_path / "jobs", Settings(api_keys=tmp_path / "keys"), user_bytes=600) as http,
        sf.Client(str(http.base_url), key) as own,
        pytest.raises(sf.EngineError, match="600") as refused,
    ):
        own.submit("anonymize", patients().plan("patients.csv", 5), [rows])
    assert refused.value.code == "engine.limit.quota"


def told_under(told, path, until, count=1):
    until(lambda: sum(place == path for place, _, _ in told) >= count)
    return [entry for entry in told if entry[0] == path][-1]


def until(holds):
    import time

    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_end_of_a_job_is_told_and_signed(client, rows, receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "PAUSES", (0.1, 0.1, 0.1))
    address, told = receiver
    job = client.submit("risk", patients().plan("patients.csv", 5), [rows], webhook=(f"{address}/twice", SECRET))
    _, headers, body = told_under(told, "/twice", until, 3)  # it is tried again until it is taken
    assert json.loads(body) == {"job": job.id, "kind": "risk", "state": "done", "code": None}
    signed = headers["X-Sfumato-Timestamp"].encode() + b"." + body
    expected = "sha256=" + hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(headers["X-Sfumato-Signature"], expected)


def test_no_redirect_is_followed(client, rows, receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "PAUSES", (0.1,))
    address, told = receiver
    client.submit("risk", patients().plan("patients.csv", 5), [rows], webhook=(f"{address}/elsewhere", SECRET))
    told_under(told, "/elsewhere", until, 2)
    assert "/inside" not in {path for path, _, _ in told}


@pytest.mark.parametrize(
    "webhook",
    [
        ("http://localhost:1/", SECRET),
        ("http://169.254.169.254/", SECRET),
        ("http://10.0.0.1/", SECRET),
        ("file:///etc/passwd", SECRET),
        ("https://example.org/", "short"),
    ],
)
def test_webhooks_by_the_rules_of_configurations(client, rows, webhook):
    with pytest.raises(sf.SfumatoError):
        client.submit("risk", patients().plan("patients.csv", 5), [rows], webhook=webhook)


def test_the_documentation_is_found_where_it_used_to_be(client):
    for path, target in (("/swagger-ui/index.html", "/docs"), ("/v3/api-docs", "/openapi.json")):
        answer = client._http.get(path)
        assert (answer.status_code, answer.headers["location"]) == (307, target)


def test_what_cannot_be_sent_is_refused_in_words(client, rows):
    with pytest.raises(sf.PlanError, match="signs that no key has"):
        sf.Client("http://127.0.0.1:1", key="schlüssel")
    with pytest.raises(sf.DataError, match="finite number"):
        client.anonymize_attributes([{"age": float("nan")}], {"age": {"anonymisationType": "Masking"}})
    with pytest.raises(sf.PlanError, match="letters and digits"):
        client.job("")
    with pytest.raises(sf.DataError, match=r"absent\.csv cannot be read"):
        client.submit("risk", {"version": 1}, "absent.csv")
