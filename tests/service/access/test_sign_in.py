"""Signing in by OpenID Connect (a real provider), by the word of a proxy, and by a key in a form."""

import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from sfumato.app import create_app
from sfumato.errors import PlanError
from sfumato.service.access.keys import new_key
from sfumato.service.access.sessions import COOKIE, Sessions, SignedIn, session_secret
from sfumato.service.settings import JobSettings, Settings

BODY = {"configuration": {"name": {"anonymisationType": "Masking", "dataType": "String"}}, "data": [{"name": "Ada"}]}


@pytest.fixture(scope="module")
def provider():
    script = Path(__file__).parent / "provider.py"
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture(scope="module")
def client(provider, serving, tmp_path_factory):
    """A service whose users sign in with the provider; number 7 is an admin."""
    folder = tmp_path_factory.mktemp("openid")
    (folder / "secret").write_text("a secret of the client\n")
    settings = Settings(
        openid=provider,
        openid_client="sfumato",
        openid_secret=folder / "secret",
        admins=frozenset({"7"}),
        audit_log=folder / "audit.jsonl",
    )
    with serving(folder / "jobs", settings) as started:
        started.audit = folder / "audit.jsonl"
        yield started


@pytest.fixture
def lie(provider):
    honest = {"claims": {}, "signed": "first", "published": ["first"], "algorithm": "RS256"}

    def lying(**more):
        httpx.post(f"{provider}/lie", json=honest | more, trust_env=False)

    yield lying
    lying()


def browser(client):
    return httpx.Client(base_url=client.base_url, timeout=30, trust_env=False)


def sign_in(visitor, target="/api/jobs"):
    """Go to the provider and come back; the answer of the service to the way back."""
    away = visitor.get("/sign-in", params={"next": target})
    assert away.status_code == 303, away.text
    back = httpx.get(away.headers["location"], trust_env=False)
    return visitor.get(back.headers["location"])


def test_who_signs_in_is_known_until_they_sign_out(client):
    with browser(client) as visitor:
        assert visitor.get("/api/jobs").status_code == 401
        answer = sign_in(visitor)
        assert (answer.status_code, answer.headers["location"]) == (303, "/api/jobs")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=lax" in cookie.lower()
        assert visitor.get("/api/jobs").json() == {"jobs": [], "before": None}
        assert visitor.get("/api/jobs", params={"all": True}).status_code == 200  # an admin
        assert visitor.put("/api/anonymise", json=BODY).status_code == 202
        copy = {"Cookie": f"{COOKIE}={visitor.cookies[COOKIE]}"}
        assert visitor.get("/sign-out").status_code == 303
        assert visitor.get("/api/jobs").status_code == 401
        assert httpx.get(client.base_url.join("/api/jobs"), headers=copy, trust_env=False).status_code == 401
    deadline = time.monotonic() + 10
    while "sign-out" not in client.audit.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = client.audit.read_text()
    assert '"who": "openid:7", "what": "sign-in"' in lines
    assert '"who": "openid:7", "what": "anonymize_put_api_anonymise", "status": 202, "records": 1' in lines
    assert "Ada" not in lines


def test_a_sign_in_that_was_ended_is_ended_on_every_server(tmp_path):
    """A copy of the cookie went on opening the service."""
    secret, request = session_secret(tmp_path), Request({"type": "http", "scheme": "http", "headers": [], "path": "/"})
    first, second = (Sessions(secret, 60, tmp_path) for _ in range(2))
    cookies = []
    for _ in range(2):
        answer = Response()
        first.begin(request, answer, SignedIn("openid", "7", "", "provider"))
        cookies.append({COOKIE: answer.headers["set-cookie"].split("=", 1)[1].split(";")[0]})
    first.end(cookies[0])
    assert [first.signed_in(cookies[0]), second.signed_in(cookies[0])] == [None, None]
    assert second.signed_in(cookies[1]).name == "7"  # another browser's goes on


LIES = {
    "another audience": {"claims": {"aud": "another"}},
    "another issuer": {"claims": {"iss": "https://evil.example"}},
    "another nonce": {"claims": {"nonce": "x"}},
    "no nonce": {"claims": {"nonce": None}},
    "over": {"claims": {"exp": 1_000_000_000}},
    "no end": {"claims": {"exp": None}},
    "for another party": {"claims": {"azp": "another"}},
    "no user": {"claims": {"sub": None}},
    "a user that is no text": {"claims": {"sub": 7}},
    "a key that is not published": {"signed": "second"},
}


