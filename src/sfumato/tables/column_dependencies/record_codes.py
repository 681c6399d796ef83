"""The codes of the columns of records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.cells.system import Numbers, Places

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordCodes:
    """The codes of records: for each column the code of each row, and the number of records per row."""

    codes: Mapping[str, Sequence[str]]
    counts: Numbers
    _numbers: dict[Names, Places] = field(default_factory=dict)

    def numbers(self, names: Names) -> Places:
        """Return a number for the codes of some columns in each row, in the order of the codes."""
        if names not in self._numbers:
            self._numbers[names] = self._numbered(names)
        return self._numbers[names]

    def _numbered(self, names: Names) -> Places:
        if len(names) == 1:
            order = {code: place for place, code in enumerate(sorted(set(self.codes[names[0]])))}
            return np.array([order[code] for code in self.codes[names[0]]], np.int64)
        last = self.numbers(names[-1:])
        _, numbers = np.unique(self.numbers(names[:-1]) * (last.max(initial=0) + 1) + last, return_inverse=True)
        return numbers

    def rows(self, names: Names) -> list[Code]:
        """Return the codes of some columns in each row."""
        return list(zip(*(self.codes[name] for name in names), strict=True))


def names_in(dimensions: Iterable[Names]) -> Names:
    """Return the columns of some dimensions."""
    return tuple(name for own in dimensions for name in own)
