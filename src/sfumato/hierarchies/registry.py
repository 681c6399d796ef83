"""The hierarchies that a plan can name, by the value of `type`."""

from typing import Any

from sfumato.hierarchies.any import AnyValue
from sfumato.hierarchies.dates import Dates
from sfumato.hierarchies.digits import Digits
from sfumato.hierarchies.file import HierarchyFile
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ladder import Hierarchy
from sfumato.hierarchies.order import Order
from sfumato.hierarchies.tree import Tree
from sfumato.shapes.records import record_of
from sfumato.shapes.shapes import Record, Tagged

_PERIODS = "Half months, months, quarters, half years, years, decades, centuries, millennia."
TYPES: dict[str, Record[Any]] = {
    "date": record_of(Dates, _PERIODS),
    "digits": record_of(Digits, "Characters of a code vanish one after the other."),
    "intervals": record_of(Intervals, "Numbers in intervals of growing width."),
    "tree": record_of(Tree, "A map from child to parent, of any depth."),
    "order": record_of(Order, "Neighbors in order are grouped."),
    "any": record_of(AnyValue, "A value or nothing."),
    "file": record_of(HierarchyFile, "A ladder in a CSV file."),
}
HIERARCHY: Tagged[Hierarchy] = Tagged("type", TYPES, "How the values of a column are generalized.")
