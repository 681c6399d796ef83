"""Attacks what the command line publishes and signs: `python tools/attack/run.py --releases 1000 --tables 500 --seed
0`.

Releases and tables are drawn from seeds, made by `sfumato anonymize|verify|protect|audit`, and judged by their
published files alone with definitions of the literature written anew (NumPy and SciPy; nothing of Sfumato is
imported). `--seed 17 --kind rows` runs one case again, `--keep FOLDER` leaves it to look at. The exit code is 1 where
a signed statement is refuted.

Not judged: k-map with a sampling fraction and population-uniqueness (estimates), t-closeness with hierarchical
distance and with ordered distance of persons with several values, perturbed columns (they promise nothing), how safepub
drew its rows (the delta of its k is judged), promises to persons where neither a column nor the order shows whose row
is whose, rounded tables and such with noise, coalitions of respondents.
"""

import argparse
import csv
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from break_tables import BREAKS
from command_line import CommandLine
from draw_rows import as_csv, draw_rows
from draw_tables import TableCase, draw_table
from findings import Outcome, lines
from judge_rows import Published, judge_chain, judge_rows, judge_threshold
from judge_tables import File, asked, judge_tables, read_table

NOT_JUDGED = (__doc__ or "").partition("Not judged: ")[2]
# So many of the first cases run as real processes.
REAL = 5


def attack_rows(outcome: Outcome, folder: Path, line: CommandLine, real: bool) -> None:
    """Draw releases, publish them, and judge the last."""
    case = draw_rows(outcome.seed)
    for number, plan in enumerate(case.write(folder)):
        made = line.run(folder, "anonymize", plan, "--out", f"out{number}", "--quiet", real=real)
        outcome.add("no crash", made.crash)
        outcome.ended = f"exit {made.code}"
        if made.code != 0:
            judge_threshold(outcome, case.releases[number][1], made.printed)
            return
    outcome.add("refusals", f"published, though the plan {case.must_refuse}" if case.must_refuse else None)
    chain = [Published(folder / f"out{number}", *release) for number, release in enumerate(case.releases)]
    verified = line.run(folder, "verify", chain[-1].folder.name, real=real)
    outcome.add("no crash", verified.crash)
    outcome.ended += f", verify {verified.code}"
    judge_rows(outcome, chain[-1], verified.code)
    if len(chain) > 1:
        judge_chain(outcome, chain)


def attack_tables(outcome: Outcome, folder: Path, line: CommandLine, real: bool) -> None:
    """Draw tables, protect them, attack them, and break one for an audit."""
    case = draw_table(outcome.seed)
    case.write(folder)
    made = line.run(folder, "protect", "plan.json", "--out", "out", "--quiet", real=real)
    outcome.add("no crash", made.crash)
    outcome.ended = f"{case.kind}, exit {made.code}"
    names = [own["name"] for own in case.plan.get("tables", ())] or ["table" if case.kind == "records" else "."]
    paths = [folder / "out" / name / "table-external.csv" for name in names]
    if made.code != 0 or not all(path.exists() for path in paths):
        return
    value = case.plan["table"]["value"]
    files = [read_table(path, table, value) for path, table in zip(paths, case.tables, strict=True)]
    report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    judge_tables(outcome, case, files, [str(end["cell"]) for end in report.get("known_anyway", ())])
    if len(files) == 1 and files[0].printed:
        _audit_broken(outcome, case, paths[0], files[0], line)


def _audit_broken(outcome: Outcome, case: TableCase, path: Path, file: File, line: CommandLine) -> None:
    """Audit the file as it is, and broken in one of the ways."""
    clean = line.run(path.parent, "audit", path.name, "--plan", "plan.yaml", "--quiet")
    outcome.judged[f"audit of a file as it is: exit {clean.code}"] += 1
    with path.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    cells = [tuple(row[own.name] for own in file.table.dimensions) for row in rows]
    truth = np.array([file.table.value(cell) for cell in cells])
    unsafe = [at for at, cell in enumerate(cells) if cell in file.printed and asked(case.plan, file.table, cell)]
    how = list(BREAKS)[case.seed % len(BREAKS)]
    if not unsafe or (how.startswith("an unsafe count") and (case.kind == "sums" or truth[unsafe[0]] > 2)):
        return
    BREAKS[how](rows, truth, case.plan["table"]["value"], unsafe[0])
    (path.parent / "broken.csv").write_text(as_csv(rows), encoding="utf-8")
    answer = line.run(path.parent, "audit", "broken.csv", "--plan", "plan.yaml", "--quiet")
    outcome.add("no crash", answer.crash)
    outcome.add("audit of broken files", f"passed: {how} ({case.kind})" if answer.code == 0 else None)


KINDS = {"rows": attack_rows, "tables": attack_tables}


def attack(cases: Iterable[tuple[str, int]], real: int = REAL, keep: Path | None = None) -> list[Outcome]:
    """All cases one after the other, each in a folder of its own."""
    outcomes, line = [], CommandLine()
    try:
        for number, (kind, seed) in enumerate(cases):
            folder = keep.resolve() if keep else Path(tempfile.mkdtemp(prefix="attack-"))
            folder.mkdir(parents=True, exist_ok=True)
            outcomes.append(Outcome(kind, seed))
            KINDS[kind](outcomes[-1], folder, line, number < real)
            if keep is None:
                shutil.rmtree(folder)
    finally:
        line.close()
    return outcomes


def main() -> int:
    """Attack as many releases and tables as asked for, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=1000)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; with --kind, the only one")
    parser.add_argument("--kind", choices=sorted(KINDS))
    parser.add_argument("--keep", type=Path, help="a folder in which the case is left to look at")
    given = parser.parse_args()
    counts = {given.kind: 1} if given.kind else {"rows": given.releases, "tables": given.tables}
    cases = [(kind, given.seed + number) for kind, count in counts.items() for number in range(count)]
    outcomes = attack(cases, 0 if given.kind else REAL, given.keep if given.kind else None)
    print("\n".join(lines(outcomes)), f"Not judged: {NOT_JUDGED}", sep="\n")
    return int(any(one.refuted for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
