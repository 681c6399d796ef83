"""Requests to the pages: owners, sign-in, size of uploads, compression, error pages; and visitors of the tests."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from walking import GERMAN, WORDS, button, load_example

from sfumato.localization.messages import languages, words_in
from sfumato.service.access.keys import new_key, revoke_key
from sfumato.service.access.sessions import COOKIE
from sfumato.web.page_requests import DOWNLOADS, Compression, UploadLimit, refusal

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
    assert GERMAN["key_needed"] in form.text
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
    page.get_by_text(WORDS["key_wrong"]).wait_for()
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


async def application(scope, receive, send):
    """Reads its body and says how large it was."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def status(complete, parts, declared=None):
    sent = []
    messages = [
        {"type": "http.request", "body": part, "more_body": place < len(parts) - 1} for place, part in enumerate(parts)
    ]

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    headers = [] if declared is None else [(b"content-length", str(declared).encode())]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
    complete(UploadLimit(application, 10)(scope, receive, send))
    return sent[0]["status"]


@pytest.mark.parametrize(
    ("parts", "declared", "expected"),
    [
        ([b"12345"], 5, 200),
        ([b"12345", b"67890"], None, 200),
        ([b"12345", b"678901"], None, 413),
        ([b""], 11, 413),
    ],
)
def test_what_is_too_large_is_refused(complete, parts, declared, expected) -> None:
    assert status(complete, parts, declared) == expected


TEXT = "age,zip\n" * 1000


async def answers(app: Starlette, paths: list[str]) -> list[httpx.Response]:
    """What each path answers to a browser that takes compressed texts."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        return [await client.get(path, headers={"accept-encoding": "gzip"}) for path in paths]


def test_downloads_are_sent_as_they_are(complete: Callable[..., Any]) -> None:
    paths = ["/page", f"{DOWNLOADS}key/data.csv"]
    routes = [Route(path, lambda _: PlainTextResponse(TEXT)) for path in paths]
    app = Starlette(routes=routes, middleware=[Middleware(Compression)])
    page, download = complete(answers(app, paths))
    assert page.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in download.headers
    assert page.text == download.text == TEXT


BROWSER = {"accept": "text/html,*/*;q=0.8", "accept-language": "de-DE,de;q=0.9"}
STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


def connection(**headers):
    pairs = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return HTTPConnection({"type": "http", "headers": pairs, "root_path": "/prefix/app"})


@pytest.mark.parametrize("status", [*STATUSES, HTTPStatus.INTERNAL_SERVER_ERROR])
@pytest.mark.parametrize("language", languages())
def test_what_is_wrong_is_said_in_the_language_of_the_browser_first(status, language) -> None:
    answer = refusal(connection(accept="text/html", accept_language=language), status)
    text = answer.body.decode()
    assert answer.status_code == status
    assert f'<html lang="{language}">' in text
    heads = [words_in(one)[f"refusal.{status.value}"] for one in languages()]
    assert all(head in text for head in heads)
    assert f"<h1>{words_in(language)[f'refusal.{status.value}']}</h1>" in text
    assert text.count('href="/prefix/app/"') == len(languages())


def test_a_program_gets_a_line() -> None:
    answer = refusal(connection(accept="*/*"), HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"connection": "close"})
    assert answer.body == b"The file is too large for this server."
    assert answer.headers["connection"] == "close"


def test_a_page_that_is_not_there_leads_back(base, open_page) -> None:
    page = open_page(f"{base}/app/nowhere", locale="de-DE")
    assert page.get_by_role("heading", level=1).inner_text() == GERMAN["refusal.404"]
    page.get_by_role("link", name=GERMAN["refusal.back"]).click()
    page.locator(".sf-head h2", has_text="Daten").wait_for()


def test_the_server_says_404_and_413(base) -> None:
    with httpx.Client(base_url=base, trust_env=False, headers=BROWSER) as visitor:
        missing = visitor.get("/app/nowhere/at/all")
        assert (missing.status_code, GERMAN["refusal.404"] in missing.text) == (404, True)
        assert not re.search(r"<script|https?://(?!www.w3.org)", missing.text)
        assert visitor.get("/app/_nicegui/no/such.js", headers={"accept": "*/*"}).status_code == 404


HELD = "[localStorage.length, sessionStorage.length, document.cookie]"


def test_who_comes_again_has_empty_hands(base, visitors) -> None:
    first = visitors.enters(locale="fr-FR")
    page = first.context.new_page()
    page.goto(f"{base}/health/live")
    page.evaluate("localStorage.a = sessionStorage.b = 'kept'; document.cookie = 'c=kept; path=/'")
    assert page.evaluate(HELD) == [1, 1, "c=kept"]
    first.context.set_offline(True)
    assert f"{base}/health/live" in visitors.leaves(first)
    again = visitors.enters(locale="fr-FR")
    assert again is first and again.pages() == [] and again.context.cookies() == []
    page = again.context.new_page()
    page.goto(f"{base}/health/live")
    assert page.evaluate(HELD) == [0, 0, ""]
    other = visitors.enters(locale="fr-FR")
    assert other is not again  # two at the same time are never the same
    for visitor in (again, other):
        visitors.leaves(visitor)
