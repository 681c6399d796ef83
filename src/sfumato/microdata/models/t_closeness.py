"""t-closeness: in every class the distribution of a sensitive column is close to that in the reference table.

Li, N., Li, T., Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity,
https://doi.org/10.1109/ICDE.2007.367856. The earth mover's distance between the distribution in a class and that in the
reference table is at most t; the ground distance between two values is

- equal: 1 for any two values, so the distance is the total variation;
- ordered: the difference of their ranks / (values - 1), for numbers, dates and values whose `order` is given;
- hierarchical: the level of their common label in a `hierarchy` / its levels. If all values of the hierarchy have the
  same number of levels, the distance is the mean, over the levels below the root, of the total variation there.

If persons may have several values, the distributions are the proportions of persons who have each value. They may have
different sums, so the difference is moved from no value at all, which is at distance 1 from every value; on a line the
distance is the mean, over the steps, of the total variation among below, above and nothing. So `equal` bounds by how
much the proportion of persons with any value may differ from that in the reference table, and it may exceed 1.

It does not protect against singling out, and a small t leaves little to be learned from the release about the sensitive
column, for research as well. It bounds the distance of distributions, not the gain about a rare value (β-likeness).

Conventions: a missing value counts as a separate value (ordered: after all others; hierarchical: apart from all below
the root). t = 0 requires the same shares in every class. A column with one value has distance 0. The reference table is
the original table, before suppression, and with `reference: both` also the published rows, which are all a data user
sees.

Monotone under generalization (the distance is convex), not under suppression. The kernels bound the maximum that a
violating class can keep.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.errors import PlanError
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.localization.messages import Message
from sfumato.microdata.models import distance_kernels
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats, Histogram
from sfumato.microdata.models.model import EXACT, Comparison, DistributionModel, SensitiveColumn, rows_beyond
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber
from sfumato.values import Value, replace

Distance = Literal["equal", "ordered", "hierarchical"]
Texts = tuple[str | None, ...]


class TCloseness(DistributionModel):
    """The distribution of `column` in every class is within `t` of that in the reference table."""

    t: Annotated[float, KeyInfo("the greatest distance to the whole table", minimum=0, maximum=1)]
    column: SensitiveColumn
    distance: Annotated[Distance, KeyInfo("between two values")] = "equal"
    hierarchy: Annotated[HierarchyBuilder | None, HIERARCHY] = None
    order: Annotated[tuple[TextOrNumber, ...], KeyInfo("all values from the lowest to the highest", at_least=2)] = ()
    reference: Comparison = "both"
    name: ClassVar[str] = "t-closeness"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"t": 0.3, "distance": "equal"})
    lists_all_values: ClassVar[bool] = True
    parameter: ClassVar[str] = "t"

    @property
    def value_hierarchy(self) -> HierarchyBuilder | None:
        return self.hierarchy

    @property
    def listed_values(self) -> tuple[str, ...]:
        return self.order

    def with_listed_values(self, values: tuple[str, ...]) -> "TCloseness":
        return replace(self, order=values)

    def check_part(self) -> None:
        if (self.distance == "hierarchical") != (self.hierarchy is not None):
            raise ValueError(Message("error.value.hierarchy_for_hierarchical_distance"))
        if self.order and self.distance != "ordered":
            raise ValueError(Message("error.value.order_for_ordered_distance"))

    def resolve_paths(self, folder: Path) -> "TCloseness":
        """Return the model with the path of its hierarchy file resolved from a folder."""
        return replace(self, hierarchy=self.hierarchy.resolve_paths(folder)) if self.hierarchy else self

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        return self.distances(classes, whole) > self.t + EXACT

    def violating_among(self, classes: EquivalenceClasses, whole: EquivalenceClasses, asked: BoolArray) -> BoolArray:
        return self.distances(classes, whole, asked) > self.t + EXACT

    def distances(
        self, classes: EquivalenceClasses, whole: EquivalenceClasses, asked: BoolArray | None = None
    ) -> Floats:
        """Return the distance of each class to the reference table, 0 for classes that are not requested."""
        content = classes.sensitive[self.column]
        distances = np.zeros(len(classes.sizes))
        asked = np.ones(len(distances), bool) if asked is None else asked
        entries = (content.starts, content.values, content.counts, classes.sizes, asked)
        if self.distance == "ordered":
            line = self._line(whole)
            distance_kernels.order_distances(*entries, line.ranks, line.below, line.sums, distances)
        else:
            tree = self._tree(whole)
            distance_kernels.tree_distances(*entries, tree.labels, tree.shares, distances)
        return distances

    def suppression_lower_bound(
        self, classes: EquivalenceClasses, whole: EquivalenceClasses, failing: BoolArray, enough: int
    ) -> Counts:
        content = classes.sensitive[self.column]
        kept = classes.sizes.copy()
        entries = (content.starts, content.values, content.counts, classes.sizes)
        most = self.t + 2 * EXACT
        if self.distance == "ordered":
            line = self._line(whole)
            distance_kernels.order_kept(*entries, line.ranks, line.below, most, failing, enough, kept)
        else:
            tree = self._tree(whole)
            distance_kernels.tree_kept(*entries, tree.labels, tree.shares, most, failing, enough, kept)
        return rows_beyond(classes.sizes, kept)

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        """Return the largest distance."""
        return float(self.distances(classes, whole).max(initial=0.0))

    def _line(self, whole: EquivalenceClasses) -> "_Line":
        key, content = ("line", self.order), whole.sensitive[self.column]
        if key not in content.memo:
            if key not in content.order_memo:
                content.order_memo[key] = ranks_of(content.texts, self.order, self.column)
            content.memo[key] = _line(whole.shares(self.column), content.order_memo[key])
        found: _Line = content.memo[key]
        return found

    def _tree(self, whole: EquivalenceClasses) -> "_Tree":
        key, content = ("tree", id(self.hierarchy)), whole.sensitive[self.column]
        if key not in content.memo:
            if key not in content.order_memo:
                content.order_memo[key] = levels_of(content, self.hierarchy, self.column)
            content.memo[key] = _tree(whole.shares(self.column), content.order_memo[key])
        found: _Tree = content.memo[key]
        return found


class _Line(Value):
    """Values on a line: each value's rank, the cumulative shares of the table, and the sums of these."""

    ranks: npt.NDArray[np.int64]
    below: Floats
    sums: Floats


