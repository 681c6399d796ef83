"""Components that all pages share: style, headings, cards, annotated tables, error messages."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from html import escape
from inspect import isawaitable
from itertools import zip_longest
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from nicegui import Client, events, ui
from nicegui import __version__ as nicegui_version
from nicegui.dependencies import JsComponent

from sfumato.dataclass import dataclass
from sfumato.errors import SfumatoError
from sfumato.localization.messages import Words
from sfumato.report.page.html_page import style
from sfumato.service.http.problems import RefusedError
from sfumato.service.http.request_log import log_error

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><defs><linearGradient id="g">'
    '<stop stop-color="#37558f"/><stop offset="1" stop-color="#37558f" stop-opacity=".08"/></linearGradient></defs>'
    '<circle cx="16" cy="16" r="15" fill="url(#g)"/></svg>'
)
# What is told of files that the browser does not send: which rule each one breaks.
REASONS = "(entries) => emit(entries.map((entry) => entry.failedPropValidation))"
# What the steps are made of.
FIELDS = (ui.input, ui.select, ui.upload, ui.html, ui.expansion, ui.dialog)
_HERE = Path(__file__).parent


def add_style() -> None:
    """The look of every page, and what it does in the browser by itself."""
    ui.add_css(style("colors") + _own("base.css") + _own("pages.css"))
    ui.add_body_html(f"<script>window.sfAhead = {json.dumps(_ahead())};{_own('pages.js')}</script>")
    ui.colors(primary="#37558f", secondary="#875214", accent="#875214", positive="#1d6f49", negative="#a8362f")


@cache
def _ahead() -> list[str]:
    """Where the parts of fields lie that the first page has not; they are fetched before somebody waits for them."""
    return [
        f"{nicegui_version}/components/{kind.component.key}"
        for kind in FIELDS
        if isinstance(kind.component, JsComponent)
    ]


@cache
def _own(name: str) -> str:
    """A file beside this one."""
    return (_HERE / name).read_text(encoding="utf-8")


_handlers: WeakKeyDictionary[Client, dict[str, Callable[[Any], Any]]] = WeakKeyDictionary()


def listen(name: str, handle: Callable[[Any], Any]) -> None:
    """Handle an event that the page's own script tells of; one handler an event, the last one counts."""
    handlers = _handlers.setdefault(ui.context.client, {})
    if name not in handlers:
        ui.on(name, partial(_dispatch, handlers, name))
    handlers[name] = handle


def _dispatch(handlers: dict[str, Callable[[Any], Any]], name: str, event: Any) -> Any:
    return handlers[name](event)


def when_seen(room: Any, run: Callable[[], Any]) -> None:
    """Run something once the browser has shown what was built, unless its room has gone since: it can wait."""

    async def once(event: Any) -> None:
        if event.args == room.id and not room.is_deleted:
            handled = run()
            if isawaitable(handled):
                await handled

    listen("sf_seen", once)
    ui.run_javascript(f"sfSeen({room.id})")


def folded(title: str, fill: Callable[[], Any]) -> Any:
    """A room that is folded, and filled when it is first opened: what nobody looks at costs no time."""
    waiting = [fill]

    def open_room(event: events.ValueChangeEventArguments[bool]) -> None:
        if event.value and waiting:
            with room:
                waiting.pop()()

    room = ui.expansion(title, on_value_change=open_room).classes("w-full")
    return room


@contextmanager
def head(title: str, about: str = "") -> Iterator[None]:
    """The head of a step: its name, what it is about, and to the right what is built inside."""
    with ui.element("div").classes("sf-head"):
        ui.html(f"<h2>{escape(title)}</h2>", sanitize=False)
        if about:
            ui.label(about).classes("sf-soft")
        ui.element("div").classes("sf-grow")
        yield


@contextmanager
def card(title: str = "", classes: str = "") -> Iterator[ui.element]:
    """A card, with a title where one is given."""
    with ui.element("section").classes(f"sf-card {classes}") as frame:
        if title:
            ui.html(f"<h3>{escape(title)}</h3>", sanitize=False).classes("sf-title")
        yield frame


def code(text: str, words: Words) -> None:
    """A text to be copied, as it is."""

    def copy() -> None:
        ui.clipboard.write(text)
        ui.notify(words["copied"])

    ui.html(f'<pre class="sf-code" tabindex="0">{escape(text)}</pre>', sanitize=False).classes("w-full")
    button(words["copy"], copy).props("flat dense").classes("self-start")


def table(head: Sequence[str], rows: Iterable[Sequence[tuple[str, str]]]) -> None:
    """A plain table; a cell is its text and the class that marks it."""
    helped_table([(name, None) for name in head], rows)


def helped_table(head: Sequence[tuple[str, str | None]], rows: Iterable[Sequence[tuple[str, str]]]) -> Any:
    """A table whose headings are explained, where there is something to say."""
    return framed_table(table_content(head, rows))


def framed_table(content: str) -> Any:
    """A table in a frame that scrolls to the side."""
    return ui.html(content, sanitize=False).classes("sf-table").props('tabindex="0"')


