"""k-anonymity and (α,k)-anonymity: every class has enough rows and bounded proportions of sensitive values."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.hierarchies.spellings import meanings
from sfumato.localization.messages import Message
from sfumato.microdata.models import bounds_kernels
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.model import EXACT, BaseModel, Judges, SensitiveColumn, Support, rows_beyond
from sfumato.schema.composite import Conversion, Integer, MapSchema
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.schema.issues import PlanIssues
from sfumato.values import Value, replace


class SetSizes(Value):
    """Required class sizes for all sets of a number of columns: pairs of both, the fewest columns first."""

    entries: tuple[tuple[int, int], ...] = ()


def _set_sizes(sizes: Mapping[str, int]) -> SetSizes:
    return SetSizes(tuple(sorted((int(columns), k) for columns, k in sizes.items())))


class _Sizes(MapSchema[int]):
    """A mapping from numbers of columns."""

    def read(self, value: object, at: str, faults: PlanIssues) -> FrozenDict[int]:
        sizes = MapSchema.read(self, value, at, faults)
        if not all(columns.isdecimal() and int(columns) for columns in sizes):
            raise faults.refuse(at, "keys_are_columns")
        return sizes


class KAnonymity(BaseModel):
    """Every class has at least `k` rows.

    Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE TKDE 13(6),
    https://doi.org/10.1109/69.971193; Sweeney, L. (2002). k-anonymity: a model for protecting privacy,
    https://doi.org/10.1142/S0218488502001648.

    It protects against singling a person out by the quasi-identifiers. It does not protect against learning a sensitive
    value that all rows of a class share, nor against an attacker who knows more than the quasi-identifiers.

    `subsets` sets a larger k for fewer columns: `{3: 10, 2: 20}` for ten identical rows in any three columns, twenty in
    any two. Only the method `local-suppression` supports it.

    Monotone under generalization and under suppression: a class only grows.

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
    judges: ClassVar[Judges] = "sizes"
    supported_by: ClassVar[frozenset[Support]] = frozenset(
        {"k-optimize", "local-suppression", "microaggregation", "linked-files"}
    )
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"k": 5})
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

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        if self.k > whole.rows:
            return Message("error.part.k_needs_at_least", k=self.k, rows=whole.rows)
        return None


def least_sizes(models: Sequence[object]) -> tuple[tuple[int, int], ...]:
    """Return the largest required class size for each number of columns."""
    sizes: dict[int, int] = {}
    for model in models:
        for columns, k in getattr(model, "subsets", SetSizes()).entries:
            sizes[columns] = max(sizes.get(columns, 0), k)
    return tuple(sorted(sizes.items()))


@lru_cache(maxsize=16)
def _named(texts: tuple[str | None, ...], values: tuple[str, ...]) -> list[bool]:
    """Return which texts are among the listed values, in any spelling."""
    meaning = meanings({*values, *(text for text in texts if text is not None)})
    delicate = {meaning[value] for value in values}
    return [text is not None and meaning[text] in delicate for text in texts]


class AlphaKAnonymity(BaseModel):
    """Every class has at least `k` rows and at most a share `alpha` of each value of `column`.

    Wong, R., Li, J., Fu, A., Wang, K. (2006). (α,k)-anonymity: an enhanced k-anonymity model for privacy preserving
    data publishing, https://doi.org/10.1145/1150402.1150499. If only some values are sensitive, `values` lists them,
    and the others may be as frequent as they are.

    It does not protect against a value that is rare in the table and frequent, though below α, in a class (β-likeness
    does). A missing value counts as a separate value and is bounded unless `values` leaves it out.

    Monotone under generalization (a share of a union lies between the shares of its parts), not under suppression.
    """

    alpha: Annotated[float, KeyInfo("the greatest share of a value in a class", minimum=0, maximum=1)]
    k: Annotated[int, KeyInfo("rows a class must have", minimum=1)]
    column: SensitiveColumn
    values: Annotated[tuple[TextOrNumber, ...], KeyInfo("the delicate values; all when not given", at_least=1)] = ()
    name: ClassVar[str] = "alpha-k-anonymity"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"alpha": 0.5, "k": 5})
    ignores_spelling: ClassVar[bool] = True
    parameter: ClassVar[str] = "alpha"

    @property
    def listed_values(self) -> tuple[str, ...]:
        return self.values

    def with_listed_values(self, values: tuple[str, ...]) -> "AlphaKAnonymity":
        return replace(self, values=values)

    @property
    def min_class_size(self) -> int:
        return self.k

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        return (classes.sizes < self.k) | (self._shares(classes, whole) > self.alpha + EXACT)

    def suppression_lower_bound(
        self, classes: EquivalenceClasses, whole: EquivalenceClasses, failing: BoolArray, enough: int
    ) -> Counts:
        content = classes.sensitive[self.column]
        kept = classes.sizes.copy()
        caps = np.where(self._bounded(whole), self.alpha, 1.0)
        bounds_kernels.capped(content.starts, content.values, content.counts, caps, failing, enough, kept)
        return rows_beyond(classes.sizes, np.where(kept < self.k, 0, kept))

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        return float(self._shares(classes, whole).max(initial=0.0))

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        if self.k > whole.rows:
            return Message("error.part.k_needs_at_least", k=self.k, rows=whole.rows)
        most = float(whole.shares(self.column)[self._bounded(whole)].max(initial=0.0))
        distinct = int((whole.sensitive[self.column].totals() > 0).sum())
        if not self.values and distinct * self.alpha < 1 - EXACT:
            if self.alpha <= 0:
                return Message("reason.alpha_zero", column=self.column)
            needed = int(np.ceil(1 / self.alpha - EXACT))
            return Message("reason.alpha_values", alpha=self.alpha, needed=needed, column=self.column, count=distinct)
        if most > self.alpha + EXACT:
            return Message("reason.alpha_share", alpha=self.alpha, share=most, column=self.column)
        return None

    def _bounded(self, whole: EquivalenceClasses) -> BoolArray:
        """Return which values are limited in frequency."""
        texts = whole.sensitive[self.column].texts
        if not self.values:
            return np.ones(whole.sensitive[self.column].size, bool)
        return np.array(_named(tuple(texts), self.values), bool)

    def _shares(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> Floats:
        """Return the largest share of a limited value in each class."""
        content = classes.sensitive[self.column]
        reference = np.where(self._bounded(whole), 1.0, np.inf)
        shares = np.empty(len(classes.sizes))
        bounds_kernels.highest_ratio(content.starts, content.values, content.counts, classes.sizes, reference, shares)
        return shares
