"""Models of uniqueness: the share of the published rows that are unique in the sample, or in the population."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.measures.population import PopulationUniquenessEstimate, uniqueness
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses, estimated_persons
from sfumato.microdata.models.model import EXACT, GlobalRiskModel, Needs
from sfumato.microdata.models.re_identification_risk import SamplingFraction
from sfumato.schema.dataclass_schema import KeyInfo


class SampleUniqueness(GlobalRiskModel):
    """Unique rows / rows is at most `threshold`.

    Skinner, C., Elliot, M. (2002). A measure of disclosure risk for microdata, https://doi.org/10.1111/1467-9868.00365;
    Dankar, F. et al. (2012), https://doi.org/10.1186/1472-6947-12-66.

    It is a global model: the rows that remain unique are not protected at all, and classes of two hardly. Combine it
    with k-anonymity or use a share of 0, which is k = 2.

    If rows may be suppressed and there are too many unique rows, all unique rows are suppressed. A method that
    evaluates classes
    one by one uses the stricter condition that no row is unique.

    Monotone under generalization without suppression (merging makes no row unique). Not under suppression: suppressing
    other rows raises the share.

    >>> SampleUniqueness(0.1).classes_to_suppress(EquivalenceClasses(np.array([1, 3, 5]))).tolist()
    [True, False, False]
    """

    threshold: Annotated[float, KeyInfo("the greatest share of unique rows", minimum=0, maximum=1)]
    name: ClassVar[str] = "sample-uniqueness"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"threshold": 0.05})

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

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        if whole.rows == 1 and self.threshold < 1:
            return Message("reason.one_row")
        return None


class PopulationUniqueness(GlobalRiskModel):
    """The estimated share of unique persons in the population is at most `threshold`.

    The estimate is made from the published rows by an estimator of `measures/population.py`: pitman, zayatz, snb, or
    dankar, which chooses among them. The size of the population is given, or the sampling fraction, or the sum of the
    weights.

    It is a global model, and as good as the estimator: if that does not converge, the model is violated. Unique rows
    are not protected at all. Combine it with k-anonymity.

    If rows may be suppressed and the estimate is too high, all unique rows are: then none is unique in the population.
    A method that evaluates classes one by one uses the stricter condition that no row is unique.

    Not monotone: an estimate may grow when classes are merged.
    """

    threshold: Annotated[float, KeyInfo("the greatest share of unique persons", minimum=0, maximum=1)]
    estimator: Annotated[Literal["pitman", "zayatz", "snb", "dankar"], KeyInfo("how it is estimated")] = "dankar"
    population_size: Annotated[int | None, KeyInfo("persons of the population", minimum=1)] = None
    sampling_fraction: SamplingFraction = None
    name: ClassVar[str] = "population-uniqueness"
    needs: ClassVar[Needs] = "weights"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"threshold": 0.01})
    monotone_generalization: ClassVar[bool] = False

    def check_part(self) -> None:
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
