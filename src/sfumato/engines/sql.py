"""Names of tables and columns: quoted for SQL, checked to be distinguishable; addresses of database tables."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sfumato.errors import DataError, PlanError, PlanIssue, did_you_mean, issue, nearest
from sfumato.localization.messages import Message
from sfumato.values import Value


def name(text: str) -> str:
    """Return a quoted name, with inner quotes doubled.

    >>> print(name("Straße 7"))
    "Straße 7"
    """
    return '"' + text.replace('"', '""') + '"'


def text(value: str | None) -> str:
    """Return a quoted text, or NULL."""
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def listed(parts: Iterable[str]) -> str:
    """Join parts with commas."""
    return ", ".join(parts)


# The prefix of the engines' own columns, which data columns may not have.
RESERVED = "sfumato_"


def check_header(asked: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse data without any of the requested columns.

    The header is then likely the first row, or a line read with another separator. So it is returned to the caller
    only, except for a name similar to a requested one. Messages may quote column names once this check has passed.

    Raises:
        PlanError: The data has none of the columns; the names present are its values.
    """
    names = list(asked)
    if any(name in columns for name in names):
        return
    # A value of the first row may resemble one of many names by chance.
    if 2 * sum(nearest(name, columns) is not None for name in names) >= max(1, len(names)):
        raise PlanError.listing([_absent(name, columns) for name in names], "columns").about(values=tuple(columns))
    raise PlanError("columns.none_in_first_line").about(values=tuple(columns))


def _absent(name: str, columns: Sequence[str]) -> PlanIssue:
    near = nearest(name, columns)
    return issue(name, "the_data_have_no_such", hint="" if near is None else Message("hint.meant", name=near))


def check_names(columns: Sequence[Any]) -> None:
    """Refuse columns whose names are no texts, empty, reserved, or equal except for case."""
    if not all(isinstance(name, str) for name in columns):
        raise DataError("column-name")
    if "" in columns:
        raise DataError("unnamed-column", number=list(columns).index("") + 1)
    _check_different(columns)
    reserved = [name for name in columns if name.lower().startswith(RESERVED)]
    if reserved:
        raise DataError("reserved-column", name=", ".join(reserved))


def _check_different(columns: Sequence[str]) -> None:
    """Refuse equal names; the message has column numbers, because without a header names are personal values."""
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise DataError("duplicate-columns.columns_have_the_same", names=_places(columns, twice)).about(
            values=tuple(dict.fromkeys(twice))
        )
    folded = [name.lower() for name in columns]
    alike = [name for name in columns if folded.count(name.lower()) > 1]
    if alike:
        raise DataError("duplicate-columns.the_names_of_columns", names=_places(columns, alike)).about(
            values=tuple(alike)
        )


def _places(columns: Sequence[str], some: Sequence[str]) -> str:
    """Return the numbers of some columns, from 1, as text."""
    places = [str(place) for place, name in enumerate(columns, start=1) if name in some]
    return " and ".join([", ".join(places[:-1]), places[-1]])


def table_named(wanted: str | None, tables: Sequence[str]) -> str:
    """Return the requested table of a source, or its only one.

    Raises:
        PlanError: There are several, or none of that name.
    """
    if wanted is None and len(tables) == 1:
        return tables[0]
    if wanted is None:
        raise PlanError("table.data_table_source_tables", count=len(tables), names=", ".join(tables))
    if wanted not in tables:
        raise PlanError("table.unknown_table", hint=did_you_mean(wanted, tables), wanted=wanted)
    return wanted


SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}


class Address(Value):
    """The address of a table.

    Attributes:
        kind: postgresql or sqlite.
        uri: What the driver connects to: an address, or the path of a file.
        schema: The schema of the table, or None.
    """

    kind: str
    uri: str
    table: str
    schema: str | None = None


def is_address(data: Any) -> bool:
    """Return whether a value is the address of a database table."""
    return isinstance(data, str) and data.partition("://")[0] in SCHEMES and "://" in data


def read_address(text: str, table: str | None = None) -> Address:
    """Parse an address.

    Args:
        table: The table, if the address does not name it.

    >>> read_address("postgresql://me@db.example/base?table=public.people")
    Address(kind='postgresql', uri='postgresql://me@db.example/base', table='people', schema='public')
    """
    parts = urlsplit(text)
    if parts.password:
        raise PlanError("password")
    query = dict(parse_qsl(parts.query))
    named = query.pop("table", None) or table
    if not named:
        raise PlanError("table.no_table_in_address")
    kind = SCHEMES[parts.scheme]
    if kind == "sqlite":
        return Address(kind, parts.path.removeprefix("/"), named)
    schema, _, name = named.rpartition(".")
    uri = urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))
    return Address(kind, uri, name, schema or None)
