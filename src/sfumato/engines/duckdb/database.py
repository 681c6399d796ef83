"""Databases that the engines of one release share; an unused one waits for the next engine."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sfumato.engines.duckdb.connection_pool import SPARES
from sfumato.engines.duckdb.instance import Instance
from sfumato.errors import PlanError
from sfumato.microdata.data_plan import DataPlan


class Database:
    """A database shared by the engines of a release; starting one costs as much as counting thousands of rows."""

    def __init__(self, plan: DataPlan, opens: Iterable[Path] = ()) -> None:
        """Take a database from the pool, or start one.

        Args:
            opens: The files and folders that it may read and write.
        """
        paths = tuple(opens)
        self._limited = bool(plan.memory_bytes or plan.temp_folder)
        self._users = 1
        self._instance = (None if self._limited else SPARES.take(paths)) or _started(plan, paths)

    @property
    def folder(self) -> Path:
        """The folder for rows that do not fit into memory."""
        return self._instance.scratch.path

    def shared(self) -> "Database":
        """Return the database for one more engine, which must also close it."""
        self._users += 1
        return self

    def session(self) -> Any:
        """Return a connection with its own tables."""
        return self._instance.session()

    def close(self) -> None:
        """Close the database for one of its engines."""
        self._users -= 1
        if self._users == 0:
            self._instance.close() if self._limited else SPARES.keep(self._instance)


@contextmanager
def connected(folder: Path) -> Iterator[Any]:
    """Open a temporary connection that may read and write a folder."""
    with closing(Database(DataPlan(), [folder])) as database, closing(database.session()) as session:
        yield session


def _started(plan: DataPlan, paths: tuple[Path, ...]) -> Instance:
    """Start a database with the plan's memory limit and folder, if it has some."""
    folder = None if plan.temp_folder is None else Path(plan.temp_folder)
    try:
        return Instance(paths, folder, plan.memory_bytes)
    except OSError as error:
        raise PlanError("temp-folder", strerror=error.strerror) from None
