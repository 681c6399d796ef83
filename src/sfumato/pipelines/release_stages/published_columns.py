"""Publication of other columns and suppressed rows: rewritten texts, and coding limits that are no value of a row."""

from collections.abc import Iterator

import numpy as np

from sfumato.engines.engine import Engine, MissingRules
from sfumato.errors import DataError
from sfumato.hierarchies.types import numerals
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, values_of
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.perturbation.number_text import check_digits
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.publish_plan import Limit, PublishPlan, number_of, read_numbers
from sfumato.microdata.recoding.expected_counts import hides_sensitive
from sfumato.microdata.recoding.mapping import Recoding, SuppressionHandling, absent_texts
from sfumato.microdata.recoding.range_grid import number_grid
from sfumato.values import Value, replace


def _labels(plan: Plan, table: FrequencyTable, name: str) -> dict[str | None, str | None]:
    """Return what each text of a column is published as; texts that mean missing may become empty fields."""
    values = table.sensitive_values[name]
    rewritten = plan.columns[name].operations is not None or name in plan.spelled_columns
    blanked = absent_texts(table, name).are_blanked(plan)
    return {
        text: (None if blanked else text) if values[code] is None else values[code] if rewritten else text
        for text, code in table.spellings[name].items()
    }


def _changed(plan: Plan, table: FrequencyTable) -> Iterator[tuple[str, dict[str | None, str | None]]]:
    """Yield the published texts of columns that are not published as they were read."""
    for name, column in plan.columns.items():
        if name not in table.sensitive_values or column.role == "quasi-identifier":  # a target column is only measured
            continue
        respelled = absent_texts(table, name).are_blanked(plan) or (
            name in plan.spelled_columns and changed_texts(plan, table, name)
        )
        if column.operations is not None or (column.perturbation is None and respelled):
            yield name, _labels(plan, table, name)


def changed_texts(plan: Plan, table: FrequencyTable, name: str) -> int:
    """Return how many more texts than values a column has."""
    labels = [label for label in _labels(plan, table, name).values() if label is not None]
    return len(labels) - len({*labels})


def handling_of(plan: Plan, table: FrequencyTable, recoding: Recoding) -> SuppressionHandling:
    """Return how suppressed rows and other columns are published, as the plan requests."""
    return SuppressionHandling(
        suppressed=plan.output.suppressed,
        removed_columns=plan.removed_columns,
        suppressed_sensitive_columns=plan.shown_sensitive if hides_sensitive(table, recoding, plan) else (),
        labels=dict(_changed(plan, table)),
        class_column=plan.output.class_column,
        order_key=f"{plan.secret}:order:" if plan.output.order == "shuffle" else None,
        person=plan.household if plan.swaps_households else plan.person,
        person_key=f"{plan.chain_secret}:person:",
        publishes_keys=plan.publishes_keys and not plan.pseudonyms,
    )


# Minimum number of rows beyond a limit; the k of the plan if greater, but at most a tenth of the rows.
FEWEST = 3
_TENTH = 10
_EXACT = 1e-9


class Numbers(Value):
    """The distinct numbers of a column in ascending order, and the rows of each.

    Limits of top and bottom coding are chosen from these numbers. A limit is published, so it lies between the numbers
    of two rows, with some rows beyond it. The largest number as a limit would itself reveal a value that nothing else
    reveals.
    """

    values: Floats
    rows: Counts

    @property
    def mirrored(self) -> "Numbers":
        """The same numbers with reversed signs, so that the smallest become the largest."""
        return Numbers(-self.values[::-1], self.rows[::-1])

    def above(self, limit: float) -> int:
        """Return how many rows are above a limit."""
        return int(self.rows[self.values > limit].sum())


def with_limits(plan: Plan, source: Engine) -> tuple[Plan, tuple[Message, ...]]:
    """Return the plan with coding limits converted from proportions to numbers, and notes on them.

    Raises:
        DataError: The limits of a column leave nothing between them, or its numbers have too many digits.
    """
    columns, remarks = dict(plan.columns), list[Message]()
    for name, column in plan.columns.items():
        publish = column.published
        if publish is None or not publish.shares:
            continue
        numbers = _numbers(plan, source, name)
        fewest = _fewest(plan, numbers)
        limited = _limited(name, publish, numbers, fewest)
        columns[name] = replace(column, publish=limited)
        remarks += _remarks(name, publish, limited, numbers, fewest)
    return replace(plan, columns=columns), tuple(remarks)


