"""The state of a batch run: what has been opened, specified and read so far."""

from dataclasses import field
from pathlib import Path

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import OfficeTable
from sfumato.tables.batch.record_links import SpannedTable
from sfumato.tables.batch.tabulation import Crossed
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.formats.batch_file import Call, Specification
from sfumato.tables.formats.metadata import Metadata
from sfumato.tables.formats.recoding_file import Recoding
from sfumato.tables.formats.records_file import Records


@dataclass
class TableJob:
    """One table that a batch file specifies.

    Attributes:
        wanted: What it is.
        rules: Its safety rules.
        recodings: Recodings of its variables.
        crossed: The table as it was crossed from records.
        table: The table as it stands: with statuses of rules and of a priori files.
        done: What protection made of it.
        tolerance: How far totals may be off.
        marked: Whether an a priori file changed the table after it was read.
    """

    wanted: Specification
    rules: list[Call] = field(default_factory=list)
    recodings: dict[str, Recoding] = field(default_factory=dict)
    crossed: Crossed | None = None
    table: OfficeTable | None = None
    done: Protected | None = None
    tolerance: float = 0.0
    marked: bool = False

    @property
    def weighted(self) -> bool:
        """Whether weights are applied."""
        return any(rule.name == "WGT" and rule.numbers[:1] == (1.0,) for rule in self.rules)


@dataclass(frozen=True)
class WrittenTable:
    """A table that was written for readers.

    Attributes:
        file: The file.
        done: The table as it was written.
        tolerance: How far totals may be off.
        source: The file of records, what of them was added up, and whether weighted; None for a table of cells.
        spanned: What it was crossed by; None for a table of cells.
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
        folder: Where the batch file lies, and the files that it names.
        out: Where files are written.
        encoding: What the files are in; found out where it is not said.
        data: The file with records or cells.
        tabular: Whether it holds cells.
        metadata: What its columns are.
        records: The records, once they are read.
        jobs: The tables.
        log: What was done, line by line.
        logbook: The file for it.
        written: The files that were written.
        warnings: What must not be overlooked.
        notices: Which of the files that were written are for the house.
        tables: The tables that were written for readers.
        holds: Whether no table was written that gives its unsafe cells away.
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
    holds: bool = True

    def warn(self, what: str) -> None:
        """Say something that must not be overlooked, once."""
        if what not in self.warnings:
            self.warnings.append(what)
            self.log.append(f"Warning: {what}")

    def source_of(self, job: TableJob, table: OfficeTable) -> tuple[Path, str, bool] | None:
        """What the numbers of a table were counted from; None where it was read as cells."""
        if self.data is None or self.tabular:
            return None
        return self.data.resolve(), table.value.lower(), job.weighted

    def spanned(self, job: TableJob) -> SpannedTable | None:
        """What a table is crossed by; None where it was read as cells."""
        if self.records is None or self.metadata is None or self.tabular:
            return None
        return SpannedTable(self.records, self.metadata, job.wanted.spanning, dict(job.recodings))

    def clear(self) -> None:
        """Forget tables, data and metadata."""
        self.data = self.metadata = self.records = None
        self.jobs.clear()
