"""What a stranger reaches over HTTP: files of the server, sessions, roles."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
import httpx
import pytest
from cryptography.fernet import Fernet

from served import service
from sfumato.service.access.keys import add_key, make_key
from sfumato.service.access.sessions import COOKIE, SECRET
from sfumato.service.settings import JobSettings, Settings

# A user with the scope `jobs` asks a started service for its files: the secret of its sessions, and files of keys.

ROWS = "zip,age,ill\n" + "".join(f"{10000 + row % 2},{30 + row % 4},{'ab'[row % 3 == 0]}\n" for row in range(24))
CELLS = "area,n\nTotal,17\nnorth,2\nsouth,9\nwest,6\n"
QUASI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
TABLE = {
    "version": 1,
    "table": {"value": "n"},
    "dimensions": {"area": {"column": "area"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}


def row_plan(**more):
    columns = {"zip": QUASI, "age": QUASI, "ill": {"role": "sensitive"}}
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], **more}


def plans(secret, taken):
    """What each plan names: a file of the server, or a database that came along and views one."""
    keyed = row_plan()
    keyed["columns"] |= {"zip": {"role": "identifier", "publish": {"pseudonym": {"kind": "keyed", "key_file": secret}}}}
    joined = {"version": 1, "columns": {"zip": QUASI, "age": QUASI}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    joined["files"] = {"persons": {"source": "rows.csv", "key": "ill", "key_file": secret}}
    return {
        "source": row_plan(data={"source": secret, "format": "csv"}),
        "a view as rows": row_plan(data={"source": taken, "table": "rows"}),
        "zip_population": row_plan(policy={"name": "hipaa-safe-harbor", "zip_population": secret}),
        "a view as zip_population": row_plan(policy={"name": "hipaa-safe-harbor", "zip_population": taken}),
        "key_file": keyed,
        "files.*.key_file": joined,
        "metadata": TABLE | {"table": {"value": "n", "metadata": secret}},
        "ptable": TABLE | {"method": {"name": "cell-key", "ptable": secret}},
        "microdata": TABLE | {"table": {"value": "count", "microdata": taken}},
    }


KINDS = tuple(plans("", ""))


@contextmanager
def serving(folder):
    key, line = make_key("mallory", scopes=("jobs",))
    add_key(folder / "keys", line)
    with service(Settings(api_keys=folder / "keys"), JobSettings(folder / "jobs", pages=False)) as client:
        client.headers["X-API-Key"] = key
        yield client


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with serving(folder) as client:
        yield client, folder / "jobs" / SECRET


def stealing(folder, secret):
    """A database whose only table is one in name: the rows that it shows are a file of the server."""
    file = folder / "rows.duckdb"
    read = f"(SELECT content FROM read_text('{secret}'))"
    with duckdb.connect(str(file)) as made:
        made.execute(f"CREATE VIEW rows AS SELECT {read} AS zip, 30 AS age, 'a' AS ill FROM range(24)")
        made.execute(f"CREATE VIEW zips AS SELECT '100' AS zip3, 1 AS people FROM range(2) WHERE {read} <> ''")
    return file


def answers(client, plan, data):
    """All that the service gives for a job: the first answer, what it says of the job, and the files of the result."""
    kind = "protect" if "table" in plan else "anonymize"
    asked = {"kind": kind, "plan": json.dumps(plan)}
    answer = client.post("/api/jobs", data=asked, files=data, headers={"Accept": "application/problem+json"})
    texts = [answer.text]
    if answer.status_code != 202:
        return answer, texts
    deadline = time.monotonic() + 120
    job = {"state": "queued"}
    while job["state"] in ("queued", "running") and time.monotonic() < deadline:
        time.sleep(0.1)
        job = client.get(answer.headers["location"]).json()
    texts.append(json.dumps(job))
    for name in ("data.csv", "recoding.json", "report.json", "table.csv"):
        texts.append(client.get(f"{answer.headers['location']}/files/{name}").text)
    return answer, texts


@pytest.mark.parametrize("kind", KINDS)
def test_no_plan_reads_a_file_of_the_server(served, tmp_path, kind) -> None:
    client, secret = served
    taken = stealing(tmp_path, secret)
    plan = plans(str(secret), taken.name)[kind]
    rows = ("cells.csv", CELLS) if "table" in plan else ("rows.csv", ROWS)
    data = [("data", (rows[0], rows[1].encode()))]
    if taken.name in json.dumps(plan):
        data.append(("data", (taken.name, taken.read_bytes())))
    answer, texts = answers(client, plan, data)
    text = secret.read_text(encoding="utf-8").strip()
    assert not any(text in said for said in texts)
    assert (answer.status_code, answer.json()["code"]) == (400, "plan.path")
    # What he could make of it: the cookie of an administrator.
    assert httpx.get(
        client.base_url.join("/api/jobs?all=true"),
        headers={"Cookie": f"{COOKIE}={forged(texts)}"},
        trust_env=False,
    ).status_code in (401, 403)


def forged(texts):
    """The cookie of an administrator, sealed with whatever text of an answer could be the secret."""
    user = {"name": "x", "way": "openid", "role": "admin", "scopes": ["jobs"], "label": ""}
    for word in {word for text in texts for word in text.replace(",", " ").split() if len(word) == 44}:
        try:
            return Fernet(word).encrypt(json.dumps({"session": "x", "user": user}).encode()).decode()
        except ValueError:
            continue
    return "none"


def test_a_database_that_came_along_is_refused_by_its_content_too(served, tmp_path) -> None:
    """A view in a file that is named otherwise."""
    client, secret = served
    taken = stealing(tmp_path, secret)
    for name, more in (("rows.csv", {}), ("rows.csv", {"format": "duckdb"}), ("rows.parquet", {})):
        plan = row_plan(data={"source": name, **more})
        _, texts = answers(client, plan, [("data", (name, taken.read_bytes()))])
        assert not any(secret.read_text(encoding="utf-8").strip() in said for said in texts)
        assert not any('"state": "done"' in said for said in texts)


# An administrator who is removed from the configuration is one no more, whatever cookie the browser still has.

PROVIDER = Path(__file__).parents[1] / "service" / "access" / "provider.py"
EVERYBODYS_JOBS = "/api/jobs?all=true"


@pytest.fixture
def provider():
    process = subprocess.Popen([sys.executable, PROVIDER], stdout=subprocess.PIPE, text=True)
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    process.kill()
    process.wait()
    process.stdout.close()


def asked(client, cookie):
    address = client.base_url.join(EVERYBODYS_JOBS)
    return httpx.get(address, headers={"Cookie": f"{COOKIE}={cookie}"}, trust_env=False).status_code


def test_a_removed_administrator_is_a_user_like_others(provider, tmp_path) -> None:
    """He signed in with the provider; the service was started again without him among the administrators."""
    (tmp_path / "secret").write_text("a secret of the client\n")
    cookies = []
    for admins, expected in ((frozenset({"7"}), 200), (frozenset(), 403), (frozenset({"7"}), 200)):
        settings = Settings(openid=provider, openid_client="sfumato", openid_secret=tmp_path / "secret", admins=admins)
        with service(settings, JobSettings(tmp_path / "jobs", pages=False)) as client:
            if not cookies:
                away = client.get("/sign-in", params={"next": "/api/jobs"})
                back = httpx.get(away.headers["location"], trust_env=False)
                client.get(back.headers["location"])
                cookies.append(client.cookies[COOKIE])
            assert asked(client, cookies[0]) == expected


def test_a_key_that_lost_its_role_takes_its_cookies_along(tmp_path) -> None:
    keys = tmp_path / "keys"
    key, line = make_key("ada", "admin")
    add_key(keys, line)
    for role, expected in (("admin", 200), ("user", 403)):
        keys.write_text(keys.read_text().replace("role=admin", f"role={role}"))
        with service(Settings(api_keys=keys), JobSettings(tmp_path / "jobs", pages=False)) as client:
            if role == "admin":
                client.post("/sign-in", data={"key": key, "next": "/"})
                cookie = client.cookies[COOKIE]
            assert asked(client, cookie) == expected
