"""Registry of the hierarchy builders that a plan can name by `type`, and their description in one line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.schema.composite import TaggedUnionSchema
from sfumato.schema.dataclass_schema import records_by_name
from sfumato.values import Value, defaults, fields


class HierarchySpec(Value):
    """One kind of hierarchy, as plans, pages and the manual know it.

    Attributes:
        module: The module of the builder class, loaded when a plan names it.
        builder: The name of the builder class.
        about: A description of the builder for the manual.
        start: The parameters with which a page begins, if they do not depend on the column.
        unlisted: Parameters without a separate field on pages.
    """

    module: str
    builder: str
    about: str
    start: Mapping[str, Any] = {}
    unlisted: tuple[str, ...] = ()


SPECS = {
    "date": HierarchySpec(
        "sfumato.hierarchies.dates",
        "Dates",
        "Half months, months, quarters, half years, years, decades, centuries, millennia.",
        unlisted=("formats",),
    ),
    "digits": HierarchySpec(
        "sfumato.hierarchies.lists",
        "CharacterMasking",
        "Characters of a code vanish one after the other.",
        unlisted=("shown",),
    ),
    "intervals": HierarchySpec("sfumato.hierarchies.intervals", "Intervals", "Numbers in intervals of growing width."),
    "tree": HierarchySpec("sfumato.hierarchies.lists", "Tree", "A map from child to parent, of any depth."),
    "order": HierarchySpec("sfumato.hierarchies.lists", "Order", "Neighbors in order are grouped.", {"size": 2}),
    "any": HierarchySpec("sfumato.hierarchies.lists", "SuppressAll", "A value or nothing.", unlisted=("values",)),
    "file": HierarchySpec("sfumato.hierarchies.lists", "HierarchyFile", "A ladder in a CSV file.", unlisted=("path",)),
}
TYPES = records_by_name({name: (spec.module, spec.builder, spec.about) for name, spec in SPECS.items()})
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
    name, usual = hierarchy.name, defaults(hierarchy)
    parts = [
        f"{key} {_words(key, value)}"
        for key in fields(hierarchy)
        if (value := getattr(hierarchy, key)) != usual.get(key) and value not in (None, ())
    ]
    text = name + (": " + ", ".join(parts) if parts else "")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _words(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"of {len(value)} values"
    if isinstance(value, tuple):
        return " ".join(_words("", entry) for entry in value)
    if isinstance(value, float):
        return f"{value:g}"
    return Path(value).name if name == "path" else str(value)
