"""The initial hierarchy of a column when a kind is chosen."""

import math
from collections.abc import Mapping
from typing import Any

from sfumato.hierarchies.hierarchy import ROOT
from sfumato.web.microdata.columns.column_figures import histogram
from sfumato.web.projects.loaded_data import LoadedColumn

# The kinds in the order in which they are offered.
KINDS = ("intervals", "date", "digits", "tree", "order", "any", "file")
Settings = dict[str, Any]


def start(kind: str, column: LoadedColumn, suggested: Mapping[str, Any]) -> Settings:
    """Return initial settings, valid for most columns; the suggested ones if they are of this kind."""
    if suggested.get("type") == kind:
        return dict(suggested)
    if kind == "intervals":
        return intervals(column)
    if kind == "tree":
        return {"type": "tree", "parents": dict.fromkeys(column.counts, ROOT)}
    return {"type": kind} | ({"size": 2} if kind == "order" else {})


def intervals(column: LoadedColumn) -> Settings:
    """Return intervals of three widths, each twice the previous one, which divide the numbers into about ten."""
    shape = histogram(column)
    if shape is None:
        return {"type": "intervals", "start": 0, "end": 100, "widths": [10, 20, 40]}
    width = nice((shape.high - shape.low) / 10 or 1.0, shape.whole)
    low, high = math.floor(shape.low / width) * width, math.ceil((shape.high + 1) / width) * width
    end = high - 1 if shape.whole else high
    return {"type": "intervals", "start": tidy(low), "end": tidy(end), "widths": [tidy(width * n) for n in (1, 2, 4)]}


def nice(width: float, whole: bool) -> float:
    """Return the next round width: 1, 2, 5 times a power of ten.

    >>> nice(7.2, True), nice(0.3, False), nice(0.3, True)
    (10.0, 0.5, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(width))
    found = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))
    return max(found, 1.0) if whole else found


def tidy(value: float) -> float | int:
    """Return a number without an unnecessary fraction."""
    return int(value) if value == int(value) else round(value, 6)
