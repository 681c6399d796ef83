"""The limit on uploads holds whether or not a client says how much it sends."""

import pytest

from sfumato.web.page_requests import UploadLimit


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
