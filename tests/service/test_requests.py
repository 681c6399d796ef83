"""Requests: hosts and origins, limits of bodies, strict JSON, log lines, odd requests."""

import copy
import json
import logging
import math
import random
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attributes.fetching import Fetcher
from sfumato.attributes.sources import Sources
from sfumato.datasets import patients
from sfumato.service.attributes.endpoints import Endpoints
from sfumato.service.problems import RefusedError, plain, to_json
from sfumato.service.request_bodies import parse_json
from sfumato.service.settings import Limits, Settings
from sfumato.service.workers.messages import TakesLongError
from sfumato.values import replace
from sizes import size

BODY = {"configuration": {"name": {"anonymisationType": "Masking", "dataType": "String"}}, "data": [{"name": "Ada"}]}
HOSTS = {
    "localhost": 200,
    "LOCALHOST:8000": 200,
    "127.0.0.1:1": 200,
    "[::1]:8000": 200,
    "10.0.0.7": 200,
    "clinic.example": 200,
    "Clinic.Example.:443": 200,
    "evil.example": 421,
    "clinic.example.evil.example": 421,
    "localhost.evil.example": 421,
    "127.0.0.1.evil.example": 421,
    "[::1": 421,
    "": 421,
}


@pytest.fixture(scope="module")
def own(start_module):
    with start_module(Settings(server_names=frozenset({"Clinic.Example"}))) as client:
        yield client


@pytest.fixture(scope="module")
def start_module(serving, tmp_path_factory):
    return lambda settings: serving(tmp_path_factory.mktemp("jobs"), settings)


@pytest.mark.parametrize("host", HOSTS)
def test_names(own, host):
    assert own.get("/health/live", headers={"Host": host}).status_code == HOSTS[host]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 202),
        ({"Origin": "{own}"}, 202),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 202),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_origins(own, method, headers, status):
    base = str(own.base_url).rstrip("/")
    sent = {name: text.replace("{own}", base) for name, text in headers.items()}
    assert own.request(method, "/api/anonymise", json=BODY, headers=sent).status_code == status
    assert own.get("/health/live", headers=sent).status_code == 200  # a question gives nothing away


def test_a_form_of_another_site_without_a_content_type_is_not_taken(own):
    request = own.build_request("POST", "/api/jobs", content=b"{}", headers={"Origin": "http://evil.example"})
    request.headers.pop("content-type", None)
    assert own.send(request).status_code == 403
    assert own.delete("/api/jobs/0123", headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize("path", ["/socket.io/?EIO=4&transport=polling", "/app/_nicegui_ws/socket.io/?EIO=4"])
def test_open_connections_of_another_site_are_refused(own, path):
    answer = own.get(path, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_answers_may_not_be_framed(own):
    answer = own.get("/")
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert "frame-ancestors" in answer.headers["content-security-policy"]


def test_a_web_socket_of_another_site_is_refused(complete):
    from sfumato.service.middleware import OriginCheck

    said = []

    async def app(scope, receive, send):
        await send({"type": "websocket.accept"})

    async def send(message):
        said.append(message["type"])

    for origin, expected in ((b"http://evil.example", "websocket.close"), (b"http://localhost", "websocket.accept")):
        scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"localhost"), (b"origin", origin)]}
        complete(OriginCheck(app)(scope, None, send))
        assert said.pop() == expected


TEXTS = [
    "[18446744073709551615, 18446744073709551616, 123456789012345678901234567890]",
    "[-9223372036854775808, -9223372036854775809]",
    "[0.1, 1E2, 5e-324, 12345678901234567890.5, 0.1234567890123456789]",
    '["12345678901234567890", "\\ud800", "\\u0000", "ä😀"]',
    '{"a": 1, "a": 2, "": null}',
    "[1e999, -1e999]",
]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize("text", TEXTS)
def test_read_as_the_standard_library_reads(text):
    assert repr(parse_json(text.encode(), Limits())) == repr(json.loads(text))


