"""Perturb published columns: read them, change, write, and read back for comparison.

Rows are perturbed after they are recoded: exact properties of a column (its mean, its distribution, the size of groups)
refer to the published rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines.engine import PublishedRows
from sfumato.engines.join_keys import PERSON, record_key, recorded
from sfumato.errors import InternalError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.combinations import numbers_of as combination_numbers
from sfumato.microdata.measures.perturbed import figures_of
from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.perturbation.number_text import checked, may_be_missing, numbers_of
from sfumato.microdata.perturbation.perturb import Exact, PerturbationResult, perturb
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.pseudonyms import PseudonymKey, pseudonyms_of
from sfumato.values import Value

# Tolerance of a mean, as a proportion of the greatest number; floating-point sums are precise to about sixteen digits.
CLOSE = 1e-14


class PerturbedRows(Value):
    """Published rows after perturbation, with metrics for the report.

    Attributes:
        unchanged: Columns in which every row kept its value.
    """

    engine: PublishedRows
    figures: Mapping[str, Any]
    unchanged: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[Message, ...]:
        """Notes that data users must see."""
        parts = self.figures["operations"]
        drawn = [name for part in parts if part["operation"] != "pseudonym" for name in part["columns"]]
        hidden = [name for part in parts if part["operation"] == "pseudonym" for name in part["columns"]]
        return (
            *(() if not drawn else (Message("note.perturbation", names=", ".join(drawn)),)),
            *_shortfalls(parts, self.unchanged),
            *(() if not hidden else (Message("note.pseudonymous", names=", ".join(hidden)),)),
        )


def perturbed(
    plan: Plan,
    published: PublishedRows,
    target: Path | None,
    keys: Mapping[str, PseudonymKey] | None = None,
) -> PerturbedRows:
    """Perturb columns of the published rows, and write them to a file if they come from one.

    Args:
        keys: The key of each pseudonymized column.

    Raises:
        DataError: Values are no numbers, or households are unknown.
        InternalError: The written rows differ from the intended ones.
    """
    read = _Reader(published, plan.data.missing)
    pseudonyms = {name: pseudonyms_of(key, plan.pseudonyms[name].kind) for name, key in (keys or {}).items()}
    households = _Households(plan, read) if plan.swaps_households else None
    parts = perturb(plan, read, households, pseudonyms)
    texts = {name: values for part in parts for name, values in part.texts.items()}
    engine = published.replaced(texts, target)
    try:
        check(engine, texts, parts, plan.data.missing)
    except BaseException:
        engine.close()
        raise
    unchanged = tuple(name for name, values in texts.items() if _is_unchanged(read.first(name), values))
    told = {"unchanged": list(unchanged)} if unchanged else {}
    return PerturbedRows(engine, _figures(plan, parts, keys or {}) | told, unchanged)


def _shortfalls(parts: Sequence[Mapping[str, Any]], unchanged: Sequence[str]) -> Iterator[Message]:
    """Yield what was requested but could not be done."""
    if unchanged:
        yield Message("note.unchanged", names=", ".join(unchanged))
    for part in parts:
        names = ", ".join(part["columns"])
        if part.get("blank_rows"):
            yield Message("note.blank", count=part["blank_rows"], names=names, k=part["k"])
        if "households" in part and part["swapped_households"] < int(part["share"] * part["households"]):
            counts = {"count": part["swapped_households"], "households": part["households"]}
            yield Message("note.fewer_households", names=names, share=part["share"], **counts)
        if part.get("unswapped_risky_households"):
            counts = {"count": part["unswapped_risky_households"], "risky": part["risky_households"]}
            yield Message("note.unswapped_households", names=names, **counts)


class _Households:
    """The household of each published row; a row without one is a household of its own."""

    def __init__(self, plan: Plan, read: "_Reader") -> None:
        key = f"{plan.chain_secret}:person:"
        self._read = read
        # Engines represent a missing person by its hash, the hash of an empty text, or None.
        self._alone = {None, *(record_key(text, key) for text in (None, "", *plan.data.missing))}

    def __call__(self) -> list[str]:
        keys = enumerate(self._read(PERSON))
        return [f"row {row}" if key in self._alone or key is None else key for row, key in keys]


class _Reader:
    """Reads each column once."""

    def __init__(self, engine: PublishedRows, missing: Sequence[str]) -> None:
        self._engine, self._missing = engine, missing
        self._columns: dict[str, Sequence[str | None]] = {}
        self._numbers: dict[str, Floats] = {}

    def __call__(self, column: str) -> Sequence[str | None]:
        if column not in self._columns:
            texts = self._engine.texts(column)
            self._columns[column] = recorded(texts) if column == PERSON else texts
        return self._columns[column]

    def numbers(self, column: str) -> Floats:
        if column not in self._numbers:
            # Texts of numbers are many times as large, so they are not kept in addition.
            self._numbers[column] = _floats(
                self._engine, column, self._missing, lambda: self._columns.get(column) or self._engine.texts(column)
            )
        return self._numbers[column]

    def first(self, column: str) -> Iterator[str | None]:
        """Yield the texts of a column from the first row on; texts of numbers are made one by one."""
        if column in self._columns or column not in self._numbers:
            return iter(self(column))
        return (None if isnan(number) else repr(number) for number in self._numbers[column].tolist())


def _floats(
    engine: PublishedRows, column: str, missing: Sequence[str], texts: Callable[[], Sequence[str | None]]
) -> Floats:
    """Return the numbers of a column, from the engine or parsed from its texts."""
    floats = None if may_be_missing(missing) else engine.floats(column)
    if floats is None or np.isinf(floats).any():
        return numbers_of(texts(), column, missing)
    return checked(floats, column)


def check(
    engine: PublishedRows,
    texts: Mapping[str, Sequence[str | None]],
    parts: Sequence[PerturbationResult],
    missing: Sequence[str],
) -> None:
    """Compare the written rows with the intended ones, and with the properties that must be exact."""
    written = _Reader(engine, missing)
    for name, meant in texts.items():
        if not _same(written(name), meant):
            raise _differs(f'the values of "{name}"')
    for part in parts:
        _check_exact(part.exact, written)


def _same(written: Sequence[str | None], meant: Sequence[str | None]) -> bool:
    """Return whether the texts are as intended; a number may have another text if columns have types."""
    if len(written) != len(meant):
        return False
    if list(written) == list(meant):
        return True
    # Most texts are identical; the others repeat in many rows, above all within groups.
    others = {pair for pair in zip(written, meant, strict=True) if pair[0] != pair[1]}
    return all(
        one == (other or None) or (one is not None and other is not None and _number(one) == _number(other))
        for one, other in others
    )


def _is_unchanged(before: Iterator[str | None], after: Sequence[str | None]) -> bool:
    """Return whether every row kept its value; stops at the first difference."""
    return all(
        one == other or (one is not None and other is not None and _number(one) == _number(other))
        for one, other in zip(before, after, strict=True)
    )


def _number(text: str) -> Decimal | str:
    """Return the number that a text represents, with all digits, or the text."""
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return text


def _check_exact(exact: Exact, written: _Reader) -> None:
    numeric = dict.fromkeys((*exact.means, *(name for names in exact.least for name in names)))
    numbers_by_name = {name: written.numbers(name) for name in numeric}
    for name, mean in exact.means.items():
        numbers = numbers_by_name[name]
        if abs(float(numbers.mean()) - mean) > CLOSE * max(float(np.abs(numbers).max(initial=1.0)), 1e-300):
            raise _differs(f'the mean of "{name}"')
    for name, texts in exact.sorted_texts.items():
        if Counter(_number(text) for text in written(name) if text is not None) != Counter(map(_number, texts)):
            raise _differs(f'the distribution of "{name}"')
    for names, least in exact.least.items():
        if least_alike([numbers_by_name[name] for name in names]) < least:
            raise _differs("the size of the groups of " + ", ".join(f'"{name}"' for name in names))


def least_alike(columns: Sequence[Floats]) -> int:
    """Return the size of the smallest group of identical rows; missing numbers are equal, rows without any ignored.

    >>> least_alike([np.array([1.0, 1, 2, 2, np.nan]), np.array([5.0, 5, np.nan, np.nan, np.nan])])
    2
    """
    there = ~np.logical_and.reduce([np.isnan(column) for column in columns])
    codes = np.column_stack([np.unique(column[there], return_inverse=True)[1] for column in columns]).astype(np.int64)
    owners, _ = combination_numbers(codes, [int(column.max(initial=0)) + 1 for column in codes.T])
    return int(np.bincount(owners).min(initial=len(codes)))


def _differs(what: str) -> InternalError:
    return InternalError("recount.written_differently", problem=what)


def _figures(plan: Plan, parts: Sequence[PerturbationResult], keys: Mapping[str, PseudonymKey]) -> dict[str, Any]:
    operations = [
        {"operation": part.operation, "columns": list(part.texts), **part.figures, **_key(part, keys)} for part in parts
    ]
    numeric = [part for part in parts if part.before is not None and part.after is not None]
    figures: dict[str, Any] = {"operations": operations}
    if numeric:
        names = [name for part in numeric for name in part.texts]
        before = np.column_stack([part.before for part in numeric if part.before is not None])
        after = np.column_stack([part.after for part in numeric if part.after is not None])
        figures["measures"] = figures_of(names, before, after, f"{plan.secret}:measures:")
    return figures


def _key(part: PerturbationResult, keys: Mapping[str, PseudonymKey]) -> dict[str, str]:
    """Return the fingerprint of the key of a pseudonymized column, if there is one."""
    (name, *_others) = part.texts
    return {"key": keys[name].fingerprint} if name in keys else {}
