"""The components that all pages share: header, colors, cards, tables with marks, and how an error is told."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

from nicegui import events, ui

from sfumato.errors import SfumatoError
from sfumato.service.http.problems import RefusedError
from sfumato.service.http.request_log import log_error
from sfumato.texts.words import Words

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><defs><linearGradient id="g">'
    '<stop stop-color="#44598c"/><stop offset="1" stop-color="#44598c" stop-opacity=".08"/></linearGradient></defs>'
    '<circle cx="16" cy="16" r="15" fill="url(#g)"/></svg>'
)
STYLE = """
.sf-main { display: flex; flex-direction: column; gap: .75rem; width: 100%; max-width: 68rem; margin: 0 auto;
  padding: .5rem .75rem 3rem; }
.sf-card { width: 100%; }
.sf-header a { color: inherit; text-decoration: none; padding: .35rem .7rem; border-radius: .4rem; }
.sf-header a[aria-current=page] { background: rgb(255 255 255 / .18); }
.sf-table { width: 100%; overflow-x: auto; }
.sf-table table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
.sf-table th, .sf-table td { text-align: left; padding: .3rem .7rem; border-bottom: 1px solid rgb(128 128 128 / .25);
  white-space: nowrap; }
.sf-table th { opacity: .7; font-weight: 600; }
.sf-table td.changed { background: rgb(68 89 140 / .18); } .sf-table td.masked { background: rgb(201 138 60 / .28); }
.sf-tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; width: 100%; }
.sf-tile { border: 1px solid rgb(128 128 128 / .3); border-radius: .5rem; padding: .7rem .9rem; }
.sf-tile b { display: block; font-size: 1.15rem; } .sf-tile span { opacity: .75; font-size: .87rem; }
.sf-promise { width: 100%; border: 1px solid rgb(128 128 128 / .3); border-radius: .5rem; padding: .6rem .9rem; }
.sf-fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: .2rem 1rem;
  width: 100%; }
.sf-soft { opacity: .75; } .sf-report { width: 100%; height: 75vh; border: 0; background: white; }
.nicegui-content { padding: 0; }
.q-notification .q-notification__actions { color: inherit; }
.q-uploader__subtitle, .q-uploader__list:empty { display: none; }
.body--dark .sf-table td.changed { background: rgb(110 138 210 / .32); }
.body--dark :is(.q-btn--flat, .q-btn--outline, .q-field, .q-slider) { --q-primary: #9db2e6; }
:focus-visible { outline: 2px solid #c98a3c; outline-offset: 2px; }
"""
# What is told of files that the browser does not send: which rule each one breaks.
REASONS = "(entries) => emit(entries.map((entry) => entry.failedPropValidation))"
# The browser names the field of an upload in its own language; screen readers shall hear what stands on it.
NAMED_UPLOADS = """(() => {
  const name = () => document.querySelectorAll('.q-uploader[aria-label] input[type=file]').forEach((input) =>
    input.setAttribute('aria-label', input.closest('.q-uploader').getAttribute('aria-label')));
  new MutationObserver(name).observe(document.body, {childList: true, subtree: true});
  name();
})()"""
AREAS = (("/", "rows_area"), ("/tables", "tables_area"), ("/attributes", "attributes_area"))


def frame(words: Words, path: str) -> None:
    """Header and style of a page."""
    ui.add_css(STYLE)
    ui.run_javascript(NAMED_UPLOADS)
    ui.colors(primary="#44598c", secondary="#c98a3c", accent="#c98a3c")
    with ui.header(fixed=False).classes("sf-header items-center").props('role="banner"'):
        ui.label(words["title"]).classes("text-lg font-bold").props('role="heading" aria-level="1"')
        with ui.element("nav") as areas:
            areas.props["aria-label"] = words["areas"]
            for target, name in AREAS:
                link = ui.link(words[name], target)  # the path of the mount is put before it in the browser
                if target == path:
                    link.props('aria-current="page"')


def table(head: Sequence[str], rows: Iterable[Sequence[tuple[str, str]]]) -> None:
    """A plain table; a cell is its text and the class that marks it."""
    first = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = "".join(
        "<tr>" + "".join(f'<td class="{mark}">{escape(text)}</td>' for text, mark in row) + "</tr>" for row in rows
    )
    content = f"<table><thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table>"
    ui.html(content, sanitize=False).classes("sf-table").props('tabindex="0"')


def tiles(figures: Iterable[tuple[str, str]]) -> None:
    """Figures that stand out."""
    shown = "".join(f'<div class="sf-tile"><b>{escape(a)}</b><span>{escape(b)}</span></div>' for a, b in figures)
    ui.html(shown, sanitize=False).classes("sf-tiles")


def alarm(text: str) -> None:
    """Tell what went wrong, so that nobody overlooks it."""
    ui.notify(text, type="negative", multi_line=True, timeout=10_000, close_button=True)


def error_text(error: Exception, words: Words) -> str:
    """An error in words that hold no value of any row; of one that nobody foresaw, the log tells kind and place."""
    if isinstance(error, SfumatoError):
        return str(error)
    if isinstance(error, RefusedError):
        return error.what
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


@contextmanager
def entry(title: str, about: str, remove: Callable[[], None] | None, words: Words) -> Iterator[None]:
    """A framed entry of a list: its title, what it means, and a button that takes it away, where it can be."""
    with ui.element("div").classes("sf-promise"):
        with ui.row().classes("items-center justify-between w-full no-wrap"):
            ui.label(title).classes("font-bold")
            if remove is not None:
                gone = ui.button(icon="close", on_click=remove).props("flat round dense")
                gone.props["aria-label"] = f"{words['remove']}: {title}"
        ui.label(about).classes("sf-soft")
        yield


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
