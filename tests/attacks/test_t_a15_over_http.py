"""An administrator who is removed from the configuration is one no more, whatever cookie the browser still has."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from served import service
from sfumato.service.access.keys import add_key, make_key
from sfumato.service.access.sessions import COOKIE
from sfumato.service.settings import JobSettings, Settings

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
