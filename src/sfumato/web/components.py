"""Components that all pages share: style, headings, cards, annotated tables, error messages, the annex of a release."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from html import escape
from importlib.util import find_spec
from inspect import isawaitable
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from nicegui import Client, events, ui
from nicegui import __version__ as nicegui_version
from nicegui.dependencies import JsComponent

from sfumato.errors import SfumatoError
from sfumato.localization.messages import Messages
from sfumato.pipelines.report_folder import read_annex
from sfumato.report.annex import ANNEX, WORD_ANNEX, document, markdown
from sfumato.report.html_page import style
from sfumato.service.middleware import log_error
from sfumato.service.problems import RefusedError
from sfumato.values import Value

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><defs><linearGradient id="g">'
    '<stop stop-color="#37558f"/><stop offset="1" stop-color="#37558f" stop-opacity=".08"/></linearGradient></defs>'
    '<circle cx="16" cy="16" r="15" fill="url(#g)"/></svg>'
)
# Messages for files that the browser does not send, by the rule that they break.
REASONS = "(entries) => emit(entries.map((entry) => entry.failedPropValidation))"
# Components of the steps.
FIELDS = (ui.input, ui.select, ui.upload, ui.html, ui.expansion, ui.dialog)
_HERE = Path(__file__).parent


def add_style() -> None:
    """Add the style sheet and scripts of every page."""
    ui.add_css(style("colors") + _own("base.css") + _own("pages.css"))
    ui.add_body_html(f"<script>window.sfAhead = {json.dumps(_ahead())};{_own('pages.js')}</script>")
    ui.colors(primary="#37558f", secondary="#875214", accent="#875214", positive="#1d6f49", negative="#a8362f")


@cache
def _ahead() -> list[str]:
    """Return the addresses of assets that the first page does not load; they are prefetched."""
    return [
        f"{nicegui_version}/components/{kind.component.key}"
        for kind in FIELDS
        if isinstance(kind.component, JsComponent)
    ]


@cache
def _own(name: str) -> str:
    """Return the text of a file in this folder."""
    return (_HERE / name).read_text(encoding="utf-8")


_handlers: WeakKeyDictionary[Client, dict[str, Callable[[Any], Any]]] = WeakKeyDictionary()


def listen(name: str, handle: Callable[[Any], Any]) -> None:
    """Handle an event of the page's own script; an event has one handler, the last one set."""
    handlers = _handlers.setdefault(ui.context.client, {})
    if name not in handlers:
        ui.on(name, lambda event: handlers[name](event))  # noqa: PLW0108  (the last one set, not the first)
    handlers[name] = handle


def refilled(container: Any) -> Any:
    """Empty a container, and return it to be filled in a `with` block."""
    container.clear()
    return container


def when_seen(container: Any, run: Callable[[], Any]) -> None:
    """Run a function after the browser has shown the current content, unless its container was removed meanwhile."""

    async def once(event: Any) -> None:
        if event.args == container.id and not container.is_deleted:
            handled = run()
            if isawaitable(handled):
                await handled

    listen("sf_seen", once)
    ui.run_javascript(f"sfSeen({container.id})")


def folded(title: str, fill: Callable[[], Any]) -> Any:
    """Return a collapsed container that is filled when it is first opened, to save time."""
    waiting = [fill]

    def open_container(event: events.ValueChangeEventArguments[bool]) -> None:
        if event.value and waiting:
            with container:
                waiting.pop()()

    container = ui.expansion(title, on_value_change=open_container).classes("w-full")
    return container


@contextmanager
def head(title: str, about: str = "") -> Iterator[None]:
    """Build the head of a step: title, description, and on the right the content of the context."""
    with ui.element("div").classes("sf-head"):
        ui.html(f"<h2>{escape(title)}</h2>", sanitize=False)
        if about:
            ui.label(about).classes("sf-soft")
        ui.element("div").classes("sf-grow")
        yield


@contextmanager
def card(title: str = "", classes: str = "") -> Iterator[ui.element]:
    """Build a card, with an optional title."""
    with ui.element("section").classes(f"sf-card {classes}") as frame:
        if title:
            ui.html(f"<h3>{escape(title)}</h3>", sanitize=False).classes("sf-title")
        yield frame


def code(text: str, words: Messages) -> None:
    """Show a text for copying, unchanged."""

    def copy() -> None:
        ui.clipboard.write(text)
        ui.notify(words["copied"])

    ui.html(f'<pre class="sf-code" tabindex="0">{escape(text)}</pre>', sanitize=False).classes("w-full")
    button(words["copy"], copy).props("flat dense").classes("self-start")


def table(head: Sequence[str], rows: Iterable[Sequence[tuple[str, str]]]) -> None:
    """Build a plain table; a cell has a text and a CSS class."""
    helped_table([(name, None) for name in head], rows)


def helped_table(head: Sequence[tuple[str, str | None]], rows: Iterable[Sequence[tuple[str, str]]]) -> Any:
    """Build a table whose headings have tooltips if there is an explanation."""
    return framed_table(table_content(head, rows))


def framed_table(content: str) -> Any:
    """Build a table in a frame that scrolls horizontally."""
    return ui.html(content, sanitize=False).classes("sf-table").props('tabindex="0"')


