"""The reference of a release: the distributions its models compare with, stored for later verification.

Some models depend on more than the published rows: on the shares of sensitive values in the original table before
suppression, or on the persons of a population. Both cannot be derived from the published rows, so the release folder
keeps them in an internal file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.hierarchies.explicit_domains import PathFree, outside
from sfumato.hierarchies.file import HierarchyFile
from sfumato.hierarchies.hierarchy import BoundHierarchy, make_hierarchy
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, Histogram
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.persons import whole_by_persons
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.population import persons_by_label, weights_by_label
from sfumato.microdata.recoding.recoding import Labels, Recoding, published_labels
from sfumato.microdata.recoding.recoding_file import no_recoding


@dataclass(frozen=True, slots=True)
class Reference:
    """The distributions that models compare published rows with.

    Attributes:
        whole: The original table as one class.
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
            replace(model, hierarchy=hierarchies[place])
            if isinstance(model, TCloseness) and place in hierarchies
            else model
            for place, model in enumerate(models)
        )


@dataclass(frozen=True, slots=True)
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
        str(place): [list(row) for row in model.hierarchy.fit([]).hierarchy.rows()]
        for place, model in enumerate(plan.privacy)
        if isinstance(model, TCloseness) and isinstance(model.hierarchy, HierarchyFile)
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
