"""Registry of the hierarchy builders that a plan can name by `type`, and their description in one line."""

from pathlib import Path
from typing import Any

from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.schema.composite import TaggedUnionSchema
from sfumato.schema.dataclass_schema import records_by_name
from sfumato.values import defaults, fields

_PERIODS = "Half months, months, quarters, half years, years, decades, centuries, millennia."
TYPES = records_by_name(
    {
        "date": ("sfumato.hierarchies.dates", "Dates", _PERIODS),
        "digits": (
            "sfumato.hierarchies.lists",
            "CharacterMasking",
            "Characters of a code vanish one after the other.",
        ),
        "intervals": ("sfumato.hierarchies.intervals", "Intervals", "Numbers in intervals of growing width."),
        "tree": ("sfumato.hierarchies.lists", "Tree", "A map from child to parent, of any depth."),
        "order": ("sfumato.hierarchies.lists", "Order", "Neighbors in order are grouped."),
        "any": ("sfumato.hierarchies.lists", "SuppressAll", "A value or nothing."),
        "file": ("sfumato.hierarchies.lists", "HierarchyFile", "A ladder in a CSV file."),
    }
)
HIERARCHY: TaggedUnionSchema[HierarchyBuilder] = TaggedUnionSchema(
    "type", TYPES, "How the values of a column are generalized."
)


LONGEST = 60


def hierarchy_words(hierarchy: HierarchyBuilder | None) -> str:
    """Describe a hierarchy in one line, truncated if long.

    >>> from sfumato.hierarchies.intervals import Intervals
    >>> hierarchy_words(Intervals(16, 95, widths=(5, 20)))
    'intervals: start 16, end 95, widths 5 20'
    """
    if hierarchy is None:
        return ""
    name, usual = type_name(hierarchy), defaults(hierarchy)
    parts = [
        f"{key} {_words(key, value)}"
        for key in fields(hierarchy)
        if (value := getattr(hierarchy, key)) != usual.get(key) and value not in (None, ())
    ]
    text = name + (": " + ", ".join(parts) if parts else "")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def type_name(hierarchy: HierarchyBuilder) -> str:
    """Return the plan name of a hierarchy type."""
    return next(name for name, record in TYPES.items() if record.make is type(hierarchy))


def _words(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"of {len(value)} values"
    if isinstance(value, tuple):
        return " ".join(_words("", entry) for entry in value)
    if isinstance(value, float):
        return f"{value:g}"
    return Path(value).name if name == "path" else str(value)
