"""The published rows as a data user sees them: classes of equal quasi-identifiers, and the reference of the models."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.combinations import matching_rows, numbers_of
from sfumato.microdata.counts.frequency_table import ValueCounts, value_of
from sfumato.microdata.counts.persons import PersonCount, person_histogram, places_among, value_codes
from sfumato.microdata.counts.survey_sample import weights_in_order
from sfumato.microdata.models.equivalence_classes import (
    POPULATION,
    BoolArray,
    Counts,
    EquivalenceClasses,
    Histogram,
    histogram,
    holding_weights,
    reference_of,
)
from sfumato.microdata.models.persons import PERSONS, by_persons, persons_with, whole_by_persons
from sfumato.microdata.recoding.reference import holding_persons
from sfumato.values import Value, replace

STAR = "*"


class PublishedClasses(Value):
    """Published rows as classes, with the reference of the models.

    Attributes:
        visible: Classes that are not suppressed.
        suppressed: The suppressed rows, as one class.
        shown: All rows whose sensitive values are published.
        raw: The original table, if known.
        combinations: The codes of the quasi-identifiers of all classes.
        hidden: Which of these classes are suppressed rows.
    """

    visible: EquivalenceClasses
    suppressed: EquivalenceClasses
    shown: EquivalenceClasses
    raw: EquivalenceClasses | None
    combinations: npt.NDArray[np.int32]
    hidden: BoolArray


def classes_of(
    text_counts: ValueCounts,
    quasi_identifiers: Sequence[str],
    columns: set[str],
    missing: Sequence[str],
    reference: EquivalenceClasses | None = None,
    persons: Mapping[tuple[str | None, ...], int] | None = None,
    star_rows: bool = True,
) -> PublishedClasses:
    """Return published rows as classes of equal quasi-identifiers."""
    places = [text_counts.columns.index(name) for name in quasi_identifiers]
    codes = text_counts.codes[:, places]
    owners, first = numbers_of(codes, [len(text_counts.values[place]) for place in places])
    count = len(first)
    sizes = np.bincount(owners, weights=text_counts.counts, minlength=count).astype(np.int64)
    texts = {name: reference.sensitive[name].texts for name in columns} if reference is not None else {}
    hidden = np.zeros(count, bool)
    hidden[owners[_stars(text_counts, places)]] = star_rows
    if hidden.all():
        hidden[:] = False
    veiled = _veiled(text_counts, columns, hidden[owners])
    # The `*` of suppressed rows is no value of the column, so the distribution omits those rows.
    shown = ~hidden[owners] if veiled else np.ones(len(owners), bool)
    contents = {
        name: _histogram(text_counts, name, owners, shown, count, missing, texts.get(name, ())) for name in columns
    }
    all_classes = EquivalenceClasses(sizes, contents)
    visible, suppressed = all_classes.kept(~hidden), all_classes.kept(hidden)
    if veiled:
        suppressed = EquivalenceClasses(sizes[hidden], {})
    shown_rows = reference_of(all_classes if suppressed.sensitive else visible, all_classes)
    raw = None if reference is None else _reference(reference, contents)
    if persons is not None:
        combinations = _texts_of(text_counts, places, codes[first[~hidden]])
        visible = holding_persons(visible, np.array([persons.get(labels, 0) for labels in combinations], np.int64))
    return PublishedClasses(visible, suppressed, shown_rows, raw, codes[first], hidden)


def published_persons(
    text_counts: ValueCounts,
    quasi_identifiers: Sequence[str],
    published: PublishedClasses,
    members: Mapping[str | None, PersonCount],
    missing: Sequence[str],
) -> PublishedClasses:
    """Return the published classes with persons instead of rows."""
    contents = {
        PERSONS if name is None else persons_with(name): _person_content(
            name, text_counts, quasi_identifiers, published, entry, missing
        )
        for name, entry in members.items()
        if name is None or name in published.visible.sensitive
    }
    count = len(published.hidden)
    nothing = Histogram(np.zeros(count + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), 1)
    names = [name for name in published.visible.sensitive if name != POPULATION]
    all_classes = EquivalenceClasses(np.zeros(count, np.int64), {**dict.fromkeys(names, nothing), **contents})
    visible = by_persons(all_classes.kept(~published.hidden), all_classes)
    suppressed = by_persons(all_classes.kept(published.hidden), all_classes)
    if not published.suppressed.sensitive:
        suppressed = EquivalenceClasses(suppressed.sizes, {}, counts_persons=True)
    if POPULATION in published.visible.sensitive:
        visible = replace(visible, sensitive={**visible.sensitive, POPULATION: published.visible.sensitive[POPULATION]})
    rows = all_classes if published.suppressed.sensitive else all_classes.kept(~published.hidden)
    shown = _in_persons(reference_of(rows, all_classes), published.shown)
    raw = None if published.raw is None else _in_persons(published.raw, published.raw)
    return replace(published, visible=visible, suppressed=suppressed, shown=shown, raw=raw)


def _in_persons(whole: EquivalenceClasses, coded: EquivalenceClasses) -> EquivalenceClasses:
    """Return the reference in persons, with its values coded as in other classes."""
    members = whole_by_persons(whole)
    wider = {
        name: replace(members.sensitive[name], size=old.size, texts=old.texts, memo={}, order_memo={})
        for name, old in coded.sensitive.items()
        if name in members.sensitive and old.texts
    }
    return replace(members, sensitive={**members.sensitive, **wider})


def _person_content(
    name: str | None,
    text_counts: ValueCounts,
    quasi_identifiers: Sequence[str],
    published: PublishedClasses,
    entry: PersonCount,
    missing: Sequence[str],
) -> Histogram:
    """Return the persons of all published classes, optionally with their values of a column."""
    columns = []
    for column in quasi_identifiers:
        places = {text: code for code, text in enumerate(text_counts.values[text_counts.columns.index(column)])}
        at = entry.text_counts.columns.index(column)
        codes = np.array([places.get(text, -1) for text in entry.text_counts.values[at]] or [-1], np.int32)
        columns.append(codes[entry.text_counts.codes[:, at]])
    sizes = [len(text_counts.values[text_counts.columns.index(column)]) for column in quasi_identifiers]
    owners = places_among(np.column_stack(columns), published.combinations, sizes)
    classes = len(published.hidden)
    if name is None:
        content = person_histogram(owners, np.zeros(len(owners), np.int64), entry, classes, 1)
        return replace(content, texts=(None,))
    texts = published.shown.sensitive[name].texts
    codes_of = {text: code for code, text in enumerate(texts)}
    spelled = entry.text_counts.values[entry.text_counts.columns.index(name)]
    # The `*` of suppressed rows is no value: those rows are left out.
    values = value_codes(entry.text_counts, name, {text: codes_of.get(value_of(text, missing), -1) for text in spelled})
    owners = np.where(values < 0, -1, owners)
    content = person_histogram(owners, np.maximum(values, 0), entry, classes, max(len(texts), 1))
    return replace(content, texts=texts)


def _reference(reference: EquivalenceClasses, contents: Mapping[str, Histogram]) -> EquivalenceClasses:
    """Return the original table, extended by values that are published though it lacks them."""
    wider = {
        name: replace(reference.sensitive[name], size=new.size, texts=new.texts, memo={}, order_memo={})
        for name, new in contents.items()
    }
    return replace(reference, sensitive={**reference.sensitive, **wider})


def _texts_of(
    text_counts: ValueCounts, places: Sequence[int], codes: npt.NDArray[np.int32]
) -> list[tuple[str | None, ...]]:
    """Return published combinations as texts."""
    texts = [text_counts.values[place] for place in places]
    return [tuple(values[code] for values, code in zip(texts, row, strict=True)) for row in codes.tolist()]


def _stars(text_counts: ValueCounts, places: Sequence[int]) -> BoolArray:
    """Return the combinations with `*` in every quasi-identifier."""
    stars = np.ones(len(text_counts.counts), bool)
    for place in places:
        texts = np.array([text == STAR for text in text_counts.values[place]], bool)
        stars &= texts[text_counts.codes[:, place]]
    return stars


def _veiled(text_counts: ValueCounts, columns: set[str], hidden: BoolArray) -> bool:
    """Return whether the sensitive values of all suppressed rows are `*` too."""
    for name in columns:
        place = text_counts.columns.index(name)
        if any(text_counts.values[place][code] != STAR for code in present_codes(text_counts.codes[hidden, place])):
            return False
    return True


def _histogram(
    text_counts: ValueCounts,
    name: str,
    owners: Counts,
    shown: BoolArray,
    count: int,
    missing: Sequence[str],
    texts: Sequence[str | None],
) -> Histogram:
    """Return the sensitive values of each class, coded as in the original table if that is known.

    Args:
        shown: Which combinations show a value; the values of others are ignored.
    """
    codes = text_counts.codes[shown, text_counts.columns.index(name)]
    values = text_counts.values[text_counts.columns.index(name)]
    present = {code: value_of(values[code], missing) for code in present_codes(codes)}
    domain = {text: code for code, text in enumerate(dict.fromkeys((*texts, *present.values())))}
    recode = np.zeros(max(len(values), 1), np.int32)
    for code, text in present.items():
        recode[code] = domain[text]
    content = histogram(owners[shown], recode[codes], text_counts.counts[shown], count, max(len(domain), 1))
    return replace(content, texts=tuple(domain))


def matched(
    text_counts: ValueCounts, quasi_identifiers: Sequence[str], missing: Sequence[str], star_rows: bool
) -> Counts:
    """Return for each published combination the rows that match it if a missing value matches anything."""
    places = [text_counts.columns.index(name) for name in quasi_identifiers]
    stars = _stars(text_counts, places) & star_rows
    absent = [
        np.array([text is None or text in missing for text in text_counts.values[place]], bool)[
            text_counts.codes[:, place]
        ]
        for place in places
    ]
    keep = ~stars if not stars.all() else np.ones(len(stars), bool)
    unknown = np.column_stack(absent)[keep]
    return matching_rows(text_counts.codes[keep][:, places], unknown, text_counts.counts[keep])


def weighted(
    text_counts: ValueCounts,
    quasi_identifiers: Sequence[str],
    published: PublishedClasses,
    weights: Mapping[tuple[str | None, ...], int],
) -> EquivalenceClasses:
    """Return the visible classes with the weights of their rows."""
    places = [text_counts.columns.index(name) for name in quasi_identifiers]
    labels = _texts_of(text_counts, places, published.combinations[~published.hidden])
    return holding_weights(published.visible, weights_in_order(weights, list(labels)))
