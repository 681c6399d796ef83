"""Attacks what the command line publishes and signs: `run.py --releases 1000 --tables 500 --seed 0`.

Releases and tables are drawn from seeds, made by the command line, and judged by their published files alone with
definitions of the literature written anew (NumPy and SciPy; nothing of Sfumato is imported). `--seed 17 --kind rows`
runs one case again, `--keep FOLDER` leaves it to look at. The exit code is 1 where a signed statement is refuted.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from break_tables import BREAKS, break_table
from command_line import CommandLine
from draw_rows import as_csv, draw_rows, rows_of
from draw_tables import draw_table
from findings import Outcome, lines
from judge_rows import Published, judge_applied, judge_chain, judge_rows, judge_threshold
from judge_tables import asked, judge_tables, read_table

Run = Callable[..., int]
NOT_JUDGED = (
    "population-uniqueness, and k-map with a sampling fraction (estimates)",
    "t-closeness with hierarchical distance, or with ordered distance of persons with several values",
    "differential-privacy: how safepub drew its rows (the delta of its k is judged)",
    "protect by other models than l-diversity; perturbed columns of one release (they promise nothing)",
    "promises to persons where neither a column nor the order shows whose row is whose",
    "rounded tables and such with noise; coalitions of respondents",
)
# So many of the first cases run as real processes.
REAL = 5


def attack_rows(outcome: Outcome, folder: Path, run: Run) -> None:
    """Draw releases, publish them, and judge the last."""
    case, chain = draw_rows(outcome.seed), list[Published]()
    outcome.ended, files = case.kind, {name: as_csv(rows) for name, rows in case.files.items()}
    for at, (rows, plan) in enumerate(case.releases):
        write(folder, files | {f"rows{at}.csv": as_csv(rows), f"plan{at}.json": json.dumps(plan, indent=1)})
        if run("anonymize", f"plan{at}.json", "--out", f"out{at}") != 0:
            return judge_threshold(outcome, plan, (folder / "printed").read_text(encoding="utf-8"))
        chain.append(Published(folder / f"out{at}", rows, plan))
    outcome.add("refusals", f"published, though the plan publishes {case.must_refuse}", case.must_refuse)
    judge_rows(outcome, chain[-1], run("verify", chain[-1].folder.name))
    if len(chain) > 1:
        judge_chain(outcome, chain)
    if "later.csv" in files and run("apply", "out0/recoding.json", "later.csv", "--out", "later") == 0:
        judge_applied(outcome, chain[0], rows_of(folder / "later" / "data.csv"))
    return None


def attack_tables(outcome: Outcome, folder: Path, run: Run) -> None:
    """Draw tables, protect them, attack them, and audit the file as it is, and broken in one of the ways."""
    case = draw_table(outcome.seed)
    outcome.ended, value, how = case.kind, case.plan["table"]["value"], BREAKS[case.seed % len(BREAKS)]
    write(folder, case.files | {"plan.json": json.dumps(case.plan, indent=1)})
    names = [own["name"] for own in case.plan.get("tables", ())] or ["table" if case.kind == "records" else "."]
    folders = [folder / "out" / name for name in names]
    if run("protect", "plan.json", "--out", "out") != 0 or not (folders[0] / "table-external.csv").exists():
        return
    tables = zip(folders, case.tables, strict=True)
    files = [read_table(own / "table-external.csv", table, value) for own, table in tables]
    report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    judge_tables(outcome, case, files, [str(end["cell"]) for end in report.get("known_anyway", ())])
    table, rows = files[0].table, rows_of(folders[0] / "table-external.csv")
    cells = [tuple(row[own.name] for own in table.dimensions) for row in rows]
    unsafe = [at for at, cell in enumerate(cells) if cell in files[0].printed and asked(case.plan, table, cell)]
    if len(files) == 1 and unsafe:
        audit = ("--plan", str(folders[0] / "plan.yaml"))
        run("audit", str(folders[0] / "table-external.csv"), *audit)
        if break_table(how, rows, np.array([table.value(cell) for cell in cells]), value, unsafe[0]):
            write(folder, {"broken.csv": as_csv(rows)})
            passed = run("audit", "broken.csv", *audit) == 0
            outcome.add("audit of broken files", f"passed: {how} ({case.kind})", passed)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


KINDS = {"rows": attack_rows, "tables": attack_tables}


def attack(cases: Iterable[tuple[str, int]], real: int = REAL, keep: Path | None = None) -> list[Outcome]:
    """All cases one after the other, each in a folder of its own."""
    outcomes, line = [], CommandLine()

    def run(outcome: Outcome, folder: Path, *arguments: str) -> int:
        code = line.run(folder, *arguments, "--quiet", real=len(outcomes) < real)
        printed = (folder / "printed").read_text(encoding="utf-8", errors="replace")
        crashed = code not in range(6) or "unforeseen" in printed or "Traceback" in printed
        outcome.add("no crash", f"exit {code}: {printed.strip()[-200:]}", crashed)
        outcome.ended += f", {arguments[0]} {code}"
        return code

    try:
        for kind, seed in cases:
            outcome, folder = Outcome(kind, seed), keep or Path(tempfile.mkdtemp(prefix="attack-"))
            folder.mkdir(parents=True, exist_ok=True)
            KINDS[kind](outcome, folder, partial(run, outcome, folder))
            outcomes.append(outcome)
            if keep is None:
                shutil.rmtree(folder)
    finally:
        line.close()
    return outcomes


def main() -> int:
    """Attack as many releases and tables as asked for, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--releases", 1000), ("--tables", 500), ("--seed", 0)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--kind", choices=sorted(KINDS), help="of the one case that is run")
    parser.add_argument("--keep", type=Path.absolute, help="a folder in which the case is left to look at")
    given = parser.parse_args()
    counts = {given.kind: 1} if given.kind else {"rows": given.releases, "tables": given.tables}
    cases = [(kind, given.seed + number) for kind, count in counts.items() for number in range(count)]
    outcomes = attack(cases, 0 if given.kind else REAL, given.keep if given.kind else None)
    print(*lines(outcomes), "Not judged:", *(f"  {what}" for what in NOT_JUDGED), sep="\n")
    return int(any(one.refuted for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
