"""Perturbation methods of a plan and their options."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.schema.composite import RecordSchema
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.paths import PlanPath

RoundingKind = Literal["controlled", "small-count", "random", "deterministic"]
Seconds = Annotated[float, KeyInfo("seconds for the search", minimum=0.1)]


def _check_secret(secret: str | None) -> None:
    """Refuse a blank secret."""
    if secret is not None and not secret.strip():
        raise ValueError(Message("error.value.secret_is_blank_anybody"))


@dataclass(frozen=True, slots=True)
class Rounding:
    """Cells are published as multiples of a base.

    Attributes:
        base: The base; linked tables may have their own.
        kind: `controlled`: all totals add up, with minimal change; `small-count`: inner cells below the base become
            0 or the base, and totals follow; `random`: each cell independently, unbiased; `deterministic`: to the
            nearest multiple.
        steps: Maximum number of multiples beyond the neighboring ones, if no other solution adds up.
        inner: Whether the finest cells are published (small-count).
        key: Column with cell keys, which make random rounding equal in every table.
        secret: Source of randomness without cell keys; drawn from the operating system by default.
        time_limit: Time limit of the search in seconds.
    """

    name: ClassVar[str] = "rounding"
    base: Annotated[float, KeyInfo("published values are multiples of it", minimum=1e-9)]
    kind: Annotated[RoundingKind, KeyInfo("how values are rounded")] = "controlled"
    steps: Annotated[int, KeyInfo("further steps where nothing else adds up", minimum=0, maximum=100)] = 2
    inner: Annotated[bool, KeyInfo("whether the finest cells are published")] = True
    key: Annotated[str | None, KeyInfo("column with the cells' keys")] = None
    secret: Annotated[str | None, KeyInfo("what random rounding is drawn by")] = None
    time_limit: Seconds = 60.0

    def __post_init__(self) -> None:
        _check_secret(self.secret)


@dataclass(frozen=True, slots=True)
class CellKey:
    """Cells get noise determined by their records: the same records have the same noise in every table.

    Attributes:
        deviation: The largest deviation.
        variance: The variance of the noise.
        js: No count from 1 to js is published.
        pstay: The minimum probability that a count above js stays unchanged.
        monotone: Whether the probabilities of targets below a count decrease with their distance.
        ptable: A file with a perturbation table, instead of the five options above.
        key: Column with the cell keys, or of microdata with the record keys.
        digits: Digits of imported decimal keys, which are added modulo 10 to that power; 64-bit integers by
            default.
        record: Column of the microdata that identifies a record, from which keys are derived with the secret.
        secret: The secret for record keys.
        zeros: The share of empty cells that is published as js + 1.
        structural: Column that marks the cells that must be empty.
        share: The noise of sums, as a share of the largest contributions.
        largest: Number of largest contributions that the noise is based on.
    """

    name: ClassVar[str] = "cell-key"
    deviation: Annotated[int, KeyInfo("largest deviation", minimum=1, maximum=200, key="D")] = 5
    variance: Annotated[float, KeyInfo("variance of the noise", minimum=1e-6, key="V")] = 2.0
    js: Annotated[int, KeyInfo("no count from 1 to js is published", minimum=0, maximum=50)] = 0
    pstay: Annotated[float | None, KeyInfo("least probability to stay, above js", minimum=0, maximum=1)] = None
    monotone: Annotated[bool, KeyInfo("whether probabilities do not rise away from the count, below it")] = True
    ptable: Annotated[PlanPath | None, KeyInfo("file with a perturbation table, instead of D, V, js and pstay")] = None
    key: Annotated[str | None, KeyInfo("column with the cells' keys, or of microdata with the records'")] = None
    digits: Annotated[int | None, KeyInfo("digits of imported decimal keys", minimum=1, maximum=18)] = None
    record: Annotated[str | None, KeyInfo("column of the microdata that names a record")] = None
    secret: Annotated[str | None, KeyInfo("what the records' keys are made of")] = None
    zeros: Annotated[float, KeyInfo("share of empty cells published as js + 1", minimum=0, maximum=0.5)] = 0.0
    structural: Annotated[str | None, KeyInfo("column that marks the cells that must be empty")] = None
    share: Annotated[float, KeyInfo("noise of sums as a share of the largest contributions", minimum=0, maximum=1)] = (
        0.1
    )
    largest: Annotated[int, KeyInfo("how many contributions have a part in the noise of a sum", minimum=1)] = 1

    def __post_init__(self) -> None:
        _check_secret(self.secret)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Sensitive cells are moved out of their protection interval, and others adjusted minimally to add up.

    Attributes:
        cost: The cost of changing a cell.
        time_limit: Time limit of the search in seconds.
    """

    name: ClassVar[str] = "adjustment"
    cost: Annotated[str, KeyInfo("unit, value, frequency, log, or the name of a column")] = "unit"
    time_limit: Seconds = 60.0


Perturbation = Rounding | CellKey | Adjustment
# Methods that need no sensitivity rules; if there are rules, the report shows how far they are satisfied.
UNRULED = (Rounding, CellKey)
PERTURBATIONS: dict[str, RecordSchema[Any]] = {kind.name: record_of(kind) for kind in (Rounding, CellKey, Adjustment)}
# Options that define a perturbation table; a table from a file includes them.
DESIGN = ("D", "V", "js", "pstay", "monotone")


def check_design(method: object) -> None:
    """Refuse a method that names a perturbation table and also options that define one."""
    if not isinstance(method, Mapping) or method.get("ptable") is None:
        return
    beside = [key for key in DESIGN if key in method]
    if beside:
        raise PlanError("ptable-and-design", names=", ".join(beside))
