"""The hierarchy `any`: the value itself, or `*`."""

from collections.abc import Sequence
from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.hierarchies.explicit_domains import Placeless, check_distinct, outside
from sfumato.hierarchies.hierarchy import Binding, make_ladder
from sfumato.schema.dataclass_schema import Note, TextOrNumber


@dataclass(frozen=True, slots=True)
class AnyValue(Placeless):
    """Two levels: the value itself, and `*`.

    Attributes:
        values: The domain in its order, if it is fixed; else the values of the data, sorted.

    >>> AnyValue().bind(["male", "female"]).ladder.labels
    (('female', 'male'), ('*',))
    """

    values: Annotated[tuple[TextOrNumber, ...] | None, Note("The domain, when it is fixed.", at_least=1)] = None

    def __post_init__(self) -> None:
        if self.values is not None:
            check_distinct(self.values)

    def bind(self, values: Sequence[str]) -> Binding:
        """Return the hierarchy of the data's values or of the fixed domain."""
        if self.values is None:
            return Binding(make_ladder(sorted(values), []))
        return Binding(make_ladder(self.values, []), outside(values, set(self.values)))
