"""Databases of DuckDB: instances, a pool of idle ones, and their errors as messages without data values."""

import atexit
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from glob import escape
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from sfumato.atomic_folders import ScratchFolder
from sfumato.confinement import allowed
from sfumato.delimited.dialect import damaged, open_quote, ragged, wrong_encoding
from sfumato.engines import sql
from sfumato.errors import DataError, EngineError, PlanError, SfumatoError
from sfumato.microdata.data_plan import DataPlan


def compiled() -> Any:
    """Return the compiled module with connections, statements and errors, without frames and Arrow streams."""
    try:
        return import_module("_duckdb")
    except ImportError:
        return import_module("duckdb")


def relations(connection: Any, statement: str) -> Any:
    """Return the rows of a statement for conversion to a frame or stream, which needs the Python layer."""
    import_module("duckdb")
    return connection.sql(statement)


def register(connection: Any, name: str, rows: Any) -> None:
    """Make rows readable as a table: arrays by name, or a stream of Arrow batches, which needs the Python layer."""
    if not isinstance(rows, dict):
        import_module("duckdb")
    connection.register(name, rows)


# After this nothing else can be opened, no extension can be loaded, and no setting can be changed.
LOCKING = (
    "SET allowed_directories = [{paths}]; SET allowed_paths = [{paths}]; "
    "SET allowed_configs = ['threads', 'timezone']; SET enable_external_access = false; SET lock_configuration = true"
)
# The text of a timestamp must not depend on the machine's time zone.
ZONE = "SET TimeZone = 'UTC'"
# 1 if a database is in its initial state; temporary tables and types ended with their sessions. Rows spilled to disk
# are in the scratch folder.
CLEANING = "RESET threads; SELECT count(*) FROM duckdb_databases() WHERE NOT internal"


class Instance:
    """A database that may open some files and folders and its own scratch folder, and leaves nothing behind.

    In a confined process, the files and folders are those of the process, regardless of the arguments.

    Attributes:
        scratch: The folder for rows that do not fit into memory, and for files with the lifetime of an engine.
    """

    def __init__(self, opens: Iterable[Path], temp_folder: Path | None = None, memory_bytes: int = 0) -> None:
        """Start a database.

        Args:
            opens: The files and folders that it may read and write.
            temp_folder: The folder for the scratch folder; None for the system's.
            memory_bytes: The memory limit; 0 for DuckDB's own.
        """
        self.scratch = ScratchFolder(temp_folder)
        confined = allowed()
        self._paths = {*_absolute([self.scratch.path, *opens])} if confined is None else {*confined}
        try:
            self._connection = self._started(memory_bytes)
        except BaseException:
            self.scratch.cleanup()
            raise

    def _started(self, memory_bytes: int) -> Any:
        config = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": str(self.scratch.path),
            "preserve_insertion_order": "true",
        } | ({"memory_limit": f"{memory_bytes // 1000}KB"} if memory_bytes else {})
        connection = compiled().connect(":memory:", config=config)
        texts = sorted(self._paths | {escape(path) for path in self._paths})
        connection.execute(LOCKING.format(paths=sql.listed(map(sql.text, texts)))).fetchall()
        return connection

    def covers(self, opens: Iterable[Path]) -> bool:
        """Return whether some files and folders can be opened."""
        return allowed() is not None or all(
            any(path in self._paths for path in (absolute, *map(str, Path(absolute).parents)))
            for absolute in _absolute(opens)
        )

    def session(self) -> Any:
        """Return a connection with its own tables."""
        session = self._connection.cursor()
        session.execute(ZONE).fetchall()
        return session

    def rest(self) -> bool:
        """Remove the scratch folder until `resume`; return whether it was empty and the database is unchanged."""
        try:
            clean = bool(self._connection.execute(CLEANING).fetchall() == [(1,)])
            if clean:
                self.scratch.path.rmdir()
        except (OSError, compiled().Error):
            return False
        return clean

    def resume(self) -> bool:
        """Create the scratch folder again, and return whether that succeeded."""
        try:
            self.scratch.path.mkdir(0o700)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the database and delete its scratch folder."""
        self._connection.close()
        self.scratch.cleanup()


def _absolute(paths: Iterable[Path]) -> list[str]:
    return [os.path.abspath(path) for path in paths]  # noqa: PTH100  (links stay as they are named)


# Maximum number of idle databases; a release that is written by one and read by another needs two.
MOST = 2


class ConnectionPool:
    """A pool of idle, empty in-memory databases."""

    def __init__(self) -> None:
        self._waiting: list[Instance] = []
        self._alone = Lock()

    def take(self, opens: Iterable[Path]) -> Instance | None:
        """Take an idle database that may open some files and folders, or return None."""
        paths = tuple(opens)
        with self._alone:
            fitting = next((instance for instance in self._waiting if instance.covers(paths)), None)
            if fitting is not None:
                self._waiting.remove(fitting)
        if fitting is None or fitting.resume():
            return fitting
        fitting.close()
        return None

    def keep(self, instance: Instance) -> None:
        """Return a database to the pool after all its sessions are closed; one not in its initial state is closed.

        If the pool is full, the oldest is closed, because the next job probably opens the files of the latest.
        """
        if not instance.rest():
            instance.close()
            return
        with self._alone:
            self._waiting.append(instance)
            left = self._waiting[:-MOST]
            del self._waiting[:-MOST]
        for oldest in left:
            oldest.close()

    def end(self) -> None:
        """Close the idle databases."""
        with self._alone:
            waiting, self._waiting = self._waiting, []
        for instance in waiting:
            instance.close()


SPARES = ConnectionPool()
atexit.register(SPARES.end)
# Threads do not exist in a forked process, and a database would wait for its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=SPARES.end)


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


# Words in errors of the machine, which can also occur while only the source is read.
DISK = ("No space left", "Permission denied", "quota", "write", "temp_directory")


# Exceptions of DuckDB for invalid files.
DATA_ERRORS = ("InvalidInput", "IO", "Conversion", "Catalog", "Serialization", "Internal", "Fatal")


def explained(error: Exception, encoding: str, source: Path | None = None) -> SfumatoError:
    """Return Sfumato's error for one of DuckDB's, without its text except for the line number.

    Args:
        source: The file that was read, if nothing else was done.
    """
    text = str(error).replace(str(source), "")
    line = re.search(r"[Ll]ine: ?(\d+)", text)
    if "unicode" in text.lower() or "utf-8" in text.lower() or "encod" in text.lower():
        return wrong_encoding(encoding)
    if "Expected Number of Columns" in text:
        return ragged(line and line[1])
    if "quote" in text.lower() and line:
        return open_quote(line[1])
    if line:
        return DataError("unreadable.unreadable_line", number=line[1])
    of_data = tuple(getattr(compiled(), f"{name}Exception") for name in DATA_ERRORS)
    if source is not None and isinstance(error, of_data) and not any(word in text for word in DISK):
        return damaged(source)
    if "No space left" in text:
        return EngineError("disk.the_disk_is_full")
    if "Cannot open file" in text or type(error).__name__ == "IOException":
        return EngineError("disk.file_access")
    if type(error).__name__ == "OutOfMemoryException":
        return EngineError("memory.of_the_engine")
    return EngineError("duckdb", name=type(error).__name__)


def changed() -> EngineError:
    """Return the error for rows that changed between two reads."""
    return EngineError("changed")
