"""Anonymize records: rows become one list per attribute, each list is anonymized, lists become rows again."""

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import eq, is_, itemgetter
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sfumato.attributes.configuration import AttributeRule, Configuration
from sfumato.attributes.operations.generalization import Interval
from sfumato.attributes.operations.operation import (
    Codes,
    Operation,
    OperationResult,
    Task,
    ValueRefusedError,
    find,
    normalize,
)
from sfumato.attributes.operations.scales import number_of_buckets
from sfumato.errors import DataError, InternalError, PlanError
from sfumato.localization.messages import Message
from sfumato.values import Value

Columns = Mapping[str, Sequence[Any]]
COUNTED = ("generalization", "randomization")
# Up to this many rows, plain Python is faster than arrays.
FEW_ROWS = 200


class _Absent:
    """Marks an absent key of a record; unlike None, which is a value of the key."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


class AttributeColumn(Value):
    """One column of the result: the name under which it is published, and its values in the given order.

    Attributes:
        outcome: The outcome of the operation; None if nothing was changed.
        codes: For each value the index of its entry, -1 if it is missing.
        entries: The entries of the outcome as they are published.
    """

    name: str
    values: list[Any]
    outcome: OperationResult | None = None
    codes: Codes | None = None
    entries: Sequence[Any] = ()


class Anonymized(Value):
    """Anonymized data with metrics of anonymity.

    Attributes:
        data: The records or the frame, of the same kind as the input.
        kpis: `kAnonymity`, the size of the smallest group of records that agree on all masked and generalized
            attributes, and for each attribute its number of buckets.
        warnings: Notes for the recipient.
    """

    data: Any
    kpis: dict[str, int]
    warnings: tuple[Message, ...]


class _Run(Value):
    """What all columns of one run share; `counted` is the number of generalized and randomized attributes."""

    configuration: Configuration
    counted: int
    seed: int | None


def anonymize_records(
    records: Sequence[Mapping[str, Any]], configuration: Configuration, seed: int | None = None
) -> Anonymized:
    """Anonymize records and keep their order.

    Raises:
        PlanError: An attribute has no rule, or an operation is not implemented for its type.
        DataError: There are no records, none of their attributes has a rule, or a value does not fit its operation.
    """
    layouts = set(map(tuple, records))
    if len(layouts) == 1:  # all have the same attributes in the same order, so columns and rows are built at once
        names = next(iter(layouts))
        columns: Columns = {name: list(map(itemgetter(name), records)) for name in names}
    else:
        names = tuple(dict.fromkeys(name for record in records for name in record))
        columns = {name: [record.get(name, ABSENT) for record in records] for name in names}
    answer, kpis, warnings = anonymize_columns(columns, configuration, len(records), seed)
    rows = _rows(records, names, answer, len(layouts) == 1)
    check_rows(records, rows, answer)
    return Anonymized(rows, kpis, warnings)


def _rows(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], answer: Mapping[str, AttributeColumn], same: bool
) -> list[dict[str, Any]]:
    """Return columns as rows; each row has the attributes of its record."""
    if same:
        empty: dict[str, Any] = dict.fromkeys(answer[name].name for name in names)
        rows = [empty.copy() for _ in records]
        for column in answer.values():
            for row, value in zip(rows, column.values, strict=True):
                row[column.name] = value
        return rows
    return [{answer[name].name: answer[name].values[place] for name in record} for place, record in enumerate(records)]


def check_rows(
    records: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], columns: Mapping[str, AttributeColumn]
) -> None:
    """Check that every changed attribute contains exactly what its operation returned.

    Raises:
        InternalError: A row contains something else, or an original value next to its replacement.
    """
    fine = len(rows) == len(records) and _has_layouts(records, rows, columns)
    fine = fine and all(_holds(rows, column) for column in columns.values() if column.codes is not None)
    if not fine:
        raise InternalError("places.records")


def _has_layouts(
    records: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], columns: Mapping[str, AttributeColumn]
) -> bool:
    """Return whether each row has the published names of its record's attributes, in the same order."""
    layouts = {layout: tuple(columns[name].name for name in layout) for layout in set(map(tuple, records))}
    if len(layouts) == 1:
        return set(map(tuple, rows)) == set(layouts.values())
    return all(map(eq, map(layouts.__getitem__, map(tuple, records)), map(tuple, rows)))


