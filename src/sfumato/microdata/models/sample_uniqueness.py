"""Sample uniqueness: at most a given share of the published rows is unique.

Skinner, C., Elliot, M. (2002). A measure of disclosure risk for microdata, https://doi.org/10.1111/1467-9868.00365;
Dankar, F. et al. (2012), https://doi.org/10.1186/1472-6947-12-66.

It is a global model: the rows that remain unique are not protected at all, and classes of two hardly. Combine it with
k-anonymity or use a share of 0, which is k = 2.

If rows may be suppressed and there are too many unique ones, all unique rows are. A method that evaluates classes one
by one uses the stricter condition that no row is unique.

Monotone under generalization without suppression (merging makes no row unique). Not under suppression: suppressing
other rows raises the share.
"""

from typing import Annotated, ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses
from sfumato.microdata.models.model import EXACT, GlobalRiskModel
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class SampleUniqueness(GlobalRiskModel):
    """Unique rows / rows is at most `threshold`.

    >>> SampleUniqueness(0.1).classes_to_suppress(EquivalenceClasses(np.array([1, 3, 5]))).tolist()
    [True, False, False]
    """

    threshold: Annotated[float, KeyInfo("the greatest share of unique rows", minimum=0, maximum=1)]
    name: ClassVar[str] = "sample-uniqueness"

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        if self.threshold >= 1:
            return np.zeros(len(classes.sizes), bool)
        return classes.sizes < 2

    def is_satisfied(self, classes: EquivalenceClasses) -> bool:
        return int((classes.sizes == 1).sum()) <= self.threshold * classes.rows + EXACT

    def classes_to_suppress(self, classes: EquivalenceClasses) -> BoolArray:
        return np.zeros(len(classes.sizes), bool) if self.is_satisfied(classes) else classes.sizes < 2

    def global_suppression_lower_bound(self, classes: EquivalenceClasses) -> int:
        """Return a bound: unique rows stay unique in finer tables; x of u may stay if x <= threshold (rows - u + x)."""
        unique = int((classes.sizes == 1).sum())
        if self.threshold >= 1:
            return 0
        others = classes.rows - unique
        return max(0, unique - int(self.threshold * others / (1 - self.threshold) + 1e-6))

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        return int((classes.sizes == 1).sum()) / max(classes.rows, 1)

    def infeasibility(self, whole: EquivalenceClasses) -> str | None:
        if whole.rows == 1 and self.threshold < 1:
            return "the data have one row, and it is unique."
        return None
