"""Runs the command line under attack: in a worker that lives on, or in a process of its own for each command.

The worker imports the program that is attacked; this one does not, and knows nothing of it but commands and exit
codes.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# What the worker prints goes to a file, for the pipe carries its answers.
WORKER = """
import json, os, sys
answers, path = os.fdopen(os.dup(1), "w"), sys.argv[1]
sink = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
os.dup2(sink, 1), os.dup2(sink, 2)
from sfumato.cli.main import run
for line in sys.stdin:
    folder, arguments = json.loads(line)
    os.chdir(folder), os.ftruncate(sink, 0)
    code = run(arguments)
    sys.stdout.flush(), sys.stderr.flush()
    answers.write(json.dumps([code, open(path, errors="replace").read()]) + "\\n")
    answers.flush()
"""


@dataclass(frozen=True)
class Answer:
    """How a command ended, and what it printed."""

    code: int
    printed: str

    @property
    def crash(self) -> str | None:
        """What the program says where it failed by a fault of its own."""
        crashed = self.code not in range(6) or "unforeseen" in self.printed or "Traceback" in self.printed
        return f"exit {self.code}: {self.printed.strip()[-200:]}" if crashed else None


class CommandLine:
    """The command line, by one worker; `close` ends it."""

    def __init__(self) -> None:
        self._printed = Path(tempfile.mkdtemp(prefix="attack-")) / "printed"
        self._worker: subprocess.Popen[str] | None = None

    def run(self, folder: Path, *arguments: str, real: bool = False) -> Answer:
        """Run one command in a folder; with `real` in a process of its own."""
        if real:
            command = [sys.executable, "-m", "sfumato", *arguments]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            return Answer(done.returncode, done.stdout + done.stderr)
        if self._worker is None:
            command, pipe = [sys.executable, "-c", WORKER, os.fspath(self._printed)], subprocess.PIPE
            self._worker = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self._worker.stdin is not None and self._worker.stdout is not None
        self._worker.stdin.write(json.dumps([os.fspath(folder), arguments]) + "\n")
        self._worker.stdin.flush()
        if line := self._worker.stdout.readline():
            return Answer(*json.loads(line))
        self._worker.communicate()
        self._worker = None  # the whole process died
        return Answer(-1, self._printed.read_text(errors="replace"))

    def close(self) -> None:
        """End the worker, and what it left."""
        if self._worker is not None:
            self._worker.communicate()
        self._printed.unlink(missing_ok=True)
        self._printed.parent.rmdir()
