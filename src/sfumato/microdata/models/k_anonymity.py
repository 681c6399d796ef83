"""k-anonymity: every class has at least k rows.

Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE TKDE 13(6),
https://doi.org/10.1109/69.971193; Sweeney, L. (2002). k-anonymity: a model for protecting privacy,
https://doi.org/10.1142/S0218488502001648.

It protects against singling a person out by the quasi-identifiers. It does not protect against learning a sensitive
value that all rows of a class share, nor against an attacker who knows more than the quasi-identifiers.

`subsets` sets a larger k for fewer columns: `{3: 10, 2: 20}` for ten identical rows in any three columns, twenty in any
two. Only the method `local-suppression` supports it.

Monotone under generalization and under suppression: a class only grows.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses
from sfumato.microdata.models.model import BaseModel
from sfumato.schema.composite import Conversion, Integer, MapSchema
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.schema.issues import PlanIssues
from sfumato.schema.typed_parts import plan_part


@dataclass(frozen=True, slots=True)
class SetSizes:
    """Required class sizes for all sets of a number of columns: pairs of both, the fewest columns first."""

    entries: tuple[tuple[int, int], ...] = ()


def _set_sizes(sizes: Mapping[str, int]) -> SetSizes:
    return SetSizes(tuple(sorted((int(columns), k) for columns, k in sizes.items())))


@dataclass(frozen=True, slots=True)
class _Sizes(MapSchema[int]):
    """A mapping from numbers of columns."""

    def read(self, value: object, at: str, faults: PlanIssues) -> FrozenDict[int]:
        sizes = MapSchema.read(self, value, at, faults)
        if not all(columns.isdecimal() and int(columns) for columns in sizes):
            raise faults.refuse(at, "keys_are_columns")
        return sizes


@plan_part
@dataclass(frozen=True, slots=True)
class KAnonymity(BaseModel):
    """Every class has at least `k` rows.

    >>> import numpy as np
    >>> classes = EquivalenceClasses(np.array([2, 5]))
    >>> KAnonymity(3).violating(classes, classes).tolist()
    [True, False]
    """

    k: Annotated[int, KeyInfo("rows a class must have", minimum=1)]
    subsets: Annotated[
        SetSizes,
        Conversion(
            _Sizes(Integer(minimum=1), about="rows that must be alike in all sets of so many columns: {3: 10, 2: 20}"),
            _set_sizes,
        ),
    ] = SetSizes()
    name: ClassVar[str] = "k-anonymity"
    parameter: ClassVar[str] = "k"
    least: ClassVar[bool] = True
    column: ClassVar[None] = None
    monotone_suppression: ClassVar[bool] = True

    @property
    def min_class_size(self) -> int:
        return self.k

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        return classes.sizes < self.k

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        return int(classes.sizes.min()) if len(classes.sizes) else 0

    def infeasibility(self, whole: EquivalenceClasses) -> str | None:
        if self.k > whole.rows:
            return Message("error.part.k_needs_at_least", k=self.k, rows=whole.rows)
        return None


def least_sizes(models: Sequence[object]) -> tuple[tuple[int, int], ...]:
    """Return the largest required class size for each number of columns."""
    sizes: dict[int, int] = {}
    for model in models:
        for columns, k in model.subsets.entries if isinstance(model, KAnonymity) else ():
            sizes[columns] = max(sizes.get(columns, 0), k)
    return tuple(sorted(sizes.items()))
