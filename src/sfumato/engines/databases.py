"""Read tables of PostgreSQL, which counts their rows itself, and write releases to PostgreSQL or SQLite tables."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sfumato.engines import sql
from sfumato.engines.canonical_text import WHITE_SPACE, arrow, no_text, text_counts
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import CountsPersons, MissingRules
from sfumato.engines.sql import Address, check_names, read_address
from sfumato.errors import DataError, EngineError, InternalError, PlanError, SfumatoError, extra_part
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.data_plan import DataPlan, code_texts
from sfumato.microdata.recoding.mapping import ClassRecoding, Recoding, SuppressionHandling
from sfumato.values import Value, field

FLOATS = ("real", "double precision")
# Column types, in addition to lists, whose values different engines convert to text differently.
TEXTLESS = ("bytea", "interval", "time with time zone", "bit", "bit varying")
# Types whose values are transferred unchanged; the values of all others are transferred as texts.
PLAIN = ("smallint", "integer", "bigint", "boolean", "date", "text")


class Table(Value):
    """A PostgreSQL table, and the statements that read it.

    Attributes:
        name: The quoted name of the table.
        kinds: The type of each column.
        key: The columns of its primary key, which defines a stable row order.
        codes: The texts that mean a missing value, by column.
    """

    name: str
    kinds: dict[str, str]
    key: tuple[str, ...]
    strip: bool = False
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    def text(self, column: str) -> str:
        """Return the expression of a column's text; floating-point numbers remain numbers and are formatted later."""
        return self._without_codes(column, self._text(column))

    def _text(self, column: str) -> str:
        raw = f"s.{sql.name(column)}"
        if self.kinds[column] in FLOATS:
            # Conversion by text keeps 0.1: single precision 0.1 cast to double precision would be 0.10000000149.
            return f"(NULLIF({raw}, 'NaN')::text::float8 + 0.0::float8)"
        if self.kinds[column] == "numeric":
            raw = f"NULLIF({raw}, 'NaN')"
        return f"NULLIF(btrim({raw}::text, {sql.text(WHITE_SPACE)}), '')" if self.strip else f"{raw}::text"

    def _without_codes(self, column: str, value: str) -> str:
        """Return the expression of a value that is null for codes that mean missing in its column."""
        if column not in self.codes:
            return value
        texts = sql.listed(map(quoted, code_texts(self.codes[column], decimals=self.kinds[column] == "numeric")))
        return f"(CASE WHEN ({self._text(column)})::text IN ({texts}) THEN NULL ELSE {value} END)"

    def counting(self, columns: Sequence[str], reading: MissingRules) -> str:
        """Return the statement that counts the distinct combinations of columns."""
        keys = sql.listed(f"{self.text(column)} AS k{place}" for place, column in enumerate(columns))
        names = sql.listed(f"k{place}" for place in range(len(columns)))
        rows = f"SELECT {keys} FROM {self.name} AS s{self._required(reading)}"
        return f"SELECT {names}, count(*)::bigint AS n FROM ({rows}) AS q GROUP BY {names}"

    def _required(self, reading: MissingRules) -> str:
        tests = []
        for column in reading.required:
            tests.append(f"{self.text(column)} IS NOT NULL")
            if reading.missing:
                texts = sql.listed(map(quoted, reading.missing))
                tests.append(f"({self.text(column)})::text NOT IN ({texts})")
        return " WHERE " + " AND ".join(tests) if tests else ""

    def reading(self) -> str:
        """Return the statement that reads all rows, in the order of the primary key if there is one."""
        columns = sql.listed(f"{self._value(column)} AS {sql.name(column)}" for column in self.columns)
        return f"SELECT {columns} FROM {self.name} AS s{self._order}"

    def _value(self, column: str) -> str:
        plain = self.kinds[column] in PLAIN
        return self._without_codes(column, f"s.{sql.name(column)}") if plain else self.text(column)

    @property
    def _order(self) -> str:
        return f" ORDER BY {sql.listed(f's.{sql.name(column)}' for column in self.key)}" if self.key else ""

    def locating(self, column: str, texts: Sequence[str], limit: int) -> str:
        """Return the statement that finds the numbers of the first rows with one of the given texts."""
        numbers = f"SELECT row_number() OVER ({self._order}) AS place, ({self.text(column)})::text AS value"
        wanted = sql.listed(map(quoted, texts))
        rows = f"{numbers} FROM {self.name} AS s"
        return f"SELECT place FROM ({rows}) AS q WHERE value IN ({wanted}) ORDER BY place LIMIT {int(limit)}"

    def checksum(self) -> str:
        """Return the statement that adds up hashes of the rows, regardless of their order."""
        part = "('x' || substr(md5(s::text), {}, 15))::bit(60)::bigint::numeric"
        return f"SELECT count(*), sum({part.format(1)})::text, sum({part.format(17)})::text FROM {self.name} AS s"


def quoted(text: str) -> str:
    """Return a quoted text that does not depend on the server's handling of backslashes."""
    return "E" + sql.text(text.replace("\\", "\\\\")) if "\\" in text else sql.text(text)


def connect(address: Address) -> Any:
    """Return a connection whose statements form one transaction.

    Raises:
        EngineError: The database cannot be reached.
    """
    with extra_part("adbc-driver-postgresql", "postgresql"):
        import adbc_driver_postgresql.dbapi as driver
    with faults():
        return driver.connect(address.uri)


