"""Models of re-identification risk: the average risk, and the risk of single rows and of all given the population."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.models import distance_kernels as risk_kernels
from sfumato.microdata.models.equivalence_classes import (
    BoolArray,
    Counts,
    EquivalenceClasses,
    Floats,
    estimated_persons,
)
from sfumato.microdata.models.model import EXACT, GlobalRiskModel, Needs, RiskModel, Support
from sfumato.schema.dataclass_schema import KeyInfo


class AverageRisk(GlobalRiskModel):
    """Classes / rows is at most `threshold`.

    The risk of a row is 1 / size of its class, so the average over rows is classes / rows. El Emam, K. (2013). Guide to
    the De-Identification of Personal Health Information; Dankar, F., El Emam, K. (2010),
    https://doi.org/10.1145/1754239.1754271.

    It is a global model: single persons may still be unique. Combine it with k-anonymity.

    If rows may be suppressed, the smallest classes are, all of a size together, until the average is low enough. A
    method that evaluates classes one by one uses the stricter condition that every row's own risk is at most the
    threshold.

    Monotone under generalization without suppression (fewer classes, as many rows). Not under suppression: merging may
    make a small class that was suppressed just large enough to be kept, and so raise the average.

    >>> AverageRisk(0.25).classes_to_suppress(EquivalenceClasses(np.array([1, 3, 5]))).tolist()
    [True, False, False]
    """

    threshold: Annotated[float, KeyInfo("the greatest average risk", minimum=0, maximum=1)]
    name: ClassVar[str] = "average-risk"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"threshold": 0.1})

    def check_part(self) -> None:
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

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        if self.threshold * whole.rows < 1 - EXACT:
            rows = int(np.ceil(1 / self.threshold))
            return Message("reason.threshold_rows", threshold=self.threshold, needed=rows, rows=whole.rows)
        return None


SamplingFraction = Annotated[
    float | None,
    KeyInfo("the share of the population in the rows, where no column is the weight", minimum=0, maximum=1),
]


class IndividualRisk(RiskModel):
    """Every row has at most the risk `threshold`.

    Benedetti, R., Franconi, L. (1998). Statistical and technological solutions for controlled data dissemination;
    Franconi, L., Polettini, S. (2004). Individual risk estimation in μ-Argus,
    https://doi.org/10.1007/978-3-540-25955-8_20. For a class of f rows whose weights add up to F, the number of persons
    of the population with the same values is modeled as negative binomial with p = f / F; the risk of its rows is the
    expectation of 1 / persons.

    It protects against an attacker who does not know who was sampled. Against one who knows that a person is in the
    sample it is weaker than k-anonymity: a unique row of a large weight has a small risk. It relies on correct weights,
    and covers rows, not households: the risk of households is reported in addition.

    Monotone under generalization and under suppression: rows that are merged into a class add at least as many persons.
    """

    threshold: Annotated[float, KeyInfo("the greatest risk of a row", minimum=0, maximum=1)]
    sampling_fraction: SamplingFraction = None
    name: ClassVar[str] = "individual-risk"
    needs: ClassVar[Needs] = "weights"
    supported_by: ClassVar[frozenset[Support]] = frozenset({"local-suppression"})
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"threshold": 0.01})
    monotone_suppression: ClassVar[bool] = True

    def check_part(self) -> None:
        if self.threshold <= 0 or self.sampling_fraction == 0:
            raise ValueError(Message("error.value.threshold_and_sampling_fraction"))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        return individual_risks(classes, self.sampling_fraction) > self.threshold * (1 + EXACT)

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        return float(individual_risks(classes, self.sampling_fraction).max(initial=0.0))

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        persons = float(estimated_persons(whole, self.sampling_fraction).sum())
        if whole.rows and risk_kernels.expectation(whole.rows, whole.rows / persons) > self.threshold * (1 + EXACT):
            return Message("reason.threshold_risk", threshold=self.threshold, rows=whole.rows)
        return None


def individual_risks(classes: EquivalenceClasses, sampling_fraction: float | None = None) -> Floats:
    """Return the risk of a row of each class."""
    return expected_risks(classes.sizes, estimated_persons(classes, sampling_fraction))


def expected_risks(rows: Counts, persons: Floats) -> Floats:
    """Return the expectation of 1 / (persons of the population) for classes of rows that represent persons.

    >>> expected_risks(np.array([1, 2, 3]), np.array([2.0, 100.0, 108.0])).round(8).tolist()
    [0.69314718, 0.01877883, 0.01355297]
    """
    risks = np.empty(len(rows), np.float64)
    risk_kernels.expectations(rows.astype(np.int64), persons.astype(np.float64), risks)
    return risks


class GlobalRisk(GlobalRiskModel):
    """The sum of all rows' risks / rows is at most `threshold`.

    Franconi, L., Polettini, S. (2004). Individual risk estimation in μ-Argus,
    https://doi.org/10.1007/978-3-540-25955-8_20. The sum of all rows' individual risks is the expected number of
    re-identifications, and divided by the rows its share.

    It is a global model: single rows may have a high risk. Combine it with individual-risk.

    If rows may be suppressed, the classes of highest risk are, all of a risk together, until the share is small enough.
    A method that evaluates classes one by one uses the stricter condition that every row's own risk is at most the
    threshold.

    Monotone under generalization without suppression (no row's risk grows). Not under suppression.
    """

    threshold: Annotated[float, KeyInfo("the greatest expected share of rows that are found", minimum=0, maximum=1)]
    sampling_fraction: SamplingFraction = None
    name: ClassVar[str] = "global-risk"
    needs: ClassVar[Needs] = "weights"
    supported_by: ClassVar[frozenset[Support]] = frozenset({"local-suppression"})
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"threshold": 0.01})

    def check_part(self) -> None:
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
