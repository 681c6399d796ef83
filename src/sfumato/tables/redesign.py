"""Propose coarser tables with fewer suppressed cells, within a time limit."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.localization.messages import Message
from sfumato.schema.paths import PlanPath
from sfumato.tables.build import build, dimensions_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.deadline import Deadline
from sfumato.tables.plan.sections import Dimension, MethodChoice, TableSource
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.suppress_table import mask_part
from sfumato.values import Value, replace

Kind = str
MERGE, CLOSE = "merge", "close"
# The method that proposals are judged by: quick, and the same for all.
QUICK = MethodChoice(name="fast")


class Change(Value):
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
    def label(self) -> Message:
        """What it is, in words."""
        names = [next((part for part in reversed(code) if part), "") for code in self.codes]
        if self.kind == CLOSE:
            return Message("reason.redesign_close", dimension=self.dimension, one=names[0])
        return Message("reason.redesign_merge", dimension=self.dimension, one=names[0], other=names[1])


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


class Proposal(Value):
    """A coarser table, and what masking it would cost.

    Attributes:
        change: What is made coarser.
        masked: Cells that would be masked.
        cells: Cells that the coarser table has.
    """

    change: Change
    masked: int
    cells: int


class Redesign(Value):
    """Proposals, best first.

    Attributes:
        masked: Cells that are masked as the table is, by the same method.
        proposals: Those that would mask fewer.
        tried: How many changes were tried.
        possible: How many there are.
    """

    masked: int
    proposals: tuple[Proposal, ...]
    tried: int
    possible: int


def redesign(plan: TablePlan, columns: TextColumns, deadline: Deadline) -> Redesign:
    """Try changes that touch most unsafe cells first, as long as there is time.

    Raises:
        SfumatoError: The table itself cannot be masked.
    """
    masked, unsafe = _masked(plan, columns, deadline.share(0.3))
    todo = sorted(changes(plan, columns), key=lambda change: -_touched(plan, columns, change, unsafe))
    proposals, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="sfumato-") as scratch:
        for change in todo:
            if deadline.over:
                break
            tried += 1
            found = _tried(plan, columns, change, Path(scratch), deadline)
            if found is not None and found.masked < masked:
                proposals.append(found)
    best = sorted(proposals, key=lambda one: (one.masked, -one.cells))
    return Redesign(masked, tuple(best), tried, len(todo))


def _masked(plan: TablePlan, columns: TextColumns, deadline: Deadline) -> tuple[int, list[int]]:
    """How many cells are masked, and the rows of unsafe ones."""
    count, unsafe = 0, list[int]()
    for part in build(plan, columns):
        count += int(mask_part(part, QUICK, "en", deadline).suppressed.sum())
        unsafe += part.rows[part.table.sensitive].tolist()
    return count, unsafe


def _touched(plan: TablePlan, columns: TextColumns, change: Change, unsafe: list[int]) -> int:
    """How many unsafe cells stand in the codes of a change."""
    own = columns.text(plan.dimensions[change.dimension].column or "")
    codes = {code[0] for code in change.codes}
    return sum(own[row] in codes for row in unsafe)


def _tried(plan: TablePlan, columns: TextColumns, change: Change, scratch: Path, deadline: Deadline) -> Proposal | None:
    try:
        dimensions, cells = coarser(plan, columns, change, scratch)
        masked, _ = _masked(replace(plan, dimensions=dimensions), cells, deadline.share(0.5))
    except SfumatoError:
        return None
    return Proposal(change, masked, len(cells))


def sentence(redesign: Redesign, proposal: Proposal) -> Message:
    """A proposal in words.

    >>> change = Change("merge", "size", (("5",), ("6",)))
    >>> sentence(Redesign(118, (), 1, 1), Proposal(change, 41, 90))
    'merge size 5 and 6: 41 instead of 118 suppressed cells'
    """
    return Message("reason.redesign", change=proposal.change.label, masked=proposal.masked, before=redesign.masked)
