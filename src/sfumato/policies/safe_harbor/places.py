"""Safe Harbor rule on places: nothing finer than the state, or three digits of a populous ZIP area."""

import re
from collections.abc import Mapping, Sequence

from sfumato.policies.safe_harbor.column_names import WORDS, words_speak_of

# The 17 areas of 20,000 people or fewer in the 2000 Census, as guidance of the HHS Office for Civil Rights lists them.
SMALL_AREAS_2000 = frozenset(
    (
        "036",
        "059",
        "063",
        "102",
        "203",
        "556",
        "692",
        "790",
        "821",
        "823",
        "830",
        "831",
        "878",
        "879",
        "884",
        "890",
        "893",
    )
)
LEAST_PEOPLE = 20_000
_ADDRESS = re.compile(
    r"(?i)\b\d{1,6}\s+(?:[\w.'-]+\s+){1,4}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|"
    r"square|place|pl|terrace|parkway|pkwy|highway|hwy)\b\.?|\bp\.?\s?o\.?\s?box\s+\d+|"
    r"\b[A-ZÄÖÜ][\wäöüß-]*(?:straße|strasse|str\.|weg|platz|allee|gasse)\s+\d+\s?[a-z]?\b"
)
_COORDINATES = re.compile(r"-?\d{1,3}\.\d{3,}\s*[,;]\s*-?\d{1,3}\.\d{3,}")
_ZIP5 = re.compile(r"\d{5}(?:-\d{4})?")
_ZIP9 = re.compile(r"(?<!\d)\d{5}-\d{4}(?!\d)")
_ZIP3 = re.compile(r"(\d{3})(?:[*xX#_]{2}(?:-?[*xX#_]{4})?)?")
_COARSER = re.compile(r"\d{0,2}[*xX#_]+")


def is_zip_column(name: str) -> bool:
    """Return whether a column's name indicates ZIP codes."""
    return words_speak_of(name, WORDS["zip"])


def place_faults(name: str, values: Sequence[str], people: Mapping[str, int] | None = None) -> str | None:
    """Return which geographic detail of a column is finer than Safe Harbor allows; None if there is none.

    Args:
        people: The population of each three-digit ZIP area, if the user provides it.

    >>> place_faults("zip", ["02139"]), place_faults("zip", ["021**", "000"]), place_faults("zip", ["036**"])
    ('ZIP codes of five digits', None, 'ZIP areas of 20,000 people or fewer')
    """
    if any(_ADDRESS.search(value) or _COORDINATES.search(value) or _ZIP9.search(value) for value in values):
        return "addresses or coordinates"
    if is_zip_column(name):
        return _zip_fault(values, people)
    if words_speak_of(name, WORDS["places"]) and not words_speak_of(name, WORDS["states"]):
        return "places smaller than a state" if values else None
    return None


def _zip_fault(values: Sequence[str], people: Mapping[str, int] | None) -> str | None:
    for value in (value.strip() for value in values):
        if _COARSER.fullmatch(value):
            continue
        area = _ZIP3.fullmatch(value)
        if area is None:
            return "ZIP codes of five digits" if _ZIP5.fullmatch(value) else "ZIP codes of more than three digits"
        if area[1] != "000" and not _is_crowded(area[1], people):
            return "ZIP areas of 20,000 people or fewer"
    return None


def area_shown(value: str, people: Mapping[str, int] | None) -> str:
    """Return the published form of a ZIP code: its first three digits, 000 for areas of at most 20,000 people.

    >>> area_shown("02139", None), area_shown("03601", None)
    ('021**', '000**')
    """
    area = value.strip()[:3]
    known = area.isdecimal() and len(area) == 3 and _is_crowded(area, people)
    return f"{area if known else '000'}**"


def _is_crowded(area: str, people: Mapping[str, int] | None) -> bool:
    return area not in SMALL_AREAS_2000 if people is None else people.get(area, 0) > LEAST_PEOPLE
