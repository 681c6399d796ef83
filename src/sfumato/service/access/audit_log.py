"""The audit log: who did what with which job, and when; one JSON line each, flushed to disk before the next.

The log is only appended to. Each line opens the file again, so that it can be rotated at any time. It contains no data
values, addresses or keys.
"""

import json
import logging
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

LOG = logging.getLogger("sfumato.service")


class AuditLog:
    """The audit log file of one or several servers; without a file nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.fault: str | None = None

    @property
    def kept(self) -> bool:
        return self._path is not None

    def note(self, who: str, what: str, **more: str | int | None) -> None:
        """Write a line and flush it to disk; errors are reported by `fault` and in the log."""
        if self._path is None:
            return
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"at": moment, "who": who, "what": what} | {k: v for k, v in more.items() if v not in (None, "")}
        try:
            self._append((json.dumps(entry) + "\n").encode())
            self.fault = None
        except OSError as error:
            self.fault = "the audit log cannot be written"
            LOG.error(json.dumps({"audit": type(error).__name__}))

    def _append(self, line: bytes) -> None:
        assert self._path is not None
        with self._lock:
            begun_by_root = os.geteuid() == 0 and not self._path.exists()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if begun_by_root:  # created by a command of the operator; the service must be able to append to it
                    folder = self._path.parent.stat()
                    os.fchown(descriptor, folder.st_uid, folder.st_gid)
                if os.write(descriptor, line) != len(line):
                    raise OSError("half a line was written")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
