"""Runs the command line under attack: in a worker that lives on, or in a process of its own for each command.

The worker imports the program that is attacked; this one does not. What a command prints is left as `printed`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

WORKER = """
import json, os, sys
from sfumato.cli.main import run
answers = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    folder, arguments = json.loads(line)
    os.chdir(folder)
    sink = os.open("printed", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    os.dup2(sink, 1), os.dup2(sink, 2), os.close(sink)
    code = run(arguments)
    sys.stdout.flush(), sys.stderr.flush()
    answers.write(f"{code}\\n"), answers.flush()
"""


class CommandLine:
    """The command line, by one worker; `close` ends it."""

    _worker: subprocess.Popen[str] | None = None

    def run(self, folder: Path, *arguments: str, real: bool) -> int:
        """Run one command in a folder, with `real` in a process of its own."""
        if real:
            command = [sys.executable, "-m", "sfumato", *arguments]
            with (folder / "printed").open("w") as printed:
                return subprocess.run(command, cwd=folder, stdout=printed, stderr=printed, check=False).returncode
        if self._worker is None:
            pipe = subprocess.PIPE
            self._worker = subprocess.Popen([sys.executable, "-c", WORKER], stdin=pipe, stdout=pipe, text=True)
        assert self._worker.stdin is not None and self._worker.stdout is not None
        self._worker.stdin.write(json.dumps([os.fspath(folder), arguments]) + "\n")
        self._worker.stdin.flush()
        answer = self._worker.stdout.readline()
        if not answer:  # the whole process died
            self.close()
        return int(answer or -1)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.communicate()
            self._worker = None
