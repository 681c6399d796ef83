"""The release check: evaluate what is published by itself, from the written rows and the plan of their columns.

Every published column is accounted for by its role, or the release is refused. Then columns are compared with each
other. If some of them reveal the original value of a generalized label, classes are counted again as an attacker sees
them. Every guarantee is evaluated on these, too.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.join_keys import PERSON
from sfumato.errors import DataError, InternalError, UnattainableError
from sfumato.localization.messages import Message, quoted
from sfumato.microdata.counts.frequency_table import ValueCounts, typed
from sfumato.microdata.counts.grouping import counted_by, in_order
from sfumato.microdata.counts.persons import PersonCount, all_persons
from sfumato.microdata.plan.model import ColumnPlan, Plan, RequestedPlan, hierarchy_of
from sfumato.microdata.release_check.finer_labels import MOST_LABELS, RawRows, finer_labels
from sfumato.microdata.release_check.read_back import Inference, ReadBack, mixed_columns, read_back
from sfumato.microdata.verdict import Guarantee, Verdict
from sfumato.pipelines.release_stages.column_checks import ONE_SPELLING, SHAPES, CountBy, column_promises, unplanned
from sfumato.pipelines.release_stages.counting import MOST_AT_ONCE, MOST_COLUMNS, SharedCounts, other_columns
from sfumato.values import Value, replace

# Evaluates rows as an attacker reads them, with their persons if these are counted.
Judge = Callable[[ValueCounts, "Members | None"], Verdict]
Members = dict[str | None, PersonCount]
# Maximum number of rows counted by all counts together, if a release is too large to be counted once.
MOST_WORK = 5_000_000
# Minimum number of rows from which a rule is inferred, whatever k is requested.
FEWEST = 2
# The name of the row order, which can disclose values like a column if it is kept.
ROW_ORDER = "order of rows"


class ReleaseCheck(Value):
    """The findings of the release check.

    Attributes:
        columns: The checks of each column by its role.
        inferences: Columns from which quasi-identifiers are inferred.
        broken: The guarantees that this violates, with the achieved parameters.
        unplanned: Sentences on columns that are not in the plan.
        unchecked: Sentences on what was not examined.
    """

    columns: tuple[Guarantee, ...] = ()
    inferences: tuple[Inference, ...] = ()
    broken: tuple[Guarantee, ...] = ()
    unplanned: tuple[str, ...] = ()
    unchecked: tuple[Message, ...] = ()

    @property
    def satisfied(self) -> bool:
        """Whether the release passed."""
        return not self.broken and not self.unplanned and all(promise.satisfied for promise in self.columns)

    @property
    def faults(self) -> tuple[str, ...]:
        """The findings except for the column checks, in sentences."""
        return (*self.unplanned, *self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The inferred quasi-identifiers and the remaining guarantees; empty if all guarantees are satisfied."""
        if not self.broken:
            return ()
        most = {entry.quasi_identifier: entry for entry in sorted(self.inferences, key=lambda entry: entry.rows)}
        told = (
            Message("error.part.inferred", column=name, names=quoted(entry.columns))
            for name, entry in sorted(most.items())
        )
        remaining = (
            Message(
                "error.part.inferred_left",
                reached=one.achieved,
                asked=one.requested,
                model=one.model,
                of=_of(one.column),
            )
            for one in self.broken
        )
        return (*told, *remaining)

    @property
    def figures(self) -> dict[str, Any]:
        """The findings in plain values, as in report.json; empty without findings."""
        figures = {
            "inferences": [
                {"columns": [*entry.columns], "quasi_identifier": entry.quasi_identifier, "rows": entry.rows}
                for entry in self.inferences
            ],
            "models": [promise.to_dict() for promise in self.broken],
            "unchecked": [*self.unchecked],
            "sentences": self.sentences,
        }
        return {"release_check": {"satisfied": not self.broken} | figures} if any(figures.values()) else {}


def release_check(
    published: Engine,
    plan: Plan,
    rows: ValueCounts,
    judge: Judge,
    shared: SharedCounts | None = None,
    persons: bool = True,
    raw: CountBy | None = None,
) -> ReleaseCheck:
    """Check published rows by themselves.

    Args:
        rows: The written rows, counted by the quasi-identifiers and the columns of guarantees.
        judge: Evaluates the guarantees on rows as an attacker reads them.
        shared: Earlier counts of the rows.
        persons: Whether the persons of the rows are known, if the plan counts persons.
        raw: Counts the raw rows, if they are available.
    """
    counts = shared or SharedCounts(plan, published)

    def count_by(columns: Sequence[str]) -> ValueCounts:
        return (
            counted_by(rows, columns)
            if {*columns} <= {*rows.columns}
            else counts.count(published, columns, MissingRules())
        )

    checked = ReleaseCheck(
        columns=tuple(column_promises(published, plan, count_by)), unplanned=unplanned(published.columns, plan)
    )
    attacker = _Attacker(published, plan, rows, count_by, persons)
    attacker.confirm_by(raw)
    if not (attacker.further or attacker.order):
        return checked
    found = attacker.inferring() if mixed_columns(attacker.finer(rows)) else ()
    checked = replace(checked, unchecked=tuple(dict.fromkeys(attacker.unchecked)))
    return replace(checked, **attacker.broken(found, judge)) if found else checked


