"""The page of attributes: records from a file or pasted, an operation per attribute, and an immediate result."""

import json
import re
from collections.abc import Sequence
from typing import Any

from nicegui import background_tasks, events, ui

from sfumato.attributes.anonymize import Anonymized
from sfumato.attributes.operations.operation import ValueRefusedError, is_implemented, type_named
from sfumato.errors import DataError, SfumatoError
from sfumato.formats import CSV, JSON
from sfumato.localization.messages import Messages
from sfumato.pipelines.attributes import anonymize_attributes, read_attribute_records
from sfumato.service.problems import RefusedError
from sfumato.service.workers.messages import CrashedError
from sfumato.web import components
from sfumato.web.page_layout import Shell
from sfumato.web.projects.changes import TabSync
from sfumato.web.projects.loaded_data import is_number

RECORDS = [
    {"name": "Ada", "pay": 18000, "born": "1985-03-02"},
    {"name": "Bob", "pay": 22000, "born": "1990-11-23"},
    {"name": "Cy", "pay": 30000, "born": "1979-07-14"},
    {"name": "Di", "pay": 42000, "born": "1969-01-30"},
]
CONFIGURATION = {
    "name": {"anonymisationType": "Masking", "dataType": "String"},
    "pay": {"anonymisationType": "Generalization", "dataType": "Numeric"},
    "born": {"anonymisationType": "Generalization", "dataType": "Date"},
}
OPERATIONS = ("Masking", "Generalization", "Randomization")
TYPES = ("String", "Numeric", "Integer", "Double", "Date", "DateTime", "Boolean", "Address")
Records = list[dict[str, Any]]
MOST_BYTES, MOST_RECORDS, SHOWN_RECORDS = 20_000_000, 10_000, 6
AREA = "attributes"
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
ISO_TIME = re.compile(ISO_DATE.pattern + r"[T ]\d\d:\d\d:\d\d.*", re.ASCII)
# Labels of generalized numbers, and the numbers in them.
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.ASCII)
BUCKET = re.compile(rf"[<>]= {NUMBER.pattern}|{NUMBER.pattern} - {NUMBER.pattern}", re.ASCII)
# Names of columns with postcodes.
POSTCODE = re.compile(r"plz|postleitzahl|zip|post_?code|postal", re.IGNORECASE)


