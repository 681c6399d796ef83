"""Population uniqueness: the estimated share of unique persons in the population is at most a threshold.

The estimate is made from the published rows by an estimator of `measures/population.py`: pitman, zayatz, snb, or
dankar, which chooses among them. The size of the population is given, or the sampling fraction, or the sum of the
weights.

It is a global model, and as good as the estimator: if that does not converge, the model is violated. Unique rows are
not protected at all. Combine it with k-anonymity.

If rows may be suppressed and the estimate is too high, all unique rows are: then none is unique in the population. A
method that evaluates classes one by one uses the stricter condition that no row is unique.

Not monotone: an estimate may grow when classes are merged.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.microdata.measures.population import PopulationUniquenessEstimate, uniqueness
from sfumato.microdata.models.class_weights import estimated_persons
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses
from sfumato.microdata.models.individual_risk import SamplingFraction
from sfumato.microdata.models.model import EXACT, GlobalRiskModel
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class PopulationUniqueness(GlobalRiskModel):
    """The estimated share of unique persons in the population is at most `threshold`."""

    threshold: Annotated[float, KeyInfo("the greatest share of unique persons", minimum=0, maximum=1)]
    estimator: Annotated[Literal["pitman", "zayatz", "snb", "dankar"], KeyInfo("how it is estimated")] = "dankar"
    population_size: Annotated[int | None, KeyInfo("persons of the population", minimum=1)] = None
    sampling_fraction: SamplingFraction = None
    name: ClassVar[str] = "population-uniqueness"
    monotone_generalization: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.population_size is not None and self.sampling_fraction is not None:
            raise ValueError(Message("error.value.population_size_goes_without"))
        if self.sampling_fraction == 0:
            raise ValueError(Message("error.value.sampling_fraction_must_be_greater"))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        return classes.sizes < 2 if self.threshold < 1 else np.zeros(len(classes.sizes), bool)

    def is_satisfied(self, classes: EquivalenceClasses) -> bool:
        return self.achieved(classes, classes) <= self.threshold + EXACT

    def classes_to_suppress(self, classes: EquivalenceClasses) -> BoolArray:
        return np.zeros(len(classes.sizes), bool) if self.is_satisfied(classes) else classes.sizes < 2

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        """Return the estimated share; 1, the maximum, if there is no estimate."""
        if not classes.rows:
            return 0.0
        figures: PopulationUniquenessEstimate = uniqueness(classes.sizes, max(self._persons(classes), classes.rows))
        share: float | None = getattr(figures, self.estimator).share
        return 1.0 if share is None else share

    def _persons(self, classes: EquivalenceClasses) -> int:
        if self.population_size is not None:
            return self.population_size
        return round(float(estimated_persons(classes, self.sampling_fraction).sum()))
