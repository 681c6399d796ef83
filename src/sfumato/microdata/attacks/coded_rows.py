"""Rows that attacks work on (published, original and control rows), coded column by column for compiled loops."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.label_bounds import in_order
from sfumato.microdata.attacks.label_semantics import (
    MOST_PAIRS,
    Floats,
    LabelSemantics,
    Text,
    coded_numbers,
    meaning_of,
    numbers_in,
    ranges_of,
)
from sfumato.values import Value, field

Codes = npt.NDArray[np.int32]


class CodedTexts(Sequence[Text]):
    """A column of texts, stored as codes.

    >>> column = CodedTexts.of(["b", "a", "b", None])
    >>> list(column), column[1], column.mapped(lambda texts: ["x" for _ in texts])[3]
    (['b', 'a', 'b', None], 'a', 'x')
    """

    def __init__(self, texts: Sequence[Text], codes: Codes) -> None:
        self._texts, self._codes = texts, codes

    @classmethod
    def of(cls, texts: Sequence[Text]) -> "CodedTexts":
        """Encode a column of texts."""
        if isinstance(texts, CodedTexts):
            return texts
        places: dict[Text, int] = {}
        codes = np.fromiter((places.setdefault(text, len(places)) for text in texts), np.int32, len(texts))
        return cls(tuple(places), codes)

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, place: int) -> Text: ...
    @overload
    def __getitem__(self, place: slice) -> "CodedTexts": ...
    def __getitem__(self, place: int | slice) -> "Text | CodedTexts":
        return (
            CodedTexts(self._texts, self._codes[place]) if isinstance(place, slice) else self._texts[self._codes[place]]
        )

    def __iter__(self) -> Iterator[Text]:
        return map(self._texts.__getitem__, self._codes.tolist())

    def taken(self, places: npt.NDArray[np.int64]) -> "CodedTexts":
        """Return the texts of the rows at these positions."""
        return CodedTexts(self._texts, self._codes[places])

    def joined(self, others: "CodedTexts") -> "CodedTexts":
        """Return these rows followed by others."""
        places = {text: place for place, text in enumerate(self._texts)}
        codes = np.array([places.setdefault(text, len(places)) for text in others._texts], np.int32)
        return CodedTexts(tuple(places), np.concatenate([self._codes, codes[others._codes]]))

    def mapped(self, change: Callable[[Sequence[Text]], Sequence[Text]]) -> "CodedTexts":
        """Return the column with each distinct text replaced by the result of a function."""
        changed = CodedTexts.of(change(self._texts))
        return CodedTexts(changed._texts, changed._codes[self._codes])

    @property
    def distinct(self) -> tuple[tuple[Text, ...], Codes]:
        """The distinct texts in order of first occurrence, and the code of each row."""
        rows = np.full(len(self._texts), len(self._codes), np.int64)
        rows[self._codes[::-1]] = np.arange(len(self._codes))[::-1]  # the first row of each is written last
        present = np.argsort(rows, kind="stable")[: int((rows < len(self._codes)).sum())]
        places = np.zeros(len(rows), np.int32)
        places[present] = np.arange(len(present), dtype=np.int32)
        return tuple(self._texts[place] for place in present.tolist()), places[self._codes]


Columns = Mapping[str, Sequence[Text]]
# Beyond this share of rows with labels that cover no value, a column counts as recoded with unrelated labels.
MOST_STRANGE = 0.5


class AttackColumn(Value, dict=True):
    """One column: labels of the published rows, values of original and control rows, and the meaning of the labels.

    Attributes:
        labels: The distinct texts of the published rows.
        values: The distinct texts of the original and control rows together.
        published: The code of each published row, as its index in `labels`.
        raw: The code of each original row, as its index in `values`.
        control: The code of each control row, as its index in `values`.
        ladder: The hierarchy behind the labels, if known.
    """

    name: str
    labels: tuple[Text, ...]
    values: tuple[Text, ...]
    published: Codes
    raw: Codes
    control: Codes
    ladder: Hierarchy | None = None

    @property
    def is_large(self) -> bool:
        """Whether there are too many labels and values to compare all pairs."""
        return len(self.labels) * len(self.values) > MOST_PAIRS

    @cached_property
    def _meaning(self) -> LabelSemantics:
        return meaning_of(self.labels, self.values, self.ladder)

    @property
    def covers(self) -> npt.NDArray[np.bool_]:
        """Which label covers which value; only for columns that are not large."""
        return self._meaning.covers

    @property
    def distance(self) -> npt.NDArray[np.float32]:
        """From each label to each value; only for columns that are not large."""
        return self._meaning.distance

    @cached_property
    def label_places(self) -> npt.NDArray[np.int64]:
        """For each value the label with the same text, -1 if there is none."""
        places = {label: place for place, label in enumerate(self.labels)}
        return np.array([places.get(value, -1) for value in self.values], np.int64)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats] | None:
        """Labels and values as numbers, if they all are; values beyond a coded end are one number, as published.

        With a hierarchy, coded ends are not interpreted here, because it defines the meaning of its labels.
        """
        values = numbers_in(self.values)
        if self.ladder is not None or values is None:
            labels = numbers_in(self.labels)
            return None if labels is None or values is None else (labels, values)
        return coded_numbers(self.labels, values)

    @cached_property
    def ranges(self) -> tuple[Floats, Floats, Floats] | None:
        """Bounds of labels and the values as numbers, if they are ranges of numbers and too many for a table."""
        return ranges_of(self.labels, self.values) if self.is_large and self.numbers is None else None

    @cached_property
    def label_numbers(self) -> Floats:
        """Rank of each label by the values it covers, so that trees can split them."""
        if self.numbers is not None:
            return np.asarray(self.numbers[0])
        if self.is_large:
            return np.arange(len(self.labels), dtype=float)
        labels = in_order([label for label in self.labels if label is not None])
        ranks = {label: rank for rank, label in enumerate(labels)}
        return np.array([np.nan if label is None else float(ranks[label]) for label in self.labels])

    @cached_property
    def narrowest_labels(self) -> npt.NDArray[np.int64]:
        """For each value the narrowest label that covers it, -1 if none does."""
        if self.is_large:
            return self.label_places
        width = np.where(self.covers, self.covers.sum(axis=1)[:, None], np.iinfo(np.int64).max)
        return np.where(self.covers.any(axis=0), width.argmin(axis=0), -1)

    @cached_property
    def strange_labels(self) -> npt.NDArray[np.bool_]:
        """For each label whether it covers no value, so that it cannot be compared with anything."""
        if not self.is_large:
            return ~np.asarray(self.covers.any(axis=1))
        if self.ranges is not None:
            low, high, values = self.ranges
            ordered = np.sort(values[np.isfinite(values)])
            return np.searchsorted(ordered, low) >= np.searchsorted(ordered, high, "right")
        strange = np.ones(len(self.labels), bool)
        strange[self.label_places[self.label_places >= 0]] = False
        return strange

    @property
    def is_strange(self) -> bool:
        """Whether most rows are published with labels that are unrelated to the original values."""
        return self.numbers is None and float(self.strange_labels[self.published].mean()) > MOST_STRANGE

    @cached_property
    def is_hidden(self) -> bool:
        """Whether only `*` is published."""
        return all(label is None or not label.strip("*") for label in self.labels)

    def condition(self, label: int) -> npt.NDArray[np.bool_]:
        """Return for each value whether a label covers it."""
        if not self.is_large:
            row: npt.NDArray[np.bool_] = self.covers[label]
            return row
        same: npt.NDArray[np.bool_] = self.label_places == label
        return same


class AttackRows(Value):
    """All rows of an attack, and the roles of their columns.

    Attributes:
        promised: Columns with a privacy model.
        persons: The person of each original and control row, if a column identifies persons.
    """

    columns: tuple[AttackColumn, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    promised: tuple[str, ...]
    persons: Mapping[str, Codes] = field(default_factory=dict)

    def __getitem__(self, name: str) -> AttackColumn:
        return next(column for column in self.columns if column.name == name)

    @property
    def shown(self) -> tuple[AttackColumn, ...]:
        """The columns that carry information."""
        return tuple(column for column in self.columns if not column.is_hidden)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of published, original and control rows."""
        first = self.columns[0]
        return len(first.published), len(first.raw), len(first.control)


