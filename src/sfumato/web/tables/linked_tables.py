"""The part of the tables page for linked tables: several uploaded tables, or crosstabs made from one file of rows."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from nicegui import events, ui

from sfumato.delimited.records import read_lines
from sfumato.errors import DataError
from sfumato.formats import CSV
from sfumato.web import components
from sfumato.web.forms import Values
from sfumato.web.projects.loaded_data import is_number
from sfumato.web.projects.workspace import Workspace
from sfumato.web.tables.crosstabs import without_marks
from sfumato.web.tables.input_detection import AmbiguousNumbers, doubt_about, mark_names, own_total, writes_commas
from sfumato.web.tables.protection_settings import FACTS, ProtectionSettings
from sfumato.web.tables.table_sources import Releases

MOST_BYTES = 20_000_000
COUNT = "count"
CELLS, ROWS = "cells", "rows"
# Sensitivity rules on contributors, and the minimum number of respondents that is required if none is chosen.
OF_RESPONDENTS = frozenset({"frequency", "p-percent", "dominance", "holdings"})
LEAST_RESPONDENTS = 3
# Maximum bytes of a file in a stored draft; the page asks to upload larger ones again.
MOST_KEPT = 20_000_000


class LinkedTables:
    """The uploaded files, and the plan that protects them together."""

    def __init__(
        self, workspace: Workspace, rules: ProtectionSettings, releases: Releases, changed: Callable[[], Any]
    ) -> None:
        self._workspace, self._words = workspace, workspace.words
        self._rules, self._releases, self._changed = rules, releases, changed
        self._columns: dict[str, list[str]] = {}
        self._numbers: dict[str, set[str]] = {}
        self._texts: dict[str, dict[str, list[str]]] = {}
        self._codes: dict[str, dict[str, set[str]]] = {}
        self._doubts: dict[str, dict[str, AmbiguousNumbers]] = {}
        self._commas: dict[str, bool] = {}
        self._paths: dict[str, Path] = {}
        self._contents: dict[str, bytes] = {}
        self._filling = False

    @property
    def decimal(self) -> str | None:
        """The decimal mark of the uploaded files; None if it is undecided."""
        mark: str | None = self._decimal.value
        return mark

    @property
    def tables(self) -> bool:
        """Whether any file was uploaded."""
        return bool(self._paths)

    @property
    def shared(self) -> list[str]:
        """The columns that all uploaded files have."""
        lists = list(self._columns.values())
        return [name for name in (lists[0] if lists else []) if all(name in names for names in lists)]

    def build(self) -> None:
        words = self._words
        self._card = ui.expansion(words["linked"]).classes("w-full")
        with self._card:
            ui.label(words["linked_says"]).classes("sf-soft")
            components.upload(words["linked_upload"], self._uploaded, MOST_BYTES, words, CSV.uploads)
            self._container = ui.column().classes("w-full gap-0")
            with ui.element("div").classes("sf-fields"):
                kinds = {CELLS: words["linked_cells"], ROWS: words["linked_rows"]}
                self._kind = ui.select(
                    kinds, label=words["linked_kind"], value=CELLS, on_change=lambda _: self._offer()
                )
                self._value = self._select("value_column")
                self._total = ui.input(words["total_code"], value="Total", on_change=lambda _: self._changed())
                self._decimal = ui.select(
                    mark_names(words), label=words["decimal_mark"], value=".", on_change=lambda _: self._changed()
                )
                components.with_tooltip(self._decimal, words["tip.decimal_mark"])
                self._holding, self._weight = self._select("linked_holding"), self._select("linked_weight")
            self._crossings = ui.textarea(words["linked_crossings"], on_change=lambda _: self._changed())
            self._crossings.props("outlined rows=3 debounce=300 spellcheck=false").classes("w-full font-mono")
        self._show()

    def _choose(self) -> None:
        self._show()
        self._changed()

    def _select(self, name: str) -> ui.select:
        return ui.select([], label=self._words[name], clearable=True, on_change=lambda _: self._chosen())

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        try:
            self._take(event.file.name, await event.file.read())
        except DataError as error:
            components.alarm(components.error_text(error, self._words))
            return
        self._offer()

    def _take(self, name: str, content: bytes) -> None:
        """Store an uploaded file, and examine its columns."""
        path = self._workspace.place(name)
        path.write_bytes(content)
        lines = [line.fields for line in read_lines(path)]
        head, rows = (lines[0], lines[1:]) if lines else ([], [])
        self._paths[path.name], self._columns[path.name], self._contents[path.name] = path, head, content
        columns = self._texts[path.name] = {name: [row[place] for row in rows] for place, name in enumerate(head)}
        doubts = {name: doubt_about(texts, self._words) for name, texts in columns.items()}
        self._doubts[path.name] = {name: doubt for name, doubt in doubts.items() if doubt is not None}
        self._numbers[path.name] = {
            name for name, texts in columns.items() if rows and all(is_number(without_marks(text)) for text in texts)
        }
        self._commas[path.name] = writes_commas(rows)
        categories = [name for name in head if name not in self._numbers[path.name]]
        self._codes[path.name] = {name: set(columns[name]) for name in categories}

    def entered(self) -> Values:
        """Return the files and entries for a stored draft; only the names of files that are too large."""
        if not self._paths:
            return {}
        kept = sum(map(len, self._contents.values())) <= MOST_KEPT
        # Each byte becomes one character, whatever the encoding of the file.
        files = {name: content.decode("latin-1") for name, content in self._contents.items()} if kept else {}
        fields = {name: field.value for name, field in self._fields().items()}
        return {"files": files, "lost": [] if kept else list(self._paths), "fields": fields}

    def _fields(self) -> dict[str, Any]:
        """Return the fields by their keys in a draft; the kind comes first because it determines the others."""
        fields = {"kind": self._kind, "value": self._value, "total": self._total, "decimal": self._decimal}
        return fields | {"holding": self._holding, "weight": self._weight, "crossings": self._crossings}

    def restore(self, kept: Values) -> None:
        """Show the files and entries from before the page was reloaded; name the files to be uploaded again."""
        self._filling = True
        for name, content in kept.get("files", {}).items():
            self._take(name, content.encode("latin-1"))
        fields = kept.get("fields", {}) if self._paths else {}
        self._kind.value = fields.get("kind", CELLS)
        if self._paths:
            self._fill()
            self._card.value = True
        for name, field in self._fields().items():
            field.value = fields.get(name, field.value)
        self._filling = False
        self._rules.crossed = self._crossed
        self._show()
        if kept.get("lost"):
            self._card.value = True
            with self._container:
                components.notice(self._words["linked_again"].format(names=", ".join(kept["lost"])), good=None)

    def _offer(self) -> None:
        """Offer the columns that all files have, in the fields and in the settings of the rules."""
        if self._filling:
            return
        self._filling = True
        self._fill()
        self._filling = False
        self._rules.crossed = self._crossed
        self._rules.offer(self.shared)
        self._propose()
        self._choose()

    def _propose(self) -> None:
        """Propose sensitivity rules that fit the files."""
        if self._crossed:
            self._rules.propose_for_rows(self._summed, bool(self._holding.value))
        elif self.tables:
            cells = [zip(*map(own.__getitem__, self.shared), strict=True) for own in self._texts.values()]
            self._rules.propose_for(self.shared, list(chain(*cells)), str(self._value.value or ""))

    @property
    def _crossed(self) -> bool:
        """Whether the tables are made from rows, so that the contributors of each cell are known."""
        return self.tables and self._kind.value == ROWS

    @property
    def _summed(self) -> bool:
        """Whether the cells are sums of a value column; otherwise they count rows."""
        return self._value.value not in (None, "", COUNT)

    def _chosen(self) -> None:
        """Propose rules again after the value or respondent column changed, and check the plan."""
        if not self._filling and self._crossed:
            self._propose()
        self._changed()

    def _fill(self) -> None:
        """Offer the columns that all files have, and guess their meaning."""
        shared = self.shared
        numbers = [name for name in shared if all(name in own for own in self._numbers.values())]
        # Rows are counted by default, because a numeric column of persons is seldom meant to be summed.
        value = COUNT if self._kind.value == ROWS else (numbers or [COUNT])[0]
        self._value.set_options([*shared, *([COUNT] if COUNT not in shared else [])], value=value)
        for field in (self._holding, self._weight):
            field.set_options(shared, value=None)
        if self._kind.value == CELLS:
            every = {code for file in self._codes.values() for codes in file.values() for code in codes}
            self._total.value = own_total(every, str(self._total.value or ""))
        doubt = self.doubt()
        self._decimal.value = doubt.proposed if doubt else "," if any(self._commas.values()) else "."
        categories = [name for name in shared if name not in numbers][:3]
        pairs = [(one, other) for place, one in enumerate(categories) for other in categories[place + 1 :]]
        self._crossings.value = "\n".join(", ".join(pair) for pair in pairs)

    def _show(self) -> None:
        """Show the files, and the fields that their kind needs."""
        rows = self._kind.value == ROWS
        for field in (self._holding, self._weight, self._crossings):
            field.set_visibility(rows)
        with components.refilled(self._container):
            for name, columns in self._columns.items():
                with ui.row().classes("items-center"):
                    ui.label(f"{name}: {', '.join(columns)}")
                    components.button(self._words["remove"], lambda name=name: self._remove(name)).props("flat dense")

    def _remove(self, name: str) -> None:
        self._paths.pop(name).unlink(missing_ok=True)
        for known in (self._columns, self._contents, self._numbers, self._texts, self._codes):
            del known[name]
        del self._doubts[name], self._commas[name]
        self._offer()

    def files(self) -> dict[str, Path]:
        """Return the files by name."""
        return dict(self._paths)

    def plan(self) -> dict[str, Any]:
        """The plan that protects all tables jointly."""
        table, tables = self._of_rows() if self._kind.value == ROWS else self._of_cells()
        return {
            "version": 1,
            "table": table,
            "tables": tables,
            **self._with_respondents(self._rules.plan()),
            **self._releases.plan(),
            "output": {"language": self._words.language},
        }

    def _with_respondents(self, rules: Values) -> Values:
        """Add a minimum number of respondents if no rule limits them, because many rows may have few respondents."""
        primary = rules.get("primary") or []
        asked = self._kind.value == ROWS and (self._summed or (self._holding.value and primary))
        if not asked or any(rule.get("rule") in OF_RESPONDENTS for rule in primary):
            return rules
        return {**rules, "primary": [*primary, {"rule": "frequency", "min": LEAST_RESPONDENTS}]}

    def _of_cells(self) -> tuple[Values, list[Values]]:
        facts = {name: self._rules.facts[name] for name in FACTS if self._rules.facts.get(name)}
        others = {*self._rules.used(), self._value.value}
        tables = [
            {
                "name": Path(name).stem,
                "source": name,
                "dimensions": self._dimensions(
                    [own for own in columns if own not in others and own not in self._numbers[name]], self._codes[name]
                ),
            }
            for name, columns in self._columns.items()
        ]
        return {"value": self._value.value or "", **self._mark(), **facts}, tables

    def _mark(self) -> Values:
        """Return the decimal mark as a plan key; empty if it is undecided."""
        return {"decimal": self.decimal} if self.decimal else {}

    def doubt(self) -> AmbiguousNumbers | None:
        """Return an ambiguous value of a file, whose mark may separate thousands or decimals; None if all are clear."""
        if self._kind.value == ROWS:
            return None
        return next((own[self._value.value] for own in self._doubts.values() if self._value.value in own), None)

    def _of_rows(self) -> tuple[Values, list[Values]]:
        chosen = {"holding": self._holding.value, "weight": self._weight.value}
        table = {"microdata": next(iter(self._paths)), "value": self._value.value or COUNT, **self._mark()}
        lines = (line.split(",") for line in str(self._crossings.value or "").splitlines() if line.strip())
        crossings = [[name.strip() for name in line if name.strip()] for line in lines]
        tables = [{"name": "-".join(names), "dimensions": self._dimensions(names)} for names in crossings]
        return table | {key: value for key, value in chosen.items() if value}, tables

    def _dimensions(self, names: Sequence[str], codes: Mapping[str, set[str]] | None = None) -> Values:
        """Return the plans of the dimensions; given the codes of a table, with the total code that occurs in each."""
        said = str(self._total.value or "")
        totals = {name: own_total((codes or {}).get(name, set()), said) for name in names}
        return {name: {"column": name, **({"total": total} if total else {})} for name, total in totals.items()}
