"""Run the command line under attack, in a worker that imports it, and record what was evaluated and refuted."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass
class Outcome:
    kind: str
    seed: int
    ended: str = ""
    judged: Counter[str] = field(default_factory=Counter)
    refuted: dict[str, str] = field(default_factory=dict)

    def add(self, what: str, reason: str | None, wrong: object = True) -> None:
        self.judged[what] += 1
        if wrong and reason is not None:
            self.refuted.setdefault(what, " ".join(reason.split()))


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    counts, seeds = Counter(f"{one.kind}: {one.ended}" for one in outcomes), list[str]()
    for one in outcomes:
        counts.update({f"{one.kind}, judged: {what}": count for what, count in one.judged.items()})
        counts.update(f"REFUTED {what}" for what in one.refuted)
        seeds += [f"  --kind {one.kind} --seed {one.seed}: {what}: {why}" for what, why in one.refuted.items()]
    counted = [f"{what}: {count}" for what, count in sorted(counts.items(), key=lambda one: (one[0][0] == "R", one))]
    return [*counted, *seeds, f"{len(seeds)} statements refuted in {len(outcomes)} cases"]


class CommandLine:
    _worker: subprocess.Popen[str] | None = None

    def run(self, folder: Path, *arguments: str, real: bool) -> int:
        """Run one command in a folder; with `real`, in a separate process."""
        if real:
            command = [sys.executable, "-m", "sfumato", *arguments]
            with (folder / "printed").open("w") as printed:
                return subprocess.run(command, cwd=folder, stdout=printed, stderr=printed, check=False).returncode
        if self._worker is None:
            pipe = subprocess.PIPE
            self._worker = subprocess.Popen([sys.executable, "-c", WORKER], stdin=pipe, stdout=pipe, text=True)
        assert self._worker.stdin is not None and self._worker.stdout is not None
        self._worker.stdin.write(json.dumps([str(folder), arguments]) + "\n")
        self._worker.stdin.flush()
        answer = self._worker.stdout.readline()
        if not answer:  # the whole process died
            self.close()
        return int(answer or -1)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.communicate()
            self._worker = None
