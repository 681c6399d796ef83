"""An in-memory database with a folder for spilling; the engines of one release may share it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from sfumato.confinement import allowed
from sfumato.engines import sql
from sfumato.engines.duckdb.library import compiled
from sfumato.engines.duckdb.spares import SPARES
from sfumato.errors import PlanError
from sfumato.folders import Scratch
from sfumato.microdata.data_plan import DataPlan


class Database:
    """Let go by the last engine that uses it: to start one costs as much as to count thousands of rows."""

    def __init__(self, plan: DataPlan) -> None:
        self._scratch = _scratch(plan)
        self._limited = bool(plan.memory_bytes)
        self._users = 1
        try:
            self._connection = _connection(self._scratch.path, plan.memory_bytes)
        except BaseException:
            self._scratch.cleanup()
            raise

    @property
    def folder(self) -> Path:
        """Where rows lie that do not fit in memory."""
        return self._scratch.path

    def shared(self) -> "Database":
        """The same for one more engine, which closes it as well."""
        self._users += 1
        return self

    def session(self) -> Any:
        """A connection with tables of its own."""
        return _session(self._connection)

    def close(self) -> None:
        """Let go of it, as one of those who use it."""
        self._users -= 1
        if self._users == 0:
            self._connection.close() if self._limited else SPARES.keep(self._connection)
            self._scratch.cleanup()


# Where rows of a confined process lie that do not fit in memory.
SPILLED = "sfumato-spilled"
LOCKING = (
    "SET allowed_directories = [{folders}]; SET allowed_paths = [{folders}]; "
    "SET allowed_configs = ['threads', 'timezone']; SET enable_external_access = false; SET lock_configuration = true"
)
# The text of a moment must not depend on where the machine stands.
ZONE = "SET TimeZone = 'UTC'"


@contextmanager
def connected(scratch: Path) -> Iterator[Any]:
    """A connection for a moment.

    Args:
        scratch: Where rows lie that do not fit in memory.
    """
    connection = _connection(scratch)
    try:
        with closing(_session(connection)) as session:
            yield session
    finally:
        SPARES.keep(connection)


def _connection(scratch: Path, memory_bytes: int = 0) -> Any:
    """A database that has nothing in it: one that waits, or a new one, which alone may have a limit of memory."""
    spare = None if memory_bytes else SPARES.take()
    if spare is None:
        return _start(scratch, memory_bytes)
    if allowed() is None:
        spare.execute(f"SET temp_directory = {sql.text(str(scratch))}").fetchall()
    return spare


def _start(scratch: Path, memory_bytes: int) -> Any:
    """A database that neither looks for extensions nor leaves anything behind; no bytes are DuckDB's own limit.

    In a process that is confined it opens the files of the job alone, and nothing of that can be changed. All
    databases of such a process are alike, so they may wait to be used again.
    """
    folders = allowed()
    if folders is not None:
        scratch = Path(gettempdir()) / SPILLED
    config = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": str(scratch),
        "preserve_insertion_order": "true",
    } | ({"memory_limit": f"{memory_bytes // 1000}KB"} if memory_bytes else {})
    connection = compiled().connect(":memory:", config=config)
    if folders is not None:
        listed = sql.listed(map(sql.text, folders))
        connection.execute(LOCKING.format(folders=listed)).fetchall()
    return connection


def _session(connection: Any) -> Any:
    session = connection.cursor()
    session.execute(ZONE).fetchall()
    return session


def _scratch(plan: DataPlan) -> Scratch:
    """The folder for rows that do not fit in memory."""
    try:
        return Scratch(None if plan.temp_folder is None else Path(plan.temp_folder))
    except OSError as error:
        raise PlanError(
            f"data.temp_folder: the folder cannot be used: {error.strerror}.",
            "Name a folder that exists and can be written.",
            "temp-folder",
        ) from None
