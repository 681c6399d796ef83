"""The messages of a language: texts by key, filled with values in the notation of the language."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from sfumato.localization.number_format import amount, percent
from sfumato.localization.plurals import CHOICE, Counting, PluralMessage, filled
from sfumato.patterns import regex

_KEY = re.compile(r"[\w.-]+")
_QUOTED = re.compile(r"'[^']*(?:''[^']*)*'")
# Characters with which a plain YAML text does not begin, and words that YAML reads as Booleans or null.
_MARKS = "0123456789.+-_'\"&*!|>%@`?:,[]{}#=~<"
_OTHER = {"yes", "no", "y", "n", "on", "off", "true", "false", "null"}
DEFAULT = "en"
# Key prefixes of the reasons for roles, which are identified by their English text.
SAID = "said."
_SAID = (SAID, "note.", "reason.", "phrase.")
_SPEC = re.compile(r"\{(\w+):[^{}|]*\}")
# Maximum number of cached translations.
MOST_KEPT = 4096
_FOLDER = Path(__file__).parent
_PERCENT = regex(r"(?<=\d)%")
_FIGURE = regex(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?: ?%)?")
_NUMERAL = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_DECIMAL = regex(rf"[<>≤≥]?{_NUMERAL}(?: ?[-–] ?{_NUMERAL})?", re.ASCII)
# An interval with brackets, as in labels of hierarchies and classes.
_INTERVAL = regex(rf"[\[(]{_NUMERAL}(?:, |–){_NUMERAL}[\])]", re.ASCII)
# Placeholders for names that are not translated: columns, codebooks, examples.
_NAMED = frozenset(
    ["word", "person", "column", "columns", "name", "names", "example", "units", "book", "first", "second", "other"]
)

_PLAIN = (str, int, float, tuple)
# Separators of joined messages, by format: `{parts:sentences}`.
_JOINED = {"sentences": " ", "lines": "\n", "list": ", ", "semicolons": "; "}
# Suffix of keys whose text replaces that of the key without suffix if persons are counted.
PERSONS = ".of_persons"


class Message(str):
    """A text with its code and values: as a str it is the English text; `Messages.text` renders it in a language.

    Values are numbers, which templates format (`{rows:,}`, `{share:.0%}`), texts that are not translated, such as
    column names, and other messages.

    >>> message = Message("note.other_sheets", count=2, name="A", others="B")
    >>> print(words_in("de").text(message))
    Die Arbeitsmappe hat 2 Blätter: Gelesen wurde „A“, nicht B. Ein anderes wählen Sie mit data.table oder --table.
    """

    __slots__ = ("code", "values")
    code: str
    values: dict[str, Any]

    def __new__(cls, code: str, /, **values: Any) -> "Message":
        plain = {name: value if isinstance(value, _PLAIN) else str(value) for name, value in values.items()}
        message = super().__new__(cls, words_in().rendered(code, plain))
        message.code, message.values = code, plain
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return _message, (self.code, self.values)

    def to_json(self) -> dict[str, Any]:
        """Return the message as reports and jobs store it, with its English text; `read_message` restores it."""
        return {**_nested(self), "text": str(self)}


def first_names(names: Sequence[str], most: int, between: Literal["list", "semicolons"] = "list") -> Message:
    """Return the first of some names, and the number of further ones.

    >>> print(first_names(["a", "b", "c"], 2), first_names(["a", "b"], 2, "semicolons"), sep="\\n")
    a, b and 1 more
    a; b
    """
    if len(names) <= most:
        return Message(f"names.{between}", names=tuple(names))
    return Message(f"names.{between}.more", names=tuple(names[:most]), count=len(names) - most)


def joined(parts: Iterable[str]) -> Message:
    """Return parts joined by `and`.

    >>> print(words_in("de").text(joined(["a", "b"])))
    a und b
    """
    return Message("joined", parts=tuple(parts))


def quoted(names: Iterable[str]) -> Message:
    """Return names in quotation marks, joined by `and`."""
    return joined(f'"{name}"' for name in names)


def message_of(error: ValueError) -> Message:
    """Return the message with which an error was raised; the text of any other error as it is."""
    text = error.args[0] if error.args else ""
    return text if isinstance(text, Message) else Message("verbatim", text=str(text))


def _message(code: str, values: Mapping[str, Any]) -> Message:
    return Message(code, **values)


def _nested(value: Any) -> Any:
    """Return a value of a message for JSON; a message in it without its text, which that of the outer one contains."""
    if isinstance(value, tuple):
        return [_nested(part) for part in value]
    if isinstance(value, Message):
        return {"code": value.code, "values": {name: _nested(part) for name, part in value.values.items()}}
    return value


def read_message(stored: Any) -> Any:
    """Return the message that `Message.to_json` stored, its text if no version knows its code; others unchanged."""
    if isinstance(stored, list):
        return tuple(read_message(part) for part in stored)
    if not isinstance(stored, dict) or stored.keys() - {"text"} != {"code", "values"}:
        return stored
    if stored["code"] not in words_in() and "text" in stored:
        return stored["text"]
    return Message(stored["code"], **{name: read_message(value) for name, value in stored["values"].items()})


def to_json(content: Any, indent: int | None = 2) -> str:
    """Return JSON text in which each message is an object with its code, its values and its English text.

    >>> to_json([Message("valid")], indent=None)
    '[{"code": "valid", "values": {}, "text": "valid"}]'
    """
    import json

    return json.dumps(_stored(content), indent=indent, ensure_ascii=False)


def _stored(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _stored(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_stored(value) for value in content]
    return content.to_json() if isinstance(content, Message) else content


def from_json(text: str | bytes) -> Any:
    """Return the content of JSON text, with the messages that `to_json` stored.

    >>> from_json(to_json({"notes": [Message("valid")]}))["notes"][0].code
    'valid'
    """
    import json

    return json.loads(text, object_hook=read_message)


class Messages(Mapping[str, str]):
    """The texts of one language by key.

    >>> words_in("de").percent(0.125), words_in("de").count(1234)
    ('12,5 %', '1.234')
    """

    def __init__(self, language: str, texts: Mapping[str, str]) -> None:
        self.language = language
        self.texts = texts

    def __getitem__(self, key: str) -> str:
        return self.texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, message: str) -> str:
        """Return a message in this language; any other text is unchanged, unless it is a reason for a role."""
        if isinstance(message, Message):
            return self.rendered(message.code, message.values)
        return message if self.language == DEFAULT else _told(self.language, message)

    def rendered(self, code: str, values: Mapping[str, Any]) -> str:
        """Return the text of a code, filled with values."""
        text = self[code]
        return _Rendering(self).vformat(text, (), values) if "{" in text else text

    def figure(self, english: str) -> str:
        """Return a number in English notation with the separators of the language."""
        return english.translate({ord(","): self["thousands"], ord("."): self["decimal"]})

    def count(self, number: int) -> str:
        """Return an integer with thousands separators."""
        return self.figure(f"{number:,}")

    def percent(self, share: float) -> str:
        """Return a share in percent."""
        return self.figure(percent(share))

    def amount(self, value: float) -> str:
        """Return a number with four significant digits; from 1,000 on without decimals."""
        return self.figure(amount(value))

    def value(self, text: str) -> str:
        """Return a number, limit or range of the data with the decimal mark of the language; other texts are unchanged.

        >>> words_in("de").value("2596.88"), words_in("de").value("31.12.2024"), words_in("de").value("A.1")
        ('2596,88', '31.12.2024', 'A.1')
        >>> words_in("de").value("1.35-1.45"), words_in("de").value(">4.5")
        ('1,35-1,45', '>4,5')
        >>> words_in("de").value("[1.35, 1.55)"), words_in().value("[1.35, 1.55)"), words_in("de").value("[1.35–2]")
        ('[1,35; 1,55)', '[1.35, 1.55)', '[1,35–2]')
        """
        if _INTERVAL.fullmatch(text) and self["decimal"] == ",":
            return text.replace(",", ";").replace(".", ",")
        return text.replace(".", self["decimal"]) if _DECIMAL.fullmatch(text) else text

    def day(self, day: date) -> str:
        """Return a date in the notation of the language.

        >>> words_in("de").day(date(2026, 3, 1)), words_in().day(date(2026, 3, 1))
        ('1. März 2026', 'March 1, 2026')
        """
        month = self["months"].split()[day.month - 1]
        return self["day"].format(day=day.day, month=month, year=day.year)

    def _reason(self, english: str) -> str:
        """Return a reason for a role in this language; any other text is unchanged."""
        for key, pattern in _patterns():
            match = pattern.fullmatch(english)
            if match:
                return filled(self[key], {name: self._part(name, text) for name, text in match.groupdict().items()})
        return english

    def _part(self, placeholder: str, english: str) -> str:
        """Return the value of a placeholder in this language: names are unchanged, numbers are reformatted."""
        if placeholder in _NAMED:
            return english.replace('" and "', f'" {self["and"]} "')
        if _FIGURE.fullmatch(english):
            return _PERCENT.sub(" %", self.figure(english))
        return self._reason(english)


class _Rendering(Counting):
    """Formatter of message values in the notation of a language."""

    def __init__(self, words: Messages) -> None:
        self.words = words

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            return super().format_field(value, format_spec)
        if isinstance(value, tuple):
            between = f" {self.words['and']} " if format_spec == "and" else _JOINED[format_spec]
            return between.join(self.words.text(part) for part in value if part)
        if isinstance(value, Message):
            return self.words.text(value)
        if isinstance(value, str):
            return self.words.text(value)
        if format_spec in ("percent", "amount"):
            return self.words.percent(value) if format_spec == "percent" else self.words.amount(value)
        written = str(super().format_field(value, format_spec))
        return (
            written if isinstance(value, bool) else _PERCENT.sub(self.words["percent_sign"], self.words.figure(written))
        )


@lru_cache(MOST_KEPT)
def _told(language: str, english: str) -> str:
    """Return a reason in a language; cached, because a page may show it in every row."""
    return words_in(language)._reason(english)


def languages() -> tuple[str, ...]:
    """Return the languages that have a table."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def words_in(language: str = DEFAULT) -> Messages:
    """Return the messages of a language.

    >>> words_in()["data"]
    'Data'
    """
    return _table(language)


