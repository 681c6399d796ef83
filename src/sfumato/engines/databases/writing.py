"""Write a release to a database table in one transaction, recounting it before the commit."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sfumato.engines import sql
from sfumato.engines.arrow_counts import text_counts
from sfumato.engines.databases.address import Address, read_address
from sfumato.engines.databases.sources import connect, describe, faults
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.errors import InternalError, PlanError, extra_part
from sfumato.microdata.counts.frequency_table import ValueCounts


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
            raise InternalError("recount.what_was_written_is", problem=wrong)
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
    """Refuse an existing table, because nothing is overwritten."""
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
