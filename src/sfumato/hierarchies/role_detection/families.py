"""Find families of columns that are decided together: waves, dummies, items of a battery, x1 to x4.

Columns belong together if their names differ in numbers only, or if they are neighbors with the same few values.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from sfumato.patterns import regex

NUMBER = regex(r"\d+")
ANY = "*"
# Neighbors with more values share them by chance; a common beginning of fewer letters says nothing.
_MOST_VALUES, _LEAST_LETTERS = 20, 3


def families_of(values: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Return the families of some columns, each in the order of the file; a column may be alone.

    Args:
        values: The distinct values of each column.

    >>> families_of({"x1": "ab", "x2": "cd", "deny": "01", "self": "01", "town": "uv"})
    [['x1', 'x2'], ['deny', 'self'], ['town']]
    """
    owner: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    before: str | None = None
    for name, own in values.items():
        owner[name] = [name]
        stem = NUMBER.sub("#", name.casefold())
        _merge(owner, name, first.setdefault(stem, name))
        if before is not None and 2 <= len(own) <= _MOST_VALUES and {*own} == {*values[before]}:
            _merge(owner, name, before)
        before = name
    return list({id(family): family for family in owner.values()}.values())


def _merge(owner: dict[str, list[str]], one: str, other: str) -> None:
    """Join the families of two columns."""
    old, family = owner[one], owner[other]
    if old is not family:
        family += old
        owner.update(dict.fromkeys(old, family))


def patterns_for(family: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return one pattern that among some names fits this family alone, or else its names.

    >>> patterns_for(["Q10_1", "Q10_2"], ["Q10_1", "Q10_2", "Q1_1"]), patterns_for(["deny", "self"], ["deny", "self"])
    (['Q10_*'], ['deny', 'self'])
    """
    for pattern in (_numbered(family), _beginning(family)) if len(family) > 1 else ():
        if pattern and fitting(pattern, names) == [*family]:
            return [pattern]
    return [*family]


def _numbered(family: Sequence[str]) -> str:
    """Return the pattern of names that differ in numbers only; empty for others."""
    parts = [re.split(r"(\d+)", name) for name in family]
    if len({tuple(own[::2]) for own in parts}) > 1:
        return ""
    return "".join(ANY if len({*places}) > 1 else places[0] for places in zip(*parts, strict=True))


def _beginning(family: Sequence[str]) -> str:
    """Return the pattern of names that begin alike; empty for others."""
    pairs = takewhile(lambda letters: len({*letters}) == 1, zip(*family, strict=False))
    shared = "".join(letters[0] for letters in pairs)
    return shared + ANY if len(shared) >= _LEAST_LETTERS else ""


def fitting(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a pattern fits, in which `*` stands for any text.

    >>> fitting("Q*_a", ["Q1_a", "Q2_b", "q3_a"])
    ['Q1_a']
    """
    form = re.compile(".*".join(map(re.escape, pattern.split(ANY))), re.DOTALL)
    return [name for name in names if form.fullmatch(name)]
