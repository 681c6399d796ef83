"""δ-presence: bounds for the probability that a person of a public list is in the research subset, given their class.

Nergiz, M., Atzori, M., Clifton, C. (2007). Hiding the presence of individuals from shared databases,
https://doi.org/10.1145/1247480.1247554. The rows are the population (a public list); a column marks those that belong
to the subset (the study). Only the subset is published, and the column is `*` in every row. In every published class,
the share of its rows among the persons of the list with the same quasi-identifiers lies between `lower` and `upper`:
that is the probability with which an attacker who has the list places a person of the class in the study. All other
models are evaluated on the published rows.

It does not protect other sensitive values, nor against an attacker with a better list. No guarantee covers persons
whose class is not published: anyone with the list learns that they are not in the study, or that their rows were
suppressed. A missing mark means "not in the subset".

Not monotone: with a `lower` above 0 a finer class may satisfy it when a coarser one, with more persons outside the
subset, does not. With `lower: 0` it is monotone under generalization (a share of a union lies between the shares of its
parts).
"""

from typing import Annotated, ClassVar

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.k_map import persons_of
from sfumato.microdata.models.model import EXACT, BaseModel, rows_beyond
from sfumato.schema.composite import Scalar
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class Subset:
    """The rows that belong to the research subset: those with this value in this column."""

    column: Annotated[str, KeyInfo("the column that marks the subset")]
    value: Annotated[str, Scalar("its value for rows of the subset")]


@plan_part
@dataclass(frozen=True, slots=True)
class DeltaPresence(BaseModel):
    """In every class, the share of the `subset` among the persons of the list lies between `lower` and `upper`."""

    lower: Annotated[float, KeyInfo("the least share of the subset in a class", minimum=0, maximum=1)]
    upper: Annotated[float, KeyInfo("the greatest share", minimum=0, maximum=1)]
    subset: Annotated[Subset, KeyInfo("which rows belong to the subset")]
    name: ClassVar[str] = "delta-presence"
    parameter: ClassVar[str] = "upper"
    column: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError(Message("error.value.lower_is_above_upper"))

    @property
    def monotone_generalization(self) -> bool:
        return self.lower == 0

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        shares = _shares(classes)
        return (shares < self.lower - EXACT) | (shares > self.upper + EXACT)

    def suppression_lower_bound(
        self,
        classes: EquivalenceClasses,
        whole: EquivalenceClasses,  # noqa: ARG002
        failing: BoolArray,
        enough: int,  # noqa: ARG002
    ) -> Counts:
        """Return a bound: finer classes have no more persons together, so no more rows than these allow."""
        kept = np.floor(self.upper * persons_of(classes) + 1e-6).astype(np.int64)
        return rows_beyond(classes.sizes, np.where(failing, kept, classes.sizes))

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        """Return the largest share."""
        return float(_shares(classes).max(initial=0.0))


def _shares(classes: EquivalenceClasses) -> Floats:
    """Return the share of each class's rows among the persons it represents; 1 if the list is not known."""
    shares: Floats = classes.sizes / np.maximum(persons_of(classes), 1)
    return shares
