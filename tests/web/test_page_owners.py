"""What belongs to a page is reached by its visitor alone, and no log or figure tells where it lies."""

import re

import httpx
import pytest

PLACE = re.compile(r"/app(/_nicegui/client/[0-9a-f-]{36}/upload/\d+)|(/_nicegui/client/[0-9a-f-]{36}/upload/\d+)")


@pytest.fixture
def browsers(base):
    """Two browsers, each with a project of its own."""
    with (
        httpx.Client(base_url=base, timeout=60, trust_env=False) as one,
        httpx.Client(base_url=base, timeout=60, trust_env=False) as other,
    ):
        assert other.get("/app/").status_code == 200
        yield one, other


def upload_place(page: str) -> str:
    found = PLACE.search(page.replace("\\/", "/"))
    assert found is not None
    return f"/app{found[1] or found[2]}"


def client_of(place: str) -> str:
    return place.split("/")[4]


def sent(browser, place):
    return browser.post(place, files={"file": ("rows.csv", b"a,b\n1,2\n")}).status_code


def test_a_file_that_somebody_else_sends_to_a_page_is_refused(browsers):
    """Who knew the address of a page's field could put another file into the project of its visitor."""
    one, other = browsers
    place = upload_place(one.get("/app/").text)
    assert sent(other, place) == 404
    with httpx.Client(base_url=one.base_url, trust_env=False) as unknown:
        assert sent(unknown, place) == 404
    assert sent(one, place) == 200


def test_a_connection_of_somebody_else_to_a_page_is_refused(base, browsers):
    client = pytest.importorskip("websockets.sync.client")
    from websockets.exceptions import InvalidStatus

    one, other = browsers
    page = client_of(upload_place(one.get("/app/").text))
    asked = f"/app/_nicegui_ws/socket.io/?EIO=4&client_id={page}&tab_id=t&document_id=d"
    assert other.get(f"{asked}&transport=polling").status_code == 404
    assert one.get(f"{asked}&transport=polling").status_code == 200
    place = f"{base.replace('http', 'ws', 1)}{asked}&transport=websocket"
    cookies = [{"Cookie": "; ".join(f"{name}={text}" for name, text in own.cookies.items())} for own in (one, other)]
    with client.connect(place, additional_headers=cookies[0]) as connection:
        assert "pingInterval" in connection.recv(10)
    with pytest.raises(InvalidStatus):
        client.connect(place, additional_headers=cookies[1])


def test_figures_and_log_name_no_page_and_no_file(base, browsers, log_file):
    """Each page with a field for files became a route of its own, in figures that anybody may read."""
    one, _ = browsers
    place = upload_place(one.get("/app/").text)
    assert sent(one, place) == 200
    told = one.get("/metrics").text
    assert 'route="/_nicegui/client"' in told
    for text in (told, log_file.read_text()):
        assert client_of(place) not in text
        assert re.search(r"/_nicegui/(client|auto)/", text) is None