@cache
def words_on_persons(language: str = DEFAULT) -> Messages:
    """Return the messages of a language with the variants that refer to persons instead of rows.

    >>> words_on_persons()["risk.smallest"]
    'persons of the smallest class'
    """
    texts = words_in(language).texts
    twins = {key.removesuffix(PERSONS): text for key, text in texts.items() if key.endswith(PERSONS)}
    return Messages(language, {**texts, **twins})


@cache
def _table(language: str) -> Messages:
    """Return the messages of a language; cached here, so that the default argument needs no second entry."""
    texts = read_table(_FOLDER / f"{language}.yaml")
    return Messages(
        language, {key: PluralMessage(text) if CHOICE.search(text) else text for key, text in texts.items()}
    )


def accepted_words(accepted: str) -> Messages:
    """Return the messages in the first language of an `Accept-Language` header that has a table.

    >>> accepted_words("xx, de;q=0.5").language
    'de'
    """
    wanted = [part.partition("-")[0] for part in _by_preference(accepted)]
    return words_in(next((language for language in wanted if language in languages()), DEFAULT))


def _by_preference(accepted: str) -> list[str]:
    """Return the languages of a header, the most preferred first."""
    wishes: list[tuple[float, int, str]] = []
    for part in accepted.lower().split(","):
        language, *options = (text.strip() for text in part.split(";"))
        weight = next((text.removeprefix("q=") for text in options if text.startswith("q=")), "1")
        quality = float(weight) if weight.replace(".", "", 1).isdecimal() else 0.0
        if quality > 0:
            wishes.append((-quality, len(wishes), language))
    return [language for _, _, language in sorted(wishes)]


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return the key and the pattern of each reason; placeholders match any text."""
    texts = [(key, _SPEC.sub(r"{\1}", text)) for key, text in words_in().items() if key.startswith(_SAID)]
    return [
        (key, re.compile(_pattern(text), re.IGNORECASE))
        for key, text in texts
        if len(re.sub(r"{[^{}]*}|[^a-z]", "", text)) > 5  # shorter ones would match any sentence
    ]


def _pattern(text: str) -> str:
    """Return the pattern of a sentence: a repeated placeholder has one value, and a reason extends to the tail.

    >>> bool(re.fullmatch(_pattern("{k} rows, of {k}."), "5 rows, of 5."))
    True
    >>> re.fullmatch(_pattern("{reason} {count} more."), "It is known. 5 more.")["reason"]
    'It is known.'
    """
    choices = CHOICE.split(text)  # texts between choices, each followed by the name, singular and plural of a choice
    parts = [re.escape(part) for part in choices]
    either = [f"(?:{one}|{many})" for one, many in zip(parts[2::4], parts[3::4], strict=True)]
    whole = "".join(part for pair in zip(parts[::4], [*either, ""], strict=True) for part in pair)
    seen: set[str] = set()

    def group(name: re.Match[str]) -> str:
        again, few = name[1] in seen, "" if name[1] == "reason" else "?"
        seen.add(name[1])
        return f"(?P={name[1]})" if again else f"(?P<{name[1]}>.+{few})"

    return re.sub(r"{(\w+)}", group, whole.replace(r"\{", "{").replace(r"\}", "}"))


def read_table(path: Path) -> dict[str, str]:
    """Return the texts of a table by key; the YAML parser reads what is not in the simple notation."""
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
    """Return whether YAML reads a plain text as itself, not as a number, a date or a Boolean."""
    if not text or text[0] in _MARKS or text[-1] in " \t:" or text[0] == " ":
        return False
    return ": " not in text and " #" not in text and "\t" not in text and text.lower() not in _OTHER


def _by_yaml(text: str) -> dict[str, str]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the compiled loader, if installed, is ten times as fast
    table: dict[str, str] = yaml.load(text, Loader=loader)
    return table
