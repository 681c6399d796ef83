"""Instead of a page that cannot be: one in the look of the house, in every language, that leads back."""

import re
from http import HTTPStatus

import httpx
import pytest
from starlette.requests import HTTPConnection

from sfumato.localization.messages import languages, words_in
from sfumato.web.page_requests import refusal

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
    assert page.get_by_role("heading", level=1).inner_text() == "Diese Seite gibt es nicht."
    page.get_by_role("link", name="Zurück zu den Seiten").click()
    page.locator(".sf-head h2", has_text="Daten").wait_for()


def test_the_server_says_404_and_413(base) -> None:
    with httpx.Client(base_url=base, trust_env=False, headers=BROWSER) as visitor:
        missing = visitor.get("/app/nowhere/at/all")
        assert (missing.status_code, "Diese Seite gibt es nicht." in missing.text) == (404, True)
        assert not re.search(r"<script|https?://(?!www.w3.org)", missing.text)
        assert visitor.get("/app/_nicegui/no/such.js", headers={"accept": "*/*"}).status_code == 404
