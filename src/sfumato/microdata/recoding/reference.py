"""What models compare classes with: the reference distributions of a release, and the population table.

Some models depend on more than the published rows: on the shares of sensitive values in the original table before
suppression, or on the persons of a population. Neither can be derived from the published rows, so the release folder
keeps them in an internal file for later verification.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import BoundHierarchy, make_hierarchy
from sfumato.hierarchies.lists import HierarchyFile, PathFree, outside
from sfumato.microdata.counts.combinations import Words, packing_of
from sfumato.microdata.counts.frequency_table import DROPPED, FrequencyTable, ValueCounts
from sfumato.microdata.counts.grouping import Grouped
from sfumato.microdata.models.equivalence_classes import POPULATION, Counts, EquivalenceClasses, Histogram
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.persons import whole_by_persons
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import Labels, LevelRecoding, Recoding, published_labels
from sfumato.microdata.recoding.recoding_file import no_recoding
from sfumato.values import Value, replace


def with_texts(text_counts: ValueCounts, population: ValueCounts, missing: Sequence[str]) -> ValueCounts:
    """Return value counts extended by the population's texts, so that hierarchies cover the values of both."""
    values = []
    for name, texts in zip(text_counts.columns, text_counts.values, strict=True):
        further = population.values[population.columns.index(name)] if name in population.columns else ()
        values.append(tuple(dict.fromkeys((*texts, *(text for text in further if text and text not in missing)))))
    return replace(text_counts, values=tuple(values))


def with_population(table: FrequencyTable, population: ValueCounts, missing: Sequence[str]) -> FrequencyTable:
    """Return the table with its population, without population rows that have a value unknown to a hierarchy."""
    columns = []
    for name, coding in zip(table.columns, table.codings, strict=True):
        place = population.columns.index(name)
        texts = [None if text in missing else text for text in population.values[place]]
        value_codes = [coding.places.get(text, coding.ladder.places.get(text, DROPPED)) for text in texts]
        columns.append(np.array(value_codes or [DROPPED], np.int32)[population.codes[:, place]])
    codes = np.column_stack(columns)
    kept = (codes != DROPPED).all(axis=1)
    return replace(table, population=_grouped(table, codes[kept], population.counts[kept]))


