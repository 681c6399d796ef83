"""A cookie says who signed in; what they may do is what the configuration says at each request."""

import os
import stat

import pytest
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from sfumato.service.access.authentication import make_door
from sfumato.service.access.keys import add_key, make_key
from sfumato.service.access.sessions import COOKIE, SECRET, User
from sfumato.service.settings import Settings
from sfumato.values import replace

OPENID = Settings(openid="https://one.example", openid_client="sfumato", admins=frozenset({"7"}))


def cookie_of(door, user) -> str:
    request, answer = Request({"type": "http", "scheme": "http", "headers": [], "path": "/"}), Response()
    door.sessions.begin(request, answer, door.signed_in(user))
    return answer.headers["set-cookie"].split("=", 1)[1].split(";")[0]


def asked(door, cookie) -> User | None:
    headers = [(b"cookie", f"{COOKIE}={cookie}".encode())]
    return door.user(HTTPConnection({"type": "http", "headers": headers, "path": "/"}))


CHANGED = {
    "no change": ({}, "admin"),
    "no admin any more": ({"admins": frozenset()}, "user"),
    "another admin": ({"admins": frozenset({"8"})}, "user"),
    "another provider": ({"openid": "https://two.example"}, None),
    "another client": ({"openid_client": "other"}, None),
    "another claim": ({"openid_claim": "email"}, None),
    "no provider": ({"openid": None, "proxy_header": "X-User", "trusted_proxies": frozenset({"10.0.0.1"})}, None),
}


@pytest.mark.parametrize(("change", "role"), CHANGED.values(), ids=CHANGED)
def test_what_a_cookie_opens_is_what_the_configuration_says_now(tmp_path, change, role) -> None:
    # A cookie that claims a role, too, is believed nothing but its name.
    cookie = cookie_of(make_door(OPENID, tmp_path), User("7", "openid", "admin", label="Ada"))
    user = asked(make_door(replace(OPENID, **change), tmp_path), cookie)
    assert (user.role if user else None) == role


def test_somebody_becomes_an_admin_without_signing_in_again(tmp_path) -> None:
    cookie = cookie_of(make_door(replace(OPENID, admins=frozenset()), tmp_path), User("7", "openid"))
    assert asked(make_door(OPENID, tmp_path), cookie).role == "admin"


def test_a_cookie_of_a_key_has_the_role_and_scopes_of_the_key_as_it_is(tmp_path) -> None:
    file, folder = tmp_path / "keys", tmp_path / "jobs"
    text, key = make_key("ada", "admin")
    add_key(file, key)
    add_key(file, make_key("other")[1])
    first = make_door(Settings(api_keys=file), folder)
    cookie = cookie_of(first, first.keys.find(text))
    assert asked(first, cookie).role == "admin"
    other = file.read_text().splitlines()[1]
    for line, expected in (
        (replace(key, role="user", scopes=("jobs",)).line(), ("user", {"jobs"})),
        (make_key("ada", "admin")[1].line(), None),  # the same name with another key is another user
    ):
        file.write_text(f"{line}\n{other}\n")
        user = asked(make_door(Settings(api_keys=file), folder), cookie)
        assert (None if user is None else (user.role, set(user.scopes))) == expected


def test_a_cookie_of_before_opens_nothing(tmp_path) -> None:
    door = make_door(OPENID, tmp_path)
    user = {"name": "7", "way": "openid", "role": "admin", "scopes": ["jobs"], "label": ""}
    assert asked(door, door.sessions.seal({"session": "x", "user": user})) is None


def test_the_secret_of_sign_ins_is_its_owners_from_the_first_moment(tmp_path, monkeypatch) -> None:
    modes = []
    before = os.open
    monkeypatch.setattr(
        os, "open", lambda path, flags, mode=0o777, **more: modes.append(mode) or before(path, flags, mode, **more)
    )
    make_door(Settings(), tmp_path)
    monkeypatch.undo()
    assert modes == [0o600]
    assert stat.S_IMODE((tmp_path / SECRET).stat().st_mode) == 0o600
