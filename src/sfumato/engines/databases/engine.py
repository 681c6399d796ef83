"""The database engine: PostgreSQL counts a table itself; its rows are streamed once to be recoded."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.engines.arrow_counts import arrow, text_counts
from sfumato.engines.databases.address import Address
from sfumato.engines.databases.sources import connect, describe, faults
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import CountsPersons, Reading
from sfumato.errors import EngineError
from sfumato.microdata.counts.frequency_table import TextCounts
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.recoding.recoding import ClassRecoding, Handling, Recoding

SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
# The text of a moment must not depend on where the server stands.
ONE_TEXT = "SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true)"


class PostgreSQLEngine(CountsPersons):
    """Rows in a PostgreSQL table, as they are when the engine is opened, whatever others write meanwhile.

    The count is one statement in the database; the rows are recoded on their way into the release by DuckDB.
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

    def count(self, columns: Sequence[str], reading: Reading) -> TextCounts:
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
        """Not known without reading the table again."""
        del column
        return {}

    def locate(self, column: str, texts: Sequence[str], limit: int) -> tuple[int, ...]:
        """Numbers of rows in the order of the primary key; none for a table that has no such key."""
        if not self._table.key:
            return ()
        with faults(), self._connection.cursor() as cursor:
            cursor.execute(self._table.locating(column, texts, limit))
            return tuple(int(row[0]) for row in cursor.fetchall())

    def apply(self, recoding: Recoding, handling: Handling, reading: Reading, target: Path | None) -> DuckDBEngine:
        divides = isinstance(recoding, ClassRecoding) and recoding.division is not None
        if divides and not self._table.key:
            raise EngineError(
                "the rows of a table without a primary key have no lasting order, by which they could be told apart.",
                "Give the table a primary key, or use a method that does not divide equal rows (mode: strict).",
                "no-row-number",
            )
        with faults(), self._connection.cursor() as cursor:
            cursor.execute(self._table.reading())
            opens = () if target is None else (target.parent,)
            stream = DuckDBEngine.of_stream(cursor.fetch_record_batch(), self.columns, self.plan, opens=opens)
            try:
                return stream.apply(recoding, handling, reading, target)
            except EngineError:
                # The stream breaks off when the database goes: then the database has the word.
                cursor.execute("SELECT 1")
                raise
            finally:
                stream.close()

    def data(self) -> Any:
        return self.address

    def fingerprint(self) -> str:
        """SHA-256 of the columns' names and of sums of the rows' hashes, whatever their order."""
        with faults(), self._connection.cursor() as cursor:
            cursor.execute(self._table.fingerprint())
            found = cursor.fetchone()
        return hashlib.sha256(repr((self.columns, *map(str, found))).encode()).hexdigest()

    def close(self) -> None:
        from contextlib import suppress

        with suppress(Exception):  # a connection that is lost cannot be closed either
            self._connection.close()
