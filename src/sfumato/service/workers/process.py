"""The programs of template and worker: the template imports and forks; a worker answers calls until it is ended.

The template only forks, so that it never holds a lock or data. Workers end with their template, the template with its
server.
"""

import gc
import logging
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.confinement import confine
from sfumato.errors import SfumatoError
from sfumato.localization.messages import Message
from sfumato.service.problems import RefusedError, place
from sfumato.service.workers.messages import (
    CrashedError,
    Failure,
    ProgressMessage,
    ResultMessage,
    TakesLongError,
    WorkerCall,
    receive,
    send,
)
from sfumato.values import Value

LOG = logging.getLogger("sfumato.service")
PAUSE_SECONDS = 0.2
STATM = Path("/proc/self/statm")
# Programs reserve memory that they never use, but the system's limit includes it.
RESERVED_BYTES = 2_000_000_000
DEATH_SIGNAL = 1  # a constant of prctl
# Number of new objects before garbage collection; records are many, and no garbage.
GARBAGE_OBJECTS = 50_000


class WorkerLimits(Value):
    """The resource limits of a worker; `watched` if its memory is also monitored while it works."""

    memory_bytes: int
    open_files: int = 256
    watched: bool = False


class Start(Value):
    """A request for a worker, sent with the worker's end of a connection; `confined` has all that it may open."""

    limits: WorkerLimits
    folder: str = "/"
    first: WorkerCall | None = None
    confined: tuple[Path, ...] = ()


class Rehearsal(Value):
    """A request for a call in the template itself, so that workers inherit what it loads."""

    call: WorkerCall


class Kill(Value):
    """A request to kill a worker and its child processes."""

    pid: int


class Started(Value):
    """A notice that a worker was started."""

    pid: int


class Ended(Value):
    """A notice that a worker has ended, with its exit status."""

    pid: int
    status: int


def template(descriptor: int) -> None:
    """Fork workers until the server is gone."""
    control = socket.socket(fileno=descriptor)
    woken, wake = socket.socketpair()
    for end in (woken, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    workers: set[int] = set()
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            with suppress(BlockingIOError):
                woken.recv(4096)
            _tell_ended(control, workers)
        if control in ready and not _obey(control, workers, [woken, wake]):
            break
    for pid in workers:
        _kill(pid)
    os._exit(0)


def _tell_ended(control: socket.socket, workers: set[int]) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            workers.discard(pid)
            send(control, Ended(pid, os.waitstatus_to_exitcode(status)))


def _obey(control: socket.socket, workers: set[int], own: list[socket.socket]) -> bool:
    """Handle a request of the server, and return whether it is still there."""
    message, descriptors = _asked(control)
    if isinstance(message, Start):
        _fork(control, message, descriptors[0], workers, own)
    elif isinstance(message, Kill) and message.pid in workers:
        _kill(message.pid)
    elif isinstance(message, Rehearsal):
        _rehearse(message.call)
    return message is not None


def _asked(control: socket.socket) -> tuple[Any, list[int]]:
    """Return a message with its connections; one byte before each message carries them."""
    mark, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    return (receive(control) if mark else None), descriptors


def _rehearse(call: WorkerCall) -> None:
    try:
        _function(call.target)(*call.arguments)
    except Exception:
        LOG.warning("The rehearsal failed; workers load what they need themselves.", exc_info=True)
    gc.collect()
    gc.freeze()  # objects loaded now remain shared with the workers


def _fork(control: socket.socket, start: Start, descriptor: int, workers: set[int], own: list[socket.socket]) -> None:
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(descriptor)
        workers.add(pid)
        send(control, Started(pid))
        return
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        for end in (control, *own):
            end.close()
        _end_with(parent)
        _work(socket.socket(fileno=descriptor), start)
        status = 0
    finally:
        os._exit(status)


def _work(connection: socket.socket, start: Start) -> None:
    os.setsid()
    os.umask(0o077)
    os.chdir(start.folder)
    if start.folder != "/":
        os.environ["TMPDIR"] = os.environ["SPARK_LOCAL_DIRS"] = start.folder
        tempfile.tempdir = None  # the template's choice must be ignored
    _limit(start.limits)
    if start.limits.watched:
        threading.Thread(target=_watch_memory, args=(connection, start.limits.memory_bytes), daemon=True).start()
    confine(start.confined)
    if start.first is not None:
        _function(start.first.target)(*start.first.arguments)
    gc.freeze()  # objects of the template are no garbage and need not be scanned again
    gc.set_threshold(GARBAGE_OBJECTS, 10, 10)
    while (call := receive(connection)) is not None:
        send(connection, outcome(call, connection))


def outcome(call: WorkerCall, connection: socket.socket) -> ResultMessage | Failure:
    """Run a call and return its result or error as a message."""
    try:
        reports = (_Teller(connection),) if call.reports else ()
        return ResultMessage(_function(call.target)(*call.arguments, *reports))
    except MemoryError:
        return Failure(too_large())
    except Exception as error:
        foreseen = isinstance(error, SfumatoError | RefusedError | TakesLongError)
        return Failure(error if foreseen else CrashedError(type(error).__name__, place(error)))


def too_large() -> RefusedError:
    """Return the error for work that exceeds its memory limit."""
    return RefusedError("limit.memory", Message("request.memory"))


def _function(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    if module.partition(".")[0] != "sfumato":
        raise ValueError(Message("error.value.workers_call_functions_sfumato"))
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


class _Teller:
    """Reports each new stage immediately, and progress a few times per second."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._stage, self._said = "", 0.0

    def __call__(self, stage: str, done: int, whole: int) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._said > PAUSE_SECONDS:
            self._stage, self._said = stage, now
            send(self._connection, ProgressMessage(stage, int(done), int(whole)))


def end_with_parent(number: signal.Signals) -> None:
    """Ask the system to send this process a signal when its parent ends, if supported."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(DEATH_SIGNAL, number)


def _end_with(parent: int) -> None:
    """Ask the system to end this process with its parent, if supported."""
    end_with_parent(signal.SIGKILL)
    if os.getppid() != parent:  # the parent had ended before the system was asked
        os._exit(1)


def _kill(pid: int) -> None:
    """Kill a worker and its child processes; it leads its own process group once it has started."""
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _limit(limits: WorkerLimits) -> None:
    """Set the system's resource limits."""
    import resource

    memory = limits.memory_bytes + RESERVED_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = min(limits.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _watch_memory(connection: socket.socket, memory: int) -> None:
    """End the process with an error message if it exceeds its memory limit, on systems that report it."""
    page = os.sysconf("SC_PAGE_SIZE")
    while STATM.exists():
        if int(STATM.read_text(encoding="ascii").split()[1]) * page > memory:
            send(connection, Failure(too_large()))
            os._exit(1)
        time.sleep(PAUSE_SECONDS / 2)
