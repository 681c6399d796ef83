"""Rows that attacks work on (published, original and control rows), coded column by column for compiled loops."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.hierarchies.bounds import in_order
from sfumato.hierarchies.ladder import Ladder
from sfumato.microdata.attacks.coded_texts import CodedTexts, Codes
from sfumato.microdata.attacks.labels import (
    MOST_PAIRS,
    Floats,
    Meaning,
    Text,
    coded_numbers,
    meaning_of,
    numbers_in,
    ranges_of,
)

Columns = Mapping[str, Sequence[Text]]
# A column of which a greater share of rows has labels that stand for no value was recoded in words of its own.
MOST_STRANGE = 0.5


@dataclass(frozen=True)
class AttackColumn:
    """One column: labels of the published rows, values of raw and control rows, and what labels mean for values.

    Attributes:
        labels, values: The distinct texts of published rows, and of raw and control rows together.
        published, raw, control: The code of each row.
        ladder: The hierarchy behind the labels, where it is known.
    """

    name: str
    labels: tuple[Text, ...]
    values: tuple[Text, ...]
    published: Codes
    raw: Codes
    control: Codes
    ladder: Ladder | None = None

    @property
    def is_large(self) -> bool:
        """Whether labels and values are too many to compare each with each."""
        return len(self.labels) * len(self.values) > MOST_PAIRS

    @cached_property
    def _meaning(self) -> Meaning:
        return meaning_of(self.labels, self.values, self.ladder)

    @property
    def covers(self) -> npt.NDArray[np.bool_]:
        """Which label stands for which value; only for columns that are not large."""
        return self._meaning.covers

    @property
    def distance(self) -> npt.NDArray[np.float32]:
        """From each label to each value; only for columns that are not large."""
        return self._meaning.distance

    @cached_property
    def label_places(self) -> npt.NDArray[np.int64]:
        """For each value the label that is the same text, -1 where there is none."""
        places = {label: place for place, label in enumerate(self.labels)}
        return np.array([places.get(value, -1) for value in self.values], np.int64)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats] | None:
        """Labels and values as numbers, where they all are; values beyond a coded end are one, as published.

        A hierarchy says itself what its labels stand for.
        """
        values = numbers_in(self.values)
        if self.ladder is not None or values is None:
            labels = numbers_in(self.labels)
            return None if labels is None or values is None else (labels, values)
        return coded_numbers(self.labels, values)

    @cached_property
    def ranges(self) -> tuple[Floats, Floats, Floats] | None:
        """The ends of labels and the values as numbers, where they are ranges of numbers, too many for a table."""
        return ranges_of(self.labels, self.values) if self.is_large and self.numbers is None else None

    @cached_property
    def label_numbers(self) -> Floats:
        """Labels in the order of the values they stand for, so that trees can divide them."""
        if self.numbers is not None:
            return np.asarray(self.numbers[0])
        if self.is_large:
            return np.arange(len(self.labels), dtype=float)
        labels = in_order([label for label in self.labels if label is not None])
        ranks = {label: rank for rank, label in enumerate(labels)}
        return np.array([np.nan if label is None else float(ranks[label]) for label in self.labels])

    @cached_property
    def narrowest_labels(self) -> npt.NDArray[np.int64]:
        """For each value the narrowest label that stands for it, -1 where none does."""
        if self.is_large:
            return self.label_places
        width = np.where(self.covers, self.covers.sum(axis=1)[:, None], np.iinfo(np.int64).max)
        return np.where(self.covers.any(axis=0), width.argmin(axis=0), -1)

    @cached_property
    def strange_labels(self) -> npt.NDArray[np.bool_]:
        """For each label, whether it stands for no value: by its word it can be compared with nothing."""
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
        """Whether most rows are published in words that the raw rows lack."""
        return self.numbers is None and float(self.strange_labels[self.published].mean()) > MOST_STRANGE

    @cached_property
    def is_hidden(self) -> bool:
        """Whether nothing but stars is published."""
        return all(label is None or not label.strip("*") for label in self.labels)

    def condition(self, label: int) -> npt.NDArray[np.bool_]:
        """For each value, whether a label stands for it."""
        if not self.is_large:
            row: npt.NDArray[np.bool_] = self.covers[label]
            return row
        same: npt.NDArray[np.bool_] = self.label_places == label
        return same


@dataclass(frozen=True)
class AttackRows:
    """All rows of an attack, and which columns are what.

    Attributes:
        promised: Columns about which something is promised.
        persons: For raw and control rows whose they are, where a column names persons.
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
        """The columns that tell something."""
        return tuple(column for column in self.columns if not column.is_hidden)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Published, raw and control rows."""
        first = self.columns[0]
        return len(first.published), len(first.raw), len(first.control)


def coded_rows(
    published: Columns,
    raw: Columns,
    control: Columns,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    promised: Sequence[str] = (),
    ladders: Mapping[str, Ladder] | None = None,
    person: str | None = None,
) -> AttackRows:
    """Rows as codes: the columns that all three have; `person` names whose they are."""
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
    name: str, published: Sequence[Text], raw: Sequence[Text], control: Sequence[Text], ladder: Ladder | None
) -> AttackColumn:
    labels, of_published = codes_of(published)
    values, of_both = CodedTexts.of(raw).joined(CodedTexts.of(control)).distinct
    return AttackColumn(name, labels, values, of_published, of_both[: len(raw)], of_both[len(raw) :], ladder)


def codes_of(texts: Sequence[Text]) -> tuple[tuple[Text, ...], Codes]:
    """The distinct texts of a column, and the place of each row's."""
    return CodedTexts.of(texts).distinct