@pytest.mark.parametrize("text", [b"NaN", b"[Infinity]", b"[1,]", b'"\xff"', b"\xef\xbb\xbf1", b"", b"[" * 100_000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(RefusedError):
        parse_json(text, Limits())


@given(ANY_JSON)
def test_written_and_read_again(value):
    assert repr(json.loads(to_json(value))) == repr(value)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_no_number_becomes_null(number):
    for content in ([number], {"a": [1.5, number]}, [None, number]):
        with pytest.raises(ValueError, match="not JSON compliant"):
            to_json(content)


def test_half_a_surrogate_pair_is_written_as_its_escape():
    assert to_json(["\ud800"]) == b'["\\ud800"]'


MASK = {"name": {"anonymisationType": "Masking", "dataType": "String"}}
TURTLE = b"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix soya: <https://w3id.org/soya/ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix : <https://clinic.example/Patient/> .
:name rdfs:domain :Patient ; rdfs:range xsd:string ; soya:classification soya:masking ."""
JSON = {"Content-Type": "application/json"}
PATHS = ("/api/anonymise", "/api/anonymise/flatjson", "/api/anonymise/jsonld")
VALID = json.dumps({"configuration": MASK, "data": [{"name": "Ada"}, {"name": "Bob"}]}).encode()


def malformed() -> list[bytes]:
    """A hundred bodies that are none: broken text, wrong types, deep nesting, odd numbers and letters."""
    dice = random.Random(20)
    fixed = [b"", b"null", b"[]", b"1", b'"text"', b"{", b"\xff\xfe", b'{"data":NaN}', b"[" * 100_000, b'{"a":' * 5_000]
    fixed += [b'{"data":[{"name":Infinity}]}', b'{"data":' + b"9" * 5_000 + b"}", "{'data': 1}".encode("utf-16")]
    fixed += [json.dumps({"configuration": MASK, "data": nested(depth)}).encode() for depth in (20, 100, 900)]
    wrong = [None, 1, -1.5, True, "x", [], {}, [1], [[]], {"a": {}}]
    keys = ("data", "configuration", "configurationURL", "ontology", "buckets", "passThrough", "seed")
    base = {"configuration": {}, "data": [{"name": 1}]}
    fixed += [json.dumps(base | {dice.choice(keys): dice.choice(wrong)}).encode() for _ in range(40)]
    while len(fixed) < 100:
        fixed.append(damaged(dice))
    return fixed


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return [{"name": value}]


def damaged(dice: random.Random) -> bytes:
    """The valid body with a bracket, quote or colon taken away."""
    body = bytearray(VALID)
    places = [place for place, letter in enumerate(body) if letter in b'{}[]":']
    del body[dice.choice(places)]
    return bytes(body)


def test_a_hundred_malformed_bodies(client):
    bodies = malformed()
    assert len(bodies) == 100
    for body in bodies:
        for path in PATHS:
            started = time.monotonic()
            answer = client.put(path, content=body, headers=JSON)
            assert 400 <= answer.status_code < 500, body[:80]
            assert answer.json()["valid"] is False
            assert time.monotonic() - started < 10
    assert client.put(PATHS[0], content=VALID, headers=JSON).status_code == 202


@pytest.mark.parametrize("streamed", [False, True])
def test_body_of_a_hundred_megabytes(client, streamed):
    part = b"x" * 1_000_000
    content = (part for _ in range(100)) if streamed else part * 100
    answer = client.put("/api/anonymise", content=content, headers=JSON)
    assert answer.status_code == 413
    assert client.get("/health/live").status_code == 200


def test_number_too_large_for_a_float(client):
    body = b'{"configuration":{"a":{"anonymisationType":"masking","dataType":"String"}},"passThrough":true,'
    answer = client.put("/api/anonymise", content=body + b'"data":[{"a":"x","b":1e999}]}', headers=JSON)
    assert answer.status_code == 400


def test_half_a_surrogate_pair_is_answered(client):
    body = b'{"configuration":{"a":{"anonymisationType":"masking","dataType":"String"}},"passThrough":true,'
    answer = client.put("/api/anonymise", content=body + b'"data":[{"a":"x","b":"\\ud800"}]}', headers=JSON)
    assert answer.status_code == 202
    assert json.loads(answer.content)["anonymisedData"][0]["b"] == "\ud800"


@pytest.mark.parametrize("name", ['"\\ud800"', '"a"'])
@pytest.mark.parametrize("more", ["", ',"weight":1234567890123456789012345678901234567890'])
def test_any_json_in_a_configuration_is_answered(client, name, more):
    rule = f'{{"anonymisationType":"Masking","dataType":"String"{more}}}'
    body = f'{{"configuration":{{{name}:{rule}}},"data":[{{{name}:"x"}}]}}'
    answer = client.put("/api/anonymise", content=body.encode(), headers=JSON)
    assert answer.status_code == (400 if more else 202)


def test_too_many_records(client):
    answer = client.put("/api/anonymise", json={"configuration": MASK, "data": [{"name": "A"}] * 5_001})
    assert answer.status_code == 413


def test_too_many_nodes(client, configs):
    nodes = [{"@id": f"x:{number}", "x:part": {"x:a": 1}} for number in range(251)]
    answer = client.put("/api/anonymise/jsonld", json={"configurationUrl": configs.url("/Patient"), "data": nodes})
    assert answer.status_code == 413


@pytest.mark.parametrize("kind", ["Numeric", "Date", "DateTime", "Address"])
@pytest.mark.parametrize(
    "text", ["1" * 900_000 + "x", "a 1, " + "1" * 900_000 + ", c, d", " " * 900_000, "1 " * 400_000]
)
def test_hostile_text_costs_no_time(client, kind, text):
    configuration = {"a": {"anonymisationType": "Generalization", "dataType": kind}}
    started = time.monotonic()
    answer = client.put("/api/anonymise", json={"configuration": configuration, "data": [{"a": text}, {"a": text}]})
    assert answer.status_code in (202, 400)
    assert len(answer.content) < 2_000
    assert time.monotonic() - started < 5


def test_slow_body_ends_in_time(start):
    with start(Settings(limits=Limits(seconds=0.5))) as client:
        port = client.base_url.port
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            head = b"PUT /api/anonymise HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n{"
            connection.sendall(head)
            assert b" 408 " in connection.recv(200)
        assert client.get("/health/live").status_code == 200


def test_busy_service_turns_away_and_recovers(start, configs):
    """A configuration that comes slowly keeps the only worker busy; what would wait behind too much is turned away."""
    address = configs.put("/slow", b'{"@id":"x:a","x:b":1}' + b" " * 1500, seconds=0.4)
    limits = Limits(workers=1, waiting=2)
    with start(Settings(allowed_hosts=frozenset({"127.0.0.1"}), limits=limits)) as client:
        url = f"http://127.0.0.1:{client.base_url.port}/api/anonymise"
        body = {"configurationURL": address, "data": [{"name": "A"}]}
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: httpx.put(url, json=body, timeout=30, trust_env=False), range(8)))
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses.count(429) >= 1
        assert set(statuses) <= {400, 429}
        assert next(answer for answer in answers if answer.status_code == 429).headers["retry-after"] == "1"
        assert client.put("/api/anonymise", content=VALID, headers=JSON).status_code == 202


def test_work_that_takes_too_long_is_answered_in_time(start, configs):
    address = configs.put("/slower", b'{"@id":"x:a","x:b":1}' + b" " * 2500, seconds=0.6)
    settings = Settings(allowed_hosts=frozenset({"127.0.0.1"}), limits=Limits(seconds=0.3))
    with start(settings) as client:
        answer = client.put("/api/anonymise", json={"configurationURL": address, "data": [{"name": "A"}]})
        assert answer.status_code == 408


def test_shutdown_finishes_what_runs(start, configs):
    address = configs.put("/shutdown", b'{"@id":"x:a","x:b":1}' + b" " * 1500, seconds=0.5)
    found: list[int] = []
    with start(Settings(allowed_hosts=frozenset({"127.0.0.1"}))) as client:
        url = f"http://127.0.0.1:{client.base_url.port}/api/anonymise"
        body = {"configurationURL": address, "data": [{"name": "A"}]}
        asking = threading.Thread(
            target=lambda: found.append(httpx.put(url, json=body, timeout=30, trust_env=False).status_code)
        )
        asking.start()
        deadline = time.monotonic() + 20
        while "/shutdown" not in {path for path, _ in configs.asked} and time.monotonic() < deadline:
            time.sleep(0.02)  # the request is at work when the service is told to stop
    asking.join(20)
    assert found == [400]


def test_graphs_that_must_be_read_first_leave_a_process_to_the_others(start, configs):
    """Small requests that named large graphs took all processes; single records waited for twenty seconds."""
    inline = {"configuration": {"n": {"anonymisationType": "Masking", "dataType": "String"}}, "data": [{"n": "Ada"}]}
    slow_page = partial(configs.put, content=TURTLE, media_type="text/turtle", seconds=1.5)
    pages = [slow_page(f"/slow.ttl?{number}") for number in range(8)]
    with start(Settings(allowed_hosts=frozenset({"127.0.0.1"}))) as client, ThreadPoolExecutor(8) as others:
        assert client.put("/api/anonymise", json=inline).status_code == 202
        slow = [
            others.submit(client.put, "/api/anonymise", json={"configurationUrl": page, "data": [{"name": "Ada"}]})
            for page in pages
        ]
        time.sleep(0.3)
        begun = time.monotonic()
        assert client.put("/api/anonymise", json=inline).status_code == 202
        assert time.monotonic() - begun < 1
        assert [answer.result().status_code for answer in slow] == [202] * 8


def test_a_graph_is_read_once_whatever_its_address_asks_for(configs):
    endpoints = Endpoints(Sources(Fetcher(frozenset({"127.0.0.1"}))), Limits(), patient=False)
    patient = replace(endpoints, patient=True)

    def body(query, **more):
        page = configs.put(f"/patient.ttl?{query}", TURTLE, media_type="text/turtle")
        return json.dumps({"configurationUrl": page, "data": [{"name": "Ada"}], **more}).encode()

    with pytest.raises(TakesLongError):
        endpoints.anonymize(body("a"))
    assert b"*****" in patient.anonymize(body("a")).body
    assert b"*****" in endpoints.anonymize(body("a")).body
    with pytest.raises(TakesLongError):  # another address must be fetched
        endpoints.flat(body("b", prefix=""))
    patient.flat(body("b", prefix=""))
    assert endpoints.sources._classes.cache_info().misses == 1


SECRET = "Zaphod-7c1f"
WEBSOCKET = "/lib/uvicorn/protocols/websockets/impl.py"


def line(name, level=logging.ERROR, path="/lib/some.py", message="%s", error=None):
    """What is written of a record, or None."""
    info = (type(error), error, error.__traceback__) if error is not None else None
    record = logging.LogRecord(name, level, path, 7, message, (SECRET,), info)
    return logging.Formatter("%(message)s").format(record) if plain(record) else None


def raised():
    try:
        raise ValueError(SECRET)
    except ValueError:
        return sys.exc_info()[1]


@pytest.mark.parametrize("name", ["sfumato", "sfumato.service", "uvicorn.error"])
def test_lines_of_the_service_and_the_server_stay(name) -> None:
    assert line(name, logging.INFO) == SECRET
    assert line(name) == SECRET


@pytest.mark.parametrize("name", ["nicegui", "rdflib.term", "asyncio", "root", "sfumatos"])
def test_of_other_lines_only_the_place_is_left(name) -> None:
    assert json.loads(line(name)) == {"log": name, "at": "/lib/some.py:7"}
    assert line(name, logging.INFO) is None


@pytest.mark.parametrize("name", ["nicegui", "rdflib.term", "uvicorn.error"])
def test_an_error_is_told_by_kind_and_place(name) -> None:
    found = json.loads(line(name, error=raised()))
    assert (found["error"], found["log"]) == ("ValueError", name)
    assert found["at"].startswith(__file__)


def test_connections_of_browsers_are_not_told() -> None:
    assert line("uvicorn.error", logging.INFO, WEBSOCKET) is None
    assert SECRET not in line("uvicorn.error", logging.ERROR, WEBSOCKET)


def test_a_line_is_made_plain_once() -> None:
    record = logging.LogRecord("nicegui", logging.ERROR, "/lib/some.py", 7, raised(), (), None)
    assert plain(record)
    first = record.getMessage()
    assert plain(record)
    assert json.loads(record.getMessage())["error"] == "ValueError"
    assert record.getMessage() == first


CLASS = "https://clinic.example/Patient/"
ODD = [
    *(None, True, -1, 0, 1e308, 10**40, "", "x", "\ud800", "\0", "=cmd|'/c calc'!A1", "Masking"),
    *([], {}, [[]], {"": None}, "1" * 5_000, {"@id": "p:1"}, {"@list": [1, {"p:a": "x"}]}),
    *({"@value": 1, "@type": "p:t"}, {"@type": ["p:Patient"]}, {"@context": "https://evil.example/"}, {"@graph": []}),
    *("../../etc/passwd", "http://[::1", "file:///etc/passwd"),
]
KEYS = ["@id", "@type", "@graph", "@context", "@reverse", "data", "name", "source", "kind", "plan", "buckets", "x"]
SECONDS = 20.0


def places(value, path=()):
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def mutated(body, dice):
    """A copy with one to three places changed, taken away, doubled or given a further key."""
    made = copy.deepcopy(body)
    for _ in range(dice.randrange(1, 4)):
        spots = [path for path in places(made) if path]
        if not spots:
            return made
        path = dice.choice(spots)
        owner = made
        for key in path[:-1]:
            owner = owner[key]
        action = dice.randrange(4)
        if action == 0:
            owner[path[-1]] = copy.deepcopy(dice.choice(ODD))
        elif action == 1:
            del owner[path[-1]]
        elif action == 2 and isinstance(owner, list):
            owner.append(copy.deepcopy(owner[path[-1]]))
        elif isinstance(owner[path[-1]], dict):
            owner[path[-1]][dice.choice(KEYS)] = copy.deepcopy(dice.choice(ODD))
    return made


def bodies(address):
    inline = {
        "name": {"anonymisationType": "Masking", "dataType": "String"},
        "born": {"anonymisationType": "Randomization", "dataType": "Date"},
        "income": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    }
    records = [{"name": f"N{n}", "born": f"19{60 + n}-01-01", "income": 1000 * n} for n in range(6)]
    nodes = [
        {"@id": f"p:{n}", "@type": "p:Patient", "p:name": {"p:last": "X"}, "p:income": n, "p:home": {"p:town": "A"}}
        for n in range(4)
    ]
    plan = patients().plan("patients.csv", 5)
    return {
        "/api/anonymise": {"configuration": inline, "data": records, "kpis": True},
        "/api/anonymization": {"configurationURL": address, "data": records, "buckets": 2, "passThrough": True},
        "/api/anonymise/flatjson": {"configurationUrl": address, "prefix": CLASS, "data": records},
        "/api/anonymise/jsonld": {"configurationUrl": address, "data": {"@context": {"p": CLASS}, "@graph": nodes}},
        "/api/jobs": {"kind": "risk", "plan": plan, "source": "patients.csv", "parameters": {"threshold": 0.5}},
    }


def test_mutations(serving, configs, tmp_path):
    (tmp_path / "sources").mkdir()
    patients().write(tmp_path / "sources" / "patients.csv")
    settings = Settings(allowed_hosts=frozenset({"127.0.0.1"}), limits=Limits(seconds=SECONDS))
    dice = random.Random(16)
    seen: dict[int, int] = {}
    with serving(tmp_path / "jobs", settings, sources=tmp_path / "sources", waiting=10_000) as client:
        for path, body in bodies(configs.url("/Patient")).items():
            for _ in range(size(60, 120)):
                content = json.dumps(mutated(body, dice)).encode()
                started = time.monotonic()
                answer = client.put(path, content=content, headers={"Content-Type": "application/json"})
                if answer.status_code == 405:
                    answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
                assert answer.status_code < 500, (path, answer.status_code, content[:500])
                assert time.monotonic() - started < SECONDS + 10
                seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert client.get("/health/live").status_code == 200
    assert seen[202] > 20
    assert seen[400] > size(60, 100)
