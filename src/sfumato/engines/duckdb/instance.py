"""Instances of DuckDB: the one place that starts any; each opens the files of its job and no others."""

import os
from collections.abc import Iterable
from glob import escape
from pathlib import Path
from typing import Any

from sfumato.atomic_folders import ScratchFolder
from sfumato.confinement import allowed
from sfumato.engines import sql
from sfumato.engines.duckdb.fast_import import compiled

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
