"""δ-disclosure privacy and β-likeness: no sensitive value is much more frequent in a class than in all rows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.models import bounds_kernels
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.model import EXACT, Comparison, DistributionModel, SensitiveColumn, rows_beyond
from sfumato.schema.dataclass_schema import KeyInfo


class DeltaDisclosure(DistributionModel):
    """|ln(q/p)| < `delta` for every value of `column` in every class.

    Brickell, J., Shmatikov, V. (2008). The cost of privacy: destruction of data-mining utility in anonymized data
    publishing, https://doi.org/10.1145/1401890.1401904. With p the share of a value in the reference table and q its
    share in a class, |ln(q/p)| must be below δ for every value of the table. So every class must contain every value,
    because the absence of a value would be informative, too. Only this strict reading of the paper is offered.

    It is the most demanding of these models, and does not address singling out: combine it with k-anonymity. A missing
    value counts as one separate value. A column with one value always satisfies it.

    Monotone under generalization (bounds on shares hold for unions), not under suppression. The reference table is the
    original table, before suppression, and with `reference: both` also the published rows, which are all a data user
    sees.
    """

    delta: Annotated[float, KeyInfo("the greatest |ln(q/p)|", minimum=0)]
    column: SensitiveColumn
    reference: Comparison = "both"
    name: ClassVar[str] = "delta-disclosure"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"delta": 1.0})
    parameter: ClassVar[str] = "delta"

    def check_part(self) -> None:
        if self.delta <= 0:
            raise ValueError(Message("error.value.delta_must_be_greater"))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        return self._distances(classes, whole) >= self.delta - EXACT

    def suppression_lower_bound(
        self, classes: EquivalenceClasses, whole: EquivalenceClasses, failing: BoolArray, enough: int
    ) -> Counts:
        content = classes.sensitive[self.column]
        shares = whole.shares(self.column)
        kept = classes.sizes.copy()
        caps = shares * np.exp(self.delta)
        bounds_kernels.capped(content.starts, content.values, content.counts, caps, failing, enough, kept)
        _, low = self._ratios(classes, whole)
        # A value of which a class holds c rows limits it to c / (p exp(-delta)) rows; low is the least c / (p size).
        scarce = np.floor(low * classes.sizes * np.exp(self.delta) + 1e-6).astype(np.int64)
        return rows_beyond(classes.sizes, np.where(failing, np.minimum(kept, scarce), classes.sizes))

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        """Return the largest |ln(q/p)|; infinite if a class lacks a value."""
        return float(self._distances(classes, whole).max(initial=0.0))

    def _distances(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> Floats:
        high, low = self._ratios(classes, whole)
        with np.errstate(divide="ignore"):
            return np.maximum(np.abs(np.log(high)), np.abs(np.log(low)))

    def _ratios(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> tuple[Floats, Floats]:
        """Return the maximum and minimum q/p of each class."""
        content = classes.sensitive[self.column]
        shares = whole.shares(self.column)
        reference = np.maximum(shares, 1e-300)
        high, low = np.empty(len(classes.sizes)), np.empty(len(classes.sizes))
        entries = (content.starts, content.values, content.counts, classes.sizes, reference)
        bounds_kernels.highest_ratio(*entries, high)
        bounds_kernels.lowest_ratio(*entries, int((shares > 0).sum()), low)
        return high, low


class BetaLikeness(DistributionModel):
    """The share of a value of `column` in a class exceeds its share in the table by at most `beta` times it.

    Cao, J., Karras, P. (2012). Publishing microdata with a robust privacy guarantee. PVLDB 5(11),
    https://doi.org/10.14778/2350229.2350255. With p the share of a value in the reference table and q its share in a
    class:

    - basic: (q - p) / p is at most β for every value with q > p;
    - enhanced: it is at most min(β, -ln p), so that frequent values are bounded more tightly.

    Unlike the distances of t-closeness it treats rare values as strictly as frequent ones. It bounds what is gained
    about a value that a person may have, not what is learned from its absence (δ-disclosure privacy does). A missing
    value counts as one separate value. A column with one value always satisfies it.

    Monotone under generalization (bounds on shares hold for unions), not under suppression. The reference table is the
    original table, before suppression, and with `reference: both` also the published rows, which are all a data user
    sees.
    """

    beta: Annotated[float, KeyInfo("by how many times a share may exceed that in the table", minimum=0)]
    column: SensitiveColumn
    variant: Annotated[
        Literal["basic", "enhanced"], KeyInfo("enhanced limits frequent values more, by -ln of their share")
    ] = "enhanced"
    reference: Comparison = "both"
    name: ClassVar[str] = "beta-likeness"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"beta": 1.0, "variant": "enhanced"})
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
