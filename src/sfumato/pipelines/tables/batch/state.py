"""The state of a batch run: what has been opened, specified and read so far."""

from dataclasses import field
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.batch.record_links import SpannedTable
from sfumato.tables.batch.tabulation import Crossed
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.formats.batch_file import RuleCall, Specification
from sfumato.tables.formats.metadata import Metadata
from sfumato.tables.formats.recoding_file import Recoding
from sfumato.tables.formats.records_file import Records


@dataclass
class TableJob:
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


@dataclass(frozen=True)
class WrittenTable:
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


@dataclass
class BatchState:
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
    warnings: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    tables: list[WrittenTable] = field(default_factory=list)
    passed: bool = True

    def warn(self, what: str) -> None:
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
