"""Registry of the hierarchies that a plan can name by `type`; each module is loaded when a plan names it."""

from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.schema.composite import TaggedUnionSchema
from sfumato.schema.dataclass_schema import records_by_name

_PERIODS = "Half months, months, quarters, half years, years, decades, centuries, millennia."
TYPES = records_by_name(
    {
        "date": ("sfumato.hierarchies.dates", "Dates", _PERIODS),
        "digits": (
            "sfumato.hierarchies.character_masking",
            "CharacterMasking",
            "Characters of a code vanish one after the other.",
        ),
        "intervals": ("sfumato.hierarchies.intervals", "Intervals", "Numbers in intervals of growing width."),
        "tree": ("sfumato.hierarchies.tree", "Tree", "A map from child to parent, of any depth."),
        "order": ("sfumato.hierarchies.order", "Order", "Neighbors in order are grouped."),
        "any": ("sfumato.hierarchies.suppress_all", "SuppressAll", "A value or nothing."),
        "file": ("sfumato.hierarchies.file", "HierarchyFile", "A ladder in a CSV file."),
    }
)
HIERARCHY: TaggedUnionSchema[HierarchyBuilder] = TaggedUnionSchema(
    "type", TYPES, "How the values of a column are generalized."
)