def coded_rows(
    published: Columns,
    raw: Columns,
    control: Columns,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    promised: Sequence[str] = (),
    ladders: Mapping[str, Hierarchy] | None = None,
    person: str | None = None,
) -> AttackRows:
    """Encode rows in the columns that all three tables have; `person` names the person column."""
    names = [name for name in published if name in raw and name in control]
    columns = tuple(
        _coded(name, published[name], raw[name], control[name], (ladders or {}).get(name)) for name in names
    )
    return AttackRows(
        columns,
        tuple(name for name in quasi_identifiers if name in names),
        tuple(name for name in sensitive if name in names),
        tuple(promised),
        {which: codes_of(side[person])[1] for which, side in (("raw", raw), ("control", control)) if person in side}
        if person is not None
        else {},
    )


def _coded(
    name: str, published: Sequence[Text], raw: Sequence[Text], control: Sequence[Text], ladder: Hierarchy | None
) -> AttackColumn:
    labels, of_published = codes_of(published)
    values, of_both = CodedTexts.of(raw).joined(CodedTexts.of(control)).distinct
    return AttackColumn(name, labels, values, of_published, of_both[: len(raw)], of_both[len(raw) :], ladder)


def codes_of(texts: Sequence[Text]) -> tuple[tuple[Text, ...], Codes]:
    """Return the distinct texts of a column, and the code of each row."""
    return CodedTexts.of(texts).distinct