class _Tree(Value):
    """Values in a tree: for each level below the root each value's label, and the table's share of each label."""

    labels: npt.NDArray[np.int32]
    shares: Floats


def _line(shares: Floats, ranks: npt.NDArray[np.int64]) -> _Line:
    """Return the values of a table on a line; a value that it lacks is placed next to the next lower one."""
    order = np.argsort(ranks)
    present = shares[order] > 0
    places = np.empty(len(ranks), np.int64)
    places[order] = np.maximum(np.cumsum(present) - 1, 0)
    below = np.cumsum(shares[order][present])
    return _Line(places, below, np.concatenate([[0.0], np.cumsum(below)]))


def _tree(values: Floats, labels: npt.NDArray[np.int32]) -> _Tree:
    shares = np.zeros((len(labels), len(values)))
    for level, codes in enumerate(labels):
        shares[level] = np.bincount(codes, weights=values, minlength=len(values))
    return _Tree(labels, shares)


def ranks_of(texts: Texts, order: tuple[str, ...], column: str) -> npt.NDArray[np.int64]:
    """Return the rank of each value; the missing value is the last.

    Raises:
        PlanError: The values have no natural order, or the given order lacks some of them.

    >>> ranks_of(("10", "9", None), (), "age").tolist()
    [1, 0, 2]
    """
    present = [text for text in texts if text is not None]
    keys = _keys_by(present, order, column)
    places = {text: rank for rank, text in enumerate(sorted(present, key=lambda text: keys[text]))}
    return np.array([places.get(text, len(present)) if text is not None else len(present) for text in texts], np.int64)


def _keys_by(texts: list[str], order: tuple[str, ...], column: str) -> dict[str, Any]:
    if order:
        places = {text: place for place, text in enumerate(order)}
        absent = [text for text in texts if text not in places]
        if absent:
            raise PlanError("order.the_order_of_lacks", column=column, count=len(absent)).about(values=absent)
        return dict(places)
    for kind in (_number, date.fromisoformat):
        try:
            return {text: kind(text) for text in texts}
        except (ValueError, InvalidOperation):
            continue
    raise PlanError("order.no_order_of_values", column=column)


def _number(text: str) -> Decimal:
    """Return an exact number, so that long ones keep their order."""
    number = Decimal(text)
    if number.is_nan():
        raise ValueError(Message("error.value.no_number"))
    return number


def levels_of(whole: Histogram, hierarchy: HierarchyBuilder | None, column: str) -> npt.NDArray[np.int32]:
    """Return for each level below the root the label of each value; without a hierarchy one level, the values."""
    plain = np.arange(whole.size, dtype=np.int32)[None, :]
    present = [text for text in whole.texts if text is not None]
    if hierarchy is None or not present:
        return plain
    binding = hierarchy.fit(present)
    if binding.rejected:
        raise PlanError("hierarchy-incomplete", column=column, count=len(binding.rejected)).about(
            values=binding.rejected
        )
    ladder = binding.hierarchy if None not in whole.texts else binding.hierarchy.with_missing()
    places = np.array([ladder.places[text] for text in whole.texts], np.int64)
    return np.array([_dense(ladder.codes[level][places]) for level in range(max(ladder.height - 1, 1))], np.int32)


def _dense(codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Renumber codes from 0, so that no level has more labels than there are values."""
    places: npt.NDArray[np.int64] = np.unique(codes, return_inverse=True)[1].reshape(-1)
    return places
