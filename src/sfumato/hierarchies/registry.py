"""Registry of the hierarchies that a plan can name by `type`; each module is loaded when a plan names it."""

from sfumato.hierarchies.ladder import Hierarchy
from sfumato.shapes.records import records_by_name
from sfumato.shapes.shapes import Tagged

_PERIODS = "Half months, months, quarters, half years, years, decades, centuries, millennia."
TYPES = records_by_name(
    {
        "date": ("sfumato.hierarchies.dates", "Dates", _PERIODS),
        "digits": ("sfumato.hierarchies.digits", "Digits", "Characters of a code vanish one after the other."),
        "intervals": ("sfumato.hierarchies.intervals", "Intervals", "Numbers in intervals of growing width."),
        "tree": ("sfumato.hierarchies.tree", "Tree", "A map from child to parent, of any depth."),
        "order": ("sfumato.hierarchies.order", "Order", "Neighbors in order are grouped."),
        "any": ("sfumato.hierarchies.any", "AnyValue", "A value or nothing."),
        "file": ("sfumato.hierarchies.file", "HierarchyFile", "A ladder in a CSV file."),
    }
)
HIERARCHY: Tagged[Hierarchy] = Tagged("type", TYPES, "How the values of a column are generalized.")
