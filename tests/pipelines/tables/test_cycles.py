"""Tables whose variables form a cycle: the cross that none of them shows tells nothing of an unsafe cell."""

import csv
import math
import random

import pytest

from cross_reader import TOTAL, Reader, counted
from refusals import refused
from sfumato.errors import UnattainableError
from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.pipelines.tables.protect import protect
from sfumato.pipelines.tables.protect_linked import sheets_of
from sfumato.tables.linked import cross as implicit_cells
from sfumato.tables.linked.from_plan import with_cross
from sfumato.tables.linked.protection import joint_part
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.suppression.optimal import optimal
from sfumato.tables.suppression.problem import make_problem

# How many records there are of each combination. By a2,x = 12 with no u in a2 and no v in x, x,w would be at least 12.
LEAK = {
    "a1yv": 12, "a1yw": 1, "a1zu": 1, "a1zv": 6, "a2xw": 12, "a2yv": 3, "a2zv": 2, "a3zu": 6, "a3zw": 1,
    "b1xu": 3, "b1yu": 12, "b2xu": 12, "b2yu": 3,
}  # fmt: skip
GROUPS = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"]}
HIERARCHY = "".join(f"{group}\n" + "".join(f"@{code}\n" for code in codes) for group, codes in GROUPS.items())
CODES = {"a": ["a1", "a2", "a3", "b1", "b2"], "b": list("xyz"), "c": list("uvw")}
CYCLE = ("ab", "bc", "ac")


def rows(counts):
    return [(codes[:2], codes[2], codes[3]) for codes, count in counts.items() for _ in range(count)]


def plan(folder, records, tables=CYCLE, **more):
    (folder / "a.hrc").write_text(HIERARCHY)
    (folder / "d.csv").write_text("a,b,c\n" + "".join(",".join(record) + "\n" for record in records))
    hierarchies = {"a": {"hierarchy": "a.hrc"}}
    listed = [
        {"name": table, "dimensions": {name: {"column": name, **hierarchies.get(name, {})} for name in table}}
        for table in tables
    ]
    entries = {
        "version": 1,
        "table": {"microdata": "d.csv", "value": "count", "group_disclosure": False},
        "tables": listed,
    }
    return read_table_plan(entries | {"primary": [{"rule": "frequency", "min": 3}]} | more, folder)


def published(columns, names):
    column = next(name for name in columns.texts if name.endswith("_published"))
    return dict(zip(zip(*(columns.text(name) for name in names), strict=True), columns.text(column), strict=True))


def broken(records, tables, texts, codes=None, groups=None):
    """The unsafe cells that a reader of all tables knows exactly, or to be nearer than one."""
    codes, groups = codes or CODES, GROUPS if groups is None else groups
    names, reader, blind, faults = list(codes), Reader(codes, groups), Reader(codes, groups), []
    for table in tables:
        reader.read(table, texts[table])
        blind.read(table, dict.fromkeys(texts[table], "*"))
    unsafe = [
        (table, key, count)
        for table in tables
        for key, count in counted(records, names, table, groups).items()
        if count < 3
    ]
    for table, key, count in unsafe:
        cell = dict(zip(table, key, strict=True))
        low, high = reader.range_of(cell)
        # Nothing that is masked is empty: two such cells below a total of 2 are 1 and 1, whatever else is masked.
        if high < count + 1 - 1e-6 or low > max(blind.range_of(cell)[0], count - 1) + 1e-6:
            faults.append((table, key, count, low, high))
    return faults


# Masks that withstand every reader but one of all three tables.
MASKS = {
    "ab": "a1T a1y a1z a2T a2y a2z a3T a3z",
    "bc": "xu xw yu yw zu zw",
    "ac": "a1T a1u a1w a2T a2w a3T a3u a3w",
}


def masked(records, table, masks):
    """The texts of a table of which some cells are masked."""
    counts = counted(records, list(CODES), table, GROUPS)
    names = {key: "".join(code.replace(TOTAL, "T") for code in key) for key in counts}
    return {key: "*" if names[key] in masks.split() else str(count) for key, count in counts.items()}


def test_tables_in_a_plan_withstand_a_reader_of_their_cross(tmp_path):
    records = rows(LEAK)
    done = protect(None, plan(tmp_path, records))
    texts = {table: published(done.tables[table].external, table) for table in CYCLE}
    assert done.passed and not broken(records, CYCLE, texts)
    # What is proved of the tables alone bounds what masks cost with the cross.
    (answer,) = done.joint.parts
    alone = optimal(make_problem(answer.part.table, None, answer.part.knowledge.attackers))
    assert alone.bound - 1e-6 <= done.report["cost"]
    assert done.report["bound"] <= done.report["cost"]


def write(folder, table, texts):
    lines = [[*table, "count_published"], *([*key, text] for key, text in texts.items())]
    with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    return folder / f"{table}.csv"


