"""The server's side of the template process: start it, request workers, end them, detect their end."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sfumato.errors import EngineError
from sfumato.localization.messages import Message
from sfumato.service.problems import RefusedError
from sfumato.service.workers import messages
from sfumato.service.workers.messages import (
    CancelledWorkError,
    Failure,
    ProgressMessage,
    ResultMessage,
    WorkerCall,
    WorkerEndedError,
)
from sfumato.service.workers.process import Ended, Kill, Rehearsal, Start, Started, WorkerLimits

STARTING_SECONDS = 60.0
REHEARSAL_SECONDS = 1.5
CLOSING_SECONDS = 5.0
# The interpreter is started isolated (-I), so neither the working directory nor the environment affects imports.
BOOT = """import sys
sys.path[:0] = [path for path in sys.argv[2:] if path not in sys.path]  # a worker runs the program of its server
import sfumato.service.attributes.endpoints
from sfumato.service.workers.process import template
template(int(sys.argv[1]))
"""


class Worker:
    """A worker: a connection and a process that can be killed."""

    def __init__(self, template: "Template", connection: socket.socket, pid: int) -> None:
        self._template, self.connection, self.pid = template, connection, pid
        self.status: int | None = None
        self.ended = threading.Event()

    def run(self, call: WorkerCall, progress: Any = None) -> Any:
        """Run a call in this thread and return its result.

        Raises:
            WorkerEndedError: The worker ended before it answered.
        """
        try:
            messages.send(self.connection, call)
        except OSError:
            raise WorkerEndedError from None
        while (message := messages.receive(self.connection)) is not None:
            if isinstance(message, ProgressMessage):
                if progress is not None:
                    progress(message)
                continue
            return result(message)
        raise WorkerEndedError

    def kill(self) -> None:
        """Kill the worker and its child processes."""
        self._template.kill(self.pid)

    def close(self) -> None:
        """Close the connection, which ends the worker."""
        self.connection.close()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def result(message: ResultMessage | Failure) -> Any:
    """Return the result of a worker, or raise its error."""
    if isinstance(message, Failure):
        raise message.error
    return message.value


class Template:
    """The process from which workers are forked; started on demand, and again if it should end."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._workers: dict[int, Worker] = {}
        self._lost: dict[int, int] = {}
        self._answer: list[int] = []
        self._answered = threading.Condition()
        self._rehearsals: list[WorkerCall] = []
        self._listener: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process, or None."""
        return None if self._process is None else self._process.pid

    def rehearse(self, call: WorkerCall) -> None:
        """Run a call in the template itself, soon and whenever it is restarted."""
        with self._lock:
            if call not in self._rehearsals:
                self._rehearsals.append(call)
                if self._alive():
                    self._rehearse_later()

    def start(
        self,
        limits: WorkerLimits,
        folder: Path | None = None,
        first: WorkerCall | None = None,
        confined: Iterable[Path] = (),
    ) -> Worker:
        """Start a worker.

        Args:
            limits: Its resource limits.
            folder: Its working directory, also for temporary files.
            first: A call that prepares it.
            confined: Further folders and files that it may open, in addition to its own folder.

        Raises:
            EngineError: The system starts no more processes.
        """
        own = () if folder is None else (folder,)
        start = Start(limits, str(folder or "/"), first, (*own, *confined))
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            try:
                pid = self._asked_twice(start, theirs)
            except BaseException:
                ours.close()
                raise
            worker = Worker(self, ours, pid)
            self._workers[pid] = worker
            if pid in self._lost:  # it ended before it was registered here
                self._note_end(pid, self._lost.pop(pid))
        return worker

    def _asked_twice(self, start: Start, connection: socket.socket) -> int:
        try:
            return self._asked(start, connection)
        except OSError:  # the template has just ended
            self.close()
        try:
            return self._asked(start, connection)
        except OSError:
            raise EngineError("worker") from None

    def _asked(self, start: Start, connection: socket.socket) -> int:
        if not self._alive():
            self._begin()
        self._answer.clear()
        self._send(start, connection)
        return self._wait_for_answer()

    def kill(self, pid: int) -> None:
        """Kill a worker, if it still exists."""
        with self._lock, suppress(OSError):
            self._send(Kill(pid))

    def close(self) -> None:
        """End the template and all its workers."""
        control, process = self._control, self._process
        if control is not None:
            with suppress(OSError):
                control.shutdown(socket.SHUT_RDWR)  # the listening thread then closes it
        if process is not None:
            process.kill()  # its workers end with it
            process.wait()
        if self._listener is not None:
            self._listener.join(CLOSING_SECONDS)  # from then on, all its workers are known to be gone

    def _alive(self) -> bool:
        return self._control is not None and self._process is not None and self._process.poll() is None

    def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        paths = [str(Path(__file__).resolve().parents[3]), *_own_paths()]
        with theirs, _closed_on_error(ours):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", BOOT, str(theirs.fileno()), *paths],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if not name.startswith("SFUMATO_")},
                cwd="/",
            )
        self._control = ours
        self._listener = threading.Thread(target=self._listen, args=(ours,), daemon=True, name="workers")
        self._listener.start()
        self._rehearse_later()

    def _rehearse_later(self) -> None:
        """Schedule the calls after workers that are already waited for."""
        timer = threading.Timer(REHEARSAL_SECONDS, self._rehearse_now)
        timer.daemon = True
        timer.start()

    def _rehearse_now(self) -> None:
        with self._lock, suppress(OSError):
            for call in self._rehearsals if self._alive() else ():
                self._send(Rehearsal(call))

    def _send(self, message: Any, connection: socket.socket | None = None) -> None:
        assert self._control is not None
        socket.send_fds(self._control, [b"."], [connection.fileno()] if connection else [])
        messages.send(self._control, message)

    def _wait_for_answer(self) -> int:
        deadline = time.monotonic() + STARTING_SECONDS
        with self._answered:
            while not self._answer and self._alive() and time.monotonic() < deadline:
                self._answered.wait(0.2)
            if not self._answer:
                raise EngineError("worker")
            return self._answer.pop()

    def _listen(self, control: socket.socket) -> None:
        """Receive notices of started and ended workers."""
        while (message := messages.receive(control)) is not None:
            if isinstance(message, Started):
                with self._answered:
                    self._answer.append(message.pid)
                    self._answered.notify_all()
            elif isinstance(message, Ended):
                self._note_end(message.pid, message.status)
        control.close()
        for pid in list(self._workers):
            self._note_end(pid, -signal.SIGKILL)

    def _note_end(self, pid: int, status: int) -> None:
        worker = self._workers.pop(pid, None)
        if worker is None:
            self._lost[pid] = status
            return
        worker.status = status
        worker.ended.set()


@contextmanager
def _closed_on_error(connection: socket.socket) -> Iterator[None]:
    try:
        yield
    except OSError:
        connection.close()
        raise


def _own_paths() -> list[str]:
    """Return the import paths of this process, without its working directory and relative paths."""
    here = Path.cwd()
    return [path for path in sys.path if Path(path).is_absolute() and Path(path) != here]


class CallHandle:
    """The progress of a running call, and a way to cancel it.

    Attributes:
        progress: The last progress of the call, or None.
        cancelled: Whether the caller cancelled it.
    """

    def __init__(self) -> None:
        self.progress: ProgressMessage | None = None
        self.cancelled = False
        self.heard = time.monotonic()
        self._worker: Worker | None = None

    @property
    def running(self) -> bool:
        """Whether the call has begun."""
        return self._worker is not None

    def begin(self, worker: Worker) -> None:
        """Record the worker that runs the call."""
        self._worker, self.heard = worker, time.monotonic()
        if self.cancelled:
            worker.kill()

    def hear(self, progress: ProgressMessage) -> None:
        """Record the progress of the call; only new progress extends its time."""
        if progress != self.progress:
            self.progress, self.heard = progress, time.monotonic()

    def cancel(self) -> None:
        """Cancel the call."""
        self.cancelled = True
        if self._worker is not None:
            self._worker.kill()


def run_once(
    call: WorkerCall, limits: WorkerLimits, seconds: float, folder: Path | None = None, watch: CallHandle | None = None
) -> Any:
    """Run a call in a separate worker, which is killed after a time limit, and return its result.

    Args:
        seconds: The time limit, counted from the last progress.

    Raises:
        RefusedError: It took too long, needs too much memory, or its worker was killed.
        CancelledWorkError: The caller cancelled it.
    """
    worker, watch, done = _worker_for(call, limits, folder), watch or CallHandle(), threading.Event()
    watch.begin(worker)
    late = threading.Thread(target=_end_in_time, args=(worker, watch, seconds, done), daemon=True, name="overtime")
    late.start()
    try:
        with worker:
            return worker.run(call, watch.hear)
    except WorkerEndedError:
        if watch.cancelled:
            raise CancelledWorkError from None
        if time.monotonic() - watch.heard >= seconds:
            raise RefusedError("limit.time", Message("request.too_long", seconds=seconds)) from None
        what = Message("request.process_ended")
        raise RefusedError("internal.worker", what) from None
    finally:
        done.set()


def _worker_for(call: WorkerCall, limits: WorkerLimits, folder: Path | None) -> Worker:
    """Start a worker that may open its folder, and the folders of the call's files.

    Without a folder, it puts temporary files into the folder of the first file, because it may write nowhere else.
    """
    places = [argument.parent for argument in call.arguments if isinstance(argument, Path)]
    return shared_template().start(limits, folder or next(iter(places), None), confined=places)


def _end_in_time(worker: Worker, watch: CallHandle, seconds: float, done: threading.Event) -> None:
    """Kill a worker without new progress within the time limit."""
    while not done.wait(max(watch.heard + seconds - time.monotonic(), 0.0)):
        if time.monotonic() - watch.heard >= seconds:
            worker.kill()
            return


_shared = Template()
atexit.register(_shared.close)


def shared_template() -> Template:
    """Return the template of this process."""
    return _shared
