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
from sfumato.microdata.measures.population import Uniqueness, uniqueness
from sfumato.microdata.models.class_weights import estimated_persons
from sfumato.microdata.models.equivalence_classes import Classes, Mask
from sfumato.microdata.models.individual_risk import SamplingFraction
from sfumato.microdata.models.model import EXACT, ReleaseRisk
from sfumato.schema.dataclass_schema import Note
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class PopulationUniqueness(ReleaseRisk):
    """The estimated share of unique persons in the population is at most `threshold`."""

    threshold: Annotated[float, Note("the greatest share of unique persons", minimum=0, maximum=1)]
    estimator: Annotated[Literal["pitman", "zayatz", "snb", "dankar"], Note("how it is estimated")] = "dankar"
    population_size: Annotated[int | None, Note("persons of the population", minimum=1)] = None
    sampling_fraction: SamplingFraction = None
    name: ClassVar[str] = "population-uniqueness"
    monotone_generalization: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.population_size is not None and self.sampling_fraction is not None:
            raise ValueError("population_size goes without sampling_fraction.")
        if self.sampling_fraction == 0:
            raise ValueError("sampling_fraction must be greater than 0.")

    def failing(self, classes: Classes, whole: Classes) -> Mask:  # noqa: ARG002
        return classes.sizes < 2 if self.threshold < 1 else np.zeros(len(classes.sizes), bool)

    def keeps(self, classes: Classes) -> bool:
        return self.reached(classes, classes) <= self.threshold + EXACT

    def short(self, classes: Classes) -> Mask:
        return np.zeros(len(classes.sizes), bool) if self.keeps(classes) else classes.sizes < 2

    def reached(self, classes: Classes, whole: Classes) -> float:  # noqa: ARG002
        """Return the estimated share; 1, the maximum, if there is no estimate."""
        if not classes.rows:
            return 0.0
        figures: Uniqueness = uniqueness(classes.sizes, max(self._persons(classes), classes.rows))
        share: float | None = getattr(figures, self.estimator).share
        return 1.0 if share is None else share

    def _persons(self, classes: Classes) -> int:
        if self.population_size is not None:
            return self.population_size
        return round(float(estimated_persons(classes, self.sampling_fraction).sum()))
