"""Tables of texts: YAML with one key a line, which is read line by line: far quicker than by a YAML reader."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_KEY = re.compile(r"[\w.-]+")
_QUOTED = re.compile(r"'[^']*(?:''[^']*)*'")
# What a plain text does not begin with, and does not hold.
_MARKS = "0123456789.+-_'\"&*!|>%@`?:,[]{}#=~<"
_OTHER = {"yes", "no", "y", "n", "on", "off", "true", "false", "null"}


def read_table(path: Path) -> dict[str, str]:
    """The texts of a table by their keys; one that is written in other ways goes through the YAML reader."""
    written = path.read_text(encoding="utf-8")
    lines = [line for line in written.split("\n") if line and not line.startswith("#")]
    if any(line.startswith((" ", "\t", "-", "%", "{", "[", "?", "&", "!")) for line in lines):
        return _by_yaml(written)
    return dict(_entries(lines))


def _entries(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        key, _, text = line.partition(": ")
        if text[:1] == "'" and _QUOTED.fullmatch(text) and _KEY.fullmatch(key):
            yield key, text[1:-1].replace("''", "'")
        elif _is_plain(text) and _KEY.fullmatch(key):
            yield key, text
        else:
            yield from _by_yaml(line).items()


def _is_plain(text: str) -> bool:
    """Whether a text stands for itself, and for no number, date or truth."""
    if not text or text[0] in _MARKS or text[-1] in " \t:" or text[0] == " ":
        return False
    return ": " not in text and " #" not in text and "\t" not in text and text.lower() not in _OTHER


def _by_yaml(text: str) -> dict[str, str]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the compiled one, where it is there, is ten times quicker
    table: dict[str, str] = yaml.load(text, Loader=loader)
    return table
