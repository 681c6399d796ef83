"""The source of the cells of a table, and the meaning of its columns."""

from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import DecimalMark, Dialect
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.paths import PlanPath

Texts = tuple[str, ...]
# The column with the number of counted records, weighted if they have weights.
COUNT = "count"
_STEP = "smallest difference of two values; the last decimal by default"
_DECIMAL = "the decimal mark of its files, a point unless given; to be given where counts may have it between thousands"
_ENCODING = "of its files, hierarchies too; UTF-8 unless given, for office files and hierarchies else Windows-1252"
_HARMLESS = "columns with numbers next to suppressed cells that reveal nothing of these, for the audit"
_GROUPS = "whether to add the rule group-disclosure for every dimension; true for counts of rows, unless given"
_HOLDING = "column of the microdata: the holding that a record belongs to"


@dataclass(frozen=True, slots=True)
class TableSource:
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
            raise ValueError(Message("error.value.contributors_are_who_the"))
        if self.cells is not None and (self.source is not None or self.group_by):
            raise ValueError(Message("error.value.a_table_given_by"))

    @property
    def dialect(self) -> Dialect:
        """The dialect of its files."""
        return Dialect(self.separator, decimal=self.decimal or ".", encoding=self.encoding or Dialect().encoding)

    @property
    def counts(self) -> bool:
        """Whether the values are counts of respondents, which is assumed if no other column gives these."""
        return self.frequency is None and not self.contributions
