"""Protection of a quasi-identifier against attribute disclosure by the other quasi-identifiers.

A visible attribute may be sensitive, too: an attacker who knows the origin of a person finds the row by it, and one who
does not must not infer it from the others. Such a column is a quasi-identifier, and rows that agree in all other
quasi-identifiers form a *group* whose published labels satisfy a privacy model; each group has at least two. Rows whose
label is the root are left out.

It does not protect against an attacker who knows the column itself, nor against disclosure by columns that are no
quasi-identifiers.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses, Histogram, histogram
from sfumato.microdata.models.model import BaseModel, Judges, PrivacyModel
from sfumato.microdata.models.registry import SHAPES
from sfumato.schema.composite import Anything, KeySchema, RecordSchema, TaggedUnionSchema, UnionSchema
from sfumato.schema.dataclass_schema import NO_KEY
from sfumato.values import replace

Labels = Sequence[Sequence[str | None]]
Codes = npt.NDArray[np.signedinteger[Any]]
# The models of the values of a column; names under which a class holds the number of its group and its label.
ABOUT_VALUES = ("l-diversity", "alpha-k-anonymity", "t-closeness", "beta-likeness", "delta-disclosure")
# Keys that name the column or its original values; groups are evaluated by labels in published rows only.
OF_VALUES = ("column", "values", "order", "hierarchy", "distance", "reference")
GROUP, LABEL = "\0group:", "\0label:"
ROOT = "*"
# Placeholder for the column of a model in the plan of the column that it protects; the plan fills it in.
UNNAMED = "this column"


class _WithoutColumn(Mapping[str, RecordSchema[PrivacyModel]]):
    """The schemas of models without the key that names their column."""

    def __getitem__(self, name: str) -> RecordSchema[PrivacyModel]:
        if name not in ABOUT_VALUES:
            raise KeyError(name)
        record = SHAPES[name]
        keys: dict[str, KeySchema] = {key: spec for key, spec in record.keys.items() if key not in OF_VALUES}
        return RecordSchema(keys, partial(record.make, column=UNNAMED), record.about)

    def __iter__(self) -> Iterator[str]:
        return iter(ABOUT_VALUES)

    def __len__(self) -> int:
        return len(ABOUT_VALUES)


PROTECT = UnionSchema(
    (
        (
            (Mapping,),
            TaggedUnionSchema("model", _WithoutColumn(), "what the other quasi-identifiers must not disclose of it"),
        ),
        ((BaseModel,), Anything()),
    ),
    "a privacy model that protects a quasi-identifier against disclosure by the others",
)


class Protection(BaseModel):
    """The labels of a quasi-identifier satisfy a model in each group of rows that agree in the others.

    Attributes:
        model: The model, with the column it refers to.
    """

    model: Annotated[PrivacyModel, NO_KEY]
    name: ClassVar[str] = "attribute-disclosure"
    is_global: ClassVar[bool] = True
    judges: ClassVar[Judges] = "release"
    column: ClassVar[None] = None
    parameter: ClassVar[str] = "model"

    @classmethod
    def of(cls, model: BaseModel, column: str) -> "Protection":
        """Return the protection of a column by a model that has no column yet."""
        return cls(replace(cast("Any", model), column=column))

    @property
    def subject(self) -> str | None:
        return self.model.column

    @property
    def least(self) -> bool:  # type: ignore[override]
        return self.model.least

    @property
    def requested(self) -> float:
        return self.model.requested

    @property
    def monotone_generalization(self) -> bool:
        """False: a coarser label may be the only one of its group."""
        return False

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        """Return none: no class violates by itself, because groups are evaluated jointly."""
        return np.zeros(len(classes.sizes), bool)

    def classes_to_suppress(self, classes: EquivalenceClasses) -> BoolArray:
        """Return the classes that disclose a label in a group that does not satisfy the model."""
        group, groups, whole = self._groups(classes)
        mask: BoolArray = np.zeros(len(classes.sizes), bool)
        if len(groups.sizes):
            # A group with one label discloses it, however close that is to the published distribution.
            alone = np.diff(groups.sensitive[self.model.column or ""].starts) < 2
            mask[group >= 0] = (alone | self.model.violating(groups, whole))[group[group >= 0]]
        return mask

    def is_satisfied(self, classes: EquivalenceClasses) -> bool:
        return not self.classes_to_suppress(classes).any()

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        _group, groups, published = self._groups(classes)
        return self.model.achieved(groups, published) if len(groups.sizes) else self.requested

    def _groups(self, classes: EquivalenceClasses) -> tuple[Codes, EquivalenceClasses, EquivalenceClasses]:
        """Return the group of each class (-1 if its label is the root), the groups, and all of them as one."""
        name = self.model.column or ""
        content = classes.sensitive[LABEL + name]
        labels, below_root = content.values, np.array([set(text or " ") != {ROOT} for text in content.texts], bool)
        shown = below_root[labels] if len(labels) else np.zeros(0, bool)
        numbers, owners = np.unique(classes.sensitive[GROUP + name].values[shown], return_inverse=True)
        sizes = classes.sizes[shown]
        group = np.full(len(classes.sizes), -1, np.int64)
        group[shown] = owners
        groups, whole = (
            _as_classes(name, place, labels[shown], sizes, count, content)
            for place, count in ((owners.reshape(-1), len(numbers)), (np.zeros(len(sizes), np.int64), 1))
        )
        return group, groups, whole


def _as_classes(
    name: str, owners: Codes, labels: npt.NDArray[np.int32], sizes: Codes, count: int, content: Histogram
) -> EquivalenceClasses:
    held = replace(histogram(owners, labels, sizes, count, content.size), texts=content.texts)
    return EquivalenceClasses(np.bincount(owners, weights=sizes, minlength=count).astype(np.int64), {name: held})


def holding_groups(
    classes: EquivalenceClasses, models: Sequence[PrivacyModel], columns: Sequence[str], codes: Codes, labels: Labels
) -> EquivalenceClasses:
    """Return classes that hold the group and the label of each protected column.

    Args:
        classes: The classes, in the order of `codes`.
        models: The privacy models of these columns.
        columns: The quasi-identifiers.
        codes: The label of each class by column, (classes, columns); negative for a missing value.
        labels: For each column its published labels.
    """
    held: dict[str, Histogram] = {}
    starts = np.arange(len(codes) + 1, dtype=np.int64)
    once = np.ones(len(codes), np.int64)
    for model in models:
        if not isinstance(model, Protection):
            continue
        place = columns.index(model.subject or "")
        _, groups = np.unique(np.delete(codes, place, axis=1), axis=0, return_inverse=True)
        texts = (*labels[place], None)
        values = np.where(codes[:, place] < 0, len(texts) - 1, codes[:, place]).astype(np.int32)
        held[GROUP + columns[place]] = Histogram(starts, groups.reshape(-1).astype(np.int32), once, len(codes))
        held[LABEL + columns[place]] = Histogram(starts, values, once, len(texts), tuple(texts))
    return replace(classes, sensitive={**classes.sensitive, **held}) if held else classes