def _grouped(table: FrequencyTable, codes: npt.NDArray[np.int32], counts: Counts) -> FrequencyTable:
    order = packing_of([ladder.size for ladder in table.ladders]).order(codes)
    codes, counts = codes[order], counts[order]
    first = np.ones(len(codes), bool)
    first[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    sizes = np.bincount(np.cumsum(first) - 1, weights=counts, minlength=int(first.sum())).astype(np.int64)
    return FrequencyTable(table.columns, table.codings, np.ascontiguousarray(codes[first]), sizes, {}, {})


def with_persons(grouped: Grouped, population: Grouped) -> EquivalenceClasses:
    """Return the classes of a node, each with its rows in the population."""
    persons = matched(grouped.keys, population.keys, population.sizes)
    return holding_persons(grouped.classes, persons)


def holding_persons(classes: EquivalenceClasses, persons: Counts) -> EquivalenceClasses:
    """Return classes with the number of persons of the population each represents."""
    count = len(persons)
    content = Histogram(np.arange(count + 1, dtype=np.int64), np.zeros(count, np.int32), persons, 1)
    return EquivalenceClasses(classes.sizes, {**classes.sensitive, POPULATION: content})


def matched(keys: Words, table_keys: Words, counts: Counts) -> Counts:
    """Return for each packed key the count of the equal known one, or 0."""
    sought, sorted_keys = _sortable(keys), _sortable(table_keys)
    if not len(sorted_keys):
        return np.zeros(len(sought), np.int64)
    order = np.argsort(sorted_keys)
    places = np.minimum(np.searchsorted(sorted_keys[order], sought), len(order) - 1)
    matches = order[places]
    return np.where(sorted_keys[matches] == sought, counts[matches], 0)


def _sortable(keys: Words) -> Any:
    """Return keys of several words as one sortable value each."""
    if len(keys) == 1:
        return keys[0]
    return np.ascontiguousarray(keys.T).view([(f"w{word}", np.uint64) for word in range(len(keys))]).reshape(-1)


def persons_by_label(table: FrequencyTable, recoding: Recoding) -> dict[Labels, int] | None:
    """Return the persons of the population of each published combination; None if unknown."""
    if table.population is None or not isinstance(recoding, LevelRecoding):
        return None
    persons: dict[Labels, int] = {}
    columns = [recoding.label_codes(place)[table.population.codes[:, place]] for place in range(len(table.columns))]
    for codes, rows in zip(np.column_stack(columns).tolist(), table.population.counts.tolist(), strict=True):
        labels = tuple(names[code] for names, code in zip(recoding.labels, codes, strict=True))
        persons[labels] = persons.get(labels, 0) + rows
    return persons


def holding_population(classes: EquivalenceClasses, table: FrequencyTable, recoding: Recoding) -> EquivalenceClasses:
    """Return the classes of a recoding with their persons in the population, if known."""
    persons = persons_by_label(table, recoding)
    if persons is None:
        return classes
    labels = [published_labels(recoding, place) for place in range(len(recoding.sizes))]
    return holding_persons(classes, np.array([persons.get(label, 0) for label in labels], np.int64))


def weights_by_label(table: FrequencyTable, recoding: Recoding) -> dict[Labels, int] | None:
    """Return the weights of each published combination, in millionths; None if unknown.

    The weights of a combination that is divided between classes cannot be attributed to these.
    """
    weights = None if table.sample is None else table.sample.weights
    if weights is None or getattr(recoding, "division", None) is not None:
        return None
    sums = np.zeros(len(recoding.sizes), np.int64)
    np.add.at(sums, recoding.owners, weights)
    kept = np.flatnonzero(~recoding.suppressed & (recoding.sizes > 0)).tolist()
    weights_of: dict[Labels, int] = {}
    for place in kept:
        labels = published_labels(recoding, place)
        weights_of[labels] = weights_of.get(labels, 0) + int(sums[place])
    return weights_of


class Reference(Value):
    """The distributions that models compare published rows with.

    Attributes:
        whole: The original table, as one class.
        persons: The persons of the population of each published combination, if a model needs them.
        hierarchies: The hierarchy of each model with a hierarchy file, by the model's index in the plan.
        weights: The weights of each published combination, in millionths, if the plan has some.
    """

    whole: EquivalenceClasses
    persons: Mapping[Labels, int] | None = None
    hierarchies: Mapping[int, "ListedHierarchy"] | None = None
    weights: Mapping[Labels, int] | None = None

    def with_hierarchies(self, models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
        """Return the models with the hierarchies as they were at the time of the release."""
        hierarchies = self.hierarchies or {}
        return tuple(
            replace(cast("Any", model), hierarchy=hierarchies[place])
            if model.value_hierarchy is not None and place in hierarchies
            else model
            for place, model in enumerate(models)
        )


class ListedHierarchy(PathFree):
    """A hierarchy given by its rows: a value, and its label at each level."""

    rows: tuple[tuple[str, ...], ...]

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the rows."""
        names, *levels = zip(*self.rows, strict=True)
        return BoundHierarchy(make_hierarchy(names, levels), outside(values, set(names)))


def reference_dict(plan: Plan, table: FrequencyTable, recoding: Recoding) -> dict[str, Any]:
    """Return the reference as plain values."""
    contents = {name: table.sensitive[name] for name in plan.promise_columns}
    figures: dict[str, Any] = {
        "rows": table.rows,
        "sensitive": {name: _totals(old) for name, old in contents.items()},
    }
    if table.persons:
        members = whole_by_persons(table.whole)
        figures["members"] = {
            "persons": members.rows,
            "sensitive": {name: _totals(members.sensitive[name]) for name in plan.promise_columns},
        }
    hierarchies = {
        str(place): [list(row) for row in model.value_hierarchy.fit([]).hierarchy.rows()]
        for place, model in enumerate(plan.privacy)
        if isinstance(model.value_hierarchy, HierarchyFile)
    }
    persons = persons_by_label(table, recoding)
    if persons is not None:
        kept = [published_labels(recoding, place) for place in np.flatnonzero(~recoding.suppressed).tolist()]
        figures["persons"] = [[list(labels), persons.get(labels, 0)] for labels in kept]
    weights = weights_by_label(table, recoding)
    if weights is not None:
        figures["weights"] = [[list(labels), weight] for labels, weight in weights.items()]
    return figures | ({"hierarchies": hierarchies} if hierarchies else {})


def _totals(content: Histogram) -> list[list[Any]]:
    return [[text, count] for text, count in zip(content.texts, content.totals().tolist(), strict=True)]


def read_reference(plain: Mapping[str, Any]) -> Reference:
    """Parse the reference in a recoding file.

    Raises:
        PlanError: It has none.
    """
    try:
        figures = plain["reference"]
        members = figures.get("members", figures)
        contents = {name: _histogram(pairs) for name, pairs in members["sensitive"].items()}
        size = np.array([int(members["persons" if "members" in figures else "rows"])], np.int64)
        persons = {tuple(labels): int(rows) for labels, rows in figures["persons"]} if "persons" in figures else None
        hierarchies = {
            int(place): ListedHierarchy(tuple(tuple(row) for row in rows))
            for place, rows in figures.get("hierarchies", {}).items()
        }
        weights = (
            {tuple(labels): int(weight) for labels, weight in figures["weights"]} if "weights" in figures else None
        )
        return Reference(EquivalenceClasses(size, contents, "members" in figures), persons, hierarchies, weights)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise no_recoding() from None


def _histogram(pairs: Sequence[Sequence[Any]]) -> Histogram:
    """Return the counts of each value in the original table."""
    texts = tuple(text for text, _ in pairs)
    rows = np.array([int(count) for _, count in pairs], np.int64)
    ends = np.array([0, len(texts)], np.int64)
    return Histogram(ends, np.arange(len(texts), dtype=np.int32), rows, max(len(texts), 1), texts)
