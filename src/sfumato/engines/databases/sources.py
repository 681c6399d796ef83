"""A table of a PostgreSQL database: its columns, and the statements that count and read it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.engines import sql
from sfumato.engines.canonical_text import WHITE_SPACE, no_text
from sfumato.engines.databases.address import Address
from sfumato.engines.engine import MissingRules
from sfumato.engines.identifier_checks import check_names
from sfumato.errors import DataError, EngineError, SfumatoError, extra_part
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.missing_codes import code_texts

FLOATS = ("real", "double precision")
# Types without a text that is the same on every engine, in addition to lists.
TEXTLESS = ("bytea", "interval", "time with time zone", "bit", "bit varying")
# Types whose values are transferred unchanged; the values of all others are transferred as texts.
PLAIN = ("smallint", "integer", "bigint", "boolean", "date", "text")


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        name: Its quoted name.
        kinds: The type of each column.
        key: The columns of its primary key, which defines a stable row order.
        codes: Texts that mean missing in one column.
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
            # Converted by its text, because 0.1 in single precision is not 0.1 in double precision.
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
        """Return the statement that finds the first rows with one of some texts."""
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
    """Convert errors of the driver to Sfumato's; their texts may contain data values and are not passed on."""
    with extra_part("adbc-driver-manager", "postgresql"):
        from adbc_driver_manager import Error
    try:
        yield
    except SfumatoError:
        raise
    except (Error, OSError) as error:
        raise explained(error) from None


def explained(error: Exception) -> EngineError:
    """Return Sfumato's error for one of the driver's."""
    state = getattr(error, "sqlstate", None)
    if state in ("53100", "53200"):
        return EngineError("disk.the_database_has_no_room")
    if state == "42501":
        return EngineError("rights")
    return EngineError("database", name=state or type(error).__name__)
