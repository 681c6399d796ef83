"""Foreign names and foreign pages are turned away, over HTTP and on connections that stay open."""

import pytest

from sfumato.service.settings import Settings

BODY = {"configuration": {"name": {"anonymisationType": "Masking", "dataType": "String"}}, "data": [{"name": "Ada"}]}
HOSTS = {
    "localhost": 200,
    "LOCALHOST:8000": 200,
    "127.0.0.1:1": 200,
    "[::1]:8000": 200,
    "10.0.0.7": 200,
    "clinic.example": 200,
    "Clinic.Example.:443": 200,
    "evil.example": 421,
    "clinic.example.evil.example": 421,
    "localhost.evil.example": 421,
    "127.0.0.1.evil.example": 421,
    "[::1": 421,
    "": 421,
}


@pytest.fixture(scope="module")
def own(start_module):
    with start_module(Settings(server_names=frozenset({"Clinic.Example"}))) as client:
        yield client


@pytest.fixture(scope="module")
def start_module(serving, tmp_path_factory):
    return lambda settings: serving(tmp_path_factory.mktemp("jobs"), settings)


@pytest.mark.parametrize("host", HOSTS)
def test_names(own, host):
    assert own.get("/health/live", headers={"Host": host}).status_code == HOSTS[host]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 202),
        ({"Origin": "{own}"}, 202),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 202),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_origins(own, method, headers, status):
    base = str(own.base_url).rstrip("/")
    sent = {name: text.replace("{own}", base) for name, text in headers.items()}
    assert own.request(method, "/api/anonymise", json=BODY, headers=sent).status_code == status
    assert own.get("/health/live", headers=sent).status_code == 200  # a question gives nothing away


def test_a_form_of_another_site_without_a_content_type_is_not_taken(own):
    request = own.build_request("POST", "/api/jobs", content=b"{}", headers={"Origin": "http://evil.example"})
    request.headers.pop("content-type", None)
    assert own.send(request).status_code == 403
    assert own.delete("/api/jobs/0123", headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize("path", ["/socket.io/?EIO=4&transport=polling", "/app/_nicegui_ws/socket.io/?EIO=4"])
def test_open_connections_of_another_site_are_refused(own, path):
    answer = own.get(path, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_answers_may_not_be_framed(own):
    answer = own.get("/")
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert "frame-ancestors" in answer.headers["content-security-policy"]


def test_a_web_socket_of_another_site_is_refused(complete):
    from sfumato.service.middleware import OriginCheck

    said = []

    async def app(scope, receive, send):
        await send({"type": "websocket.accept"})

    async def send(message):
        said.append(message["type"])

    for origin, expected in ((b"http://evil.example", "websocket.close"), (b"http://localhost", "websocket.accept")):
        scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"localhost"), (b"origin", origin)]}
        complete(OriginCheck(app)(scope, None, send))
        assert said.pop() == expected
