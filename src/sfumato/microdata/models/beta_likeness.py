"""β-likeness: no sensitive value is much more frequent in a class than in the reference table.

Cao, J., Karras, P. (2012). Publishing microdata with a robust privacy guarantee. PVLDB 5(11),
https://doi.org/10.14778/2350229.2350255. With p the share of a value in the reference table and q its share in a class:

- basic: (q - p) / p is at most β for every value with q > p;
- enhanced: it is at most min(β, -ln p), so that frequent values are bounded more tightly.

Unlike the distances of t-closeness it treats rare values as strictly as frequent ones. It bounds what is gained about a
value that a person may have, not what is learned from its absence (δ-disclosure privacy does). A missing value is one
value of its own. A column with one value always satisfies it.

Monotone under generalization (bounds on shares hold for unions), not under suppression. The reference table is the
original table, before suppression, and with `reference: both` also the published rows, which are all a data user sees.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.models import bounds_kernels
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.model import EXACT, Comparison, DistributionModel, SensitiveColumn, rows_beyond
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class BetaLikeness(DistributionModel):
    """The share of a value of `column` in a class exceeds its share in the table by at most `beta` times it."""

    beta: Annotated[float, KeyInfo("by how many times a share may exceed that in the table", minimum=0)]
    column: SensitiveColumn
    variant: Annotated[
        Literal["basic", "enhanced"], KeyInfo("enhanced limits frequent values more, by -ln of their share")
    ] = "enhanced"
    reference: Comparison = "both"
    name: ClassVar[str] = "beta-likeness"
    parameter: ClassVar[str] = "beta"

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        return self._ratios(classes, self._caps(whole)) > 1 + EXACT

    def suppression_lower_bound(
        self, classes: EquivalenceClasses, whole: EquivalenceClasses, failing: BoolArray, enough: int
    ) -> Counts:
        content = classes.sensitive[self.column]
        kept = classes.sizes.copy()
        bounds_kernels.capped(content.starts, content.values, content.counts, self._caps(whole), failing, enough, kept)
        return rows_beyond(classes.sizes, kept)

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        """Return the largest (q - p) / p of all classes."""
        shares = _positive(whole.shares(self.column))
        return max(0.0, float(self._ratios(classes, shares).max(initial=1.0)) - 1)

    def _caps(self, whole: EquivalenceClasses) -> Floats:
        """Return the maximum share of each value in a class."""
        shares = whole.shares(self.column)
        bound = np.full(len(shares), self.beta)
        if self.variant == "enhanced":
            bound = np.minimum(bound, -np.log(_positive(shares)))
        caps: Floats = _positive(shares) * (1 + bound)
        return caps

    def _ratios(self, classes: EquivalenceClasses, reference: Floats) -> Floats:
        content = classes.sensitive[self.column]
        ratios = np.empty(len(classes.sizes))
        bounds_kernels.highest_ratio(content.starts, content.values, content.counts, classes.sizes, reference, ratios)
        return ratios


def _positive(shares: Floats) -> Floats:
    """Return shares as divisors; a value that the table lacks gets a tiny share."""
    found: Floats = np.maximum(shares, 1e-300)
    return found