def _numbers(plan: Plan, source: Engine, name: str) -> Numbers:
    """Return the numbers of a column, parsed as for publication; invalid texts are refused when rows are counted.

    Raises:
        DataError: Some numbers differ only in digits beyond floating-point precision.
    """
    text_counts = source.count((name,), MissingRules())
    texts = values_of(text_counts.values[0], plan.data.missing)
    forms = read_numbers([text or "" for text in texts])
    pairs = [
        (form, int(rows))
        for (code,), rows in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True)
        if (form := forms[code]) is not None
    ]
    numbers = numerals([form for form, _ in pairs])
    check_digits(numbers, [form for form, _ in pairs], name)
    values, owners = np.unique(numbers, return_inverse=True)
    rows = np.bincount(owners.reshape(-1), weights=[rows for _, rows in pairs], minlength=len(values))
    return Numbers(values, rows.astype(np.int64))


def _fewest(plan: Plan, numbers: Numbers) -> int:
    """Return how many rows must be beyond a limit."""
    k = requested_class_size(plan.privacy, FEWEST)
    return max(FEWEST, min(k, int(numbers.rows.sum()) // _TENTH))


def _limited(name: str, publish: PublishPlan, numbers: Numbers, fewest: int) -> PublishPlan:
    top, bottom = publish.top, publish.bottom
    if isinstance(top, Limit) and top.open_share is not None:
        top = replace(top, value=_limit(numbers, 1 - top.open_share, fewest, publish.round))
    if isinstance(bottom, Limit) and bottom.open_share is not None:
        bottom = replace(bottom, value=0.0 - _limit(numbers.mirrored, bottom.open_share, fewest, publish.round))
    low, high = number_of(bottom), number_of(top)
    if low is not None and high is not None and low > high:
        raise DataError("limits", column=name, count=fewest)
    return replace(publish, top=top, bottom=bottom)


def _limit(numbers: Numbers, share: float, fewest: int, step: float | None) -> float:
    """Return a limit with a proportion of the rows above it, and at least `fewest`; the value if all are equal.

    If numbers are rounded, the limit is a multiple of the rounding base if one is near.

    >>> tied = Numbers(np.array([1000.0, 8382.0, 9120.0]), np.array([50, 5, 5]))
    >>> _limit(tied, 0.01, 3, None), _limit(tied, 0.01, 3, 500), _limit(tied.mirrored, 0.01, 3, None)
    (9000.0, 8500.0, -5000.0)
    """
    values, ends = numbers.values, np.cumsum(numbers.rows)
    if len(values) < 2:
        return float(values.max(initial=0.0))
    place = _place(ends, share, fewest)
    most = 2 * max(fewest, int(share * int(ends[-1]) + _EXACT))
    near = (
        multiple for multiple in _multiples(float(values[place]), step) if fewest <= numbers.above(multiple) <= most
    )
    multiple = next(near, None)
    return _between(numbers, place, fewest) if multiple is None else multiple


def _place(ends: Counts, share: float, fewest: int) -> int:
    """Return the index of the last number that is not coded; 0 if too few rows are above the smallest number."""
    asked = int(np.searchsorted(ends, (1 - share) * ends[-1] - _EXACT))
    enough = np.flatnonzero(ends[-1] - ends >= fewest)
    return min(asked, int(enough[-1]) if len(enough) else 0)


def _multiples(value: float, step: float | None) -> Iterator[float]:
    """Yield the multiples of a rounding base that enclose a value, the greater one first."""
    if step is not None:
        above = float(np.ceil(value / step - _EXACT))
        yield from (float(f"{above * step:.12g}"), float(f"{(above - 1) * step:.12g}"))


def _between(numbers: Numbers, place: int, fewest: int) -> float:
    """Return the roundest number between a value and the next; the value itself if none is between and it is frequent.

    >>> children = Numbers(np.array([3.0, 4.0]), np.array([9, 1]))
    >>> _between(children, 0, 3), _between(children, 0, 10)
    (3.0, 3.5)
    """
    first, second = numbers.values[place : place + 2].tolist()
    grid = number_grid(numbers.values)
    low, high = (int(step) for step in grid.below(np.array([first, second])))
    if high - low >= 2:
        return float(grid.text(grid.roundest(low + 1, high - 1)))
    return float(first) if numbers.rows[place] >= fewest else first + (second - first) / 2


def _remarks(name: str, asked: PublishPlan, limited: PublishPlan, numbers: Numbers, fewest: int) -> Iterator[Message]:
    """Yield notes if the coding differs from the request: no rows, fewer rows than required, or more than requested."""
    rows = int(numbers.rows.sum())
    sides = (("top", asked.top, limited.top, numbers), ("bottom", asked.bottom, limited.bottom, numbers.mirrored))
    for side, limit, settled, seen in sides:
        share = limit.open_share if isinstance(limit, Limit) else None
        if share is None:
            continue
        value = number_of(settled) or 0.0
        coded = seen.above(value if side == "top" else -value)
        if not coded:
            yield Message("note.limit_none", name=name, limit=side)
        elif coded < fewest:
            yield Message("note.limit_few", limit=side, name=name, count=coded, rows=rows)
        elif coded > (1 - share if side == "top" else share) * rows + _EXACT:
            yield (Message("note.limit_more", limit=side, name=name, count=coded, rows=rows))