def _holds(rows: Sequence[Mapping[str, Any]], column: AttributeColumn) -> bool:
    codes: list[int] = [] if column.codes is None else column.codes.tolist()
    name, entries = column.name, column.entries
    if not codes or min(codes) >= 0:
        return all(map(is_, map(itemgetter(name), rows), map(entries.__getitem__, codes)))
    return all(code < 0 or row[name] is entries[code] for row, code in zip(rows, codes, strict=True))


def anonymize_columns(
    columns: Columns, configuration: Configuration, rows: int, seed: int | None = None
) -> tuple[dict[str, AttributeColumn], dict[str, int], tuple[Message, ...]]:
    """Anonymize columns; return the result by name, the metrics, and the warnings."""
    if not rows:
        raise DataError("empty.no_records")
    _check_meeting(columns, configuration)
    operations = [(rule, find(rule.operation, rule.data_type, rule.attribute)) for rule in configuration.rules]
    unknown = _unknown(columns, configuration)
    present = [(rule, operation) for rule, operation in operations if rule.attribute in columns]
    run = _Run(configuration, sum(_is_counted(rule, columns[rule.attribute]) for rule, _ in present), seed)
    answer = {name: AttributeColumn(name, list(columns[name])) for name in unknown}
    for rule, operation in present:
        answer[rule.attribute] = _column(columns[rule.attribute], rule, operation, run)
    _check_names(answer)
    kpis = _kpis(answer, rows)
    return answer, kpis, _warnings(kpis, unknown)


def is_missing(value: Any) -> bool:
    """Return whether there is no value: None, an absent key, or not a number."""
    return value is None or value is ABSENT or (isinstance(value, float) and math.isnan(value))


