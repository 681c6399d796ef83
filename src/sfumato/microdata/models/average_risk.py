"""Average risk: the mean prosecutor risk of the published rows is at most a threshold.

The risk of a row is 1 / size of its class, so the average over rows is classes / rows. El Emam, K. (2013). Guide to the
De-Identification of Personal Health Information; Dankar, F., El Emam, K. (2010),
https://doi.org/10.1145/1754239.1754271.

It is a global model: single persons may still be unique. Combine it with k-anonymity.

If rows may be suppressed, the smallest classes are, all of a size together, until the average is low enough. A method
that evaluates classes one by one uses the stricter condition that every row's own risk is at most the threshold.

Monotone under generalization without suppression (fewer classes, as many rows). Not under suppression: merging may make
a small class that was suppressed just large enough to be kept, and so raise the average.
"""

from typing import Annotated, ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses
from sfumato.microdata.models.model import EXACT, GlobalRiskModel
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class AverageRisk(GlobalRiskModel):
    """Classes / rows is at most `threshold`.

    >>> AverageRisk(0.25).classes_to_suppress(EquivalenceClasses(np.array([1, 3, 5]))).tolist()
    [True, False, False]
    """

    threshold: Annotated[float, KeyInfo("the greatest average risk", minimum=0, maximum=1)]
    name: ClassVar[str] = "average-risk"

    def __post_init__(self) -> None:
        if self.threshold <= 0:
            raise ValueError(Message("error.value.threshold_must_be_greater"))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        return classes.sizes * self.threshold < 1 - EXACT

    def is_satisfied(self, classes: EquivalenceClasses) -> bool:
        sizes = classes.sizes
        return len(sizes) <= self.threshold * int(sizes.sum()) + EXACT

    def classes_to_suppress(self, classes: EquivalenceClasses) -> BoolArray:
        sizes = classes.sizes
        if self.is_satisfied(classes):
            return np.zeros(len(sizes), bool)
        distinct, alike = np.unique(sizes, return_counts=True)
        # From the largest size down: classes and rows of all classes at least as large.
        count = np.cumsum(alike[::-1])
        rows = np.cumsum((alike * distinct)[::-1])
        fits = np.flatnonzero(count <= self.threshold * rows + EXACT)
        least = distinct[::-1][fits[-1]] if len(fits) else int(sizes.max(initial=0)) + 1
        return sizes < least

    def global_suppression_lower_bound(self, classes: EquivalenceClasses) -> int:
        """Return the rows outside the largest classes that together satisfy the model.

        A finer table that keeps R rows of u of these classes needs at least u classes for them, so u is at most
        threshold times R, and R at most the rows of the u largest.
        """
        sizes = classes.sizes
        rows = np.cumsum(np.sort(sizes)[::-1])
        fits = np.flatnonzero(np.arange(1, len(rows) + 1) <= self.threshold * rows + EXACT)
        return int(sizes.sum()) - (int(rows[fits[-1]]) if len(fits) else 0)

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        return len(classes.sizes) / max(classes.rows, 1)

    def infeasibility(self, whole: EquivalenceClasses) -> str | None:
        if self.threshold * whole.rows < 1 - EXACT:
            rows = int(np.ceil(1 / self.threshold))
            return f"threshold = {self.threshold:g} needs {rows} rows, the data have {whole.rows}."
        return None
