"""Attribute disclosure of sensitive columns, and uniqueness by published columns that are no quasi-identifiers.

Both are measured whether or not the plan names a model. Of a sensitive column: the classes in which all rows have one
value (anyone known to be in such a class has it), those in which all values are missing, those in which some are
missing and all others are equal, the smallest number of values in a class (the l of distinct l-diversity) and the
largest distance of a class to all published rows (the t of t-closeness with equal distances). Of published columns that
are no quasi-identifiers: how many rows are unique by one of them, by two together, or by one and the published
quasi-identifiers. If persons are counted, several identical rows of one person count as unique. No guarantee covers
these rows: anyone who knows such a value of a person finds the row. A column that nearly determines a quasi-identifier
is treated as known to anyone who knows that quasi-identifier (see `telling`).

A missing value does not count for l. Values that are likely spelling variants of one
(`hierarchies/spellings.py`) are counted as written, and a second time as one value.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.hierarchies.spellings import meanings
from sfumato.microdata.counts.combinations import numbers_of
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import of_plain_keys
from sfumato.microdata.measures.inference import InferenceRisk, PairInference
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Histogram, histogram
from sfumato.microdata.models.l_diversity import judged_values, told_values
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.microdata.published_table import STAR, classes_of, published_persons
from sfumato.values import Value, asdict, field


class AttributeDisclosureMetrics(Value):
    """Attribute disclosure of a sensitive column by published classes.

    Attributes:
        classes: Classes that show the column.
        homogeneous_classes: Classes in which all rows have the same value and none is missing.
        homogeneous_rows: Rows of these classes.
        l: The smallest number of distinct values in a class.
        t: The largest distance between the distributions of a class and of all published rows.
        spellings: Number of written values beyond the distinct meanings.
        l_without_spelling_variants: The smallest number of values in a class with spelling variants counted as one.
        blank_classes: Classes in which all values are missing.
        blank_rows: Rows of these classes.
        part_blank_classes: Classes in which some values are missing and all others are equal.
        part_blank_rows: Rows of these classes.
    """

    classes: int
    homogeneous_classes: int
    homogeneous_rows: int
    l: int  # noqa: E741  (the letters of the literature)
    t: float
    spellings: int = 0
    l_without_spelling_variants: int | None = None
    blank_classes: int = 0
    blank_rows: int = 0
    part_blank_classes: int = 0
    part_blank_rows: int = 0

    @property
    def diverse(self) -> bool:
        """Whether every class contains several values."""
        return not (self.homogeneous_classes or self.blank_classes or self.part_blank_classes)


class UniqueRows(Value):
    """Number of published rows that are unique by some columns that are no quasi-identifiers."""

    columns: tuple[str, ...]
    rows: int


class SeveralKnown(Value):
    """Number of published rows that are unique by several columns jointly, none of them a quasi-identifier.

    Attributes:
        columns: The number of such columns.
        known: The number of these columns that an attacker knows in addition to the quasi-identifiers.
        rows: The rows that these make unique, on average over some choices of columns.
        all_rows: The rows that all these columns make unique, without the quasi-identifiers.
    """

    columns: int
    known: int
    rows: float
    all_rows: int


class Disclosure(Value):
    """Disclosure by a release outside its guarantees.

    Attributes:
        sensitive: Metrics of each sensitive column.
        unique_rows: Unique rows by each column alone, and by the pairs with most unique rows.
        unique_in_classes: For each column, the rows that are unique by it and the quasi-identifiers jointly.
        inference_risks: Columns that predict a quasi-identifier.
        pair_inferences: Columns nearly determined by two quasi-identifiers, or by one and another column.
        largest_share: The largest share of a class's rows that belong to one person, if persons are counted.
        unmeasured: Notes on measures omitted because the table has too many rows.
        several: Rows that are unique by several columns jointly, if there are many columns.
    """

    sensitive: Mapping[str, AttributeDisclosureMetrics] = field(default_factory=dict)
    unique_rows: tuple[UniqueRows, ...] = ()
    unmeasured: tuple[str, ...] = ()
    unique_in_classes: Mapping[str, int] = field(default_factory=dict)
    inference_risks: tuple[InferenceRisk, ...] = ()
    pair_inferences: tuple[PairInference, ...] = ()
    largest_share: float | None = None
    several: SeveralKnown | None = None

    @property
    def most_telling(self) -> UniqueRows | None:
        """The one or two columns by which most rows are unique; None if no row is."""
        worst = max(self.unique_rows, key=lambda entry: (entry.rows, -len(entry.columns)), default=None)
        return worst if worst is not None and worst.rows else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "sensitive": {name: asdict(figures) for name, figures in self.sensitive.items()},
            "unique_rows": [{"columns": list(entry.columns), "rows": entry.rows} for entry in self.unique_rows],
            "unique_in_classes": dict(self.unique_in_classes),
            "inference_risks": [asdict(tell) for tell in self.inference_risks],
            "pair_inferences": [asdict(tell) for tell in self.pair_inferences],
            "not_measured": list(self.unmeasured),
            **({} if self.largest_share is None else {"largest_share": self.largest_share}),
            **({} if self.several is None else {"column_sets": asdict(self.several)}),
        }


def largest_share(text_counts: ValueCounts, star_rows: bool) -> float:
    """Return the largest share of a class's rows that belong to one person, from counts with the person column last.

    Args:
        star_rows: Whether rows with `*` in every column are suppressed ones, which form no class.
    """
    if not len(text_counts.counts):
        return 0.0
    codes, sizes = text_counts.codes, text_counts.counts.astype(np.float64)
    stars = [[text == STAR for text in texts] for texts in text_counts.values[:-1]]
    hidden = np.all([np.array(one)[codes[:, place]] for place, one in enumerate(stars)], axis=0) & star_rows
    classes = np.unique(codes[:, :-1], axis=0, return_inverse=True)[1].reshape(-1)
    pairs, owners = np.unique(np.column_stack([classes, codes[:, -1]]), axis=0, return_inverse=True)
    rows = np.bincount(owners.reshape(-1), weights=np.where(hidden, 0.0, sizes))
    return float((rows / np.bincount(classes, weights=sizes)[pairs[:, 0]]).max())


def attribute_figures(
    text_counts: ValueCounts,
    quasi_identifiers: Sequence[str],
    column: str,
    missing: Sequence[str],
    star_rows: bool,
    of_persons: ValueCounts | None = None,
) -> AttributeDisclosureMetrics:
    """Return the metrics of one sensitive column, from published rows counted by it and the quasi-identifiers.

    Args:
        of_persons: The same rows counted with the plain keys of the persons last, where persons are counted: a class
            has one value where all its persons have it, whatever else they have.
    """
    published = classes_of(text_counts, quasi_identifiers, {column}, missing, star_rows=star_rows)
    sizes = published.visible.sizes
    if of_persons is not None:
        members = dict.fromkeys((None, column), of_plain_keys(of_persons))
        published = published_persons(text_counts, quasi_identifiers, published, members, missing)
    visible = published.visible
    told, judged = (of(visible, published.shown, column) for of in (told_values, judged_values))
    values, most = np.diff(judged.starts), np.zeros(len(sizes), np.int64)
    np.maximum.at(most, judged.owners, judged.counts)
    everybody = most == visible.sizes
    alone, blank, part_blank = (values == 1) & everybody, values == 0, (values == 1) & ~everybody
    texts = published.shown.sensitive[column].texts
    spelled, meant = _meant(told, texts)
    return AttributeDisclosureMetrics(
        len(values),
        int(alone.sum()),
        int(sizes[alone].sum()),
        _least(values),
        TCloseness(1.0, column).achieved(visible, published.shown),
        spelled,
        min(_least(values), _least(np.diff(meant.starts))) if spelled else None,
        int(blank.sum()),
        int(sizes[blank].sum()),
        int(part_blank.sum()),
        int(sizes[part_blank].sum()),
    )


def _least(values: Counts) -> int:
    return int(values.min()) if len(values) else 0


def _meant(content: Histogram, texts: Sequence[str | None]) -> tuple[int, Histogram]:
    """Return the number of written values beyond the distinct meanings, and the histogram of the meanings."""
    meaning = meanings(text for text in texts if text not in (None, STAR))
    places = {meant: place for place, meant in enumerate(dict.fromkeys(meaning.values()))}
    codes = np.array([places.get(meaning.get(text or "", ""), len(places)) for text in texts] or [0], np.int32)
    values = codes[content.values]
    merged = histogram(content.owners, values, content.counts, len(content.starts) - 1, len(places) + 1)
    return len(meaning) - len(places), merged


def unique_rows(
    text_counts: ValueCounts,
    columns: Sequence[str],
    missing: Sequence[str] = (),
    besides: Sequence[str] = (),
    person: str | None = None,
) -> UniqueRows:
    """Return the number of rows unique by some columns; missing and suppressed values identify no row.

    Args:
        text_counts: Published rows, counted by these columns at least.
        besides: Further columns that distinguish rows, whatever their values.
        person: The column that names persons, where they were counted by it, too: then no other person's row equals.
    """
    places = [text_counts.columns.index(name) for name in (*columns, *besides)]
    silent = {None, "", STAR, *missing}
    masks = [
        np.array([text not in silent for text in text_counts.values[place]] or [False], bool)
        for place in places[: len(columns)]
    ]
    owners, first = numbers_of(text_counts.codes[:, places], [len(text_counts.values[place]) for place in places])
    keys = text_counts.codes[first][:, places]
    rows = np.bincount(owners, weights=text_counts.counts, minlength=len(keys))
    alone = rows == 1 if person is None else _of_one_person(text_counts, person, owners, first)
    shown = np.all([mask[keys[:, place]] for place, mask in enumerate(masks)], axis=0)
    return UniqueRows(tuple(columns), int(rows[alone & shown].sum()))


def _of_one_person(text_counts: ValueCounts, person: str, owners: Counts, first: Counts) -> BoolArray:
    """Return which groups of counted rows, given by their first positions, belong to one person only."""
    persons = text_counts.codes[:, text_counts.columns.index(person)]
    others = np.bincount(owners, weights=persons != persons[first][owners], minlength=len(first)).astype(np.int64)
    return np.equal(others, 0)
