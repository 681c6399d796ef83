"""Drawings of a column: histogram, bars, one value at each level of its hierarchy, the hierarchy as a tree."""

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.localization.messages import Messages
from sfumato.values import Value
from sfumato.web.projects.loaded_data import LoadedColumn

BINS, BARS, MOST_LABELS = 12, 8, 4
NUMERIC = ("integer", "decimal", "amount")


class Histogram(Value):
    """Rows in bins of equal width over the numbers of a column."""

    low: float
    high: float
    rows: tuple[int, ...]
    whole: bool


def histogram(
    column: LoadedColumn, bins: int = BINS, ends: tuple[float | None, float | None] = (None, None)
) -> Histogram | None:
    """Return the histogram of a numeric column, or None for other columns.

    Args:
        ends: Start and end of the axis; None is the minimum or the maximum.
    """
    try:
        numbers = np.array([float(text) for text in column.counts])
    except ValueError:
        return None
    if not len(numbers) or not np.isfinite(numbers).all():
        return None
    low, high = float(numbers.min()), float(numbers.max())
    low, high = (own if end is None else float(end) for own, end in zip((low, high), ends, strict=True))
    whole = bool((numbers == np.round(numbers)).all())
    weights = np.array(list(column.counts.values()))
    # Relative to zero, because between large numbers there are too few floating-point numbers for the bounds of bins.
    rows, _ = np.histogram(numbers - low, bins, (0, (high - low) or 1), weights=weights)
    return Histogram(low, high, tuple(int(count) for count in rows), whole)


def column_chart(column: LoadedColumn, kind: str) -> str:
    """Draw a column as a small bar chart; empty if it has too many different values."""
    shape = histogram(column) if kind in NUMERIC else None
    if shape is not None:
        return bars(shape.rows)
    rows = sorted(column.counts.values(), reverse=True)
    many = len(rows) > 60 and rows[0] * 50 < sum(rows)
    return "" if many or not rows else bars(rows[:BARS])


def bars(rows: Sequence[int], width: float = 84.0, height: float = 20.0) -> str:
    """Draw bars in one path, the highest with the full height.

    >>> bars([2, 1], 12, 10).partition("<path")[2]
    ' d="M0 10v-10h1.6v10zM2 10v-5h1.6v5z"/></svg>'
    """
    top, step = max(1, *rows), width / max(len(rows), 6)
    heights = [max(height * count / top, 1.0) if count else 0.0 for count in rows]
    shown = "".join(
        f"M{place * step:.4g} {height:g}v-{high:.4g}h{step * 0.82:.2g}v{high:.4g}z"
        for place, high in enumerate(heights)
        if high
    )
    box = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg {box} aria-hidden="true"><path d="{shown}"/></svg>'


def level_labels(column: LoadedColumn, hierarchy: Hierarchy, show: Callable[[str], str] = str) -> str:
    """Show the most frequent value of a column with its label at each level; of many levels the first and last."""
    place = _most_frequent(column, hierarchy)
    if place is None:
        return ""
    labels = [_label(hierarchy, level, place) for level in range(hierarchy.height)]
    steps = [label for at, label in enumerate(labels) if not at or label != labels[at - 1]]
    shown = steps if len(steps) <= MOST_LABELS else [*steps[: MOST_LABELS - 2], "…", steps[-1]]
    return '<div class="sf-rungs">' + "›".join(f"<u>{escape(show(label))}</u>" for label in shown) + "</div>"


def example_labels(column: LoadedColumn, hierarchy: Hierarchy, level: int) -> tuple[str, ...]:
    """Return the most frequent value of a column, and its label at a level."""
    place = _most_frequent(column, hierarchy)
    return () if place is None else (_label(hierarchy, 0, place), _label(hierarchy, level, place))


def _most_frequent(column: LoadedColumn, hierarchy: Hierarchy) -> int | None:
    present = [value for value in hierarchy.values if value in column.counts]
    return hierarchy.values.index(max(present, key=lambda text: column.counts[text])) if present else None


def _label(hierarchy: Hierarchy, level: int, place: int) -> str:
    return hierarchy.labels[level][hierarchy.codes[level][place]] or ""


MOST_GROUPS, MOST_CHILDREN = 7, 4
Line = tuple[int, str, int]


def hierarchy_lines(hierarchy: Hierarchy, column: LoadedColumn) -> list[Line]:
    """Return depth, label and rows of each line, from the coarsest labels down."""
    counts = np.array([column.counts.get(value or "", 0) for value in hierarchy.values], np.int64)
    top = max(hierarchy.height - 2, 0)
    rows = _rows(hierarchy, top, counts)
    groups = [code for code in range(len(rows)) if rows[code]]
    order = groups[:MOST_GROUPS]
    if not order:
        return []
    opened = max(order, key=lambda code: rows[code])
    entries: list[Line] = []
    for code in order:
        entries.append((0, hierarchy.labels[top][code] or "", int(rows[code])))
        if code == opened:
            entries += _below(hierarchy, counts, top, code, 1)
    return entries + ([(0, "…", 0)] if len(groups) > MOST_GROUPS else [])


def _rows(hierarchy: Hierarchy, level: int, counts: np.ndarray) -> np.ndarray:
    return np.bincount(hierarchy.codes[level], weights=counts, minlength=len(hierarchy.labels[level])).astype(np.int64)


def _below(hierarchy: Hierarchy, counts: np.ndarray, level: int, code: int, depth: int) -> list[Line]:
    """Return the labels of the next level within a label; the largest of them are expanded in turn."""
    if level == 0:
        return []
    inside = hierarchy.codes[level] == code
    finer = level - 1
    rows = _rows(hierarchy, finer, np.where(inside, counts, 0))
    children = [child for child in np.unique(hierarchy.codes[finer][inside]).tolist() if rows[child]]
    if len(children) == 1 and hierarchy.labels[finer][children[0]] == hierarchy.labels[level][code]:
        return _below(hierarchy, counts, finer, children[0], depth)
    opened = max(children, key=lambda child: rows[child], default=None)
    entries: list[Line] = []
    for child in children[:MOST_CHILDREN]:
        entries.append((depth, hierarchy.labels[finer][child] or "", int(rows[child])))
        if child == opened:
            entries += _below(hierarchy, counts, finer, child, depth + 1)
    return entries + ([(depth, "…", 0)] if len(children) > MOST_CHILDREN else [])


def hierarchy_html(shown: list[Line], words: Messages) -> str:
    """Return the lines as an HTML list."""
    entries = "".join(
        f'<li style="padding-left:{depth * 1.1:.1f}rem"><span>{escape(label) or "–"}</span>'
        f"<span>{words.count(rows) if rows else ''}</span></li>"
        for depth, label, rows in shown
    )
    return f'<ul class="sf-tree">{entries}</ul>'
