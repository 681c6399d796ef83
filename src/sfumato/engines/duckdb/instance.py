"""Instances of DuckDB: the one place that starts any; each opens the files of its job and no others."""

import os
from collections.abc import Iterable
from glob import escape
from pathlib import Path
from typing import Any

from sfumato.atomic_folders import Scratch
from sfumato.confinement import allowed
from sfumato.engines import sql
from sfumato.engines.duckdb.fast_import import compiled

# After this nothing else can be opened, no extension is loaded, and none of it can be changed.
LOCKING = (
    "SET allowed_directories = [{paths}]; SET allowed_paths = [{paths}]; "
    "SET allowed_configs = ['threads', 'timezone']; SET enable_external_access = false; SET lock_configuration = true"
)
# The text of a moment must not depend on where the machine stands.
ZONE = "SET TimeZone = 'UTC'"
# 1 where a database is as it was when it started: temporary tables and types went with the sessions that made them.
# Rows that went to the disk show in the scratch folder.
CLEANING = "RESET threads; SELECT count(*) FROM duckdb_databases() WHERE NOT internal"


class Instance:
    """A database that opens some files and folders and its own scratch folder, and leaves nothing behind.

    In a confined process these are the files and folders of that process, whatever is asked for.

    Attributes:
        scratch: Where rows lie that do not fit in memory, and files that live as long as an engine.
    """

    def __init__(self, opens: Iterable[Path], temp_folder: Path | None = None, memory_bytes: int = 0) -> None:
        """Start a database.

        Args:
            opens: The files and folders that it may read and write.
            memory_bytes: The limit of memory; 0 for DuckDB's own.
        """
        self.scratch = Scratch(temp_folder)
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
        """Whether these files and folders can be opened."""
        return allowed() is not None or all(
            any(path in self._paths for path in (absolute, *map(str, Path(absolute).parents)))
            for absolute in _absolute(opens)
        )

    def session(self) -> Any:
        """A connection with tables of its own."""
        session = self._connection.cursor()
        session.execute(ZONE).fetchall()
        return session

    def rest(self) -> bool:
        """Let go of the scratch folder until `resume`; whether nothing was in it, and all is as it was at the start."""
        try:
            clean = bool(self._connection.execute(CLEANING).fetchall() == [(1,)])
            if clean:
                self.scratch.path.rmdir()
        except (OSError, compiled().Error):
            return False
        return clean

    def resume(self) -> bool:
        """Make the scratch folder again; whether that could be done."""
        try:
            self.scratch.path.mkdir(0o700)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """End it, with its scratch folder."""
        self._connection.close()
        self.scratch.cleanup()


def _absolute(paths: Iterable[Path]) -> list[str]:
    return [os.path.abspath(path) for path in paths]  # noqa: PTH100  (links stay as they are named)
