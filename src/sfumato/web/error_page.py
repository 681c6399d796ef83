"""The error page: what is wrong, in every language, and a link back."""

from html import escape
from http import HTTPStatus

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from sfumato.localization.messages import Messages, accepted_words, languages, words_in
from sfumato.report.html_page import style
from sfumato.web.components import ICON

HOME = "/app"
# The page runs no script and loads nothing.
HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
_STYLE = """
main { max-width: 34rem; padding-top: 14vh; } main > svg { width: 3.2rem; margin-bottom: 1.2rem; }
a { display: inline-block; margin-top: .8rem; padding: .45rem 1.1rem; border-radius: .5rem; background: var(--accent);
  color: var(--card); font-weight: 600; text-decoration: none; }
a:focus-visible { outline: 2px solid var(--before); outline-offset: 2px; }
section { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); }
section a { background: none; color: var(--accent); padding: 0; margin: 0; text-decoration: underline; }
"""


def refusal(connection: HTTPConnection, status: HTTPStatus, headers: dict[str, str] | None = None) -> Response:
    """Return the response to a refused request: a page for people, a line for programs."""
    first = accepted_words(connection.headers.get("accept-language", ""))
    if "text/html" not in connection.headers.get("accept", ""):
        return PlainTextResponse(first[f"refusal.{status.value}"], status, headers)
    home = f"{connection.scope.get('root_path') or HOME}/"
    return HTMLResponse(page(first, status, home), status, {**HEADERS, **(headers or {})})


def page(first: Messages, status: HTTPStatus, home: str) -> str:
    """Return the page: in the requested language, and in smaller type in the others."""
    others = [words_in(language) for language in languages() if language != first.language]
    css = style("colors", "report") + _STYLE
    return (
        f'<!doctype html>\n<html lang="{first.language}"><head><meta charset="utf-8"><title>Sfumato</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{css}</style></head>\n'
        f"<body><main>{ICON}<h1>{escape(first[f'refusal.{status.value}'])}</h1>\n{_rest(first, status, home)}"
        f"{''.join(_other(words, status, home) for words in others)}</main></body></html>\n"
    )


def _rest(words: Messages, status: HTTPStatus, home: str) -> str:
    says, back = escape(words[f"refusal.{status.value}.says"]), escape(words["refusal.back"])
    return f'<p>{says}</p><a href="{escape(home)}">{back}</a>'


def _other(words: Messages, status: HTTPStatus, home: str) -> str:
    what = escape(words[f"refusal.{status.value}"])
    return f'<section lang="{words.language}"><b>{what}</b>{_rest(words, status, home)}</section>'


async def answer_missing(request: Request, _: Exception) -> Response:
    """Respond to a request for a missing page."""
    return refusal(request, HTTPStatus.NOT_FOUND)


async def answer_failure(request: Request, _: Exception) -> Response:
    """Respond to an internal error of a page, without details, which may contain values."""
    return refusal(request, HTTPStatus.INTERNAL_SERVER_ERROR)