def table_content(head: Sequence[tuple[str, str | None]], rows: Iterable[Sequence[tuple[str, str]]]) -> str:
    """Return the content of a table as HTML."""
    first = "".join(f'<th scope="col"{help_of(says)}>{escape(name)}</th>' for name, says in head)
    lines = "".join(
        "<tr>" + "".join(f'<td class="{mark}">{escape(text)}</td>' for text, mark in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"


def tiles(figures: Iterable[tuple[str, str]], helped: Sequence[str] = ()) -> None:
    """Build tiles of metrics, each with a tooltip if there is one."""
    pairs = zip_longest(figures, helped)
    shown = "".join(
        f'<div class="tile"{help_of(says)}><b>{escape(joined(a))}</b><span>{escape(joined(b))}</span></div>'
        for (a, b), says in pairs
    )
    ui.html(shown, sanitize=False).classes("tiles")


def joined(text: str) -> str:
    """Join percentages with nonbreaking spaces, so that no line break splits them.

    >>> joined("2 % of all") == "2\\u00a0% of all"
    True
    """
    return text.replace(" %", "\u00a0%")


def help_of(says: str | None) -> str:
    """Return the HTML attributes of an element with a tooltip on hover and focus."""
    return f' tabindex="0" data-help="{escape(says)}"' if says else ""


def held(element: Any) -> Any:
    """Return an element whose value the browser keeps (multiple choice, switch).

    Otherwise the browser uses the last value from the server, and a second click before the response to the first one
    would undo it. A handler of the change must not set another value on the element, because it would not be shown.
    """
    element.LOOPBACK = False
    kept = f"mounted_app.elements[{element.id}].props['model-value'] = value"
    element.on("update:model-value", js_handler=f"(value) => {{ {kept} }}")
    return element


def with_tooltip(element: Any, says: str | None) -> Any:
    """Return an element with a tooltip on hover and focus, if there is an explanation."""
    if says:
        element.props["data-help"] = says
    return element


def alarm(text: str) -> None:
    """Show an error prominently."""
    ui.notify(text, type="negative", multi_line=True, timeout=10_000, close_button=True)


def error_text(error: Exception, words: Messages) -> str:
    """Return an error as text without values of rows; for an unexpected error, the log has its type and location."""
    if isinstance(error, SfumatoError):
        return words.text(error.text)
    if isinstance(error, RefusedError):
        return words.text(error.what)
    log_error(error)
    return words["internal"]


def refusals(attempt: Callable[[], object], words: Messages) -> list[str]:
    """Return why something is refused, or an empty list; an unexpected error counts as a refusal."""
    try:
        attempt()
    except Exception as error:
        return [error_text(error, words)]
    return []


def notice(text: str, good: bool | None) -> None:
    """Show a highlighted line: good, bad, or informative (None)."""
    icon, color = {True: ("check_circle", "positive"), False: ("error", "negative"), None: ("info", "secondary")}[good]
    with ui.row().classes("items-start no-wrap gap-2"):
        ui.icon(icon, color=color, size="sm").props('aria-hidden="true"')
        ui.label(text)


class EntryCard(Value):
    """A framed entry of a list: frame, summary label, container for fields, and the remove button."""

    frame: Any
    chosen: Any
    container: Any
    remove: Any


def entry(title: str, about: str, remove: Callable[[], None], words: Messages, opened: bool) -> EntryCard:
    """Build an entry with title, summary, fields when opened, and a remove button."""
    with ui.element("div").classes("sf-promise sf-entry") as frame:
        with ui.element("details").props("open" if opened else "") as container:
            with ui.element("summary"):
                ui.label(title).classes("font-bold")
                chosen = ui.label("").classes("sf-soft sf-small")
            ui.label(about).classes("sf-soft sf-small")
        gone = ui.button(icon="close", on_click=remove).props("flat round dense size=sm")
        gone.props["aria-label"] = f"{words['remove']}: {title}"
    return EntryCard(frame, chosen, container, gone)


Take = Callable[[events.UploadEventArguments], Awaitable[None]]


def upload(label: str, take: Take, most_bytes: int, words: Messages, kinds: Sequence[str] = ()) -> Any:
    """Build a drop zone for one file at a time, optionally of some extensions."""

    async def receive(event: events.UploadEventArguments) -> None:
        field.reset()
        if fits(event.file.name, kinds):
            await take(event)
        else:
            alarm(refused_upload(["accept"], kinds, words))

    field = ui.upload(label=label, auto_upload=True, max_files=1, max_file_size=most_bytes, on_upload=receive)
    field.on("rejected", lambda event: alarm(refused_upload(event.args, kinds, words)), js_handler=REASONS)
    field.props["aria-label"] = label
    field.props["accept"] = ",".join(kinds)
    return field.props("flat bordered").classes("w-full")


def fits(name: str, kinds: Sequence[str]) -> bool:
    """Return whether a file has one of the extensions; True if none are given."""
    return not kinds or name.lower().endswith(tuple(kinds))


def refused_upload(reasons: object, kinds: Sequence[str], words: Messages) -> str:
    """Return why the browser did not send a file, from the names of its reasons."""
    named = reasons if isinstance(reasons, list) else []
    if "accept" in named:
        return words["wrong_kind"].format(kinds=", ".join(kinds))
    return words["one_file" if "max-files" in named else "too_large"]


def button(text: str, run: Any, **more: Any) -> Any:
    """Build a button whose text a screen reader reads unchanged."""
    return ui.button(text, on_click=run, **more).props("no-caps")


def annex_buttons(folder: Path, words: Messages) -> None:
    """Build the buttons that create the annex of a release folder; Word only if its package is installed."""

    async def word() -> None:
        ui.download.content(await asyncio.to_thread(_word_annex, folder), WORD_ANNEX)

    def text() -> None:
        ui.download.content(markdown(read_annex(folder)), ANNEX)

    for key, run in (("download_annex", text), *((("download_annex_word", word),) if find_spec("docx") else ())):
        with_tooltip(button(words[key], run).props("outline"), words[f"tip.{key}"])


def _word_annex(folder: Path) -> bytes:
    stream = BytesIO()
    document(read_annex(folder)).save(stream)
    return stream.getvalue()
