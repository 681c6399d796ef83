"""The hierarchy `tree`: each value has a parent, each parent another one, up to the root."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.hierarchies.explicit_domains import PathFree, outside
from sfumato.hierarchies.hierarchy import ROOT, BoundHierarchy, make_hierarchy
from sfumato.localization.messages import Message
from sfumato.schema.composite import MapSchema, Scalar


@dataclass(frozen=True, slots=True)
class Tree(PathFree):
    """A map from child to parent, of any depth; a node without a parent is below `*`.

    Levels are counted from the root: at each level all labels have at most that depth. A leaf that is higher than the
    deepest repeats its own label until its depth is reached. The domain is all leaves, and those inner labels that
    occur as values in the data (a coarse code among finer ones).

    Attributes:
        parents: The parent of each child.

    >>> tree = Tree({"Bonn": "NRW", "Köln": "NRW", "Ulm": "BW"})
    >>> tree.fit(["Ulm"]).hierarchy.rows()
    [('Bonn', 'NRW', '*'), ('Köln', 'NRW', '*'), ('Ulm', 'BW', '*')]
    """

    parents: Annotated[Mapping[str, str], MapSchema(Scalar(), at_least=1, about="The parent of each child.")]

    def __post_init__(self) -> None:
        if not self.parents:
            raise ValueError(Message("error.value.no_child"))
        if ROOT in self.parents:
            raise ValueError(Message("error.value.root"))
        cyclic = [child for child in self.parents if self._line(child) is None]
        if cyclic:
            raise ValueError("a cycle: nothing is its own ancestor, but so are " + ", ".join(cyclic[:5]) + ".")

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of all leaves, and of the inner labels among the values."""
        inner = {*self.parents.values()} - {ROOT}
        names = dict.fromkeys((*self.parents, *self.parents.values()))
        names.pop(ROOT, None)
        present = set(values)
        domain = [name for name in names if name in present or name not in inner]
        return BoundHierarchy(make_hierarchy(domain, self._levels(domain)), outside(values, names))

    def _levels(self, domain: Sequence[str]) -> list[list[str]]:
        """Return for each depth from the one above the deepest up to the root each value's ancestor there or itself."""
        lines = [self._line(name) or () for name in domain]
        deepest = max(len(line) for line in lines)
        return [[line[min(depth, len(line) - 1)] for line in lines] for depth in range(deepest - 2, -1, -1)]

    def _line(self, name: str) -> tuple[str, ...] | None:
        """Return a name's ancestors from the root down to itself, or None if they contain a cycle."""
        line = [name]
        while (above := self.parents.get(line[-1])) is not None:
            line.append(above)
            if len(line) > len(self.parents) + 1:
                return None
        return tuple(reversed(line if line[-1] == ROOT else [*line, ROOT]))
