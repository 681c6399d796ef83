"""The hierarchy `any`: the value itself, or `*`."""

from collections.abc import Sequence
from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.hierarchies.explicit_domains import PathFree, check_distinct, outside
from sfumato.hierarchies.hierarchy import BoundHierarchy, make_hierarchy
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber


@dataclass(frozen=True, slots=True)
class SuppressAll(PathFree):
    """Two levels: the value itself, and `*`.

    Attributes:
        values: The domain in its order, if it is fixed; else the values of the data, sorted.

    >>> SuppressAll().fit(["male", "female"]).hierarchy.labels
    (('female', 'male'), ('*',))
    """

    values: Annotated[tuple[TextOrNumber, ...] | None, KeyInfo("The domain, when it is fixed.", at_least=1)] = None

    def __post_init__(self) -> None:
        if self.values is not None:
            check_distinct(self.values)

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the data's values or of the fixed domain."""
        if self.values is None:
            return BoundHierarchy(make_hierarchy(sorted(values), []))
        return BoundHierarchy(make_hierarchy(self.values, []), outside(values, set(self.values)))
