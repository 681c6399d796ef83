"""Limits and fuzz: whatever the body, the answer is a refusal within the limit and the server stays alive."""

import json
import random
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import pytest

from sfumato.attributes.fetching import Fetcher
from sfumato.attributes.sources import Sources
from sfumato.service.attributes.endpoints import Endpoints
from sfumato.service.settings import Limits, Settings
from sfumato.service.workers.messages import TakesLongError
from sfumato.values import replace

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
