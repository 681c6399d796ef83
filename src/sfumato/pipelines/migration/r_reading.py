"""Find the file that an R script reads, and its dialect, as the data section of a plan."""

from typing import Any

from sfumato.pipelines.migration.r_calls import RCall

_BASE = ("file", "header", "sep", "quote", "dec")
_TIDY = ("file", "col_names", "col_types")
READERS: dict[str, tuple[str, ...]] = {
    "read.csv": _BASE,
    "read.csv2": _BASE,
    "read.delim": _BASE,
    "read.delim2": _BASE,
    "read.table": _BASE,
    "fread": ("input", "file", "text", "cmd", "sep", "sep2", "dec"),
    "read_csv": _TIDY,
    "read_csv2": _TIDY,
    "read_tsv": _TIDY,
    "read_delim": ("file", "delim", "quote"),
}
SEPARATORS = {"read.csv": ",", "read.csv2": ";", "read_csv": ",", "read_csv2": ";"} | dict.fromkeys(
    ("read.delim", "read.delim2", "read_tsv"), "\t"
)
COMMAS = frozenset({"read.csv2", "read.delim2", "read_csv2"})
CARRIED = frozenset({"file", "input", "sep", "delim", "dec", "na.strings", "na"})
# Arguments without effect here: values are read as texts unless the plan gives a type.
HARMLESS = frozenset(
    {"stringsAsFactors", "check.names", "colClasses", "col_types", "data.table", "show_col_types", "as.is", "fill"}
)


def data_of(call: RCall) -> dict[str, Any]:
    """Return the data section for a file that a call reads; empty if its name must be computed.

    >>> data_of(RCall("read.csv2", 1, {"file": "a.csv"}))
    {'source': 'a.csv', 'separator': ';', 'decimal': ','}
    """
    said = call.arguments
    path = said.get("file", said.get("input"))
    if not isinstance(path, str):
        return {}
    separator = said.get("sep", said.get("delim", SEPARATORS.get(call.function)))
    data: dict[str, Any] = {"source": path}
    if isinstance(separator, str) and len(separator) == 1:
        data["separator"] = separator
    if said.get("dec", "," if call.function in COMMAS else ".") == ",":
        data["decimal"] = ","
    missing = said.get("na.strings", said.get("na", []))
    texts = [text for text in (missing if isinstance(missing, list) else [missing]) if isinstance(text, str) and text]
    return data | ({"missing": texts} if texts else {})


def not_carried(call: RCall) -> list[str]:
    """Return the arguments of a reading call that are not converted."""
    said = [key for key, value in call.arguments.items() if not (key in ("header", "col_names") and value is True)]
    return [
        key for key in (*said, *call.computed) if key not in HARMLESS and (key in call.computed or key not in CARRIED)
    ]
