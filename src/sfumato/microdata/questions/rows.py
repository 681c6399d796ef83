"""The rows that a question is asked of, and expressions computed on them: from the raw file, or as a data user reads.

A published label is read from its text alone: an interval as its midpoint, an open one as its end, a set as the mean of
its numbers, `*` as missing. As a category, a label that covers several raw values is a category of its own.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.localization.messages import Message
from sfumato.microdata.attacks.label_semantics import MOST_PAIRS, meaning_of, numbers_in
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.questions.formula import NUMERIC, column_of, constant_of, function_of, shown
from sfumato.microdata.recoding.mapping import tells_something
from sfumato.values import Value

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.object_]
# Numbers, or texts for categories.
Values = npt.NDArray[Any]
Side = Literal["raw", "merged", "published"]
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.BitAnd: np.minimum,
    ast.BitOr: np.maximum,
}
_COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}


class Unanswerable(Exception):  # noqa: N818  (it becomes the verdict "not possible")
    """A question has no answer from these rows; the first argument is the message why."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(Message(f"question.why.{code}", **values))


class ColumnValues(Value, dict=True):
    """What the texts of a column are: its raw values, and the raw values that each published label covers.

    Attributes:
        raw: The distinct raw values.
        labels: The published labels with their rows, without `*` and missing values.
        hierarchy: The hierarchy of the column, if it has one.
    """

    raw: tuple[str, ...]
    labels: Mapping[str, int]
    hierarchy: Hierarchy | None = None

    @cached_property
    def numeric(self) -> bool:
        """Whether all raw values are numbers."""
        return numbers_in(self.raw) is not None

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The raw values in order."""
        return tuple(sorted(self.raw, key=float if self.numeric else str))

    @cached_property
    def members(self) -> Mapping[str, frozenset[str]]:
        """The raw values that each text, raw or published, covers; none if that is unknown."""
        own = {value: frozenset((value,)) for value in self.raw}
        others = [label for label in self.labels if label not in own]
        if len(others) * len(self.raw) > MOST_PAIRS:
            return {**dict.fromkeys(others, frozenset[str]()), **own}
        covers = meaning_of(others, self.values, self.hierarchy).covers
        values = np.array(self.values, object)
        return {**{label: frozenset(values[row]) for label, row in zip(others, covers, strict=True)}, **own}

    @cached_property
    def published(self) -> Mapping[str, str]:
        """The category of each published label: the raw value that it is alone, or what it covers."""
        places = {value: place for place, value in enumerate(self.values)}
        pure = {value for label in self.labels for value in self.members[label] if len(self.members[label]) == 1}
        names = {}
        for label in self.labels:
            covered = sorted(self.members[label], key=places.__getitem__)
            free = [value for value in covered if value not in pure]
            names[label] = covered[0] if len(covered) == 1 else free[0] if free else f"? {label}"
        return names

    @cached_property
    def merged(self) -> Mapping[str, str | None]:
        """The published category that each raw value falls in; None if no label covers it."""
        best: dict[str, tuple[int, str]] = {}
        for label, rows in self.labels.items():
            name = self.published[label]
            for value in self.members[label]:
                found = (rows + (10**15 if len(self.members[label]) == 1 else 0), name)
                best[value] = max(best.get(value, found), found)
        return {value: best[value][1] if value in best else None for value in self.raw}

    @cached_property
    def is_merged(self) -> bool:
        """Whether several raw values have become one category."""
        kept = [name for name in self.merged.values() if name is not None]
        return len(set(kept)) < len(kept)

    def number(self, text: str) -> float:
        """Return a text as a number: an interval as its midpoint, an open one as its end."""
        low, high = bounds_of(text)
        if low is None or high is None:
            ends = [end for end in (low, high) if end is not None]
            known = [float(value) for value in self.members.get(text, ())] if self.numeric and not ends else ends
            return float(np.mean(known)) if known else np.nan
        return (low + high) / 2


class Rows(Value):
    """Some columns of the raw or the published rows; `merged` is the raw rows with the categories of the published.

    Attributes:
        texts: The distinct texts of each column, None for missing ones.
        codes: For each column and row, the place of its text.
    """

    side: Side
    columns: Mapping[str, ColumnValues]
    texts: Mapping[str, Sequence[str | None]]
    codes: Mapping[str, npt.NDArray[np.int64]]

    def numbers(self, name: str) -> Floats:
        """Return a column as numbers, NaN for missing values."""
        numbers = [np.nan if text is None else self.columns[name].number(text) for text in self.texts[name]]
        return np.array(numbers, float)[self.codes[name]]

    def categories(self, name: str) -> Texts:
        """Return a column as categories, None for missing values."""
        column = self.columns[name]
        names: Mapping[str, str | None] = {"published": column.published, "merged": column.merged}.get(self.side, {})
        categories = [None if text is None else names.get(text, text) for text in self.texts[name]]
        return np.array(categories, object)[self.codes[name]]

    def among(self, name: str, wanted: Iterable[object]) -> Floats:
        """Return 1 where a label covers only wanted values, 0 where none of them, NaN where both."""
        column = self.columns[name]
        constants = [*wanted]
        hits = {value for value in column.raw if any(_same(value, one) for one in constants)}
        holds = []
        for text in self.texts[name]:
            covered = frozenset[str]() if text is None else column.members[text]
            holds.append(1.0 if covered and covered <= hits else 0.0 if covered and not covered & hits else np.nan)
        return np.array(holds, float)[self.codes[name]]


def rows_of(
    counted: ValueCounts, columns: Mapping[str, ColumnValues], side: Side, absent: Mapping[str, Iterable[str]]
) -> Rows:
    """Return counted rows one by one, in an order that depends on their texts alone."""
    missing = {name: {*absent.get(name, ())} for name in counted.columns}
    texts = {
        name: [None if text in missing[name] or not tells_something(text) else text for text in values]
        for name, values in zip(counted.columns, counted.values, strict=True)
    }
    ranks = [
        np.argsort(np.argsort([text or "" for text in values], kind="stable"))[counted.codes[:, place]]
        for place, values in enumerate(counted.values)
    ]
    order = np.lexsort(ranks) if ranks else np.zeros(len(counted.counts), np.int64)
    places = np.repeat(order, counted.counts[order])
    codes = {name: counted.codes[places, place].astype(np.int64) for place, name in enumerate(counted.columns)}
    return Rows(side, columns, texts, codes)


def column_values(
    raw: ValueCounts, published: ValueCounts, absent: Mapping[str, Iterable[str]], hierarchies: Mapping[str, Hierarchy]
) -> dict[str, ColumnValues]:
    """Return what the texts of each column are."""
    found = {}
    for place, name in enumerate(raw.columns):
        missing = {*absent.get(name, ())}
        rows = np.bincount(published.codes[:, place], published.counts, len(published.values[place])).astype(int)
        labels = {
            text: int(count)
            for text, count in zip(published.values[place], rows.tolist(), strict=True)
            if text is not None and text not in missing and tells_something(text)
        }
        values = tuple(t for t in raw.values[place] if t is not None and t not in missing and tells_something(t))
        found[name] = ColumnValues(values, labels, hierarchies.get(name))
    return found


def evaluate(node: ast.expr, rows: Rows) -> Values:
    """Return an expression for each row: numbers with NaN, or categories with None.

    Raises:
        Unanswerable: A column that must be numeric is not.
    """
    name, function = column_of(node), function_of(node)
    if name is not None:
        return rows.numbers(name) if rows.columns[name].numeric else rows.categories(name)
    if isinstance(node, ast.Call) and function == "C":
        inner = column_of(node.args[0])
        return rows.categories(inner) if inner is not None else _as_texts(evaluate(node.args[0], rows))
    if isinstance(node, ast.Call) and function == "cut":
        return _cut(numeric(node.args[0], rows), [float(constant_of(end)) for end in _entries(node.args[1])])
    if isinstance(node, ast.Call) and function == "I":
        return evaluate(node.args[0], rows)
    with np.errstate(all="ignore"):
        return _computed(node, function, rows)


def numeric(node: ast.expr, rows: Rows) -> Floats:
    """Return an expression as numbers.

    Raises:
        Unanswerable: It is no number.
    """
    result = evaluate(node, rows)
    if result.dtype == object:
        raise Unanswerable("not_numeric", column=shown(node))
    return result


def _computed(node: ast.expr, function: str, rows: Rows) -> Floats:
    if isinstance(node, ast.Call) and function in NUMERIC:
        return np.asarray(getattr(np, function)(numeric(node.args[0], rows)), float)
    if isinstance(node, ast.BinOp):
        left, right = numeric(node.left, rows), numeric(node.right, rows)
        return np.asarray(_ARITHMETIC[type(node.op)](left, right), float)
    if isinstance(node, ast.UnaryOp):
        inner = numeric(node.operand, rows)
        return 1 - inner if isinstance(node.op, ast.Not | ast.Invert) else -inner
    if isinstance(node, ast.BoolOp):
        join = np.minimum if isinstance(node.op, ast.And) else np.maximum
        return np.asarray(join.reduce([numeric(value, rows) for value in node.values]), float)
    if isinstance(node, ast.Compare):
        return _compared(node, rows)
    size = len(next(iter(rows.codes.values())))
    return np.full(size, float(constant_of(node)))


def _compared(node: ast.Compare, rows: Rows) -> Floats:
    """Return 1 where a comparison holds, 0 where it does not, NaN where that is unknown."""
    sign, right = type(node.ops[0]), node.comparators[0]
    wanted = [constant_of(one) for one in _entries(right)]
    name = column_of(node.left)
    if name is not None and sign in (ast.Eq, ast.NotEq, ast.In, ast.NotIn) and None not in wanted:
        found = rows.among(name, wanted)
        return 1 - found if sign in (ast.NotEq, ast.NotIn) else found
    left = numeric(node.left, rows)
    if sign in (ast.In, ast.NotIn):
        holds = np.isin(left, wanted) != (sign is ast.NotIn)
        return np.where(np.isnan(left), np.nan, holds)
    other = numeric(right, rows)
    return np.where(np.isnan(left) | np.isnan(other), np.nan, _COMPARISONS[sign](left, other))


def _entries(node: ast.expr) -> Sequence[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def _cut(numbers: Floats, ends: Sequence[float]) -> Texts:
    """Return the interval [low, high) that each number lies in."""
    names = np.array([f"{low:g}-{high:g}" for low, high in pairwise(ends)] + [None], object)
    places = np.searchsorted(ends, numbers, "right") - 1
    inside = (places >= 0) & (places < len(ends) - 1) & ~np.isnan(numbers)
    return names[np.where(inside, places, -1)]


def _as_texts(result: Values) -> Texts:
    if result.dtype == object:
        return result
    return np.array([None if np.isnan(number) else f"{number:g}" for number in result], object)


def _same(text: str, constant: object) -> bool:
    """Return whether a text is the constant of a formula: 1 is "1.0", True is "true"."""
    if isinstance(constant, bool):
        return text.casefold() == str(constant).casefold()
    if isinstance(constant, int | float):
        return bounds_of(text) == (float(constant), float(constant))
    return text == constant
