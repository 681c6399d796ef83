"""Method `mondrian`: cut a class in two at the median of its widest column as long as both parts satisfy the models.

LeFevre, K., DeWitt, D., Ramakrishnan, R. (2006). Mondrian multidimensional k-anonymity,
https://doi.org/10.1109/ICDE.2006.101. Strict: rows with the value of the cut all go to one side (numbers up to the
lower median left). Relaxed: they are divided, so that both sides are as equal as possible. Every model of the plan is a
stopping rule: a cut is made only if both parts satisfy all of them. With `cut: loss`, the cut that lowers the loss of
all columns most is taken instead of the median of the widest column. A cut that makes no label narrower is not made,
and one that narrows a single side only if no other is left.

It is a heuristic: no cut is ever undone, so the loss is not the least possible. Each file has its own classes: two
releases of overlapping data may together reveal what neither reveals alone.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import regroup
from sfumato.microdata.losses.additive_losses import aggregated, mean_loss
from sfumato.microdata.methods.class_assessment import beyond_limits
from sfumato.microdata.methods.class_labels import distinct_classes, recode_classes
from sfumato.microdata.methods.full_domain import best_first as greedy
from sfumato.microdata.methods.full_domain import search as full_domain
from sfumato.microdata.methods.full_domain.lattice_nodes import screened
from sfumato.microdata.methods.full_domain.optimal import MAX_MARKED
from sfumato.microdata.methods.full_domain.problem import LatticeProblem, NodeSolution, problem_of
from sfumato.microdata.methods.full_domain.search import near_least
from sfumato.microdata.methods.mondrian.axes import Axis, Places, axes_of
from sfumato.microdata.methods.mondrian.cutting import (
    NO_SPARE,
    CutRule,
    Cutting,
    Ints,
    compiled,
    cut_by_levels,
    cut_in_place,
    whole,
)
from sfumato.microdata.methods.mondrian.kernels import LOSS, RANDOM, RELAXED, STRICT, UNDIVIDED, WIDEST
from sfumato.microdata.methods.mondrian.labels import ColumnLabels, class_sizes, cut_extents, describe, own_extents
from sfumato.microdata.methods.search_result import Deadline, ProgressCallback, Result
from sfumato.microdata.models.equivalence_classes import (
    WEIGHTS,
    BoolArray,
    Counts,
    EquivalenceClasses,
    Histogram,
    histogram,
)
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.plan.methods import Greedy, Mondrian
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import ClassRecoding, Division
from sfumato.values import Value, replace

# Share of the classes with one or two cuts left that are not cut, against minimality attacks.
SPARED = 0.2
LESS = 1.0 - 1e-9


def search(plan: Plan, method: Mondrian, table: FrequencyTable, _progress: ProgressCallback | None = None) -> Result:
    """Return the recoding that Mondrian finds, or the best node of a greedy search if that loses less.

    Raises:
        UnattainableError: Not even one class of all rows satisfies the privacy models.
    """
    deadline = Deadline(method.time_limit)
    axes = axes_of(table, plan, by_cuts=method.bounds == "cut")
    items = _items(table, method)
    cutting = _cut(plan, method, items, axes, _least(plan.privacy), deadline)
    result = _result(plan, method, items, axes, cutting)
    if deadline.over:
        remark = Message("note.mondrian_late", seconds=method.time_limit)
        result = replace(result, cut_short=True, notes=(remark,))
    return _node_of_less_loss(plan, method, table, result, deadline) or result


def _result(plan: Plan, method: Mondrian, items: "Items", axes: Sequence[Axis], cutting: Cutting) -> Result:
    table = items.table
    columns = _column_labels(axes, cutting)
    sizes = class_sizes(cutting.counts, cutting.starts)
    losses = {name: mean_loss(column.widths, sizes) for name, column in zip(table.columns, columns, strict=True)}
    penalty = float(np.mean([mean_loss(column.penalties, sizes) for column in columns]))
    return Result(
        _recoding(plan, items, cutting, columns),
        "loss-metric",
        aggregated(list(losses.values()), [axis.weight for axis in axes], method.aggregate),
        losses,
        proved_optimal=False,
        checked=0,
        total=0,
        details={"normalized_certainty_penalty": penalty},
    )


def _node_of_less_loss(
    plan: Plan, method: Mondrian, table: FrequencyTable, result: Result, deadline: Deadline
) -> Result | None:
    """Return the best node of a greedy search, if it loses less than the classes."""
    asked = Greedy(aggregate=method.aggregate, time_limit=deadline.left)
    problem = problem_of(plan, asked, table)
    if _least_of_nodes(problem) >= result.loss or _least_of_pairs(problem) >= result.loss:
        return None
    walk = greedy.Walk(problem)
    best = walk.down()
    if best is None or not problem.offers(best) or best.loss >= result.loss * LESS:
        return None
    remark = Message("note.mondrian_level", best=best.loss, loss=result.loss)
    solution = NodeSolution(best, False, walk.checked, problem.size, notes=(remark, *result.notes))
    if method.hide_minimality:
        solution = near_least(problem, solution, plan.drawing_seed)
    return full_domain.result_of(problem, "loss-metric", solution)


def _least_of_pairs(problem: LatticeProblem) -> float:
    """Return a lower bound of the loss of nodes without suppression: no two columns may have rare pairs of labels."""
    if problem.size > MAX_MARKED or problem.limit:
        return 0.0
    open_nodes = screened(problem)
    return problem.loss.value(float(problem.loss.floors(problem.window())[open_nodes].min(initial=np.inf)))


def _least_of_nodes(problem: LatticeProblem) -> float:
    """Return a lower bound of the loss of nodes without suppression: no column may have rare labels."""
    node = []
    for column, ladder in enumerate(problem.table.ladders):
        rows = problem.table.marginal(column)
        sizes = [np.bincount(codes, weights=rows) for codes in ladder.codes[:-1]]
        fits = [bool((size[size > 0] >= problem.k).all()) for size in sizes]
        node.append(fits.index(True) if True in fits else ladder.height - 1)
    if problem.missing_matches:
        return 0.0
    window = tuple(slice(level, level + 1) for level in node)
    return problem.loss.value(float(problem.loss.floors(window).reshape(-1)[0]))


def partition(plan: Plan, table: FrequencyTable, least: int, deadline: Deadline) -> npt.NDArray[np.int64]:
    """Return the class of each combination after cutting by loss into classes of at least `least` rows.

    Raises:
        UnattainableError: Not even one class of all rows satisfies the privacy models.
    """
    method = Mondrian(cut="loss", bounds="own")
    items = _items(table, method)
    cutting = _cut(plan, method, items, axes_of(table, plan, by_cuts=False), least, deadline)
    owners = np.empty(len(table.counts), np.int64)
    owners[cutting.ids] = np.repeat(
        np.arange(len(cutting.starts)), np.diff(np.append(cutting.starts, len(cutting.counts)))
    )
    return owners


def _least(models: Sequence[PrivacyModel]) -> int:
    return max((model.min_class_size for model in models), default=1)


def _choice(method: Mondrian) -> int:
    if method.cut == "loss":
        return LOSS
    return RANDOM if method.choice == "random" else WIDEST


class Items(Value, dict=True):
    """The units that are divided between classes: combinations, or their rows with one sensitive value.

    Attributes:
        mode: How a cut treats the rows with the value of the cut, as named by the kernels.
        column: The sensitive column whose values distinguish items, if any.
        combinations: The combination of each item.
        codes: The code of each item's sensitive value.
    """

    table: FrequencyTable
    mode: int
    column: str | None
    combinations: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    counts: Counts

    @cached_property
    def sensitive(self) -> Mapping[str, Histogram]:
        """The sensitive values of each item."""
        if self.column is None:
            return self.table.sensitive
        starts = np.arange(len(self.counts) + 1, dtype=np.int64)
        return {self.column: Histogram(starts, self.codes, self.counts, self.table.sensitive[self.column].size)}

    def classes(self, ids: npt.NDArray[np.int32], rows: Counts, owners: Ints, number: int) -> EquivalenceClasses:
        """Return the classes that some items, or parts of them, form."""
        sizes = np.bincount(owners, weights=rows, minlength=number).astype(np.int64)
        if self.column is not None:
            size = self.table.sensitive[self.column].size
            return EquivalenceClasses(sizes, {self.column: histogram(owners, self.codes[ids], rows, number, size)})
        owner = np.full(len(self.counts), number, np.int64)
        owner[ids] = owners
        return EquivalenceClasses(sizes, {name: regroup(rows, owner, number) for name, rows in self.sensitive.items()})


def _items(table: FrequencyTable, method: Mondrian) -> Items:
    """Return the items of a table.

    The frequency table counts how often a combination occurs with each value of a sensitive column, for every column
    separately. Rows can therefore be divided by the values of one such column; with several, they are not divided.
    """
    combinations = np.arange(len(table.counts))
    if method.mode == "strict" or len(table.sensitive) > 1 or table.persons or WEIGHTS in table.sensitive:
        mode = STRICT if method.mode == "strict" else UNDIVIDED
        return Items(table, mode, None, combinations, np.zeros(len(combinations), np.int32), table.counts)
    for name, rows in table.sensitive.items():
        return Items(table, RELAXED, name, rows.owners.astype(np.int64), rows.values, rows.counts)
    return Items(table, RELAXED, None, combinations, np.zeros(len(combinations), np.int32), table.counts)


def _cut(plan: Plan, method: Mondrian, items: Items, axes: Sequence[Axis], least: int, deadline: Deadline) -> Cutting:
    """Return classes of at least `least` rows that satisfy every model."""
    spare = np.uint64(int(SPARED * 2**64)) if method.hide_minimality else NO_SPARE
    with deadline.flag() as stop:
        rule = CutRule(
            least, compiled(axes), _choice(method), items.mode, plan.drawing_seed, method.bounds == "cut", stop, spare
        )
        return _classes(items, axes, rule, plan.privacy)


def _classes(items: Items, axes: Sequence[Axis], rule: CutRule, models: Sequence[PrivacyModel]) -> Cutting:
    table = items.table
    places: Places = np.column_stack(
        [axis.places[table.codes[items.combinations, column]] for column, axis in enumerate(axes)]
    )
    start = whole(places, items.counts, rule)
    others = [model for model in models if model.judges != "sizes"]

    def accepts(ids: npt.NDArray[np.int32], rows: Counts, owners: Ints, number: int) -> BoolArray:
        classes = items.classes(ids, rows, owners, number)
        fine: BoolArray = classes.sizes >= rule.k
        for model in others:
            fine &= ~model.violating(classes, table.whole)
        return fine

    together = accepts(start.ids, start.counts, np.zeros(len(start.counts), np.int64), 1)
    if not together.all():
        raise _unattainable(table, models)
    if items.mode == STRICT and not others:
        return cut_in_place(start, rule)
    return cut_by_levels(start, rule, accepts if others else None)


def _unattainable(table: FrequencyTable, models: Sequence[PrivacyModel]) -> UnattainableError:
    together = UnattainableError("whole")
    return beyond_limits(models, table.whole) or together


def _column_labels(axes: Sequence[Axis], cutting: Cutting) -> list[ColumnLabels]:
    extents = own_extents(axes, cutting.places, cutting.starts)
    if cutting.boxes.shape[1]:
        extents = cut_extents(axes, extents, cutting.boxes)
    return [describe(axis, extent) for axis, extent in zip(axes, extents, strict=True)]


def _recoding(plan: Plan, items: Items, cutting: Cutting, columns: Sequence[ColumnLabels]) -> ClassRecoding:
    """Return the recoding; classes with the same labels are merged."""
    table = items.table
    labels = [column.labels for column in columns]
    distinct, places = distinct_classes(labels, np.column_stack([column.codes for column in columns]))
    classes = np.repeat(places, np.diff(np.append(cutting.starts, len(cutting.counts))))
    combinations = items.combinations[cutting.ids]
    owners = np.empty(len(table.counts), np.int64)
    owners[combinations[::-1]] = classes[::-1]
    sizes = np.bincount(classes, weights=cutting.counts, minlength=len(distinct)).astype(np.int64)
    division = _division(plan, items, cutting, combinations, classes)
    return replace(recode_classes(table, owners, labels, distinct, division), sizes=sizes)


def _division(plan: Plan, items: Items, cutting: Cutting, combinations: Ints, classes: Ints) -> Division | None:
    """Return the combinations whose rows belong to more than one class."""
    if items.mode != RELAXED:
        return None
    table = items.table
    codes = items.codes[cutting.ids].astype(np.int64)
    width = max((rows.size for rows in items.sensitive.values()), default=1)
    order = np.lexsort((classes, codes, combinations))
    keys = np.column_stack([combinations, codes, classes])[order]
    first = np.ones(len(order), bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    rows = np.add.reduceat(cutting.counts[order], np.flatnonzero(first))
    keys = keys[first]
    lowest = np.full(len(table.counts), np.iinfo(np.int64).max)
    highest = np.full(len(table.counts), -1)
    np.minimum.at(lowest, keys[:, 0], keys[:, 2])
    np.maximum.at(highest, keys[:, 0], keys[:, 2])
    parted = (lowest != highest)[keys[:, 0]]
    if not parted.any():
        return None
    values = (None,) * min(width, 1) if items.column is None else table.sensitive_values[items.column]
    spellings = {} if items.column is None else table.codes_of(items.column)
    keys = keys[parted]
    key = f"{plan.secret}:division:"
    return Division(key, items.column, values, spellings, keys[:, 0], keys[:, 1], keys[:, 2], rows[parted])
