"""The interface of store databases: short transactions, a clock, and two kinds of errors."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sfumato.dataclass import dataclass


class StoreUnavailableError(Exception):
    """Raised if the store does not answer: it is locked for long, or its server is unavailable."""


@dataclass(frozen=True, slots=True)
class StatementResult:
    """The result of a statement: the rows it reads, or how many it changed."""

    rows: list[dict[str, Any]]
    count: int


class Transaction(Protocol):
    """Statements that are executed all or none.

    Attributes:
        now: Seconds since 1970 by the clock of the database, the same for all servers that share it.
        for_update: The ending of a query that reads a row in order to change it.
    """

    now: float
    for_update: str

    def run(self, statement: str, values: Sequence[Any] = ()) -> StatementResult:
        """Run a statement; `?` is a placeholder for a value."""
        ...

    def be_alone(self) -> None:
        """Wait until no other server changes the tables themselves."""
        ...


class Database(Protocol):
    """A database shared by threads and processes."""

    def transaction(self, writes: bool = True) -> AbstractContextManager[Transaction]:
        """Begin a transaction.

        Raises:
            StoreUnavailableError: The database does not answer.
            OSError: Its disk is full.
        """
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
