"""Measures whether proposed plans keep what analysts need, on files whose columns experts labelled.

Usage: python -m bench.analysts FOLDER [--for] [FILE ...]
FOLDER has CSV files and known.json: for each file `columns` (the letters an expert accepts, see `LETTERS`), `default`
(the letters of columns that are not named) and `questions` (see `bench/answers.py`). Every plan is released as it is
proposed; with --for it is proposed for the questions of the file. Printed are, per file, the acceptable roles, the
columns lost (removed, though an expert keeps them) and unsafe (published unchanged, though an expert removes or
generalizes them), the verdict on each question, and the seconds of the processor.
"""

import json
import re
import resource
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from bench.answers import Answer, judged
from bench.published_labels import rows_of

# I identifier, X text or too fine, Q quasi-identifier, S sensitive, H insensitive, W weight.
LETTERS = {
    "identifier": "IX",
    "undecided": "IX",
    "person": "I",
    "household": "IQ",
    "weight": "WH",
    "quasi-identifier": "Q",
    "sensitive": "S",
    "insensitive": "H",
}
REMOVED, UNCHANGED = ("identifier", "undecided"), ("insensitive", "sensitive")
VERDICTS = ("same", "partial", "wrong", "impossible")


def run(*arguments: str) -> tuple[str, float]:
    """The last line of errors of a command, empty if it succeeded, and its seconds of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "sfumato", *arguments], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = (done.stderr or done.stdout).strip().splitlines() or ["failed"]
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (lines[-1].strip() if done.returncode else ""), spent


def roles(plan: Path, known: Mapping[str, Any]) -> Counter[str]:
    """The columns of a plan whose role is right, lost, unsafe or otherwise wrong."""
    found: Counter[str] = Counter()
    for column, entry in yaml.safe_load(plan.read_text("utf-8"))["columns"].items():
        wanted = {*known["columns"].get(str(column).strip("'\"\ufeff"), known["default"])}
        role = entry["role"]
        if wanted & {*LETTERS.get(role, "")}:
            found["right"] += 1
        elif role in REMOVED:
            found["lost"] += 1
        else:
            found["unsafe" if role in UNCHANGED and wanted <= {*"IQX"} else "other"] += 1
    return found


def is_warned(question: Mapping[str, Any], release: Path) -> bool:
    """Whether the head line of a report warns about answers, or about a column of this question."""
    report = release / "report.json"
    warned = json.loads(report.read_text("utf-8")).get("warnings", []) if report.exists() else []
    named = {value for one in warned for value in one["values"].values() if isinstance(value, str)}
    words = {*re.findall(r"\w+", question["formula"])}
    return any(one["code"] == "questions" for one in warned) or bool(words & named)


def answers(file: Path, known: Mapping[str, Any], release: Path) -> list[Answer]:
    """The verdict on each question of a file."""
    published = release / "data.csv"
    headers = known.get("second_header", False)
    raw = rows_of(file, headers)
    released = rows_of(published, headers) if published.exists() else None
    return [judged(question, raw, released) for question in known["questions"]]


def measured(file: Path, known: Mapping[str, Any], purposes: Sequence[str], work: Path) -> Counter[str]:
    """Propose a plan, release it, print what came out; counts of everything."""
    plan, release = work / f"{file.name}.yaml", work / file.name
    options = [part for purpose in purposes for part in ("--for", purpose)]
    failed, proposing = run("suggest", str(file), "--out", str(plan), *options)
    counts = roles(plan, known) if plan.exists() else Counter[str]()
    releasing = 0.0
    if not failed:
        failed, releasing = run("anonymize", str(plan), "--out", str(release))
    verdicts = answers(file, known, release)
    for question, (verdict, _) in zip(known["questions"], verdicts, strict=True):
        counts[verdict] += 1
        counts["warned"] += verdict == "wrong" and is_warned(question, release)
    seconds = Counter(propose=round(1000 * proposing), release=round(1000 * releasing), failed=bool(failed), files=1)
    print(f"{file.name}: {line(counts + seconds)}{f'; no release: {failed}' if failed else ''}", flush=True)
    for number, (verdict, notes) in enumerate(verdicts, 1):
        print(f"  {number} {verdict}" + (f": {'; '.join(notes)}" if verdict != "same" else ""), flush=True)
    return counts + seconds


def line(counts: Counter[str]) -> str:
    """What was counted, in one line."""
    columns = sum(counts[kind] for kind in ("right", "lost", "unsafe", "other"))
    share = f"{counts['right']} of {columns} roles acceptable ({counts['right'] / max(columns, 1):.0%})"
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    return (
        f"{share}, {counts['lost']} lost, {counts['unsafe']} unsafe; {verdicts} ({counts['warned']} of the wrong ones "
        f"warned of); {counts['propose'] / 1000:.1f} s to propose, {counts['release'] / 1000:.1f} s to release"
    )


def main(arguments: Sequence[str]) -> int:
    """Measure the files of a folder."""
    warnings.filterwarnings("ignore")
    purposed = "--for" in arguments
    folder, *names = [argument for argument in arguments if argument != "--for"]
    known = json.loads((Path(folder) / "known.json").read_text("utf-8"))
    total: Counter[str] = Counter()
    with TemporaryDirectory() as work:
        for name in names or known:
            purposes = [question["formula"] for question in known[name]["questions"]] if purposed else []
            total += measured(Path(folder) / name, known[name], purposes, Path(work))
    print(f"{total['files']} files, {total['failed']} without a release: {line(total)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
