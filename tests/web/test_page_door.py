"""Pages behind a door: nothing of a visit is made before somebody has signed in, and pages know who it is."""

import time

import httpx
import pytest

from sfumato.service.access.keys import new_key, revoke_key
from sfumato.service.access.sessions import COOKIE


def test_nobody_gets_a_page_before_signing_in_and_pages_say_who_is(server, tmp_path):
    """Every look at a page made a visit on the server before the key was asked for."""
    key, line = new_key("clinic")
    (tmp_path / "keys").write_text(line + "\n")
    with (
        server(tmp_path / "jobs", "--api-keys", str(tmp_path / "keys")) as (address, _),
        httpx.Client(base_url=address, timeout=60, trust_env=False) as visitor,
    ):
        turned = visitor.get("/app/tables")
        assert (turned.status_code, turned.headers["location"]) == (303, "/sign-in?next=/app/tables")
        assert "set-cookie" not in turned.headers
        assert visitor.post("/app/_nicegui/client/x/upload/1").status_code == 401
        assert visitor.get("/app/_nicegui_ws/socket.io/?EIO=4&transport=polling").status_code == 303
        form = visitor.get(turned.headers["location"], headers={"Accept-Language": "de"})
        assert "Dieser Server verlangt einen Schlüssel" in form.text
        entered = visitor.post("/sign-in", data={"key": key, "next": "/app/tables"})
        assert (entered.status_code, entered.headers["location"]) == (303, "/app/tables")
        assert "Signed in as clinic" in visitor.get("/app/tables").text
        assert visitor.get("/sign-out").status_code == 303
        assert visitor.get("/app").status_code in (303, 307)
        assert visitor.get("/app/").status_code == 303


def test_a_page_that_is_open_is_cut_when_its_key_is_revoked(server, tmp_path):
    """It went on until the next request."""
    client = pytest.importorskip("websockets.sync.client")
    from websockets.exceptions import ConnectionClosed

    key, line = new_key("clinic")
    keys = tmp_path / "keys"
    keys.write_text(line + "\n")
    with (
        server(tmp_path / "jobs", "--api-keys", str(keys)) as (address, _),
        httpx.Client(base_url=address, timeout=60, trust_env=False) as visitor,
    ):
        visitor.post("/sign-in", data={"key": key, "next": "/app/"})
        place = f"{address.replace('http', 'ws', 1)}/app/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
        headers = {"Cookie": f"{COOKIE}={visitor.cookies[COOKIE]}"}
        with client.connect(place, additional_headers=headers) as page:
            assert "pingInterval" in page.recv(10)
            time.sleep(3)  # it was looked at, and stays
            with pytest.raises(TimeoutError):
                page.recv(0.2)
            revoke_key(keys, "clinic")
            with pytest.raises(ConnectionClosed):
                page.recv(10)
        assert visitor.get("/app/").status_code == 303
