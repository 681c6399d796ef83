"""The words of the pages: one module a language, all with the same keys."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

DEFAULT = "en"
# Keys of sentences that come from below the pages, in English: their English text is what they are known by.
SAID = "said."
Words = Mapping[str, str]
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+")


def words(accepted: str = "") -> Words:
    """The words in the first language of an `Accept-Language` header that there is a module for.

    >>> words("xx, en;q=0.5")["data"]
    'Data'
    """
    for part in [*_by_preference(accepted), DEFAULT]:
        language = part.partition("-")[0]
        if language.isalpha() and find_spec(f"{__name__}.{language}"):
            return _words(language)
    raise LookupError(DEFAULT)


def _by_preference(accepted: str) -> list[str]:
    """The languages of a header, the most wanted first."""
    found: list[tuple[float, int, str]] = []
    for part in accepted.lower().split(","):
        language, *options = (text.strip() for text in part.split(";"))
        given = next((text.removeprefix("q=") for text in options if text.startswith("q=")), "1")
        quality = float(given) if given.replace(".", "", 1).isdecimal() else 0.0
        if quality > 0:
            found.append((-quality, len(found), language))
    return [language for _, _, language in sorted(found)]


def _words(language: str) -> Words:
    found: Words = import_module(f"{__name__}.{language}").WORDS
    return found


def translated(sentence: str, target: Words) -> str:
    """A sentence from below the pages in their language; as it is where it is not known.

    >>> translated("It numbers the rows.", words("de"))
    'Nummeriert die Zeilen.'
    """
    if target["language"] == DEFAULT:
        return sentence
    for key, pattern in _patterns():
        found = pattern.fullmatch(sentence)
        if found:
            parts = {name: translated(text, target) for name, text in found.groupdict().items()}
            return target[key].format(**parts)
    return _NUMBER.sub(lambda found: found[0].replace(",", target["thousands"]), sentence)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """How each known sentence is told: its English words, with anything in place of what is filled in."""
    known = [(key, text) for key, text in _words(DEFAULT).items() if key.startswith(SAID)]
    escaped = [(key, re.escape(text).replace(r"\{", "{").replace(r"\}", "}")) for key, text in known]
    return [(key, re.compile(re.sub(r"{(\w+)}", r"(?P<\1>.+?)", text), re.IGNORECASE)) for key, text in escaped]
