"""Individual risk: the expected probability that a published row is found in the population is at most a threshold.

Benedetti, R., Franconi, L. (1998). Statistical and technological solutions for controlled data dissemination; Franconi,
L., Polettini, S. (2004). Individual risk estimation in μ-Argus, https://doi.org/10.1007/978-3-540-25955-8_20. For a
class of f rows whose weights add up to F, the number of persons of the population with the same values is modeled as
negative binomial with p = f / F; the risk of its rows is the expectation of 1 / persons.

It protects against an attacker who does not know who was sampled. Against one who knows that a person is in the sample
it is weaker than k-anonymity: a unique row of a large weight has a small risk. It relies on correct weights, and covers
rows, not households: the risk of households is reported in addition.

Monotone under generalization and under suppression: rows that are merged into a class add at least as many persons.
"""

from typing import Annotated, ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.microdata.models import risk_kernels
from sfumato.microdata.models.class_weights import estimated_persons
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.model import EXACT, RiskModel
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import plan_part

SamplingFraction = Annotated[
    float | None,
    KeyInfo("the share of the population in the rows, where no column is the weight", minimum=0, maximum=1),
]


@plan_part
@dataclass(frozen=True, slots=True)
class IndividualRisk(RiskModel):
    """Every row has at most the risk `threshold`."""

    threshold: Annotated[float, KeyInfo("the greatest risk of a row", minimum=0, maximum=1)]
    sampling_fraction: SamplingFraction = None
    name: ClassVar[str] = "individual-risk"
    monotone_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.threshold <= 0 or self.sampling_fraction == 0:
            raise ValueError(Message("error.value.threshold_and_sampling_fraction"))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        return individual_risks(classes, self.sampling_fraction) > self.threshold * (1 + EXACT)

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        return float(individual_risks(classes, self.sampling_fraction).max(initial=0.0))

    def infeasibility(self, whole: EquivalenceClasses) -> str | None:
        persons = float(estimated_persons(whole, self.sampling_fraction).sum())
        if whole.rows and risk_kernels.expectation(whole.rows, whole.rows / persons) > self.threshold * (1 + EXACT):
            return f"threshold = {self.threshold:g} is below the risk that all {whole.rows} rows in one class have."
        return None


def individual_risks(classes: EquivalenceClasses, sampling_fraction: float | None = None) -> Floats:
    """The risk of a row of each class."""
    return expected_risks(classes.sizes, estimated_persons(classes, sampling_fraction))


def expected_risks(rows: Counts, persons: Floats) -> Floats:
    """Return the expectation of 1 / (persons of the population) for classes of rows that represent persons.

    >>> expected_risks(np.array([1, 2, 3]), np.array([2.0, 100.0, 108.0])).round(8).tolist()
    [0.69314718, 0.01877883, 0.01355297]
    """
    risks = np.empty(len(rows), np.float64)
    risk_kernels.expectations(rows.astype(np.int64), persons.astype(np.float64), risks)
    return risks
