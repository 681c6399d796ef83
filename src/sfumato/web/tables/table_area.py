"""The tables page: paste or upload cells, choose sensitivity rules, and see what is suppressed and why."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.delimited.dialect import likely_separator
from sfumato.delimited.records import delimited_text
from sfumato.formats import CSV
from sfumato.service.jobs.store import Kind
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.web import components
from sfumato.web.forms import approval_fields
from sfumato.web.page_layout import Shell
from sfumato.web.projects.changes import TabSync
from sfumato.web.tables.crosstabs import CountedTable, unfolded
from sfumato.web.tables.input_detection import (
    AmbiguousNumbers,
    decimal_mark,
    decoded,
    doubt_about,
    guessed,
    lines_of,
    looks_like_rows,
    mark_names,
    own_total,
    total_of,
)
from sfumato.web.tables.linked_tables import LinkedTables
from sfumato.web.tables.protection_settings import FACTS, ProtectionSettings
from sfumato.web.tables.table_result import AREA, TableResult
from sfumato.web.tables.table_sources import CountedPersons, Releases, RowCounting

EXAMPLE = """area,sex,count
Total,Total,104
Total,m,50
Total,f,54
north,Total,26
north,m,2
north,f,24
south,Total,41
south,m,18
south,f,23
west,Total,37
west,m,30
west,f,7
"""
MOST_BYTES = 5_000_000
# The attributes of the rule settings that are stored, so that a reloaded page shows them again.
ENTERED = ("rules", "facts", "method", "protection", "attacker", "promised")
CELLS = "cells.csv"


class TableArea:
    """The tables page: its input fields, and the runs that protect the visitor's table."""

    def __init__(self, shell: Shell) -> None:
        self.workspace, self.words = shell.workspace, shell.workspace.words
        self._draft = self.workspace.draft(AREA)
        self._shared = TabSync(self.words, "other_tab.draft", ui.navigate.reload)
        self._filling = False
        self._rules = ProtectionSettings(self.words, self._check, **self._draft.get("rules", {}))
        self._releases = Releases(self.workspace)
        self._counting = RowCounting(self.workspace, self._counted, self._wait, self._draft.get("counted", {}))
        self._linked = LinkedTables(self.workspace, self._rules, self._releases, self._check)
        self._result = TableResult(self.workspace, self._entered, self._releases.keep)
        self._lines: list[list[str]] = []
        self._example: dict[str, Any] | None = None
        self._about: dict[str, str] = dict(self._draft.get("release", {}))

    def build(self) -> None:
        words = self.words
        with components.head(words["tables_area"], words["tables_intro"]):
            pass
        with self._shared.build():
            self._table()
            self._rules.build()
            self._releases.build()
            self._sign_off()
            self._verdict = ui.column().classes("w-full gap-1").props('role="status" aria-live="polite"')
            with ui.row().classes("sf-run"):
                run = components.button(words["protect"], self._run)
                ways = components.button(words["ways.compare"], self._compare).props("outline")
                self._running = (run, ways)
                components.with_tooltip(ways, words["tip.ways.compare"])
            self._result.build()
        self._restore()
        self._result.show()
        self.workspace.draft_tabs[AREA].join(self._shared.change_elsewhere)

    def _table(self) -> None:
        """Build the table input and the choice of its columns."""
        words = self.words
        with components.card():
            text = self._draft.get("table", EXAMPLE)
            self._text = ui.textarea(words["paste"], value=text, on_change=lambda _: self._read())
            self._text.props("outlined rows=10 debounce=300 spellcheck=false").classes("w-full font-mono")
            self._crosstab = ui.row().classes("items-center w-full").props('role="status"')
            components.upload(words["upload_table"], self._uploaded, MOST_BYTES, words, CSV.uploads)
            self._counting.build()
            with ui.element("div").classes("sf-fields"):
                self._value = self._select("value_column")
                self._dimensions = self._select("dimension_columns", multiple=True)
                self._levels = self._select("level_columns", multiple=True)
                self._groups = self._select("group_columns", multiple=True)
                self._total = ui.input(words["total_code"], on_change=lambda _: self._check())
                self._decimal = ui.select(
                    mark_names(words), label=words["decimal_mark"], value=".", on_change=lambda _: self._check()
                )
            self._doubt = ui.row().classes("items-center w-full").props('role="status"')
            self._linked.build()

    def _select(self, name: str, multiple: bool = False) -> ui.select:
        field = ui.select([], label=self.words[name], multiple=multiple, on_change=lambda _: self._check())
        return components.held(field) if multiple else field

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        self._text.value = decoded(await event.file.read())

    def _counted(self, table: CountedTable, persons: CountedPersons | None) -> None:
        """Use a table counted from rows; if one person may be in several cells, the rules consider persons."""
        self._text.value = delimited_text(table.lines, formulas="keep")
        self._counting.tell(persons)
        self._rules.protect_groups(self._dimensions.value or ())
        if table.several:
            self._rules.count_respondents(table.lines[0][-1])
        self._check()

    def _wait(self, waiting: bool) -> None:
        """Disable the buttons that run the table while it is being made, or enable them again."""
        for own in self._running:
            own.set_enabled(not waiting)

    def _read(self) -> None:
        """Offer the columns of the current table, and guess their meaning."""
        self._counting.tell(None)
        self._fill({})
        self._rules.offer(self._names)
        self._rules.propose_for(self._names, self._lines[1:], str(self._value.value or ""))
        self._check()

    def _restore(self) -> None:
        """Show the entries from before the page was reloaded."""
        self._fill(self._draft.get("fields", {}))
        self._filling = True
        self._linked.restore(self._draft.get("linked", {}))
        self._filling = False
        names = self._linked.shared if self._linked.tables else self._names
        fits = self._rules.used() <= set(names)  # otherwise the rules belong to files that are too large to be stored
        self._rules.look_at(names) if fits else self._rules.offer(names)
        self._example = None if self._draft else self._entered()
        self._check()

    @property
    def _names(self) -> list[str]:
        return [name for name in (self._lines[0] if self._lines else []) if name]

    def _fill(self, said: dict[str, Any]) -> None:
        """Offer the columns of the current table, with the given meanings; the rest is guessed."""
        self._lines = lines = lines_of(str(self._text.value or "").strip())
        names, self._filling = self._names, True
        value, dimensions = guessed(names, lines[1:])
        known = {"value": value, "dimensions": dimensions, "levels": [], "groups": []} | said
        for field, key in self._columns().items():
            several = isinstance(known[key], list)
            fitting = [name for name in known[key] if name in names] if several else known[key]
            field.set_options(names, value=fitting if several or fitting in names else None)
        self._total.value = said.get("total", total_of(lines[1:]))
        self._decimal.value = said.get("decimal", decimal_mark(lines[1:], self._doubted()))
        self._offer_unfolding(lines)
        self._filling = False

    def _doubted(self) -> AmbiguousNumbers | None:
        """Return an ambiguous value, whose mark may separate thousands or decimals; None if all values are clear."""
        return doubt_about(self._texts(str(self._value.value or "")), self.words)

    def _columns(self) -> dict[ui.select, str]:
        """Return the fields in which columns are chosen, with their keys in a stored draft."""
        return {self._value: "value", self._dimensions: "dimensions", self._levels: "levels", self._groups: "groups"}

    def _entered(self) -> dict[str, Any]:
        """Return the entries for storage."""
        fields = {key: field.value for field, key in self._columns().items()}
        fields |= {"total": self._total.value, "decimal": self._decimal.value}
        rules = {name: getattr(self._rules, name) for name in ENTERED}
        linked = self._linked.entered()
        entered = {"table": str(self._text.value or ""), "fields": fields, "rules": rules, "linked": linked}
        more = {"release": self._about, "counted": self._counting.entered()}
        return deepcopy(entered | {key: said for key, said in more.items() if said})

    def _offer_unfolding(self, lines: list[list[str]]) -> None:
        """Offer to convert a crosstab, whose numeric columns all contain cells, to one line per cell."""
        cells = unfolded(lines, self.words["crosstab_heads"])
        self._crosstab.clear()
        if looks_like_rows(self._names, lines[1:]):
            with self._crosstab:
                components.notice(self.words["rows_seen"], good=None)
            return
        if cells is None:
            return

        def take() -> None:
            self._text.value = delimited_text(cells, ";", "keep")

        with self._crosstab:
            components.notice(self.words["crosstab_seen"], good=None)
            components.button(self.words["crosstab_unfold"], take).props("outline dense")

    def _plan(self) -> dict[str, Any]:
        groups = list(self._groups.value or [])
        facts = {name: self._rules.facts[name] for name in FACTS if self._rules.facts.get(name)}
        decimal = {"decimal": self._decimal.value} if self._decimal.value else {}
        separator = likely_separator(str(self._text.value or "").partition("\n")[0])
        table = {"source": CELLS, "value": self._value.value or "", "separator": separator} | decimal | facts
        if groups:
            table["group_by"] = groups
        return {
            "version": 1,
            "table": table,
            "dimensions": self._dimension_plans({*groups, *self._rules.used()}),
            **self._rules.plan(),
            **self._releases.plan(),
            "output": {"language": self.words.language},
        }

    def _dimension_plans(self, others: set[str]) -> dict[str, Any]:
        """Return the plans of the dimensions, without columns that are used for something else."""
        said = str(self._total.value or "")
        total = {"total": said} if said else {}
        levels = list(self._levels.value or [])
        single = [name for name in self._dimensions.value or [] if name not in {*levels, *others, self._value.value}]
        totals = {name: own_total(set(self._texts(name)), said) for name in single}
        plans: dict[str, Any] = {
            name: {"column": name, **({"total": code} if code else {})} for name, code in totals.items()
        }
        return plans | ({"levels": {"levels": levels, **total}} if levels else {})

    def _texts(self, name: str) -> list[str]:
        """Return a column of the current table."""
        head, *lines = self._lines or [[]]
        place = head.index(name) if name in head else len(head)
        return [line[place] for line in lines if place < len(line)]

    def _check(self) -> None:
        """Show at once whether the plan can be run, and if not, why."""
        if self._filling or self._shared.stale:
            return
        self.workspace.touch()
        self.workspace.keep_draft(AREA, self._entered(), self._example)  # for reloaded pages
        self._result.compare()
        faults = [self.words["missing_value"].format(field=name) for name in self._rules.missing()]
        faults += self._tell_doubt()
        plan = self._linked.plan if self._linked.tables else self._plan
        faults = faults or components.refusals(lambda: read_table_plan(plan()), self.words)
        with components.refilled(self._verdict):
            for fault in faults:
                components.notice(fault, good=False)
            if linked := ", ".join(self._linked.files()):
                components.notice(self.words["linked_taken"].format(names=linked), good=None)
            if unused := self._unused():
                components.notice(self.words["unused_columns"].format(names=", ".join(unused)), good=None)

    def _unused(self) -> list[str]:
        """Return the columns that are neither categories nor values and are not used by a rule."""
        if self._linked.tables:
            return []
        entries = [field.value or [] for field in self._columns()]
        named = {name for entry in entries for name in ([entry] if isinstance(entry, str) else entry)}
        return [name for name in self._names if name not in named | self._rules.used()]

    def _tell_doubt(self) -> list[str]:
        """Show how ambiguous numbers are interpreted; return an error if the decimal mark is undecided."""
        doubt = self._linked.doubt() if self._linked.tables else self._doubted()
        self._doubt.clear()
        if doubt is None:
            return []
        decimal = self._linked.decimal if self._linked.tables else self._decimal.value
        key = "asked" if decimal is None else "fraction" if decimal == doubt.mark else "whole"
        text = self.words[f"thousands.{key}"].format(example=doubt.example, whole=doubt.thousands)
        if key == "asked":
            return [text]
        with self._doubt:
            components.notice(text, good=None)
        return []

    def _cells(self) -> dict[str, Path]:
        """Return the pasted cells as a file."""
        path = self.workspace.place(CELLS)
        path.write_text(str(self._text.value or "").strip() + "\n", encoding="utf-8")
        return {CELLS: path}

    def _sign_off(self) -> None:
        """Build the fields for the approval; the internal report and the one for publication show it."""
        words = self.words

        def note(stated: dict[str, str]) -> None:
            self._about = stated
            self._check()

        with components.card(words["sign_off"]):
            ui.label(words["sign_off_table_hint"]).classes("sf-soft sf-small")
            with ui.element("div").classes("sf-fields"):
                approval_fields(words, self._about, note)

    async def _run(self) -> None:
        about = {"release": self._about} if self._about else {}
        if self._linked.tables:
            await self._start("protect", self._linked.plan() | about, self._linked.files())
        else:
            await self._start("protect", self._plan() | about, self._cells())

    async def _compare(self) -> None:
        """Protect the table with every method, and show what each costs."""
        if self._linked.tables:
            components.alarm(self.words["ways.one_table"])
            return
        plan = {key: value for key, value in self._plan().items() if key != "previous"}
        await self._start("compare-tables", plan | {"primary": self._rules.rules}, self._cells())

    async def _start(self, kind: Kind, plan: dict[str, Any], files: dict[str, Path]) -> None:
        if self._shared.stale:  # the tab is outdated
            return
        releases = self._releases.files() if "previous" in plan else {}
        self._wait(True)  # a second click must not start a second run
        try:
            await self._result.start(kind, plan, files | releases)
        finally:
            self._wait(False)
