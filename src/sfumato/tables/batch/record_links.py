"""Find linked variables of a file of records, and variables that combine several others."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.batch.tabulation import spanned
from sfumato.tables.build.column_chains import BETWEEN
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import Numbers, Places
from sfumato.tables.column_dependencies.column_chain import Chain
from sfumato.tables.column_dependencies.determined_columns import chains_of, column_links
from sfumato.tables.column_dependencies.recoded_columns import ShownColumn, upper_levels
from sfumato.tables.column_dependencies.record_codes import RecordCodes
from sfumato.tables.formats.metadata import Metadata, Variable
from sfumato.tables.formats.recoding_file import Recoding
from sfumato.tables.formats.records_file import Records, record_tree


@dataclass(frozen=True, slots=True)
class RecordLinks:
    """The linked variables of the records of several tables.

    Attributes:
        chains: The linked variables, names in lower case.
        inconsistent: Variables that determine another one in nearly all records, that other one, and the number of
            exceptions.
    """

    chains: tuple[Chain, ...] = ()
    inconsistent: tuple[tuple[tuple[str, ...], str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SpannedTable:
    """The records and spanning variables of a table.

    Attributes:
        metadata: Description of the columns.
        names: Its variables.
        recodings: Recodings by variable name in lower case.
    """

    records: Records
    metadata: Metadata
    names: tuple[str, ...]
    recodings: Mapping[str, Recoding]

    @property
    def variables(self) -> dict[str, Variable]:
        """Its variables by name in lower case."""
        return {one.name.lower(): one for one in map(self.metadata.named, self.names)}

    def tree(self, name: str, folder: Path) -> CodeTree:
        """Return the hierarchy of a variable in the records."""
        return record_tree(self.records, self.variables[name], folder, self.metadata.encoding)

    def shown(self, rows: Places, folder: Path) -> list[ShownColumn]:
        """Return its variables for given records as the table shows them: recoded, and by upper levels."""
        columns = []
        for name, one in self.variables.items():
            recoding = self.recodings.get(name)
            codes, tree = spanned(self.records, one, folder, self.metadata.encoding, recoding)
            own = tuple(codes[row] for row in rows.tolist())
            columns += [] if recoding is None else [ShownColumn(name, own, instead=True)]
            columns += [replace(more, instead=recoding is not None) for more in upper_levels(name, tree, own)]
        return columns


def record_links(tables: Sequence[SpannedTable], folder: Path) -> RecordLinks:
    """Find linked variables: one determines another, alone or with others, for all or some of its codes.

    Args:
        tables: The tables, all of the same records.
    """
    owners = {name: table for table in reversed(tables) for name in table.variables}
    variables = {name: owners[name].variables[name].name for name in sorted(owners)}
    texts = [owners[name].records.text(of_records) for name, of_records in variables.items()]
    rows, counts = _distinct(texts)
    own = {name: tuple(text[row] for row in rows.tolist()) for name, text in zip(variables, texts, strict=True)}
    codes, crossed = RecordCodes(own, counts), [frozenset(table.variables) for table in tables]
    trees = [(name, owners[name].tree(name, folder)) for name in variables]
    dimensions = [(name,) for name in variables]
    links = column_links(codes, dimensions, trees, crossed, [table.shown(rows, folder) for table in tables])
    odd = [
        (tuple(variables[name] for name in link.fine), variables[name], int(counts[link.inconsistent].sum()))
        for link in links
        for name in (link.columns - set(link.fine) if link.inconsistent.any() else ())
    ]
    return RecordLinks(chains_of(codes, dimensions, links), tuple(odd))


def _distinct(texts: Sequence[Sequence[str]]) -> tuple[Places, Numbers]:
    """Return the first record of each combination of codes, and the number of records that have it."""
    first: dict[tuple[str, ...], int] = {}
    counts = Counter[int]()
    for place, codes in enumerate(zip(*texts, strict=True)):
        counts[first.setdefault(codes, place)] += 1
    return np.array(list(counts), np.int64), np.array(list(counts.values()), np.float64)


def with_variables(records: Records, metadata: Metadata, names: Iterable[str]) -> tuple[Records, Metadata]:
    """Add columns for combined variables, whose names and codes are joined from their parts."""
    several = {name: [metadata.named(own).name for own in name.split(BETWEEN)] for name in names if BETWEEN in name}
    columns = {
        name: tuple(map(BETWEEN.join, zip(*(records.text(one) for one in own), strict=True)))
        for name, own in several.items()
    }
    more = tuple(Variable(name, 0) for name in several)
    return (
        replace(records, columns=TextColumns({**records.columns.texts, **columns})),
        replace(metadata, variables=(*metadata.variables, *more)),
    )
