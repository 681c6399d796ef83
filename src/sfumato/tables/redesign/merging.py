"""Coarsen a table: merge two codes, or omit the parts of a code, and recompute all totals."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.schema.paths import PlanPath
from sfumato.tables.build.build import dimensions_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.plan.crossing import Dimension
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.source import TableSource

Kind = str
MERGE, CLOSE = "merge", "close"


@dataclass(frozen=True, slots=True)
class Change:
    """One way to make a table coarser.

    Attributes:
        kind: `merge` codes into one, or `close` a code: its parts are no longer shown.
        dimension: The dimension's name in the plan.
        codes: The codes that are merged, or the one that is closed.
    """

    kind: Kind
    dimension: str
    codes: tuple[Code, ...]

    @property
    def label(self) -> str:
        """What it is, in words."""
        names = [next((part for part in reversed(code) if part), "") for code in self.codes]
        if self.kind == CLOSE:
            return f"show {self.dimension} {names[0]} without its parts"
        return f"merge {self.dimension} {names[0]} and {names[1]}"


def changes(plan: TablePlan, columns: TextColumns) -> Iterator[Change]:
    """All neighboring codes that could be one, and all codes whose parts could be left out."""
    trees, _ = dimensions_of(plan.dimensions, columns, plan.folder)
    for (name, dimension), tree in zip(plan.dimensions.items(), trees, strict=True):
        if dimension.levels:
            continue
        children = tree.children()
        for parent, below in children.items():
            leaves = [code for code in below if code not in children]
            if len(below) > 2:
                for one, other in pairwise(leaves):
                    yield Change(MERGE, name, (one, other))
            if parent != tree.root and len(leaves) == len(below):
                yield Change(CLOSE, name, (parent,))


def coarser(
    plan: TablePlan, columns: TextColumns, change: Change, scratch: Path
) -> tuple[Mapping[str, Dimension], TextColumns]:
    """The dimensions and cells of the coarser table."""
    trees, _ = dimensions_of(plan.dimensions, columns, plan.folder)
    place = list(plan.dimensions).index(change.dimension)
    dimension, tree = plan.dimensions[change.dimension], trees[place]
    renamed = _renamed(change, tree)
    new_tree = {renamed.get(code, code): renamed.get(parent, parent) for code, parent in tree.parents.items()}
    kept = {code: parent for code, parent in new_tree.items() if code != ("",)}
    path = scratch / "coarser.csv"
    lines = [f'"{code[0]}","{parent[0]}"' for code, parent in kept.items()]
    path.write_text("child,parent\n" + "".join(line + "\n" for line in lines), encoding="utf-8")
    column = dimension.column or ""
    texts = [renamed.get((text,), (text,))[0] for text in columns.text(column)]
    rows = np.array([row for row, text in enumerate(texts) if text], np.int64)
    renamed_columns = TextColumns({**columns.texts, column: tuple(texts)}).rows(rows)
    dimensions = {
        **plan.dimensions,
        change.dimension: Dimension(column=column, hierarchy=PlanPath(path), total=dimension.total),
    }
    codes = [*plan.table.group_by, *_code_columns(plan)]
    return dimensions, added_up(renamed_columns, codes, plan.table)


def _renamed(change: Change, tree: CodeTree) -> dict[Code, Code]:
    """What becomes of codes; those that are no longer shown have no text."""
    if change.kind == CLOSE:
        return {code: ("",) for code, parent in tree.parents.items() if parent == change.codes[0]}
    one, other = change.codes
    return dict.fromkeys((one, other), (f"{one[0]}+{other[0]}",))


def _code_columns(plan: TablePlan) -> list[str]:
    return [name for part in plan.dimensions.values() for name in (part.levels or (part.column or "",))]


def added_up(columns: TextColumns, codes: Sequence[str], source: TableSource) -> TextColumns:
    """Rows of the same codes as one: numbers added, the largest contributions of all of them kept."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, key in enumerate(zip(*(columns.text(name) for name in codes), strict=True)):
        groups.setdefault(key, []).append(row)
    if len(groups) == len(columns):
        return columns
    summed = [name for name in (source.value, source.frequency, source.holdings) if name]
    texts: dict[str, list[str]] = {
        name: [columns.text(name)[rows[0]] for rows in groups.values()] for name in columns.texts
    }
    for name in summed:
        numbers = columns.numbers(name)
        texts[name] = [_text(numbers[rows].sum()) for rows in groups.values()]
    if source.contributions:
        _merge_largest(texts, columns, source, list(groups.values()))
    return TextColumns({name: tuple(column) for name, column in texts.items()})


def _merge_largest(
    texts: dict[str, list[str]], columns: TextColumns, source: TableSource, groups: Sequence[Sequence[int]]
) -> None:
    amounts = np.stack([np.nan_to_num(columns.optional(name)) for name in source.contributions])
    owners: Any = [columns.text(name) for name in source.contributors] or None
    for place, rows in enumerate(groups):
        totals: dict[str, float] = {}
        for rank in range(len(amounts)):
            for row in rows:
                who = owners[rank][row] if owners else f"{row}/{rank}"
                totals[who] = totals.get(who, 0.0) + float(amounts[rank, row])
        ordered = sorted(totals.items(), key=lambda pair: -abs(pair[1]))[: len(amounts)]
        for rank, name in enumerate(source.contributions):
            texts[name][place] = _text(ordered[rank][1]) if rank < len(ordered) else "0"
            if owners:
                texts[source.contributors[rank]][place] = ordered[rank][0] if rank < len(ordered) else ""


def _text(number: float) -> str:
    value = round(float(number), 6)
    return str(int(value)) if value == int(value) else repr(value)