def describe(cursor: Any, address: Address, data: DataPlan | None = None) -> Table:
    """Return the table of an address, whose values are read as a plan requests."""
    reading = data or DataPlan()
    name = sql.name(address.table) if not address.schema else f"{sql.name(address.schema)}.{sql.name(address.table)}"
    where = f"to_regclass({quoted(name)})"
    cursor.execute(
        "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute "
        f"WHERE attrelid = {where} AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
    )
    kinds = dict(cursor.fetchall())
    if not kinds:
        raise DataError("no-table")
    check_names(tuple(kinds))
    for column, kind in kinds.items():
        if kind in TEXTLESS or kind.endswith("[]"):
            raise no_text(column)
    cursor.execute(
        "SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
        f"AND a.attnum = ANY(i.indkey) WHERE i.indrelid = {where} AND i.indisprimary "
        "ORDER BY array_position(i.indkey::int2[], a.attnum)"
    )
    key = tuple(row[0] for row in cursor.fetchall())
    return Table(name, kinds, key, reading.strip, reading.codes)


@contextmanager
def faults() -> Iterator[None]:
    """Convert errors of the database driver to `EngineError` without their texts, which may contain data values."""
    with extra_part("adbc-driver-manager", "postgresql"):
        from adbc_driver_manager import Error
    try:
        yield
    except SfumatoError:
        raise
    except (Error, OSError) as error:
        raise explained(error) from None


def explained(error: Exception) -> EngineError:
    """Return the `EngineError` for an error of the database driver."""
    state = getattr(error, "sqlstate", None)
    if state in ("53100", "53200"):
        return EngineError("disk.the_database_has_no_room")
    if state == "42501":
        return EngineError("rights")
    return EngineError("database", name=state or type(error).__name__)


SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Settings that make the text of a timestamp independent of the server's configuration.
ONE_TEXT = "SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true)"


class PostgreSQLEngine(CountsPersons):
    """The engine for a PostgreSQL table; it reads a snapshot from when it was opened, without later changes.

    The database counts in one statement; DuckDB recodes the streamed rows.
    """

    name = "postgresql"

    notes: tuple[Message, ...] = ()

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
        """Return no texts, because finding them would require reading the table again."""
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
            raise EngineError("no-row-number.no_primary_key")
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


class PublishedTableRows(Protocol):
    """The parts of a release needed for writing."""

    @property
    def published(self) -> Any: ...

    @property
    def prediction(self) -> Any: ...


def write_table(release: PublishedTableRows, address: str) -> None:
    """Write the published rows of a release to a new table of a PostgreSQL or SQLite database in one transaction.

    Raises:
        PlanError: The table exists.
        EngineError: The database cannot be reached or written; then there is no table.
    """
    place = read_address(address)
    prediction = release.prediction
    names = (*prediction.columns, *prediction.sensitive)
    opened, recounted = (_postgresql, _by_database) if place.kind == "postgresql" else (_sqlite, _by_reading)
    with opened(place) as connection, connection.cursor() as cursor:
        _check_new(cursor, place)
        with _rows(release.published) as rows:
            cursor.adbc_ingest(place.table, rows, mode="create", **_schema(place))
        wrong = prediction.difference(recounted(cursor, place, names))
        if wrong:
            raise InternalError("recount.written_differently", problem=wrong)
        connection.commit()


def check_new_table(address: str) -> None:
    """Refuse the address of an existing table before any work is done for it.

    Raises:
        PlanError: The table exists.
        EngineError: The database cannot be reached.
    """
    place = read_address(address)
    opened = _postgresql if place.kind == "postgresql" else _sqlite
    with opened(place) as connection, connection.cursor() as cursor:
        _check_new(cursor, place)


def _schema(place: Address) -> dict[str, str]:
    return {"db_schema_name": place.schema} if place.schema else {}


@contextmanager
def _postgresql(place: Address) -> Iterator[Any]:
    with faults(), connect(place) as connection:
        yield connection


@contextmanager
def _sqlite(place: Address) -> Iterator[Any]:
    with extra_part("adbc-driver-sqlite", "sqlite"):
        import adbc_driver_sqlite.dbapi as driver
    with faults(), driver.connect(place.uri) as connection:
        yield connection


def _check_new(cursor: Any, place: Address) -> None:
    """Refuse an existing table, because tables are never overwritten."""
    if place.kind == "postgresql":
        schema = sql.text(place.schema) if place.schema else "current_schema()"
        where = f"information_schema.tables WHERE table_schema = {schema} AND table_name = {sql.text(place.table)}"
    else:
        where = f"sqlite_master WHERE name = {sql.text(place.table)}"
    cursor.execute(f"SELECT count(*) FROM {where}")
    if cursor.fetchone()[0]:
        raise PlanError("output-exists.the_table_exists")


@contextmanager
def _rows(published: Any) -> Iterator[Any]:
    """Yield the published rows as a stream of Arrow batches."""
    data = published.data()
    if not isinstance(data, Path):
        import narwhals as nw

        yield nw.from_native(data, eager_only=True).to_arrow().to_reader()
        return
    with closing(DuckDBEngine.of_published(data, published.columns, published.source.separator)) as engine:
        yield engine.stream()


def _by_database(cursor: Any, place: Address, names: tuple[str, ...]) -> ValueCounts:
    cursor.execute(describe(cursor, place).counting(names, MissingRules()))
    return text_counts(names, cursor.fetch_arrow_table())


def _by_reading(cursor: Any, place: Address, names: tuple[str, ...]) -> ValueCounts:
    """Read the rows back and count them here, because SQLite formats numbers differently."""
    cursor.execute(f"SELECT {sql.listed(map(sql.name, names))} FROM {sql.name(place.table)}")
    with closing(DuckDBEngine.of_stream(cursor.fetch_record_batch(), names, kept=True)) as engine:
        return engine.count(names, MissingRules())
