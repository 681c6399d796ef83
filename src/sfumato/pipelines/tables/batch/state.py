"""The state of a batch run: what has been opened, specified and read so far, and which of its variables are linked."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sfumato.localization.messages import Message
from sfumato.tables.argus.office_table import ArgusTable
from sfumato.tables.argus.tabulation import Crossed, spanned
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import Numbers, Places
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.formats.batch_file import RuleCall, Specification
from sfumato.tables.formats.hierarchy_files import Recoding
from sfumato.tables.formats.metadata import Metadata, Variable
from sfumato.tables.formats.records_file import Records, record_tree
from sfumato.tables.linked.codes import BETWEEN
from sfumato.tables.linked.dependencies import ShownColumn, chains_of, column_links, upper_levels
from sfumato.tables.linked.records import Chain, RecordCodes
from sfumato.values import State, Value, field, replace


class RecordLinks(Value):
    """The linked variables of the records of several tables.

    Attributes:
        chains: The linked variables, names in lower case.
        inconsistent: Variables that determine another one in nearly all records, that other one, and the number of
            exceptions.
    """

    chains: tuple[Chain, ...] = ()
    inconsistent: tuple[tuple[tuple[str, ...], str, int], ...] = ()


class SpannedTable(Value):
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


class TableJob(State):
    """One table that a batch file specifies.

    Attributes:
        rules: Its safety rules.
        recodings: Recodings of its variables.
        crossed: The table as tabulated from records, or None.
        table: The current table, with statuses from rules and a priori files.
        done: The protected table, or None.
        tolerance: How far totals may be off.
        marked: Whether an a priori file changed the table after it was read.
    """

    wanted: Specification
    rules: list[RuleCall] = field(default_factory=list)
    recodings: dict[str, Recoding] = field(default_factory=dict)
    crossed: Crossed | None = None
    table: ArgusTable | None = None
    done: Protected | None = None
    tolerance: float = 0.0
    marked: bool = False

    @property
    def weighted(self) -> bool:
        """Whether sampling weights are applied."""
        return any(rule.name == "WGT" and rule.numbers[:1] == (1.0,) for rule in self.rules)


class WrittenTable(Value):
    """A table that was written for publication.

    Attributes:
        done: The table as it was written.
        tolerance: How far totals may be off.
        source: The file of records, the response, and whether it is weighted; None for a table of cells.
        spanned: The spanning variables with their records; None for a table of cells.
    """

    file: str
    done: Protected
    tolerance: float
    source: tuple[Path, str, bool] | None = None
    spanned: SpannedTable | None = None


class BatchState(State):
    """The state of a run.

    Attributes:
        folder: The folder of the batch file and of the files that it names.
        out: The output folder.
        encoding: The encoding of the files; detected if None.
        data: The file with records or cells.
        tabular: Whether it contains cells.
        metadata: The description of its columns.
        records: The records, once they are read.
        log: The log, line by line.
        logbook: The log file.
        warnings: Problems that users must see.
        notices: Notes on written files that are internal.
        tables: The tables written for publication.
        passed: Whether no written table discloses its sensitive cells.
    """

    folder: Path
    out: Path
    encoding: str | None = None
    data: Path | None = None
    tabular: bool = False
    metadata: Metadata | None = None
    records: Records | None = None
    jobs: list[TableJob] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    logbook: str | None = None
    written: list[Path] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)
    notices: list[Message] = field(default_factory=list)
    tables: list[WrittenTable] = field(default_factory=list)
    passed: bool = True

    def warn(self, what: Message) -> None:
        """Add a warning once."""
        if what not in self.warnings:
            self.warnings.append(what)
            self.log.append(f"Warning: {what}")

    def source_of(self, job: TableJob, table: ArgusTable) -> tuple[Path, str, bool] | None:
        """Return the source of a table's numbers, or None if it was read as cells."""
        if self.data is None or self.tabular:
            return None
        return self.data.resolve(), table.value.lower(), job.weighted

    def spanned(self, job: TableJob) -> SpannedTable | None:
        """Return the spanning variables of a table, or None if it was read as cells."""
        if self.records is None or self.metadata is None or self.tabular:
            return None
        return SpannedTable(self.records, self.metadata, job.wanted.spanning, dict(job.recodings))

    def clear(self) -> None:
        """Remove tables, data and metadata."""
        self.data = self.metadata = self.records = None
        self.jobs.clear()
