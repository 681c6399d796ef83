"""Rows before and after, filtered by content and by whether they were changed or suppressed."""

from typing import Any

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.service.http.problems import RefusedError
from sfumato.web import components
from sfumato.web.microdata.result.published_pairs import RowPair, published_pairs
from sfumato.web.projects.workspace import Run, Workspace

# Limits: rows searched, and row pairs and columns shown.
MOST_ROWS, SHOWN_ROWS, SHOWN_COLUMNS = 2000, 15, 60
KINDS = ("all", "changed", "withheld")


class RowsView:
    """The first rows in original and published form."""

    def __init__(self, workspace: Workspace, run: Run) -> None:
        self.workspace, self.words, self.run = workspace, workspace.words, run
        self._pairs: list[RowPair] = []
        self._text, self._kind = "", "all"

    def build(self) -> None:
        """Build the fields, and the rows when they are loaded."""
        words = self.words
        with components.card(words["before_after"]):
            with ui.element("div").classes("sf-head"):
                find = ui.input(placeholder=words["find_rows"]).props("dense outlined clearable debounce=200")
                find.props["aria-label"] = words["find_rows"]
                find.classes("w-72").on_value_change(lambda event: self._look_for(text=str(event.value or "")))
                kinds = {kind: words[f"rows.{kind}"] for kind in KINDS}
                toggle = ui.toggle(kinds, value="all", on_change=lambda event: self._look_for(kind=str(event.value)))
                toggle.classes("sf-small-toggle").props("dense no-caps")
            self._note = ui.label(words["reading"]).classes("sf-soft sf-small").props('role="status"')
            self._divided = ui.label(words["divided"]).classes("sf-soft sf-small")
            self._divided.set_visibility(False)
            self._room = ui.column().classes("w-full")
        ui.timer(0.01, self._read, once=True)

    async def _read(self) -> None:
        """Load the rows shown at first, then all searchable ones, which takes seconds for wide files."""
        loaded = self.workspace.loaded
        assert loaded is not None
        for limit in (SHOWN_ROWS, MOST_ROWS):
            asked = (loaded.path, loaded.read, self.run.folder, self.run.plan, limit)
            try:
                self._pairs, divided = await self.workspace.aside(published_pairs, *asked)
            except (SfumatoError, RefusedError) as error:
                self._note.text = components.error_text(error, self.words)
                return
            self._divided.set_visibility(divided)
            self._show()
            if len(self._pairs) < limit:
                return

    def _look_for(self, text: str | None = None, kind: str | None = None) -> None:
        self._text = self._text if text is None else text
        self._kind = kind or self._kind
        self._show()

    def _show(self) -> None:
        words = self.words
        sought = {self._text, self._text.replace(words["decimal"], ".")}  # a number in display format, too
        found = [pair for pair in self._pairs if any(fits(pair, text, self._kind) for text in sought)]
        counts = {"found": words.count(len(found)), "rows": words.count(len(self._pairs))}
        self._note.text = words["rows.found"].format(**counts)
        self._room.clear()
        with self._room:
            self._table(found[:SHOWN_ROWS])

    def _table(self, pairs: list[RowPair]) -> None:
        loaded, words = self.workspace.loaded, self.words
        assert loaded is not None
        names = list(pairs[0][0])[:SHOWN_COLUMNS] if pairs else []
        lines: list[list[tuple[str, Any]]] = []
        for before, after in pairs:
            lines.append([(loaded.shown(name, before[name] or "", words), "raw") for name in names])
            if after is None:
                lines.append([("→ " + words["withheld"], "masked"), *(("", "masked") for _ in names[1:])])
            else:
                marks = ["changed" if after[name] != before[name] else "same" for name in names]
                texts = [loaded.shown(name, after[name] or "", words) for name in names]
                lines.append([("→ " + text, mark) for text, mark in zip(texts, marks, strict=True)])
        if names:
            components.table(names, lines)


def fits(pair: RowPair, text: str, kind: str) -> bool:
    """Return whether a row is of a kind, and contains a text before or after.

    >>> fits(({"age": "44"}, {"age": "40-49"}), "40-", "changed"), fits(({"age": "44"}, None), "", "changed")
    (True, False)
    """
    before, after = pair
    if (kind == "withheld") != (after is None) and kind != "all":
        return False
    if kind == "changed" and after == before:
        return False
    texts = [*before.values(), *((after or {}).values())]
    return not text or any(text.lower() in (entry or "").lower() for entry in texts)
