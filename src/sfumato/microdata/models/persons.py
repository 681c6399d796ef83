"""Privacy models for persons: class sizes are numbers of persons, and the count of a value is the number of persons
with it.

A person may have several values, so the persons with each value can add up to more than the class size. The share of a
value is the share of persons who have it, in a class and in the reference table; the documentation of each model
describes the consequences.

Numbers of persons cannot be added over classes: a person with rows in two classes counts once in each of them, and once
in their union. The persons of a class are therefore stored as a histogram. All persons whose rows lie in one
combination share one code, whose counts can be added. Every other person has a separate code that counts once per
class, however many rows the person has there. The persons who have a value are stored likewise: the counts that can be
added have the code of the value, and every other pair of value and person has a separate code. Code that groups
histograms therefore groups persons as well.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import (
    POPULATION,
    WEIGHTS,
    BoolArray,
    Counts,
    EquivalenceClasses,
    Histogram,
    histogram,
)
from sfumato.microdata.models.model import Judges, PrivacyModel
from sfumato.values import Value, replace

# Names of class contents: the persons; and, with a column's name appended, the persons who have a value of it.
PERSONS = "sfumato_persons"


def persons_with(column: str) -> str:
    """Return the name of the histogram of persons who have a value of a column."""
    return f"{PERSONS}:{column}"


def looked_at(model: PrivacyModel) -> frozenset[str]:
    """Return the names of the class contents that a model uses: its column, and contents without a column."""
    columns = () if model.column is None else (model.column, persons_with(model.column))
    return frozenset((PERSONS, WEIGHTS, POPULATION, *columns))


def by_persons(classes: EquivalenceClasses, coded: EquivalenceClasses) -> EquivalenceClasses:
    """Return classes with persons instead of rows.

    Args:
        coded: Classes with the values of the pair codes: those from which these were grouped.
    """
    if PERSONS not in classes.sensitive:
        return classes
    sizes = persons_in(classes.sensitive[PERSONS])
    others = {name: content for name, content in classes.sensitive.items() if not name.startswith(PERSONS)}
    for name in others:
        key = persons_with(name)
        if key in classes.sensitive:
            others[name] = _weights(classes.sensitive[key], coded.sensitive[key])
    return EquivalenceClasses(sizes, others, counts_persons=True)


def persons_in(members: Histogram) -> Counts:
    """Return the persons of each class."""
    persons = np.where(members.values < 1, members.counts, 1)
    return np.bincount(members.owners, weights=persons, minlength=len(members.starts) - 1).astype(np.int64)


def whole_by_persons(whole: EquivalenceClasses) -> EquivalenceClasses:
    """Return an original table with persons instead of rows: as one class, in which every person counts once."""
    content = whole.sensitive.get(PERSONS)
    if content is None:
        return whole
    if PERSONS not in content.memo:
        content.memo[PERSONS] = by_persons(_as_one(whole), whole)
    found: EquivalenceClasses = content.memo[PERSONS]
    return found


def _as_one(whole: EquivalenceClasses) -> EquivalenceClasses:
    return EquivalenceClasses(np.array([whole.rows]), {name: _added_up(old) for name, old in whole.sensitive.items()})


def _added_up(content: Histogram) -> Histogram:
    """Return the contents of all classes together."""
    values = np.flatnonzero(np.bincount(content.values, minlength=content.size)).astype(np.int32)
    return Histogram(np.array([0, len(values)]), values, content.totals()[values], content.size)


def _weights(content: Histogram, coded: Histogram) -> Histogram:
    """Return the persons who have each value in each class."""
    size = max(len(coded.texts), 1)
    alone = content.values < size
    values, counts = content.values.copy(), content.counts.copy()
    values[~alone] = coded.pair_values[content.values[~alone] - size]
    counts[~alone] = 1
    added = histogram(content.owners, values, counts, len(content.starts) - 1, size)
    return Histogram(added.starts, added.values, added.counts, size, coded.texts)


class PersonModel(Value):
    """A model that counts persons, for searches that pass rows.

    Models of the number of persons stay monotone. Models of sensitive values are monotone in rows because the share in
    a merged class is an average of the shares. This fails for persons: a person with rows in both classes is counted
    once but has the values of both. Searches therefore must not assume that these models are monotone. Global models
    are satisfied class by class, which is stricter than required.
    """

    model: PrivacyModel
    is_global: ClassVar[bool] = False
    judges: ClassVar[Judges] = "persons"

    def __getattr__(self, name: str) -> Any:
        """Delegate all other attributes, such as the parameter and the minimum class size, to the model of rows."""
        if name == "model" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)

    @property
    def monotone_suppression(self) -> bool:
        return self.model.column is None and self.model.monotone_suppression

    @property
    def monotone_generalization(self) -> bool:
        return self.monotone_suppression

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        return self.model.violating(self._members(classes, whole), whole_by_persons(whole))

    def violating_among(self, classes: EquivalenceClasses, whole: EquivalenceClasses, asked: BoolArray) -> BoolArray:
        return self.violating(classes, whole) & asked

    def suppression_lower_bound(
        self,
        classes: EquivalenceClasses,
        whole: EquivalenceClasses,  # noqa: ARG002
        failing: BoolArray,
        enough: int,  # noqa: ARG002
    ) -> Counts:
        return np.where(failing, classes.sizes, 0) if self.monotone_suppression else np.zeros(len(failing), np.int64)

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        return self.model.achieved(self._members(classes, whole), whole_by_persons(whole))

    def _members(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> EquivalenceClasses:
        """Return the persons of classes, with their values of the model's column only."""
        return by_persons(classes.holding(looked_at(self.model)), whole)

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        return self.model.infeasibility(whole_by_persons(whole))


def against_raw(model: PrivacyModel) -> PrivacyModel:
    """Return a comparing model with the original table as its only reference; it may count persons."""
    if isinstance(model, PersonModel):
        return counting_persons((against_raw(model.model),))[0]
    return replace(model, reference="raw")


def counting_persons(models: tuple[PrivacyModel, ...]) -> tuple[PrivacyModel, ...]:
    """Return the models, each counting persons."""
    return tuple(cast("Any", PersonModel(model)) for model in models)


def enough_persons(models: Sequence[PrivacyModel]) -> int | None:
    """Return the number of persons with which a class satisfies all models; None if no number suffices."""
    about_persons = [model.model for model in models if isinstance(model, PersonModel)]
    if len(about_persons) < len(models) or not all(model.judges == "sizes" for model in about_persons):
        return None
    return max((model.min_class_size for model in about_persons), default=0)
