"""The parts of a table plan as arguments: their names and what each may be, for editors and checkers of types."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class TableParts(TypedDict, total=False):
    """Parts of the plan of one table, as `sf.protect` takes them instead of a plan; see docs/tables.md for each."""

    value: str
    group_by: Sequence[str]
    separator: str
    frequency: str
    contributions: Sequence[str]
    contributors: Sequence[str]
    respondents: Sequence[str]
    shadow: str
    holdings: str
    tolerance: float
    step: float
    dimensions: Mapping[str, Mapping[str, Any]]
    primary: Sequence[Mapping[str, Any]]
    method: Mapping[str, Any]
    protection: Mapping[str, Any]
    attacker: Mapping[str, Any]
    attackers: Mapping[str, Any]
    output: Mapping[str, Any]


class SeveralParts(TableParts, total=False):
    """Parts of the plan of several tables, or of one with releases of before."""

    tables: Sequence[Mapping[str, Any]]
    previous: Sequence[str]
