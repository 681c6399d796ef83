"""Batch files of tests: records with variables of one character, tables of them, and what a run publishes."""

import csv

from sfumato.pipelines.tables.batch.run import run_batch

VARIABLE = '<RECODEABLE>\n<TOTCODE> "T"\n'
OPEN = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n'


def write_records(folder, rows, numbers="v"):
    """Write records of x, y, z and numbers."""
    (folder / "m.asc").write_text("".join(";".join(map(str, row)) + "\n" for row in rows))
    variables = [f"{name} 1\n{VARIABLE}" for name in "xyz"] + [f"{name} 5\n<NUMERIC>\n" for name in numbers]
    (folder / "m.rda").write_text('<SEPARATOR> ";"\n' + "".join(variables))


def specified(*tables):
    """Tables, each by its variables with its response, and its rules."""
    lines = (f"<SPECIFYTABLE> {what}||\n<SAFETYRULE> {rule}\n" for what, rule in tables)
    return "".join(lines) + "<READMICRODATA>\n"


def writes(*numbers, start=0, options=""):
    return "".join(f'<WRITETABLE> ({one}, 3, {options}, "{start + one}.csv")\n' for one in numbers)


def run(folder, *lines):
    (folder / "one.arb").write_text("".join(line.rstrip("\n") + "\n" for line in lines))
    return run_batch(folder / "one.arb", folder / "out")


def published(folder, number):
    """The texts of a written table by its codes."""
    with (folder / "out" / f"{number}.csv").open(encoding="utf-8", newline="") as file:
        return {tuple(row[:-1]): row[-1] for row in csv.reader(file)}