class InferenceError(UnattainableError):
    """An attacker infers quasi-identifiers from other published columns.

    Attributes:
        columns: Other columns without which nothing is inferred; empty if the quasi-identifiers or the order suffice.
    """

    columns: tuple[str, ...] = ()

    def without_columns(self, plan: RequestedPlan) -> RequestedPlan:
        """Return the plan with these columns undecided, so that they are removed, and without their models."""
        columns = {
            name: ColumnPlan(role="undecided", missing=column.missing) if name in self.columns else column
            for name, column in plan.columns.items()
        }
        models = tuple(model for model in plan.privacy if model.column not in self.columns)
        return replace(plan, columns=columns, privacy=models)


def refuse(checked: ReleaseCheck, plan: Plan) -> None:
    """Raise an error if the release check failed; with `on_inference: warn` violated guarantees are accepted.

    Raises:
        DataError: The original values of a column are unsuitable for publication.
        InternalError: The content of a column differs from the plan.
        UnattainableError: An attacker who compares columns breaks a guarantee.
    """
    _refuse_columns(checked)
    if plan.on_inference != "warn":
        _refuse_inference(checked, plan)


def _refuse_columns(checked: ReleaseCheck) -> None:
    for promise in checked.columns:
        if not promise.satisfied and promise.model == ONE_SPELLING:
            raise DataError("spellings", column=promise.column).about(column=promise.column)
        if not promise.satisfied and promise.model == SHAPES:
            raise DataError("pseudonym-shape", column=promise.column, count=promise.requested).about(
                column=promise.column
            )
    if checked.unplanned or not all(promise.satisfied for promise in checked.columns):
        raise InternalError("columns")


def _refuse_inference(checked: ReleaseCheck, plan: Plan) -> None:
    if checked.broken:
        told = dict.fromkeys(name for entry in checked.inferences for name in entry.columns)
        further = [name for name in told if name not in (*plan.quasi_identifiers, ROW_ORDER)]
        remedies = [
            *([Message("error.part.shuffle_the_rows")] if ROW_ORDER in told else []),
            *([Message("error.part.make_a_quasi_identifier", names=quoted(further))] if further else []),
            Message("error.part.on_inference_warn"),
        ]
        error = InferenceError(
            "inference",
            message=Message("sentences", parts=checked.sentences),
            hint=Message("sentences", parts=tuple(remedies)),
        )
        error.columns = _removable(checked.inferences, further)
        raise error


def _removable(inferences: Sequence[Inference], further: Sequence[str]) -> tuple[str, ...]:
    """Return some columns of which every inference needs one, the commonest first; empty if an inference needs none."""
    chosen: list[str] = []
    left = [{*entry.columns} & {*further} for entry in inferences]
    while all(left) and left:
        times = Counter(name for names in left for name in names)
        chosen.append(max((name for name in further if times[name]), key=lambda name: times[name]))
        left = [names for names in left if chosen[-1] not in names]
    return () if left else tuple(chosen)


