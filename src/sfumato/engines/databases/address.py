"""Addresses of database tables: `postgresql://user@host/base?table=people`, `sqlite:///people.db?table=people`."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError

SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}


@dataclass(frozen=True, slots=True)
class Address:
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
        raise PlanError("table.the_address_names_no")
    kind = SCHEMES[parts.scheme]
    if kind == "sqlite":
        return Address(kind, parts.path.removeprefix("/"), named)
    schema, _, name = named.rpartition(".")
    uri = urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))
    return Address(kind, uri, name, schema or None)
