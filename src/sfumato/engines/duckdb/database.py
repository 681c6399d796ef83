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
    """Let go by the last engine that uses it: to start one costs as much as to count thousands of rows."""

    def __init__(self, plan: DataPlan, opens: Iterable[Path] = ()) -> None:
        """Take one that waits, or start one.

        Args:
            opens: The files and folders that it may read and write.
        """
        paths = tuple(opens)
        self._limited = bool(plan.memory_bytes or plan.temp_folder)
        self._users = 1
        self._instance = (None if self._limited else SPARES.take(paths)) or _started(plan, paths)

    @property
    def folder(self) -> Path:
        """Where rows lie that do not fit in memory."""
        return self._instance.scratch.path

    def shared(self) -> "Database":
        """The same for one more engine, which closes it as well."""
        self._users += 1
        return self

    def session(self) -> Any:
        """A connection with tables of its own."""
        return self._instance.session()

    def close(self) -> None:
        """Let go of it, as one of those who use it."""
        self._users -= 1
        if self._users == 0:
            self._instance.close() if self._limited else SPARES.keep(self._instance)


@contextmanager
def connected(folder: Path) -> Iterator[Any]:
    """A connection for a moment, which may read and write a folder."""
    with closing(Database(DataPlan(), [folder])) as database, closing(database.session()) as session:
        yield session


def _started(plan: DataPlan, paths: tuple[Path, ...]) -> Instance:
    """A new database with the plan's limit of memory and its folder, where it has such."""
    folder = None if plan.temp_folder is None else Path(plan.temp_folder)
    try:
        return Instance(paths, folder, plan.memory_bytes)
    except OSError as error:
        raise PlanError(
            f"data.temp_folder: the folder cannot be used: {error.strerror}.",
            "Name a folder that exists and can be written.",
            "temp-folder",
        ) from None