class _Attacker:
    """Compares the columns of published rows with each other, as an attacker does."""

    def __init__(self, published: Engine, plan: Plan, rows: ValueCounts, count: CountBy, persons: bool) -> None:
        self.published, self.plan, self.count, self.rows = published, plan, count, rows
        self.known = plan.quasi_identifiers
        keys = (plan.person,) if plan.publishes_keys and plan.person is not None else ()
        further = dict.fromkeys((*other_columns(plan), *plan.pseudonyms, *keys))
        self.further = tuple(name for name in further if name in published.columns)
        self.k = max(FEWEST, plan.minimum_class_size)
        self.number = int(rows.counts.sum())
        named = plan.person if plan.publishes_keys else PERSON
        self.person = named if persons and plan.person is not None else None
        self.unchecked: list[Message] = []
        self.order: tuple[str, ...] = ()
        if plan.output.order == "keep":
            self._add_order()
        self.raw: RawRows | None = None
        self._hierarchies = {name: hierarchy_of(plan, name) for name in self.known}
        self._finer: dict[tuple[str, tuple[str | None, ...]], Any] = {}
        # Small files are counted once by all columns.
        self._together: tuple[ValueCounts, ReadBack] | None = None

    def confirm_by(self, raw: CountBy | None) -> None:
        """Confirm rules from few rows by the raw rows; rows of one person agree by themselves and count as one."""
        if raw is None or self.number > MOST_AT_ONCE:
            return
        planned = {name: self.plan.columns[name] for name in self.further}
        known = (name for name, column in planned.items() if not column.is_pseudonymous)
        operations = {name: column.operations for name, column in planned.items() if column.operations is not None}
        cells = self.plan.method.recoding == "cells"
        self.raw = RawRows((*self.known, *known), raw, self._hierarchies, operations, cells, self.plan.person)

    def _add_order(self) -> None:
        """Include the order of the rows as a column with row numbers."""
        if self.number <= MOST_AT_ONCE and hasattr(self.published, "texts"):
            self.order = (ROW_ORDER,)
        else:
            self.unchecked.append(Message("note.unchecked_rows", names=quoted([Message("phrase.row_order")])))

    def _counted(self, columns: Sequence[str], count: CountBy) -> ValueCounts:
        """Count the rows by some columns; with the order among these, each row separately."""
        if ROW_ORDER not in columns:
            return count(columns)
        named = [name for name in columns if name != ROW_ORDER]
        rows = in_order({name: self.published.texts(name) for name in named}, ROW_ORDER)  # type: ignore[attr-defined]
        return counted_by(rows, columns)

    def inferring(self) -> tuple[str, ...]:
        """Return the other columns from which a quasi-identifier is inferred, including the row order."""
        return (*self._inferring(), *self._names(self._read_back((*self.known, *self.order), self.order)))

    def _inferring(self) -> tuple[str, ...]:
        if self.number <= MOST_AT_ONCE and len(self.known) + len(self.further) <= MOST_COLUMNS:
            rows = self._counted((*self.known, *self.further), self.count)
            self._together = rows, self._of(rows, self.further)
            return self._names(self._together[1])
        work, found = MOST_WORK, list[str]()
        for place, name in enumerate(self.further):
            work -= self.number
            if work < 0:
                self.unchecked.append(Message("note.unchecked_rows", names=quoted(self.further[place:])))
                break
            found += self._names(self._read_back((*self.known, name), (name,)))
        if len(self.further) > 1:
            self.unchecked.append(Message("note.unchecked_pairs", names=quoted(self.further)))
        return tuple(dict.fromkeys(found))

    def broken(self, further: Sequence[str], judge: Judge) -> dict[str, Any]:
        """Return the inferences from some columns and the guarantees that these violate."""
        person = self.person
        columns = tuple(dict.fromkeys((*self.known, *further, *self.plan.promise_columns)))
        if person is None and self._together is not None and {*columns} <= {*self._together[0].columns}:
            rows, back = self._together
        elif person is None:
            rows = self._counted(columns, self.count)
            back = self._of(rows, further)
        else:
            by_person = (*(name for name in columns if name != person), person)
            rows = self._counted(by_person, lambda names: self.published.count(names, MissingRules()))
            back = self._of(rows, further, np.ones(len(rows.counts)))
        if not back.inferences:
            return {}
        before, after = (self._judged(counted, person, judge).promises for counted in (rows, back.text_counts))
        broken = [
            promise for promise, old in zip(after, before, strict=True) if old.satisfied and not promise.satisfied
        ]
        return {"inferences": back.inferences, "broken": tuple(broken)}

    def _judged(self, rows: ValueCounts, person: str | None, judge: Judge) -> Verdict:
        by_value = {None: self.known} | {
            model.column: (*self.known, model.column) for model in self.plan.privacy if model.column
        }
        members = (
            None
            if person is None
            else {
                name: all_persons(typed(counted_by(rows, (*columns, person)), self.plan)[0])
                for name, columns in by_value.items()
            }
        )
        return judge(typed(counted_by(rows, (*self.known, *self.plan.promise_columns)), self.plan)[0], members)

    def _names(self, back: ReadBack) -> tuple[str, ...]:
        if names := dict.fromkeys(entry[0] for entry in back.unchecked):
            self.unchecked.append(Message("note.unchecked_values", names=quoted(names)))
        sources = (*self.further, *self.order)
        return tuple(name for entry in back.inferences for name in entry.columns if name in sources)

    def _read_back(self, columns: Sequence[str], further: Sequence[str]) -> ReadBack:
        return self._of(self._counted(columns, self.count), further)

    def _of(self, text_counts: ValueCounts, further: Sequence[str], weights: Any = None) -> ReadBack:
        return read_back(
            text_counts,
            self.finer(text_counts),
            further,
            self.k,
            weights=weights,
            missing=self.plan.data.missing,
            raw=self.raw,
        )

    def finer(self, text_counts: ValueCounts) -> dict[str, Any]:
        """Return which labels of each quasi-identifier are finer; local suppression publishes blanks for `*`."""
        masks, blank = {}, self.plan.method.recoding == "cells"
        for name in self.known:
            labels = text_counts.values[text_counts.columns.index(name)]
            key = (name, labels)
            if key not in self._finer:
                self._finer[key] = finer_labels(labels, self._hierarchies[name], blank)
                if len(labels) > MOST_LABELS:
                    self.unchecked.append(Message("note.unchecked_labels", name=name))
            masks[name] = self._finer[key]
        return masks


def _of(column: str | None) -> str:
    return "" if column is None else f' of "{column}"'