class AttributeArea:
    """Anonymizes the visitor's records attribute by attribute."""

    def __init__(self, shell: Shell) -> None:
        self.workspace, self.words = shell.workspace, shell.workspace.words
        self._filling, self._question = False, 0
        self._shared = TabSync(self.words, "other_tab.draft", ui.navigate.reload)

    def build(self) -> None:
        words = self.words
        with components.head(words["attributes_area"], words["attributes_intro"]):
            components.with_tooltip(components.button(words["anonymize"], self._run), words["tip.attributes.run"])
        with self._shared.build():
            self._fields()
            self._container = ui.column().classes("w-full")
        self._restore()
        self._read()
        self.workspace.draft_tabs[AREA].join(self._shared.change_elsewhere)

    def _fields(self) -> None:
        """Build the fields for records, the operation of each attribute, and a preview."""
        words = self.words
        with components.card(words["records_file"]):
            kinds = (CSV.suffix, *JSON.uploads)
            components.upload(words["records_upload"], self._uploaded, MOST_BYTES, words, kinds)
            with ui.expansion(words["as_json"]).classes("w-full"):
                self._records = _field(words["records"], RECORDS, self._read)
                self._configuration = _field(words["configuration"], CONFIGURATION, self._read)
        with ui.element("div").classes("sf-halves"):
            with components.card(words["attribute_choices"]):
                self._choices = ui.column().classes("w-full gap-2")
            with components.card(words["attribute_preview"]):
                self._preview = ui.column().classes("w-full").props('role="region"')
                self._preview.props["aria-label"] = words["attribute_preview"]
                with self._preview:
                    ui.label(words["working"]).classes("sf-soft sf-small")

    def _restore(self) -> None:
        """Show the entries from before the page was reloaded."""
        draft = self.workspace.draft(AREA)
        self._filling = True
        for name, entry in (("records", self._records), ("configuration", self._configuration)):
            entry.value = draft.get(name, entry.value)
        self._filling = False

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        path = self.workspace.place(f"records-{event.file.name}")
        await event.file.save(path)
        try:
            records = await self.workspace.aside(read_attribute_records, path)
        except (SfumatoError, RefusedError) as error:
            components.alarm(components.error_text(error, self.words))
            return
        finally:
            path.unlink(missing_ok=True)
        self._filling = True
        self._records.value = _listed(records[:MOST_RECORDS])
        self._configuration.value = _listed({name: guessed(name, records) for name in (records[0] if records else {})})
        self._filling = False
        self._read()

    def _entered(self) -> tuple[Records, dict[str, Any]] | None:
        """Return the entered records and configuration, or None if they are no valid JSON."""
        if self._filling or self._shared.stale:
            return None
        entered = {"records": self._records.value, "configuration": self._configuration.value}
        self.workspace.keep_draft(AREA, entered, {"records": RECORDS, "configuration": CONFIGURATION})
        try:
            records, configuration = json.loads(self._records.value), json.loads(self._configuration.value)
        except (ValueError, TypeError, RecursionError):
            return None
        fits = isinstance(records, list) and all(isinstance(record, dict) for record in records)
        return (records, configuration) if fits and isinstance(configuration, dict) else None

    def _read(self) -> None:
        """Rebuild the fields from the entered records."""
        entered = self._entered()
        if entered is None:
            return
        with components.refilled(self._choices):
            for name in entered[1]:
                self._choice(name, entered[1])
        background_tasks.create(self._show())

    def _choice(self, name: str, configuration: dict[str, Any]) -> None:
        words, entry = self.words, configuration[name]
        if not isinstance(entry, dict):
            return

        def change(key: str, value: str) -> None:
            if entry.get(key) == value:  # the field shows the current value
                return
            entry[key] = value
            operations = operations_for(entry.get("dataType"))
            if entry.get("anonymisationType") not in operations:
                entry["anonymisationType"] = operations[0]
            offers = {option: words[f"operation.{option}"] for option in operations}
            operation.set_options(offers, value=entry["anonymisationType"])
            says.text = self._says(entry)
            self._filling = True
            self._configuration.value = _listed(configuration)
            self._filling = False
            background_tasks.create(self._show())

        def choice(key: str, label: str, options: Sequence[str]) -> ui.select:
            field = ui.select(
                {option: words[f"{label}.{option}"] for option in options},
                label=f"{words[label]}: {name}",
                value=entry.get(key) if entry.get(key) in options else None,
                on_change=lambda event: change(key, event.value),
            )
            components.with_tooltip(field, words[f"tip.{label}"]).props("dense")
            return field

        with ui.element("div").classes("sf-promise"):
            ui.label(name).classes("font-bold")
            says = ui.label(self._says(entry)).classes("sf-soft sf-small")
            with ui.element("div").classes("sf-fields"):
                operation = choice("anonymisationType", "operation", operations_for(entry.get("dataType")))
                choice("dataType", "data_type", TYPES)

    def _says(self, entry: dict[str, Any]) -> str:
        """Describe an operation in a sentence."""
        return self.words.get(f"operation.{entry.get('anonymisationType')}.says", "")

    async def _show(self) -> None:
        """Show a preview of the first records."""
        entered = self._entered()
        if entered is None:
            return
        self._question = question = self._question + 1
        records, configuration = entered
        try:
            answer = await self._anonymized(records, configuration)
        except (SfumatoError, RefusedError, CrashedError, ValueError) as error:
            self._fill_preview([], refusal_text(error, self.words))
            return
        if question == self._question:  # no newer preview was requested
            self._fill_preview(list(zip(records, answer.data, strict=False))[:SHOWN_RECORDS], "")

    async def _anonymized(self, records: Records, configuration: dict[str, Any]) -> Anonymized:
        """Return the response to records, made in a worker process."""
        if len(records) > MOST_RECORDS:
            raise DataError("records.too_many", count=MOST_RECORDS)
        return await self.workspace.aside(anonymize_attributes, records, configuration)

    def _fill_preview(self, pairs: list[tuple[dict[str, Any], dict[str, Any]]], why: str) -> None:
        with components.refilled(self._preview):
            if why:
                components.notice(why, good=False)
                return
            names = list(dict.fromkeys(name for pair in pairs for record in pair for name in record))
            lines = []
            for before, after in pairs:
                lines.append([(shown(before.get(name), self.words), "") for name in names])
                texts = [shown(after.get(name), self.words) for name in names]
                lines.append([(text and f"→ {text}", "changed" if text else "") for text in texts])
            components.table(names, lines)

    async def _run(self) -> None:
        if self._shared.stale:  # the tab is outdated
            return
        self.workspace.touch()
        self._container.clear()
        entered = self._entered()
        if entered is None:
            components.alarm(self.words["not_json"])
            return
        try:
            answer = await self._anonymized(*entered)
        except (SfumatoError, RefusedError) as error:
            components.alarm(refusal_text(error, self.words))
            return
        except (ValueError, CrashedError, RecursionError):
            components.alarm(self.words["not_json"])
            return
        whole = {"data": answer.data, "kpis": answer.kpis, "warnings": answer.warnings}
        text = json.dumps(whole, indent=1, ensure_ascii=False)
        with self._container, ui.element("div").classes("sf-card").props('role="status"'):
            ui.html(f"<h3>{self.words['answer']}</h3>", sanitize=False).classes("sf-title")
            download = components.button(
                self.words["download_data"], lambda: ui.download.content(json.dumps(answer.data), "records.json")
            )
            download.classes("self-start")
            components.code(text, self.words)


