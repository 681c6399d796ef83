"""The workspaces of all browsers: live ones in memory, the others encrypted on the disk until they are opened again."""

import logging
from contextlib import suppress
from threading import Lock

from sfumato.errors import SfumatoError
from sfumato.service.jobs.pool import Pool
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.sealed_projects import SealedProjects
from sfumato.web.projects.workspace import Workspace, data_of

_log = logging.getLogger("sfumato.web")


class Workspaces:
    """Workspaces by the keys of browsers."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._sealed = SealedProjects(pool.settings.folder, pool.settings.keep_seconds)
        self._live: dict[str, Workspace] = {}
        self._lock = Lock()

    def of(self, key: str) -> Workspace:
        """The workspace of a browser: the live one, the one that was left, or a new one."""
        with self._lock:
            if key not in self._live:
                self._live[key] = self._opened(key)
            workspace = self._live[key]
        workspace.touch()
        return workspace

    def _opened(self, key: str) -> Workspace:
        workspace = Workspace(self._pool)
        if not self._sealed.path(key).exists():
            return workspace
        folder = workspace.place("x").parent
        record = self._sealed.open(key, folder)
        self._sealed.erase(key)
        if record is None:
            workspace.close()
            return workspace
        try:
            workspace.restore(record, load(data_of(record, folder), record["plan"].get("data")))
        except (SfumatoError, ValueError, KeyError):
            _log.warning("a project that was left could not be opened again")
            workspace.close()
        return workspace

    def erase(self, key: str) -> None:
        """Erase all that a browser has here."""
        with self._lock:
            workspace = self._live.get(key)
            self._sealed.erase(key)
        if workspace is not None:
            workspace.close()
            workspace.drafts.clear()

    def seal_idle(self, seconds: float) -> None:
        """Encrypt what nobody used for so long, and erase it from memory; erase what lies too long."""
        with self._lock:
            idle = {key: space for key, space in self._live.items() if space.idle_seconds >= seconds}
            for key, workspace in idle.items():
                self._seal(key, workspace)
                workspace.asleep = True
                del self._live[key]
        with suppress(OSError):
            self._sealed.erase_old()

    def _seal(self, key: str, workspace: Workspace) -> None:
        if workspace.loaded is not None:
            try:
                self._sealed.seal(key, workspace.parts(), workspace.record())
            except (OSError, ImportError) as error:
                _log.warning("a project could not be kept: %s", type(error).__name__)
        workspace.close()
