"""Show a hierarchy as a tree of labels with row counts; one branch is expanded to the bottom."""

from html import escape

import numpy as np

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.localization.messages import Messages
from sfumato.web.projects.loaded_data import LoadedColumn

MOST_GROUPS, MOST_CHILDREN = 7, 4
Line = tuple[int, str, int]


def lines(ladder: Hierarchy, column: LoadedColumn) -> list[Line]:
    """Return depth, label and rows of each line, from the coarsest labels down."""
    counts = np.array([column.counts.get(value or "", 0) for value in ladder.values], np.int64)
    top = max(ladder.height - 2, 0)
    rows = _rows(ladder, top, counts)
    groups = [code for code in range(len(rows)) if rows[code]]
    order = groups[:MOST_GROUPS]
    if not order:
        return []
    opened = max(order, key=lambda code: rows[code])
    entries: list[Line] = []
    for code in order:
        entries.append((0, ladder.labels[top][code] or "", int(rows[code])))
        if code == opened:
            entries += _below(ladder, counts, top, code, 1)
    return entries + ([(0, "…", 0)] if len(groups) > MOST_GROUPS else [])


def _rows(ladder: Hierarchy, level: int, counts: np.ndarray) -> np.ndarray:
    return np.bincount(ladder.codes[level], weights=counts, minlength=len(ladder.labels[level])).astype(np.int64)


def _below(ladder: Hierarchy, counts: np.ndarray, level: int, code: int, depth: int) -> list[Line]:
    """Return the labels of the next level within a label; the largest of them are expanded in turn."""
    if level == 0:
        return []
    inside = ladder.codes[level] == code
    finer = level - 1
    rows = _rows(ladder, finer, np.where(inside, counts, 0))
    children = [child for child in np.unique(ladder.codes[finer][inside]).tolist() if rows[child]]
    if len(children) == 1 and ladder.labels[finer][children[0]] == ladder.labels[level][code]:
        return _below(ladder, counts, finer, children[0], depth)
    opened = max(children, key=lambda child: rows[child], default=None)
    entries: list[Line] = []
    for child in children[:MOST_CHILDREN]:
        entries.append((depth, ladder.labels[finer][child] or "", int(rows[child])))
        if child == opened:
            entries += _below(ladder, counts, finer, child, depth + 1)
    return entries + ([(depth, "…", 0)] if len(children) > MOST_CHILDREN else [])


def html(shown: list[Line], words: Messages) -> str:
    """Return the lines as an HTML list."""
    entries = "".join(
        f'<li style="padding-left:{depth * 1.1:.1f}rem"><span>{escape(label) or "–"}</span>'
        f"<span>{words.count(rows) if rows else ''}</span></li>"
        for depth, label, rows in shown
    )
    return f'<ul class="sf-tree">{entries}</ul>'