def table_content(head: Sequence[tuple[str, str | None]], rows: Iterable[Sequence[tuple[str, str]]]) -> str:
    """What a table holds, as HTML."""
    first = "".join(f'<th scope="col"{help_of(says)}>{escape(name)}</th>' for name, says in head)
    lines = "".join(
        "<tr>" + "".join(f'<td class="{mark}">{escape(text)}</td>' for text, mark in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"


def tiles(figures: Iterable[tuple[str, str]], helped: Sequence[str] = ()) -> None:
    """Figures that stand out, each with a sentence that explains it, where there is one."""
    pairs = zip_longest(figures, helped)
    shown = "".join(
        f'<div class="tile"{help_of(says)}><b>{escape(joined(a))}</b><span>{escape(joined(b))}</span></div>'
        for (a, b), says in pairs
    )
    ui.html(shown, sanitize=False).classes("tiles")


def joined(text: str) -> str:
    """A text whose shares are not torn apart at the end of a line.

    >>> joined("2 % of all") == "2\\u00a0% of all"
    True
    """
    return text.replace(" %", "\u00a0%")


def help_of(says: str | None) -> str:
    """The attributes of an element that is explained on hover and focus."""
    return f' tabindex="0" data-help="{escape(says)}"' if says else ""


def held(element: Any) -> Any:
    """An element whose next value follows from the one before (several choices, a switch), which the browser keeps.

    Else the browser goes by what the server said last: a second click that comes before the first is answered would
    undo it. Nothing that is called when the value changes may give the element another one: it would not be shown.
    """
    element.LOOPBACK = False
    kept = f"mounted_app.elements[{element.id}].props['model-value'] = value"
    element.on("update:model-value", js_handler=f"(value) => {{ {kept} }}")
    return element


def helped(element: Any, says: str | None) -> Any:
    """An element that is explained on hover and focus, where there is something to say."""
    if says:
        element.props["data-help"] = says
    return element


def alarm(text: str) -> None:
    """Tell what went wrong, so that nobody overlooks it."""
    ui.notify(text, type="negative", multi_line=True, timeout=10_000, close_button=True)


def error_text(error: Exception, words: Words) -> str:
    """An error in words that hold no value of any row; of one that nobody foresaw, the log tells kind and place."""
    if isinstance(error, SfumatoError):
        return words.sentence(str(error))
    if isinstance(error, RefusedError):
        return words.sentence(error.what)
    log_error(error)
    return words["internal"]


def refusals(attempt: Callable[[], object], words: Words) -> list[str]:
    """Why something is refused, in words; nothing where it is not. What ends in an unforeseen error is refused, too."""
    try:
        attempt()
    except Exception as error:
        return [error_text(error, words)]
    return []


def notice(text: str, good: bool | None) -> None:
    """A line that stands out: good, bad, or (None) worth knowing."""
    icon, color = {True: ("check_circle", "positive"), False: ("error", "negative"), None: ("info", "secondary")}[good]
    with ui.row().classes("items-start no-wrap gap-2"):
        ui.icon(icon, color=color, size="sm").props('aria-hidden="true"')
        ui.label(text)


@dataclass(frozen=True, slots=True)
class EntryCard:
    """A framed entry of a list: frame, label of what is chosen, room for fields, and the button that removes it."""

    frame: Any
    chosen: Any
    room: Any
    remove: Any


def entry(title: str, about: str, remove: Callable[[], None], words: Words, opened: bool) -> EntryCard:
    """An entry with its title and what is chosen in it, opened its fields, and a button that takes it away."""
    with ui.element("div").classes("sf-promise sf-entry") as frame:
        with ui.element("details").props("open" if opened else "") as room:
            with ui.element("summary"):
                ui.label(title).classes("font-bold")
                chosen = ui.label("").classes("sf-soft sf-small")
            ui.label(about).classes("sf-soft sf-small")
        gone = ui.button(icon="close", on_click=remove).props("flat round dense size=sm")
        gone.props["aria-label"] = f"{words['remove']}: {title}"
    return EntryCard(frame, chosen, room, gone)


Take = Callable[[events.UploadEventArguments], Awaitable[None]]


def upload(label: str, take: Take, most_bytes: int, words: Words, kinds: Sequence[str] = ()) -> Any:
    """A place to drop one file, of one of some kinds where they are given; after it, another."""

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
    """Whether a file is of one of some kinds, by its name; of any, where none are given."""
    return not kinds or name.lower().endswith(tuple(kinds))


def refused_upload(reasons: object, kinds: Sequence[str], words: Words) -> str:
    """Why the browser did not send a file, by the names that it gives its reasons."""
    named = reasons if isinstance(reasons, list) else []
    if "accept" in named:
        return words["wrong_kind"].format(kinds=", ".join(kinds))
    return words["one_file" if "max-files" in named else "too_large"]


def button(text: str, run: Any, **more: Any) -> Any:
    """A button with words that a screen reader reads as they are."""
    return ui.button(text, on_click=run, **more).props("no-caps")
