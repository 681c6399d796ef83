"""The sections of the plan of a table: source, dimensions, linked tables, method, perturbation and attackers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from sfumato.delimited.dialect import DecimalMark, Dialect
from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.schema.composite import MapSchema, RecordSchema, Scalar
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.paths import PLAIN_NAME, PlanPath
from sfumato.values import Value, replace


class AttackerModel(Value):
    """The assumed prior knowledge of every attacker.

    Attributes:
        lower: The minimum value of every cell.
        upper: The maximum value of every cell.
        integer: Whether all values are known to be integers.
        rule: Whether it is known which suppressed cells are primary, for example because the case column is
            published. The rules then bound these, and exclude their values for other cells.
    """

    lower: float | None = None
    upper: float | None = None
    integer: bool = False
    rule: bool = False


class AttackerOptions(Value):
    """The attackers considered: by default everyone for whom the table has data.

    Attributes:
        outsider: Anyone who reads the table; every other attacker knows at least as much.
        respondents: Every single respondent of a cell, if the table has their number.
        holdings: Every holding, with all cells in which it is alone and its contributions to others.
        persons: In tables of counts, the one person of a cell of 1.
        coalition: Number of insiders who share their knowledge.
    """

    outsider: Annotated[bool, KeyInfo("anyone who reads the table")] = True
    respondents: Annotated[bool, KeyInfo("the only respondent of a cell")] = True
    holdings: Annotated[bool, KeyInfo("every holding, with all its cells")] = True
    persons: Annotated[bool, KeyInfo("the one person of a count of 1")] = True
    coalition: Annotated[int, KeyInfo("how many tell each other what they know", minimum=1, maximum=3)] = 1

    def __post_init__(self) -> None:
        if not self.outsider:
            raise ValueError(Message("error.value.outsider_always_attacks"))


Texts = tuple[str, ...]
# The column with the number of counted records, weighted if they have weights.
COUNT = "count"
_STEP = "smallest difference of two values; the last decimal by default"
_DECIMAL = "the decimal mark of its files, a point unless given; to be given where counts may have it between thousands"
_ENCODING = "of its files, hierarchies too; UTF-8 unless given, for office files and hierarchies else Windows-1252"
_HARMLESS = "columns with numbers next to suppressed cells that reveal nothing of these, for the audit"
_GROUPS = "whether to add the rule group-disclosure for every dimension; true for counts of rows, unless given"
_HOLDING = "column of the microdata: the holding that a record belongs to"


class TableSource(Value):
    """The source of the cells and the meaning of their columns."""

    source: Annotated[PlanPath | None, KeyInfo("file with one row for each cell")] = None
    value: Annotated[str, KeyInfo("column with the values")] = "value"
    group_by: Annotated[Texts, KeyInfo("columns whose values each make a table of their own")] = ()
    separator: Annotated[str | None, KeyInfo("of its files; found out unless given")] = None
    decimal: Annotated[DecimalMark | None, KeyInfo(_DECIMAL)] = None
    encoding: Annotated[str | None, KeyInfo(_ENCODING)] = None
    frequency: Annotated[str | None, KeyInfo("column with the number of respondents")] = None
    contributions: Annotated[Texts, KeyInfo("columns with the largest contributions, largest first")] = ()
    respondents: Annotated[Texts, KeyInfo("the same of single respondents, where contributions are of holdings")] = ()
    shadow: Annotated[str | None, KeyInfo("column with what the contributions add up to, where not to the value")] = (
        None
    )
    contributors: Annotated[Texts, KeyInfo("columns with who they are of: the same holding everywhere")] = ()
    holdings: Annotated[str | None, KeyInfo("column with the number of holdings")] = None
    tolerance: Annotated[float, KeyInfo("largest difference of a total that is rounding", minimum=0)] = 0.0
    precision: Annotated[float | None, KeyInfo(_STEP, minimum=1e-9)] = None
    microdata: Annotated[PlanPath | None, KeyInfo("file with one row for each record, instead of source")] = None
    weight: Annotated[str | None, KeyInfo("column of the microdata: how many respondents a record represents")] = None
    holding: Annotated[str | None, KeyInfo(_HOLDING)] = None
    metadata: Annotated[PlanPath | None, KeyInfo("metadata (.rda) of a .tab file; those of its name by default")] = None
    group_disclosure: Annotated[bool | None, KeyInfo(_GROUPS)] = None
    harmless: Annotated[Texts, KeyInfo(_HARMLESS)] = ()
    cells: Annotated[PlanPath | None, KeyInfo("file: id, value, status, cost, lb, ub, lpl, upl")] = None
    relations: Annotated[PlanPath | None, KeyInfo("file: relation, cell_id, coef")] = None

    def __post_init__(self) -> None:
        if (self.cells is None) != (self.relations is None):
            raise ValueError(Message("error.value.cells_and_relations_go"))
        if self.contributors and len(self.contributors) != len(self.contributions):
            raise ValueError(Message("error.value.contributors_and_contributions"))
        if self.cells is not None and (self.source is not None or self.group_by):
            raise ValueError(Message("error.value.cells_and_relations_alone"))

    @property
    def dialect(self) -> Dialect:
        """The dialect of its files."""
        return Dialect(self.separator, decimal=self.decimal or ".", encoding=self.encoding or Dialect().encoding)

    @property
    def counts(self) -> bool:
        """Whether the values are counts of respondents, which is assumed if no other column gives these."""
        return self.frequency is None and not self.contributions


class Dimension(Value):
    """One dimension: level columns from the top down, or one column, flat or with a hierarchy file."""

    levels: Annotated[Texts, KeyInfo("level columns from the top down", at_least=1)] = ()
    column: Annotated[str | None, KeyInfo("the column with the codes, instead of levels")] = None
    hierarchy: Annotated[PlanPath | None, KeyInfo("file: .hrc, or child,parent")] = None
    total: Annotated[str, Scalar("the code of the total")] = "Total"
    encoding: Annotated[str | None, KeyInfo("of the hierarchy's file; the table's unless given")] = None
    confirmed: Annotated[bool, KeyInfo("whether categories that look like single persons may be published")] = False
    series: Annotated[bool, KeyInfo("whether later releases add codes, so that each has a total of its own")] = False

    def __post_init__(self) -> None:
        if bool(self.levels) == (self.column is not None):
            raise ValueError(Message("error.value.levels_or_column"))
        if self.hierarchy is not None and self.column is None:
            raise ValueError(Message("error.value.hierarchy_needs_column"))

    def placed(self, folder: Path) -> "Dimension":
        """Return the dimension with the path of its hierarchy resolved; a second call changes nothing."""
        return self if self.hierarchy is None else replace(self, hierarchy=self.hierarchy.located(folder.absolute()))


DIMENSION = record_of(Dimension)


class TableSpec(Value):
    """One of several tables that are protected together; without `source`, it is tabulated from microdata."""

    name: Annotated[str, KeyInfo("of the table, and of its folder")]
    dimensions: Annotated[Mapping[str, Dimension], MapSchema(DIMENSION, 1, "its dimensions by their names")]
    source: Annotated[PlanPath | None, KeyInfo("file with the cells")] = None
    base: Annotated[float | None, KeyInfo("base of rounding, instead of the method's", minimum=1e-9)] = None

    def __post_init__(self) -> None:
        if not PLAIN_NAME.fullmatch(self.name):
            raise ValueError(Message("error.value.table_name_as_folder"))


def named_twice(dimensions: Mapping[str, Dimension]) -> str | None:
    """Return the first column that is used in two dimensions of a table."""
    names = [name for own in dimensions.values() for name in (own.levels or (own.column or "",))]
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


Method = Literal["intervals", "optimal", "fast", "ranges"]


class MethodChoice(Value):
    """How cells are suppressed.

    Attributes:
        cost: The cost of suppressing a cell: a known measure, or the name of a column.
        level_factor: Factor by which the cost of a cell increases for each level above the finest.
        time_limit: Time limit of the search in seconds.
        tie_break: Which candidate `intervals` takes: the smallest or the largest cell.
        repair: Whether `intervals` repairs what its audit finds.
        insiders: Whether insiders are considered; short for all switches of `attackers`.
        zeros: Whether cells of value 0 may be suppressed.
    """

    name: Method = "optimal"
    cost: Annotated[str, KeyInfo("unit, value, frequency, log, or the name of a column")] = "value"
    level_factor: Annotated[float, KeyInfo(minimum=1)] = 1.0
    time_limit: Annotated[float, KeyInfo("seconds", minimum=0.1)] = 60.0
    tie_break: Literal["min", "max"] = "max"
    repair: bool = True
    insiders: bool | None = None
    zeros: Annotated[bool, KeyInfo("whether cells of value 0 may be suppressed")] = False

    @property
    def faithful(self) -> bool:
        """Whether the unrepaired result of the legacy method is requested."""
        return self.name == "intervals" and not self.repair


class Protection(Value):
    """Protection levels of sensitive cells: absolute, or in percent of the value."""

    lower: Annotated[float | None, KeyInfo("below the value", minimum=0)] = None
    upper: Annotated[float | None, KeyInfo("above the value", minimum=0)] = None
    percent: Annotated[float | None, KeyInfo("of the value, to each side", minimum=0)] = None

    def __post_init__(self) -> None:
        if (self.percent is None) == (self.lower is None and self.upper is None):
            raise ValueError(Message("error.value.percent_or_bounds"))


RoundingKind = Literal["controlled", "small-count", "random", "deterministic"]
Seconds = Annotated[float, KeyInfo("seconds for the search", minimum=0.1)]


def _check_secret(secret: str | None) -> None:
    """Refuse a blank secret."""
    if secret is not None and not secret.strip():
        raise ValueError(Message("error.value.secret_is_blank_anybody"))


class Rounding(Value):
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


class CellKey(Value):
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


class Adjustment(Value):
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
    design = [key for key in DESIGN if key in method]
    if design:
        raise PlanError("ptable-and-design", names=", ".join(design))
