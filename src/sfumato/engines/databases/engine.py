"""The database engine: PostgreSQL counts a table itself; its rows are streamed once to be recoded."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.engines.arrow_counts import arrow, text_counts
from sfumato.engines.databases.address import Address
from sfumato.engines.databases.sources import connect, describe, faults
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import CountsPersons, MissingRules
from sfumato.errors import EngineError
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.recoding.recoding import ClassRecoding, Recoding, SuppressionHandling

SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
# The text of a timestamp must not depend on the server's time zone.
ONE_TEXT = "SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true)"


class PostgreSQLEngine(CountsPersons):
    """Rows in a PostgreSQL table, in the state when the engine is opened, whatever others write meanwhile.

    The database counts in one statement; DuckDB recodes the streamed rows.
    """

    name = "postgresql"

    notes: tuple[str, ...] = ()

    def __init__(self, address: Address, data: DataPlan | None = None) -> None:
        arrow("postgresql")
        self.address = address
        self.plan = data or DataPlan()
        self._connection = connect(address)
        try:
            with faults(), self._connection.cursor() as cursor:
                cursor.execute(SNAPSHOT)
                cursor.execute(ONE_TEXT)
                self._table = describe(cursor, address, self.plan)
        except BaseException:
            self._connection.close()
            raise

    @property
    def columns(self) -> tuple[str, ...]:
        return self._table.columns

    def count(self, columns: Sequence[str], reading: MissingRules) -> ValueCounts:
        with faults(), self._connection.cursor() as cursor:
            cursor.execute(self._table.counting(columns, reading))
            grouped = cursor.fetch_arrow_table()
            rows = self._rows() if reading.required else None
        return text_counts(columns, grouped, rows)

    def _rows(self) -> int:
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {self._table.name}")
            return int(cursor.fetchone()[0])

    def first_texts(self, column: str) -> dict[str, int]:
        """Return no texts, because they are unknown without reading the table again."""
        del column
        return {}

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        """Return row numbers in the order of the primary key; none for a table without one."""
        if not self._table.key:
            return ()
        with faults(), self._connection.cursor() as cursor:
            cursor.execute(self._table.locating(column, texts, limit))
            return tuple(int(row[0]) for row in cursor.fetchall())

    def apply(
        self, recoding: Recoding, handling: SuppressionHandling, reading: MissingRules, target: Path | None
    ) -> DuckDBEngine:
        divides = isinstance(recoding, ClassRecoding) and recoding.division is not None
        if divides and not self._table.key:
            raise EngineError("no-row-number.the_rows_of_a")
        with faults(), self._connection.cursor() as cursor:
            cursor.execute(self._table.reading())
            opens = () if target is None else (target.parent,)
            stream = DuckDBEngine.of_stream(cursor.fetch_record_batch(), self.columns, self.plan, opens=opens)
            try:
                return stream.apply(recoding, handling, reading, target)
            except EngineError:
                # If the database fails, the stream breaks off; this statement raises the database's own error.
                cursor.execute("SELECT 1")
                raise
            finally:
                stream.close()

    def data(self) -> Any:
        return self.address

    def checksum(self) -> str:
        """Return the SHA-256 of the column names and of sums of row hashes, regardless of their order."""
        with faults(), self._connection.cursor() as cursor:
            cursor.execute(self._table.checksum())
            found = cursor.fetchone()
        return hashlib.sha256(repr((self.columns, *map(str, found))).encode()).hexdigest()

    def close(self) -> None:
        from contextlib import suppress

        with suppress(Exception):  # a lost connection cannot be closed
            self._connection.close()