def _present(values: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Return which values are not missing; arrays whose type excludes missing values are not scanned."""
    if not any(map(_may_be_missing, set(map(type, values)))):
        return np.ones(len(values), np.bool_)
    return np.fromiter((not is_missing(value) for value in values), np.bool_, len(values))


def _may_be_missing(kind: type) -> bool:
    return kind in (type(None), _Absent) or issubclass(kind, float)


def _check_meeting(columns: Columns, configuration: Configuration) -> None:
    """Refuse data and a configuration without common attributes, because all data would be published unchanged.

    The first line of a file without a header becomes names, so the names are shown only to the caller.
    """
    if columns and not any(rule.attribute in columns for rule in configuration.rules):
        raise DataError("no-attribute").about(values=columns)


def _unknown(columns: Columns, configuration: Configuration) -> list[str]:
    configured = {rule.attribute for rule in configuration.rules}
    unknown = [name for name in columns if name not in configured]
    check_passed(unknown, configuration.pass_through)
    check_alike(unknown, configured)
    return unknown


def check_passed(unknown: Sequence[str], pass_through: bool) -> None:
    """Refuse attributes without an operation, unless they may pass unchanged."""
    if unknown and not pass_through:
        shown = ", ".join(f'"{name}"' for name in unknown[:10])
        raise PlanError("unknown-attribute", count=len(unknown), names=shown)


def check_alike(unknown: Iterable[str], configured: Iterable[str]) -> None:
    """Refuse attributes whose names look like configured ones, because they would pass unchanged.

    Raises:
        PlanError: A name, or address, differs from a configured one only in case, signs or Unicode form.
    """
    meant = {_letters(name): name for name in configured}
    for name in unknown:
        if (known := meant.get(_letters(name))) is not None:
            raise PlanError("attribute-alike", name=name, known=known)


def _letters(name: str) -> str:
    """Return the letters and digits of a name, in one case and Unicode form; of an address without its scheme.

    >>> _letters("First-Name") == _letters("first_name "), _letters("http://a.example/x") == _letters("https://a.example/X")
    (True, True)
    """
    plain = unicodedata.normalize("NFKC", name).casefold().removeprefix("http://").removeprefix("https://")
    return "".join(filter(str.isalnum, plain)) or name


def passed_warning(unknown: Sequence[str]) -> tuple[Message, ...]:
    """Return the warning about attributes that passed unchanged."""
    return (Message("note.passed_through", names=", ".join(unknown)),) if unknown else ()


def _is_counted(rule: AttributeRule, values: Sequence[Any]) -> bool:
    return normalize(rule.operation) in COUNTED and not all(map(is_missing, values))


def _column(values: Sequence[Any], rule: AttributeRule, operation: Operation, run: _Run) -> AttributeColumn:
    configuration = run.configuration
    there = _present(values)
    whole = bool(there.all())
    filled = values if whole else [value for value, present in zip(values, there.tolist(), strict=True) if present]
    name = rule.attribute + _suffix(operation, configuration)
    if not len(filled):
        return AttributeColumn(name, list(values))
    task = Task(
        rule.attribute,
        rule.data_type,
        number_of_buckets(configuration.buckets, len(filled), run.counted),
        cast("np.random.Generator", _Noise(rule.attribute, run.seed)),
        configuration.smallest_group,
    )
    try:
        outcome = operation.apply(filled, task)
    except ValueRefusedError as error:
        raise error.of_row(int(np.flatnonzero(there)[error.place]) + 1) from None
    _check_length(outcome, len(filled), rule)
    entries = _as_published(outcome.entries, configuration)
    if whole:
        return AttributeColumn(
            name, list(map(entries.__getitem__, outcome.codes.tolist())), outcome, outcome.codes, entries
        )
    codes = np.full(len(values), -1, np.int64)
    codes[there] = outcome.codes
    published = [entries[code] if code >= 0 else value for code, value in zip(codes.tolist(), values, strict=True)]
    return AttributeColumn(name, published, outcome, codes, entries)


def _suffix(operation: Operation, configuration: Configuration) -> str:
    if configuration.form == "label":
        return ""
    return operation.range_suffix if configuration.form == "range" else operation.graph_suffix


def _as_published(entries: Sequence[Any], configuration: Configuration) -> Sequence[Any]:
    """Return entries in the form of the response; only ranges differ."""
    if Interval not in set(map(type, entries)):
        return entries
    write = Interval.as_label if configuration.form == "label" else Interval.as_range
    return [write(entry) if isinstance(entry, Interval) else entry for entry in entries]


class _Noise:
    """Independent noise for an attribute; the generator is created on first use, because most operations need none."""

    def __init__(self, attribute: str, seed: int | None) -> None:
        self._attribute, self._seed = attribute, seed

    @cached_property
    def _generator(self) -> np.random.Generator:
        """Return the generator, seeded from the operating system's entropy if there is no seed."""
        seed = None if self._seed is None else [self._seed, zlib.crc32(self._attribute.encode())]
        return np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


def _check_length(outcome: OperationResult, expected: int, rule: AttributeRule) -> None:
    if len(outcome.codes) != expected:
        raise DataError("operation-length", operation=rule.operation, attribute=rule.attribute)


def _check_names(answer: Mapping[str, AttributeColumn]) -> None:
    taken: dict[str, str] = {}
    for name, column in answer.items():
        if taken.setdefault(column.name, name) != name:
            raise PlanError("name-taken.published_twice", name=column.name).about(column=name)


def _kpis(answer: Mapping[str, AttributeColumn], rows: int) -> dict[str, int]:
    buckets = {
        f"{name}NumberAttributes": column.outcome.buckets
        for name, column in answer.items()
        if column.outcome is not None
    }
    grouping = [
        column.codes
        for column in answer.values()
        if column.codes is not None and column.outcome and column.outcome.groups
    ]
    return {"kAnonymity": smallest_class(grouping, rows) if grouping else 1} | buckets


def smallest_class(columns: Sequence[npt.NDArray[np.int64]], rows: int) -> int:
    """Return the size of the smallest group of rows that agree on all columns.

    >>> smallest_class([np.array([0, 0, 1]), np.array([5, 5, 5])], 3)
    1
    """
    if rows <= FEW_ROWS:
        return min(Counter(zip(*(codes.tolist() for codes in columns), strict=True)).values())
    groups = np.zeros(rows, np.int64)
    for codes in columns:
        width = int(codes.max()) + 2
        groups = np.unique(groups * width + codes + 1, return_inverse=True)[1].ravel()
    return int(np.bincount(groups).min())


def _warnings(kpis: Mapping[str, int], unknown: Sequence[str]) -> tuple[Message, ...]:
    warnings = []
    if kpis["kAnonymity"] == 1:
        warnings.append(Message("note.unique_record"))
    return (*warnings, *passed_warning(unknown))
