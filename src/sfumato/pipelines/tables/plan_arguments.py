"""Parts of a table plan as typed arguments, for editors and type checkers.

The return type of `protect` depends on the method: so there are parts for methods that suppress cells, and for those
that perturb numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

from sfumato.tables.plan.method import Method
from sfumato.tables.plan.perturbation import RoundingKind


class MaskingMethod(TypedDict, total=False):
    """A suppression method."""

    name: Method
    cost: str
    level_factor: float
    time_limit: float
    prefer: Literal["min", "max"]
    repair: bool
    insiders: bool
    zeros: bool


class RoundingMethod(TypedDict, total=False):
    """Rounding to multiples of a base."""

    name: Required[Literal["rounding"]]
    base: Required[float]
    kind: RoundingKind
    steps: int
    inner: bool
    key: str
    secret: str
    time_limit: float


class CellKeyMethod(TypedDict, total=False):
    """Noise by the cell key method."""

    name: Required[Literal["cell-key"]]
    D: int
    V: float
    js: int
    pstay: float
    monotone: bool
    ptable: str
    key: str
    digits: int
    record: str
    secret: str
    zeros: float
    structural: str
    share: float
    largest: int


class AdjustmentMethod(TypedDict, total=False):
    """Controlled tabular adjustment."""

    name: Required[Literal["adjustment"]]
    cost: str
    time_limit: float


class CommonParts(TypedDict, total=False):
    """The keys of a table plan except its method; see docs/tables.md for each."""

    value: str
    group_by: Sequence[str]
    separator: str
    decimal: Literal[".", ","]
    encoding: str
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
    protection: Mapping[str, Any]
    attacker: Mapping[str, Any]
    attackers: Mapping[str, Any]
    output: Mapping[str, Any]


class SuppressionArguments(CommonParts, total=False):
    """Keys of the plan of one table with suppression, which `sf.protect` takes instead of a plan."""

    method: Method | MaskingMethod


class ChangingParts(CommonParts, total=False):
    """Keys of the plan of one table with perturbation."""

    method: Required[RoundingMethod | CellKeyMethod | AdjustmentMethod]


class SeveralMaskingParts(SuppressionArguments, total=False):
    """Keys of the plan of several tables with suppression."""

    tables: Required[Sequence[Mapping[str, Any]]]
    previous: Sequence[str]


class SeveralChangingParts(ChangingParts, total=False):
    """Keys of the plan of several tables with perturbation."""

    tables: Required[Sequence[Mapping[str, Any]]]


class TableParts(CommonParts, total=False):
    """Keys of any plan: with a method known only at run time, or with earlier releases."""

    method: str | Mapping[str, Any]
    tables: Sequence[Mapping[str, Any]]
    previous: Sequence[str]
