"""(k,e)-anonymity: every class has at least k different numbers, and they differ by at least e.

Zhang, Q., Koudas, N., Srivastava, D., Yu, T. (2007). Aggregate query answering on anonymized tables,
https://doi.org/10.1109/ICDE.2007.367857. For a sensitive column of numbers such as wages: l-diversity is satisfied by
wages of 2,000, 2,001 and 2,002, which disclose the wage nearly exactly. Here the greatest number of a class must also
be at least e above the smallest one.

It does not protect against a number that is nearly that of most persons of the class, because two persons at the ends
are enough for the range (t-closeness with the distance `ordered` does). Missing values are not counted. It counts rows:
a person with several numbers could be the whole range alone.

Monotone under generalization and under suppression: the range of a class only grows.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.l_diversity import told_values
from sfumato.microdata.models.model import EXACT, BaseModel, SensitiveColumn
from sfumato.schema.dataclass_schema import KeyInfo

_NUMBERS = "numbers"


class KEAnonymity(BaseModel):
    """Every class has at least `k` different numbers of `column`, and they differ by at least `e`."""

    k: Annotated[int, KeyInfo("different numbers a class must have", minimum=1)]
    e: Annotated[float, KeyInfo("by how much the greatest and the smallest number of a class must differ", minimum=0)]
    column: SensitiveColumn
    name: ClassVar[str] = "k-e-anonymity"
    parameter: ClassVar[str] = "e"
    least: ClassVar[bool] = True
    counts_persons: ClassVar[bool] = False
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"k": 3, "e": 10})
    monotone_suppression: ClassVar[bool] = True

    @property
    def min_class_size(self) -> int:
        return self.k

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        distinct, ranges = self._numbers(classes, whole)
        return (distinct < self.k) | (ranges < self.e - EXACT * (1 + self.e))

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        """Return the smallest range of a class."""
        return float(self._numbers(classes, whole)[1].min()) if len(classes.sizes) else 0.0

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        everything = told_values(whole, whole, self.column).totals() > 0
        numbers = np.unique(self._of_codes(whole)[everything])
        widest = float(np.ptp(numbers)) if len(numbers) else 0.0
        if len(numbers) >= self.k and widest >= self.e - EXACT * (1 + self.e):
            return None
        return Message(
            "error.part.range_of_numbers", k=self.k, e=self.e, column=self.column, count=len(numbers), range=widest
        )

    def _numbers(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> tuple[Counts, Floats]:
        """Return the number of distinct numbers in each class, and their range."""
        content, size = told_values(classes, whole, self.column), len(classes.sizes)
        different, places = np.unique(self._of_codes(whole), return_inverse=True)
        pairs = np.unique(content.owners.astype(np.int64) * len(different) + places[content.values])
        owners, numbers = pairs // max(len(different), 1), different[pairs % max(len(different), 1)]
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, owners, numbers)
        np.maximum.at(high, owners, numbers)
        return np.bincount(owners, minlength=size), np.maximum(high - low, 0.0)

    def _of_codes(self, whole: EquivalenceClasses) -> Floats:
        """Return the number of each value; that of a missing value is never used.

        Raises:
            PlanError: Some value is no number.
        """
        content = whole.sensitive[self.column]
        if _NUMBERS not in content.order_memo:
            try:
                content.order_memo[_NUMBERS] = np.array(
                    [0.0 if text is None else float(text) for text in content.texts]
                )
            except ValueError:
                raise PlanError("order.no_order_of_values", column=self.column) from None
        found: Floats = content.order_memo[_NUMBERS]
        return found
