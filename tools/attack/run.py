"""Attack what the command line publishes: `run.py --releases 1000 --tables 500 --seed 0`.

Releases and tables are drawn from seeds, made by the command line, and evaluated by their published files alone. With
`--seed 17 --kind rows` one case is repeated, `--keep FOLDER` keeps it. Exit 1: a guarantee is refuted.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from draw_rows import as_csv, draw_rows, rows_of
from draw_tables import BREAKS, break_table, draw_table
from findings import CommandLine, Outcome, lines
from judge_rows import Published, judge_applied, judge_chain, judge_rows, judge_threshold
from judge_tables import asked, judge_tables, read_table

NOT_JUDGED = (
    "population-uniqueness, and k-map with a sampling fraction (estimates)",
    "t-closeness with hierarchical distance, or with ordered distance of persons with several values",
    "differential-privacy: how safepub drew its rows (the delta of its k is judged)",
    "protect by other models than l-diversity; perturbed columns of one release (they promise nothing)",
    "promises to persons where neither a column nor the order shows whose row is whose",
    "printed bounds of intervals; rounded tables and such with noise; coalitions of respondents",
)
REAL = 5  # number of first cases that run in separate processes


def attack_rows(outcome: Outcome, folder: Path, run: Callable[..., int]) -> None:
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


def attack_tables(outcome: Outcome, folder: Path, run: Callable[..., int]) -> None:
    case = draw_table(outcome.seed)
    outcome.ended, value, how = case.kind, case.plan["table"]["value"], BREAKS[case.seed % len(BREAKS)]
    write(folder, case.files | {"plan.json": json.dumps(case.plan, indent=1)})
    names = [own["name"] for own in case.plan.get("tables", ())] or ["table" if case.kind == "records" else "."]
    paths = [folder / "out" / name / "table-external.csv" for name in names]
    accepted = run("protect", "plan.json", "--out", "out")
    outcome.add("sound plans are accepted", (folder / "printed").read_text(encoding="utf-8"), accepted == 2)
    if accepted != 0 or not paths[0].exists():
        return
    file, report = read_table(paths, case.table, value), (folder / "out" / "report.json").read_text(encoding="utf-8")
    judge_tables(outcome, case, file, [str(end["cell"]) for end in json.loads(report).get("inherent_disclosure", ())])
    rows, audit = rows_of(paths[0]), ("audit", "--plan", str(paths[0].with_name("plan.yaml")))
    cells = [tuple(row.get(own.name, "Total") for own in case.table.dimensions) for row in rows]
    unsafe = [at for at, cell in enumerate(cells) if cell in file.printed and asked(case.plan, case.table, cell)]
    if len(paths) == 1 and unsafe:
        outcome.add("audit of own files", f"fails ({case.kind})", run(*audit, str(paths[0])) != 0)
        if break_table(how, rows, [case.table.value(cell) for cell in cells], value, unsafe[0]):
            write(folder, {"broken.csv": as_csv(rows)})
            outcome.add("audit of broken files", f"passed: {how} ({case.kind})", run(*audit, "broken.csv") == 0)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


KINDS = {"rows": attack_rows, "tables": attack_tables}


def attack(cases: Iterable[tuple[str, int]], real: int = REAL, keep: Path | None = None) -> list[Outcome]:
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
            outcome, folder = Outcome(kind, seed), keep.absolute() if keep else Path(tempfile.mkdtemp(prefix="attack-"))
            folder.mkdir(parents=True, exist_ok=True)
            KINDS[kind](outcome, folder, partial(run, outcome, folder))
            outcomes.append(outcome)
            if keep is None:
                shutil.rmtree(folder)
    finally:
        line.close()
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--releases", 1000), ("--tables", 500), ("--seed", 0)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--kind", choices=sorted(KINDS), help="of the one case that is run")
    parser.add_argument("--keep", type=Path, help="a folder in which the case is left to look at")
    given = parser.parse_args()
    counts = {given.kind: 1} if given.kind else {"rows": given.releases, "tables": given.tables}
    cases = [(kind, given.seed + number) for kind, count in counts.items() for number in range(count)]
    outcomes = attack(cases, 0 if given.kind else REAL, given.keep if given.kind else None)
    print(*lines(outcomes), "Not judged:", *(f"  {what}" for what in NOT_JUDGED), sep="\n")
    return int(any(one.refuted for one in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
