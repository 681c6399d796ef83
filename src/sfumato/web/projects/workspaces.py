"""The workspaces of all browsers: open ones in memory, others encrypted on disk until they are opened again."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from threading import Lock

from sfumato.errors import SfumatoError
from sfumato.service.jobs.pool import Pool
from sfumato.web.projects.encrypted_projects import SealedProjects
from sfumato.web.projects.loaded_data import load
from sfumato.web.projects.workspace import Workspace, data_of

_log = logging.getLogger("sfumato.web")


class Workspaces:
    """The workspaces by the keys of browsers."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._sealed = SealedProjects(pool.settings.folder, pool.settings.keep_seconds)
        self._live: dict[str, Workspace] = {}
        self._lock = Lock()

    def of(self, key: str) -> Workspace:
        """Return the workspace of a browser: the live one, the encrypted one, or a new one."""
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
        try:
            if record is None:
                raise ValueError("no project")
            workspace.drafts = dict(record.get("drafts") or {})
            if record["data"] is not None:
                workspace.restore(record, load(data_of(record, folder), record["plan"].get("data")))
        except (SfumatoError, ValueError, KeyError):
            _log.warning("a project that was left could not be opened again")
            workspace.close()
        self._sealed.erase(key)
        return workspace

    def erase(self, key: str) -> None:
        """Erase all data of a browser."""
        with self._lock:
            workspace = self._live.get(key)
            self._sealed.erase(key)
        if workspace is not None:
            workspace.close()
            workspace.drafts.clear()

    @contextmanager
    def working(self, key: str) -> Iterator[None]:
        """Keep the workspace of a browser awake while something is done for it, if it exists."""
        workspace = self._live.get(key)
        with workspace.working() if workspace is not None else nullcontext():
            yield

    def seal_idle(self, seconds: float) -> None:
        """Encrypt workspaces that were unused for that long, and remove them from memory; erase old ones.

        A workspace that cannot be encrypted, or is used meanwhile, stays awake until the next attempt.
        """
        with self._lock:
            idle = {key: space for key, space in self._live.items() if space.is_idle(seconds)}
            for key, workspace in idle.items():
                if not self._seal(key, workspace):
                    workspace.touch()
                elif workspace.fall_asleep(seconds):
                    workspace.close()
                    del self._live[key]
                else:
                    self._sealed.erase(key)
        with suppress(OSError):
            self._sealed.erase_old()

    def close(self) -> None:
        """Encrypt all workspaces when the server ends; no readable data remains."""
        with self._lock:
            for key, workspace in self._live.items():
                self._seal(key, workspace)
                workspace.asleep = True
                workspace.close()
            self._live.clear()

    def _seal(self, key: str, workspace: Workspace) -> bool:
        """Encrypt a project; return whether its workspace can be closed without loss."""
        workspace.settle()
        if workspace.loaded is None and not workspace.drafts:
            return True
        try:
            files = workspace.parts() if workspace.loaded else {}  # other files belong to the closed page
            self._sealed.seal(key, files, workspace.record() | {"drafts": workspace.drafts})
        except (OSError, ImportError) as error:
            _log.warning("a project could not be kept: %s", type(error).__name__)
            return False
        return True