def test_an_audit_of_all_tables_finds_what_their_cross_tells(tmp_path, sfumato):
    records = rows(LEAK)
    texts = {table: masked(records, table, MASKS[table]) for table in CYCLE}
    computed = {tuple(zip(table, key, strict=True)) for table, key, *_ in broken(records, CYCLE, texts)}
    own, files = plan(tmp_path, records), [write(tmp_path, table, texts[table]) for table in CYCLE]
    leaks = {finding.name for finding in audit(files, own).leaks}
    assert len(computed) == 4 and {", ".join(map(" ".join, cell)) for cell in computed} <= leaks
    for left_out in range(3):
        two = [table for place, table in enumerate(CYCLE) if place != left_out]
        assert audit([tmp_path / f"{table}.csv" for table in two], plan(tmp_path, records, two)).passed


def test_a_cross_that_is_too_large_to_attack_is_not_called_safe(tmp_path, sfumato, monkeypatch):
    monkeypatch.setattr(implicit_cells, "MOST_CROSSED", 3)
    records = rows(LEAK)
    files = [write(tmp_path, table, masked(records, table, MASKS[table])) for table in CYCLE]
    review = audit(files, plan(tmp_path, records))
    assert not review.passed and not review.leaks and "a by b by c" in review.not_audited[0]
    with pytest.raises(
        UnattainableError,
        check=refused("error.unattainable.joint-size.the_tables_together_are_sums", names="a by b by c"),
    ):
        protect(None, plan(tmp_path, records))


BATCH = """<OPENMICRODATA> "d.asc"
<OPENMETADATA> "d.rda"
{}<READMICRODATA>
{}{}"""


def batch(folder, records, *calls, codes="abc"):
    """Run a batch file on the three tables of the records."""
    (folder / "a.hrc").write_text(HIERARCHY)
    (folder / "d.asc").write_text("".join(";".join(record) + "\n" for record in records))
    hierarchical = '  <HIERARCHICAL>\n  <HIERCODELIST> "a.hrc"\n  <HIERLEADSTRING> "@"\n'
    variables = "".join(
        f'{name} 2\n  <RECODEABLE>\n  <TOTCODE> "Total"\n{hierarchical if name == "a" else ""}' for name in codes
    )
    (folder / "d.rda").write_text(f'<SEPARATOR> ";"\n{variables}')
    tables = "".join(f'<SPECIFYTABLE> "{x}""{y}"|"<freq>"||\n<SAFETYRULE> FREQ(3,30)\n' for x, y in CYCLE)
    writes = "".join(f'<WRITETABLE> ({place}, 3, , "{table}.csv")\n' for place, table in enumerate(CYCLE, start=1))
    calls = "".join(f"<SUPPRESS> {call}\n" for call in calls)
    (folder / "one.arb").write_text(BATCH.format(tables, calls, writes))
    return run_batch(folder / "one.arb", folder / "out")


def written(folder, table):
    with (folder / "out" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return {tuple(row[:2]): row[2] for row in csv.reader(file)}


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_tables_of_a_batch_withstand_a_reader_of_their_cross(tmp_path, way):
    records = rows(LEAK)
    assert batch(tmp_path, records, way).passed
    assert not broken(records, CYCLE, {table: written(tmp_path, table) for table in CYCLE})


def drawn(seed):
    """Records of which many combinations are rare: which c there is depends on a and b."""
    draw = random.Random(seed)
    codes = {"a": CODES["a"], "b": list("xyz"), "c": list("uvw")}
    weights = {name: [draw.random() ** 2 + 0.03 for _ in own] for name, own in codes.items()}
    records = []
    for _ in range(draw.choice([40, 80, 160])):
        a, b = (draw.choices(codes[name], weights[name])[0] for name in "ab")
        special = [random.Random(f"{seed}{a}{b}{c}").random() ** 9 + 1e-4 for c in codes["c"]]
        records.append((a, b, draw.choices(codes["c"], special)[0]))
    return records


@pytest.mark.parametrize("seed", [12, 58, 115, 200])
def test_random_tables_withstand_a_reader_of_their_cross(tmp_path, seed):
    records = drawn(seed)
    done = protect(None, plan(tmp_path, records, method="fast"))
    texts = {table: published(done.tables[table].external, table) for table in CYCLE}
    assert any(text == "*" for own in texts.values() for text in own.values())
    assert not broken(records, CYCLE, texts)


@pytest.mark.parametrize("tables", [("ab", "bc"), ("ab", "bc", "ac", "abc")])
def test_tables_without_a_cycle_have_no_cross(tmp_path, tables):
    own, sheets = sheets_of(plan(tmp_path, rows(LEAK), tables))
    part, joint = joint_part(own, sheets)
    assert with_cross(part, joint) is part


@pytest.mark.parametrize("seed", [1, 3])
def test_the_cross_of_rounded_tables_is_attacked(tmp_path, seed):
    records = drawn(seed)
    answer = protect(None, plan(tmp_path, records, method={"name": "rounding", "base": 5}, primary=[]))
    reader = Reader(CODES, GROUPS)
    for table in CYCLE:
        reader.read_near(table, published(answer.tables[table].external, table), 5)
    columns = answer.tables["bc"].columns
    ends = zip(columns.numbers("count_lower"), columns.numbers("count_upper"), strict=True)
    for key, (low, high) in zip(published(columns, "bc"), ends, strict=True):
        least, most = reader.range_of(dict(zip("bc", key, strict=True)))
        assert (low, high) == (pytest.approx(math.ceil(least - 1e-6)), pytest.approx(math.floor(most + 1e-6)))
