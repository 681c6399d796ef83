"""Global risk: the expected share of the published rows that are found in the population is at most a threshold.

Franconi, L., Polettini, S. (2004). Individual risk estimation in μ-Argus, https://doi.org/10.1007/978-3-540-25955-8_20.
The sum of all rows' individual risks is the expected number of re-identifications, and divided by the rows its share.

It is a global model: single rows may have a high risk. Combine it with individual-risk.

If rows may be suppressed, the classes of highest risk are, all of a risk together, until the share is small enough. A
method that evaluates classes one by one uses the stricter condition that every row's own risk is at most the threshold.

Monotone under generalization without suppression (no row's risk grows). Not under suppression.
"""

from typing import Annotated, ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses
from sfumato.microdata.models.individual_risk import SamplingFraction, individual_risks
from sfumato.microdata.models.model import EXACT, GlobalRiskModel
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class GlobalRisk(GlobalRiskModel):
    """The sum of all rows' risks / rows is at most `threshold`."""

    threshold: Annotated[float, KeyInfo("the greatest expected share of rows that are found", minimum=0, maximum=1)]
    sampling_fraction: SamplingFraction = None
    name: ClassVar[str] = "global-risk"

    def __post_init__(self) -> None:
        if self.threshold <= 0 or self.sampling_fraction == 0:
            raise ValueError(Message("error.value.threshold_and_sampling_fraction"))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        return individual_risks(classes, self.sampling_fraction) > self.threshold * (1 + EXACT)

    def is_satisfied(self, classes: EquivalenceClasses) -> bool:
        return self._share(classes) <= self.threshold * (1 + EXACT)

    def classes_to_suppress(self, classes: EquivalenceClasses) -> BoolArray:
        if self.is_satisfied(classes):
            return np.zeros(len(classes.sizes), bool)
        risks = individual_risks(classes, self.sampling_fraction)
        order = np.argsort(risks, kind="stable")
        found, rows = np.cumsum((risks * classes.sizes)[order]), np.cumsum(classes.sizes[order])
        ends = np.append(risks[order][1:] > risks[order][:-1], True)
        fits = np.flatnonzero(ends & (found <= self.threshold * (1 + EXACT) * rows))
        most = risks[order][fits[-1]] if len(fits) else -1.0
        short: BoolArray = risks > most
        return short

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        return self._share(classes)

    def _share(self, classes: EquivalenceClasses) -> float:
        return float((individual_risks(classes, self.sampling_fraction) * classes.sizes).sum()) / max(classes.rows, 1)
