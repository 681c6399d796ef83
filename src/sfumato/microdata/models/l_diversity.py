"""l-diversity: every class contains at least l well-represented values of a sensitive column.

Machanavajjhala, A. et al. (2007). l-diversity: privacy beyond k-anonymity. ACM TKDD 1(1),
https://doi.org/10.1145/1217299.1217302. Three readings of "well represented":

- distinct: at least l different values;
- entropy: the entropy of the values in the class is at least log(l);
- recursive (c,l): the most frequent value occurs less than c times as often as the values from the l-th on together.

It does not protect against different values with the same meaning (similarity), nor against skew relative to the full
table (t-closeness does). A missing value adds nothing to diversity, because it does not hide those who have a value:
all three readings use the values present, and a class without any achieves l = 0. A class with one value achieves l =
1. Values are compared as written, so spelling variants of one value count as several.

Persons may have several values, and a value that all of them have is disclosed. Every reading must therefore be
satisfied for the most uneven distribution of one value per person that the numbers of persons with each value allow: as
many as possible count for the most frequent value, as many of the rest for the next. The l of `distinct` is then the
smallest number of values that could account for all persons. Whichever value an attacker asks about for each person,
the class is at least as diverse (entropy, and the largest count against the rest, only decrease as a distribution gets
more uneven). If every person has one value, the distribution is that of the values. The persons to be accounted for are
those without a missing value, or those with the most frequent one if they are more.

For rows all three are monotone under generalization; only `distinct` is under suppression. The maximum a violating
class of the others can keep: counts cut off at some height are, for a given number of rows, the most diverse part of
it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.models import bounds_kernels
from sfumato.microdata.models.equivalence_classes import (
    BoolArray,
    Counts,
    EquivalenceClasses,
    Floats,
    Histogram,
    histogram,
)
from sfumato.microdata.models.model import EXACT, BaseModel, SensitiveColumn, Support, rows_beyond
from sfumato.schema.dataclass_schema import KeyInfo

Variant = Literal["distinct", "entropy", "recursive"]
# Cache key of the code of the missing value.
_MISSING = "missing"


class LDiversity(BaseModel):
    """Every class holds at least `l` well-represented values of `column`."""

    # The letter of the literature and of the plan.
    l: Annotated[float, KeyInfo("values a class must hold", minimum=1)]  # noqa: E741
    column: SensitiveColumn
    variant: Annotated[Variant, KeyInfo("how well represented a value must be")] = "distinct"
    c: Annotated[float | None, KeyInfo("the constant of recursive (c,l)-diversity", minimum=0)] = None
    name: ClassVar[str] = "l-diversity"
    supported_by: ClassVar[frozenset[Support]] = frozenset({"linked-files"})
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"l": 2, "variant": "distinct"})
    parameter: ClassVar[str] = "l"
    least: ClassVar[bool] = True

    def check_part(self) -> None:
        if (self.variant == "recursive") != (self.c is not None):
            raise ValueError(Message("error.value.c_for_recursive"))
        if self.variant != "entropy" and self.l != int(self.l):
            raise ValueError(Message("error.value.l_not_whole"))

    @property
    def monotone_suppression(self) -> bool:
        return self.variant == "distinct"

    @property
    def requested(self) -> float:
        return int(self.l) if self.l == int(self.l) else self.l

    @property
    def min_class_size(self) -> int:
        """The minimum class size: l rows for l values; recursive diversity with l = 1 requires none."""
        return int(np.ceil(self.l - EXACT))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        content = judged_values(classes, whole, self.column)
        if self.variant == "recursive":
            return ~_recursive(content, int(self.l), self.c or 0.0)
        return self._diversity(content) < self.l - EXACT

    def suppression_lower_bound(
        self, classes: EquivalenceClasses, whole: EquivalenceClasses, failing: BoolArray, enough: int
    ) -> Counts:
        if self.variant == "distinct":
            return np.where(failing, classes.sizes, 0)
        content = told_values(classes, whole, self.column)
        kept = content.sizes()
        # Rows without a value can be kept with any of the others.
        without = classes.sizes - kept
        if self.variant == "entropy":
            bounds_kernels.entropy(content.starts, content.counts, float(self.l), failing, enough, kept)
        else:
            bounds_kernels.recursive(content.starts, content.counts, int(self.l), self.c or 0.0, failing, enough, kept)
        return rows_beyond(classes.sizes, kept + without)

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        content = judged_values(classes, whole, self.column)
        if not len(classes.sizes):
            return 0
        if self.variant == "recursive":
            return _largest_l(content, self.c or 0.0)
        worst = float(self._diversity(content).min())
        return int(worst) if self.variant == "distinct" else worst

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        totals = told_values(whole, whole, self.column).totals()
        distinct = int((totals > 0).sum())
        if distinct < self.l:
            return Message("reason.l_values", l=self.requested, column=self.column, count=distinct)
        return None

    def _diversity(self, content: Histogram) -> Floats:
        if self.variant == "distinct":
            return np.diff(content.starts).astype(np.float64)
        return np.where(np.diff(content.starts) > 0, np.exp(entropies(content)), 0.0)


def told_values(classes: EquivalenceClasses, whole: EquivalenceClasses, column: str) -> Histogram:
    """Return the values of a column in classes, without missing ones.

    Args:
        whole: A table with the same value codes that contains their texts.
    """
    content, coded = classes.sensitive[column], whole.sensitive[column]
    if _MISSING not in coded.order_memo:
        coded.order_memo[_MISSING] = coded.texts.index(None) if None in coded.texts else None
    code = coded.order_memo[_MISSING]
    return content if code is None else content.without(code)


def judged_values(classes: EquivalenceClasses, whole: EquivalenceClasses, column: str) -> Histogram:
    """Return the values whose diversity counts: one per row, or one per person in the most uneven distribution."""
    told = told_values(classes, whole, column)
    if not classes.counts_persons:
        return told
    content = classes.sensitive[column]
    return one_value_each(told, classes.sizes - (content.sizes() - told.sizes()))


def one_value_each(content: Histogram, persons: Counts) -> Histogram:
    """Return the most uneven distribution of one value a person that the persons with each value allow.

    Args:
        persons: The persons of each class, at least those with its most frequent value.
    """
    order = np.lexsort((content.values, -content.counts, content.owners))
    owners, counts = content.owners[order], content.counts[order]
    before = np.cumsum(counts) - counts
    before -= before[np.minimum(content.starts[:-1], max(len(before) - 1, 0))][owners] if len(before) else 0
    first = np.zeros(len(persons), np.int64)
    np.maximum.at(first, owners, counts)
    counts = np.minimum(counts, np.maximum(persons, first)[owners] - before)
    kept = counts > 0
    return histogram(owners[kept], content.values[order][kept], counts[kept], len(persons), content.size)


def entropies(content: Histogram) -> Floats:
    """Return the entropy of the values in each class, in nats."""
    found = np.empty(len(content.starts) - 1)
    bounds_kernels.entropies(content.starts, content.counts, found)
    return found


def _recursive(content: Histogram, least: int, c: float) -> BoolArray:
    """Return whether r1 < c (r_l + … + r_m) in each class, with counts r in decreasing order."""
    found = np.empty(len(content.starts) - 1, bool)
    bounds_kernels.recursive_holds(content.starts, content.counts, least, c, found)
    return found


def _largest_l(content: Histogram, c: float) -> int:
    """Return the largest l for which every class is recursively (c,l)-diverse."""
    reached = 0
    while reached < content.size and bool(_recursive(content, reached + 1, c).all()):
        reached += 1
    return reached
