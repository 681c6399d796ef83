"""Pages behind a door: nothing of a visit is made before somebody has signed in, and pages know who it is."""

import httpx
import pytest
from walking import button, load_example

from sfumato.service.access.keys import new_key, revoke_key
from sfumato.service.access.sessions import COOKIE


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return tmp_path_factory.mktemp("door") / "keys"


@pytest.fixture(scope="module")
def clinic(keys):
    """The key of the clinic."""
    key, line = new_key("clinic")
    keys.write_text(line + "\n")
    return key


@pytest.fixture(scope="module")
def address(server, keys, clinic, tmp_path_factory):
    with server(tmp_path_factory.mktemp("jobs"), "--api-keys", str(keys)) as (started, _):
        yield started


@pytest.fixture
def visitor(address):
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        yield client


def test_nobody_gets_a_page_before_signing_in_and_pages_say_who_is(visitor, clinic):
    """Every look at a page made a visit on the server before the key was asked for."""
    turned = visitor.get("/app/tables")
    assert (turned.status_code, turned.headers["location"]) == (303, "/sign-in?next=/app/tables")
    assert "set-cookie" not in turned.headers
    assert visitor.post("/app/_nicegui/client/x/upload/1").status_code == 401
    assert visitor.get("/app/_nicegui_ws/socket.io/?EIO=4&transport=polling").status_code == 303
    form = visitor.get(turned.headers["location"], headers={"Accept-Language": "de"})
    assert "Dieser Server verlangt einen API-Schlüssel" in form.text
    entered = visitor.post("/sign-in", data={"key": clinic, "next": "/app/tables"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/app/tables")
    assert "Signed in as clinic" in visitor.get("/app/tables").text
    assert visitor.get("/sign-out").status_code == 303
    assert visitor.get("/app").status_code in (303, 307)
    assert visitor.get("/app/").status_code == 303


def test_pages_ask_for_a_key_first(address, clinic, open_page):
    page = open_page(f"{address}/app")
    page.get_by_label("API key").fill("wrong")
    button(page, "Sign in").click()
    page.get_by_text("This key is not valid.").wait_for()
    assert button(page, "patients").count() == 0
    page.get_by_label("API key").fill(clinic)
    button(page, "Sign in").click()
    load_example(page, "eight-rows", "8")


def test_a_page_that_is_open_is_cut_when_its_key_is_revoked(address, visitor, keys):
    """It went on until the next request."""
    client = pytest.importorskip("websockets.sync.client")
    from websockets.exceptions import ConnectionClosed

    key, line = new_key("guest")
    with keys.open("a") as file:
        file.write(line + "\n")
    visitor.post("/sign-in", data={"key": key, "next": "/app/"})
    place = f"{address.replace('http', 'ws', 1)}/app/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    headers = {"Cookie": f"{COOKIE}={visitor.cookies[COOKIE]}"}
    with client.connect(place, additional_headers=headers) as page:
        assert "pingInterval" in page.recv(10)
        with pytest.raises(TimeoutError):
            page.recv(2.5)  # it was looked at, and stays
        revoke_key(keys, "guest")
        with pytest.raises(ConnectionClosed):
            page.recv(10)
    assert visitor.get("/app/").status_code == 303
