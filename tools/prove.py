"""Run every proof at full size, one after the other, and write the output of each to proofs.md.

`python tools/prove.py [NAME...]` runs the given ones, by default all. Results for the current files are kept in
`.proofs/` and not repeated, so that an interrupted run can be resumed.
"""

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".proofs"
PAGE = ROOT / "proofs.md"
# Pages that benchmarks write: changes by one proof do not invalidate the others.
_MEASURED = ("benchmarks", "scalability", "tables-benchmark", "k-optimize-benchmark", "spark-benchmark")
WRITTEN = tuple(f"docs/{name}.md" for name in _MEASURED)


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof: its command and its time limit."""

    name: str
    command: tuple[str, ...]
    minutes: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a proof."""

    name: str
    code: int
    seconds: float
    cpu_seconds: float
    printed: str


def bench(name: str, minutes: float) -> Proof:
    """Return a benchmark as a proof."""
    return Proof(name, ("-m", "bench", name), minutes)


PROOFS = (
    bench("overview", 15),
    bench("search", 10),
    bench("models", 10),
    bench("mondrian", 10),
    bench("tables", 30),
    bench("k_optimize", 30),
    bench("service", 10),
    bench("scale", 40),
    bench("newcomer", 20),
    bench("spark", 15),
    Proof("fuzz of the service", ("tools/fuzz_service.py", "600"), 20),
    Proof("faults of the service", ("tools/faults.py",), 20),
    Proof("tests at full size", ("tools/full_tests.py",), 40),
    Proof("attacked tables", ("bench/prove_tables.py", "1000"), 60),
    Proof("attacked linked tables", ("bench/prove_linked.py", "300"), 40),
    Proof("attacks on sound releases", ("bench/prove_attacks.py", "300"), 40),
    Proof("a stranger's judgment", ("tools/attack/run.py",), 60),
)


def commit() -> str:
    """Return the current commit; if files differ from it, with a hash of the differences."""

    def asked(*words: str) -> bytes:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout

    changes = asked("diff", "HEAD", "--binary", "--", ".", *(f":(exclude){page}" for page in WRITTEN))
    mark = f"-with-{hashlib.sha256(changes).hexdigest()[:12]}" if changes else ""
    return asked("describe", "--always", "--abbrev=12").decode().strip() + mark


def run(proof: Proof) -> Outcome:
    """Run a proof to its end, or to its time limit."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    # A separate session: processes of a proof end with it, at its time limit or if this run is ended.
    process = subprocess.Popen(
        [sys.executable, *proof.command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=proof.minutes * 60)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        code, printed = 124, process.communicate()[0] + f"\nnot done in {proof.minutes:g} minutes"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(proof.name, code, time.monotonic() - began, cpu, printed)


def outcome_of(proof: Proof, folder: Path) -> Outcome:
    """Return the stored result, or that of running the proof now."""
    place = folder / f"{proof.name.replace(' ', '-')}.json"
    if place.exists():
        return Outcome(**json.loads(place.read_text(encoding="utf-8")))
    print(f"{proof.name}: at most {proof.minutes:g} minutes", flush=True)
    outcome = run(proof)
    if outcome.code == 0:  # a failed one is run again
        folder.mkdir(parents=True, exist_ok=True)
        draft = place.with_suffix(".draft")
        draft.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
        draft.replace(place)
    return outcome


def page(version: str, outcomes: Sequence[Outcome]) -> str:
    """Return all results as a page."""
    lines = [f"# What was proved for {version}", "", "| proof | | seconds | CPU seconds |", "|---|---|---|---|"]
    for one in outcomes:
        lines.append(
            f"| {one.name} | {'done' if one.code == 0 else 'FAILED'} | {one.seconds:.0f} | {one.cpu_seconds:.0f} |"
        )
    for one in outcomes:
        lines += ["", f"## {one.name}", "```", one.printed.strip(), "```"]
    return "\n".join(lines) + "\n"


def main(names: Sequence[str]) -> int:
    unknown = set(names) - {proof.name for proof in PROOFS}
    if unknown:
        print(f"There is no proof {', '.join(sorted(unknown))}. There are: {', '.join(one.name for one in PROOFS)}.")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    version, outcomes = commit(), []
    for proof in PROOFS:
        if not names or proof.name in names:
            outcomes.append(outcome_of(proof, KEPT / version))
            PAGE.write_text(page(version, outcomes), encoding="utf-8")
            print(
                f"{proof.name}: {'done' if outcomes[-1].code == 0 else 'FAILED'}, {outcomes[-1].seconds:.0f} s",
                flush=True,
            )
    return int(any(one.code for one in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
