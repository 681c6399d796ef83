"""Which variables of a file of records hang together, and variables that are several of them at once."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.build.column_chains import BETWEEN
from sfumato.tables.cells.columns import Columns
from sfumato.tables.formats.metadata import Metadata, Variable
from sfumato.tables.formats.record_trees import record_tree
from sfumato.tables.formats.records_file import Records
from sfumato.tables.nesting.chain import Chain
from sfumato.tables.nesting.determined_columns import chains_of, column_links
from sfumato.tables.nesting.record_codes import RecordCodes


@dataclass(frozen=True, slots=True)
class RecordLinks:
    """The variables of tables that hang together in their records.

    Attributes:
        chains: The variables, each by its name in small letters.
        odd: Those that determine another one in nearly all records, this one, and how many records are off.
    """

    chains: tuple[Chain, ...] = ()
    odd: tuple[tuple[tuple[str, ...], str, int], ...] = ()


def record_links(records: Records, metadata: Metadata, tables: Sequence[frozenset[str]], folder: Path) -> RecordLinks:
    """The variables that hang together: one determines another, alone or with others, or some of its codes do.

    Args:
        records: The records.
        metadata: What their columns are.
        tables: The variables of each table.
        folder: Where hierarchies lie.
    """
    variables = {one.name.lower(): one for one in map(metadata.named, sorted(frozenset().union(*tables)))}
    texts = {name: records.text(one.name) for name, one in variables.items()}
    codes = RecordCodes(texts, np.ones(len(records)))
    trees = [(name, record_tree(records, one, folder, metadata.encoding)) for name, one in variables.items()]
    dimensions = [(name,) for name in sorted(variables)]
    links = column_links(codes, dimensions, trees, [frozenset(map(str.lower, own)) for own in tables])
    odd = [
        (tuple(variables[name].name for name in link.fine), variables[name].name, int(link.odd.sum()))
        for link in links
        for name in (link.columns - set(link.fine) if link.odd.any() else ())
    ]
    return RecordLinks(chains_of(codes, dimensions, links), tuple(odd))


def with_variables(records: Records, metadata: Metadata, names: Iterable[str]) -> tuple[Records, Metadata]:
    """The records with variables that are several at once, by the names of these and with their codes."""
    several = {name: [metadata.named(own).name for own in name.split(BETWEEN)] for name in names if BETWEEN in name}
    columns = {
        name: tuple(map(BETWEEN.join, zip(*(records.text(one) for one in own), strict=True)))
        for name, own in several.items()
    }
    more = tuple(Variable(name, 0) for name in several)
    return (
        replace(records, columns=Columns({**records.columns.texts, **columns})),
        replace(metadata, variables=(*metadata.variables, *more)),
    )
