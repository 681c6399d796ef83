"""Options for reading a file on the page: sheet, separator, decimal mark, encoding, header; detected by default."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from sfumato.localization.messages import Messages
from sfumato.microdata.data_plan import DataPlan
from sfumato.web import components
from sfumato.web.projects.loaded_data import READING, Loaded

# Extensions of files whose first line may contain names; of text files.
HEADED = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods")
TEXTS = (".csv", ".tsv", ".txt")
# The most frequent encodings of texts that are not UTF-8; number of characters examined.
ENCODINGS = ("cp1252", "latin-1", "cp1250", "iso8859-2", "cp1251", "cp1253", "cp1254")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
DECIMALS = {".": "point", ",": "comma"}
Reading = dict[str, Any]


def build(words: Messages, loaded: Loaded, take: Callable[[Reading], Any]) -> None:
    """Build the fields for a loaded file; `take` gets the settings with each change."""
    ending, read = loaded.path.suffix.lower(), loaded.read
    said = said_of(read)

    def change(key: str, value: Any) -> Any:
        return take({name: entry for name, entry in {**said, key: value}.items() if entry not in (None, "")})

    with ui.element("div").classes("sf-reading"):
        if len(loaded.sheets) > 1:
            choose_sheet(words, loaded.sheets, read.table, take)
        if ending in TEXTS:
            _choice(words, "separator", SEPARATORS, read.separator or "", change, detects=True)
            _choice(words, "decimal_mark", DECIMALS, read.decimal, lambda _, sign: change("decimal", sign))
            names = {name: name for name in ("utf-8", "utf-16", *ENCODINGS)}
            _choice(words, "encoding", names, read.encoding, change)
        if ending in HEADED:
            switch = components.held(ui.switch(words["header.data"], value=read.header is False)).props("dense")
            components.with_tooltip(switch, words["tip.header"])
            switch.on_value_change(lambda event: change("header", False if event.value else None))


def said_of(read: DataPlan) -> Reading:
    """Return the settings for reading a file that differ from the defaults."""
    usual = DataPlan()
    entries = {key: getattr(read, key) for key in READING}
    return {key: value for key, value in entries.items() if value != getattr(usual, key)}


def choose_sheet(words: Messages, names: Sequence[str], own: str | None, take: Callable[[Reading], Any]) -> None:
    """Build the field for the sheet of a workbook; the settings of another sheet do not apply to it."""
    field = ui.select([*names], label=words["sheet"], value=own)
    field.on_value_change(lambda event: take({"table": event.value}))
    components.with_tooltip(field.props("dense outlined options-dense"), words["tip.sheet"])


def _choice(
    words: Messages,
    key: str,
    names: dict[str, str],
    value: str,
    change: Callable[[str, str], Any],
    detects: bool = False,
) -> None:
    options = {"": words["found_out"]} if detects else {}
    options |= {sign: words[f"{key}.{name}"] for sign, name in names.items()}
    field = ui.select(options, label=words[key], value=value if value in options else None)
    field.on_value_change(lambda event: change(key, event.value)).props("dense outlined options-dense")
    components.with_tooltip(field, words[f"tip.{key}"])
