"""The coded rows of linked files: the quasi-identifiers of each file, and the parent row of each row."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.microdata.models.equivalence_classes import Counts, EquivalenceClasses, Histogram, histogram

Codes = npt.NDArray[np.int32]
Level = tuple[str, str]


@dataclass(frozen=True)
class FileRows:
    """The rows of one file.

    Attributes:
        parent: The parent file; None for that of the persons.
        columns: Its quasi-identifiers; ladders: their hierarchies; codes: (rows, columns).
        above: For each row the index of its parent row.
    """

    name: str
    parent: str | None
    columns: tuple[str, ...]
    ladders: tuple[Hierarchy, ...]
    codes: Codes
    above: Counts


@dataclass(frozen=True)
class Values:
    """The values of a sensitive column by person, each pair of person and value once."""

    persons: Counts
    codes: Codes
    texts: tuple[str | None, ...]


@dataclass(frozen=True)
class LinkedFiles:
    """All files, parents first, and the sensitive values of persons.

    Attributes:
        values: For each sensitive column with a model, which persons have which values.
    """

    files: tuple[FileRows, ...]
    values: Mapping[str, Values]

    @property
    def number_of_persons(self) -> int:
        return len(self.files[0].codes)

    @cached_property
    def persons(self) -> dict[str, Counts]:
        """For each file the person of each row."""
        found: dict[str, Counts] = {}
        for file in self.files:
            found[file.name] = np.arange(len(file.codes)) if file.parent is None else found[file.parent][file.above]
        return found

    @cached_property
    def columns(self) -> tuple[Level, ...]:
        """All quasi-identifiers, as file and column."""
        return tuple((file.name, name) for file in self.files for name in file.columns)

    @cached_property
    def ladders(self) -> tuple[Hierarchy, ...]:
        return tuple(ladder for file in self.files for ladder in file.ladders)

    def classes(self, groups: Counts, number: int) -> EquivalenceClasses:
        """Return groups of persons as classes, with the persons who have each value."""
        sizes = np.bincount(groups, minlength=number).astype(np.int64)
        contents: dict[str, Histogram] = {
            name: histogram(
                groups[values.persons], values.codes, np.ones(len(values.codes), np.int64), number, len(values.texts)
            )
            for name, values in self.values.items()
        }
        return EquivalenceClasses(sizes, contents, counts_persons=True)

    @cached_property
    def whole(self) -> EquivalenceClasses:
        """All persons as one class."""
        return self.classes(np.zeros(self.number_of_persons, np.int64), 1)