def operations_for(data_type: Any) -> Sequence[str]:
    """Return the operations for a data type; all of them for an unknown type.

    >>> operations_for("String"), len(operations_for("Numeric"))
    (('Masking',), 3)
    """
    if data_type not in TYPES:
        return OPERATIONS
    return tuple(name for name in OPERATIONS if is_implemented(name, type_named(data_type)))


def refusal_text(error: Exception, words: Messages) -> str:
    """Return why records are refused, including the value, which the visitor sees anyway."""
    if isinstance(error, ValueRefusedError):
        return words.text(error.text_for_sender())
    return components.error_text(error, words)


def shown(value: Any, words: Messages) -> str:
    """Return a value as the preview shows it: a missing value is empty, a range shows its bounds.

    >>> from sfumato.localization.messages import words_in
    >>> shown({"min": 1.5, "max": 2.0}, words_in("de")), shown(None, words_in())
    ('1,5 – 2', '')
    >>> shown("<= 300.58000000000004", words_in("de")), shown("497.255 - 595.4000000000001", words_in("de"))
    ('<= 300,58', '497,255 - 595,4')
    """
    if isinstance(value, dict) and {*value} == {"min", "max"}:
        return f"{shown(value['min'], words)} – {shown(value['max'], words)}"
    if isinstance(value, str) and BUCKET.fullmatch(value):
        return NUMBER.sub(lambda number: words.value(_clean(number[0])), value)
    text = _clean(repr(value)) if isinstance(value, float) else str(value)
    return "" if value is None else words.value(text)


def _clean(number: str) -> str:
    """Return a number without the rounding errors of binary fractions in its last digits.

    >>> _clean("595.4000000000001"), _clean("25000.0"), _clean("123456789012345")
    ('595.4', '25000', '123456789012345')
    """
    return f"{float(number):.12g}" if "." in number else number


def guessed(name: str, records: Records) -> dict[str, str]:
    """Guess the type of an attribute and its default operation: numbers and dates are generalized.

    >>> guessed("pay", [{"pay": 5}]), guessed("born", [{"born": "1985-03-02"}])["dataType"]
    ({'anonymisationType': 'Generalization', 'dataType': 'Numeric'}, 'Date')
    """
    values = [record[name] for record in records if record.get(name) not in (None, "")]
    if values and all(is_number(value) for value in values) and not _are_codes(name, values):
        return {"anonymisationType": "Generalization", "dataType": "Numeric"}
    for data_type, pattern in (("Date", ISO_DATE), ("DateTime", ISO_TIME)):
        if values and all(pattern.fullmatch(str(value)) for value in values):
            return {"anonymisationType": "Generalization", "dataType": data_type}
    return {"anonymisationType": "Masking", "dataType": "String"}


def _are_codes(name: str, values: Sequence[Any]) -> bool:
    """Return whether integers are codes: they have leading zeros, or the name is that of a postcode.

    >>> _are_codes("town", ["01067", "99084"]), _are_codes("PLZ", ["15105"]), _are_codes("pay", ["0", "2500"])
    (True, True, False)
    """
    texts = [str(value) for value in values]
    if not all(map(str.isdecimal, texts)):
        return False
    zeros = any(text.startswith("0") and len(text) > 1 for text in texts)
    return zeros or (POSTCODE.search(name) is not None and len({len(text) for text in texts}) == 1)


def _field(label: str, value: Any, changed: Any) -> ui.textarea:
    field = ui.textarea(label, value=_listed(value), on_change=lambda _: changed()).classes("w-full font-mono")
    return field.props("outlined rows=7 spellcheck=false debounce=300")


def _listed(value: Any) -> str:
    """Return JSON with one entry per line.

    >>> print(_listed({"a": {"b": 1}}))
    {
     "a": {"b": 1}
    }
    """
    if isinstance(value, list):
        return "[\n" + ",\n".join(" " + json.dumps(entry) for entry in value) + "\n]"
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()) + "\n}"
