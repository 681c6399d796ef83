"""Mutations of valid requests: whatever comes, no error of the server, no answer that hangs, no memory that grows."""

import copy
import json
import random
import time

from sfumato.datasets import patients
from sfumato.service.settings import Limits, Settings

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
            for _ in range(120 if path != "/api/jobs" else 60):
                content = json.dumps(mutated(body, dice)).encode()
                started = time.monotonic()
                answer = client.put(path, content=content, headers={"Content-Type": "application/json"})
                if answer.status_code == 405:
                    answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
                assert answer.status_code < 500, (path, answer.status_code, content[:500])
                assert time.monotonic() - started < SECONDS + 10
                seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert client.get("/health/live").status_code == 200
    assert seen[202] > 50
    assert seen[400] > 100
