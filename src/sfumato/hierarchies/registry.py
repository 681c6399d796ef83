"""The hierarchies that a plan can name, by the value of `type`."""

from typing import Any

from sfumato.hierarchies import any as any_
from sfumato.hierarchies import dates, digits, file, intervals, order, tree
from sfumato.hierarchies.ladder import Hierarchy
from sfumato.shapes.shapes import Record, Tagged

TYPES: dict[str, Record[Any]] = {
    "date": dates.SHAPE,
    "digits": digits.SHAPE,
    "intervals": intervals.SHAPE,
    "tree": tree.SHAPE,
    "order": order.SHAPE,
    "any": any_.SHAPE,
    "file": file.SHAPE,
}
HIERARCHY: Tagged[Hierarchy] = Tagged("type", TYPES, "How the values of a column are generalized.")