@pytest.mark.parametrize("change", LIES.values(), ids=LIES)
def test_a_token_that_is_not_what_it_must_be_is_refused(client, lie, change):
    lie(**change)
    with browser(client) as visitor:
        answer = sign_in(visitor)
        assert (answer.status_code, "sfumato_user" in visitor.cookies) == (401, False)


def test_a_provider_may_change_its_keys(client, lie):
    lie(signed="second", published=["second"])
    with browser(client) as visitor:
        assert sign_in(visitor).status_code == 303


def test_an_answer_that_was_not_asked_for_is_refused(client):
    with browser(client) as visitor, browser(client) as victim:
        away = visitor.get("/sign-in")
        back = httpx.get(away.headers["location"], trust_env=False).headers["location"]
        assert victim.get(back).status_code == 401  # it began no sign-in: somebody else's would be put on it
        victim.get("/sign-in")
        assert victim.get(back).status_code == 401
        assert visitor.get(back.replace("state=", "state=x")).status_code == 401
        assert visitor.get(back).status_code == 303
        assert visitor.get(back).status_code == 401  # a code is used once


def test_nobody_is_led_elsewhere_and_what_is_asked_is_what_the_flow_needs(client, provider):
    with browser(client) as visitor:
        assert sign_in(visitor, "https://evil.example/").headers["location"] == "/app"
        away = urlsplit(visitor.get("/sign-in").headers["location"])
        asked = {name: values[0] for name, values in parse_qs(away.query).items()}
        assert f"{away.scheme}://{away.netloc}" == provider
        assert asked["redirect_uri"].endswith("/sign-in/callback")
        assert {"state", "nonce", "code_challenge"} < set(asked)
        forged = visitor.get("/api/jobs", headers={"Cookie": "sfumato_user=forged"})
        assert forged.status_code == 401


def test_a_provider_that_is_away(serving, tmp_path):
    settings = Settings(openid="http://127.0.0.1:9", openid_client="sfumato")
    with serving(tmp_path / "jobs", settings) as client:
        assert client.get("/sign-in").status_code == 503
        assert client.get("/api/jobs").status_code == 401


def test_the_word_of_a_proxy_counts_from_its_address_alone(serving, tmp_path):
    header = {"X-Remote-User": "ada"}
    for address, status in (("127.0.0.1", 200), ("10.9.8.0/24", 401)):
        settings = Settings(proxy_header="X-Remote-User", trusted_proxies=frozenset({address}))
        with serving(tmp_path / "jobs", settings) as client:
            assert client.get("/api/jobs", headers=header).status_code == status
            assert client.get("/api/jobs").status_code == 401
            twice = [("X-Remote-User", "ada"), ("X-Remote-User", "eve")]
            assert client.get("/api/jobs", headers=twice).status_code == 401
            forwarded = {**header, "X-Forwarded-For": "10.9.8.7"}
            assert client.get("/api/jobs", headers=forwarded).status_code == status
    with pytest.raises(PlanError):
        create_app(Settings(proxy_header="X-Remote-User"), JobSettings(tmp_path / "jobs", pages=False))
    with pytest.raises(PlanError):
        create_app(Settings(trusted_proxies=frozenset({"nowhere"})), JobSettings(tmp_path / "jobs", pages=False))


def test_a_key_signs_in_by_a_form_and_cookies_are_marked_behind_tls(serving, tmp_path):
    key, line = new_key("clinic")
    (tmp_path / "keys").write_text(line + "\n")
    with serving(tmp_path / "jobs", Settings(api_keys=tmp_path / "keys")) as client:
        page = client.get("/sign-in", params={"next": '/app"><script>'})
        assert "<script>" not in page.text
        wrong = client.post("/sign-in", data={"key": "wrong", "next": "/app"})
        assert (wrong.status_code, "not valid" in wrong.text) == (401, True)
        secure = client.post("/sign-in", data={"key": key, "next": "/app"}, headers={"X-Forwarded-Proto": "https"})
        assert "Secure" in secure.headers["set-cookie"]
        assert client.post("/sign-in", data={"key": key, "next": "//evil"}).headers["location"] == "/app"
        assert client.get("/api/jobs").status_code == 200
        (tmp_path / "keys").write_text(line + " revoked=2026-01-01\n")
        time.sleep(0.7)
        assert client.get("/api/jobs").status_code == 401
        assert client.post("/sign-in", content=b"x" * 10_000).status_code == 413
