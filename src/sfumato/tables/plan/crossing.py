"""The dimensions of a table, and linked tables that are protected together."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.schema.composite import MapSchema, Scalar
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.paths import PLAIN_NAME, PlanPath
from sfumato.tables.plan.source import Texts


@dataclass(frozen=True, slots=True)
class Dimension:
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
            raise ValueError(Message("error.value.give_either_levels_or"))
        if self.hierarchy is not None and self.column is None:
            raise ValueError(Message("error.value.a_hierarchy_goes_with"))

    def placed(self, folder: Path) -> "Dimension":
        """Return the dimension with the path of its hierarchy resolved; a second call changes nothing."""
        return self if self.hierarchy is None else replace(self, hierarchy=self.hierarchy.located(folder.absolute()))


DIMENSION = record_of(Dimension)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One of several tables that are protected together; without `source`, it is tabulated from microdata."""

    name: Annotated[str, KeyInfo("of the table, and of its folder")]
    dimensions: Annotated[Mapping[str, Dimension], MapSchema(DIMENSION, 1, "its dimensions by their names")]
    source: Annotated[PlanPath | None, KeyInfo("file with the cells")] = None
    base: Annotated[float | None, KeyInfo("base of rounding, instead of the method's", minimum=1e-9)] = None

    def __post_init__(self) -> None:
        if not PLAIN_NAME.fullmatch(self.name):
            raise ValueError(Message("error.value.the_name_of_a"))


def named_twice(dimensions: Mapping[str, Dimension]) -> str | None:
    """Return the first column that is used in two dimensions of a table."""
    names = [name for own in dimensions.values() for name in (own.levels or (own.column or "",))]
    return next((name for place, name in enumerate(names) if name in names[:place]), None)
