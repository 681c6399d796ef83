"""Tables of one survey, protected together in either way or one after another: their attacker finds nothing."""

import csv

import pytest

from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.pipelines.tables.protect import protect
from sfumato.tables.plan.table_plan import read_table_plan
from surveys import CASES, HIERARCHIES, SURVEYS, cells_of, disclosed, wide_codes


def dimension(text):
    """A dimension as plans give it."""
    name = text.rstrip("*")
    if "/" in name:
        return {"levels": name.split("/")}
    return {"column": name} | ({"hierarchy": f"{name}.hrc"} if text != name else {})


@pytest.fixture
def survey(tmp_path):
    """Writes the records of a survey, and returns the plan of some of its tables."""

    def plan(case, places, **more):
        names, counts = SURVEYS[CASES[case][0]]
        lines = [record for record, count in counts.items() for _ in range(count)]
        (tmp_path / "c.csv").write_text("\n".join([",".join(names.split()), *lines]) + "\n")
        for name, text in HIERARCHIES.items():
            (tmp_path / f"{name}.hrc").write_text(text)
        tables = [
            {
                "name": f"t{place}",
                "dimensions": {f"d{at}": dimension(text) for at, text in enumerate(CASES[case][1 + place].split())},
            }
            for place in places
        ]
        rules = {
            "primary": [{"rule": "frequency", "min": 3}],
            "table": {"microdata": "c.csv", "value": "count", "group_disclosure": False},
            "method": "fast",
        }
        return read_table_plan({"version": 1, **rules, "tables": tables, **more}, tmp_path)

    return plan


def places(case):
    return range(len(CASES[case]) - 1)


def shown(case, *results):
    """The rows of published tables."""
    names, tables = SURVEYS[CASES[case][0]][0].split(), []
    for columns in (table.columns for done in results for table in done.tables.values()):
        own = [name for name in names if name in columns]
        keys = zip(*(columns.text(name) for name in own), strict=True)
        rows = [dict(zip(own, key, strict=True)) for key in keys]
        tables.append((list(zip(rows, columns.text("count_published"), strict=True)), wide_codes(CASES[case])))
    return names, SURVEYS[CASES[case][0]][1], tables


def written_twice(cells):
    """The cells of several tables that are not published alike."""
    texts = {}
    for cell, text in cells:
        texts.setdefault(cell.tobytes(), set()).add(text)
    return [own for own in texts.values() if len(own) > 1]


ALIKE = ("levels and their column", "levels and a level of its own", "levels that differ", "a hierarchy and its level")
WRONG = [name for name, case in CASES.items() if "wrong" in case[0]]
RANDOM = [name for name in CASES if "random" in name]


@pytest.mark.parametrize("case", [case for case in CASES if case not in RANDOM])
def test_tables_protected_together_disclose_no_sensitive_cell(survey, case):
    done = protect(None, survey(case, places(case)))
    assert not disclosed(*shown(case, done))
    assert not done.report["warnings"]
    assert not audit(done).leaks
    assert case not in ALIKE or not written_twice(cells_of(*shown(case, done)))


# Suppressed in the tables of before, three tables leave no pattern that protects the fourth.
@pytest.mark.parametrize("case", sorted(CASES.keys() - {"three together", *WRONG, *RANDOM}))
def test_nor_do_releases_one_after_another(survey, tmp_path, case):
    before = protect(None, survey(case, places(case)[1:]))
    before.save(tmp_path / "before")
    folders = [f"before/{name}" for name in before.tables] if len(before.tables) > 1 else ["before"]
    after = protect(None, survey(case, [0], previous=folders))
    assert not disclosed(*shown(case, before, after))
    assert case not in ALIKE or not written_twice(cells_of(*shown(case, before, after)))


@pytest.mark.parametrize(
    "case",
    [
        *("levels and their column", "units of a third column", "two columns determine a third", "a wrong record"),
        *("levels of both", "three together"),
    ],
)
def test_tables_protected_apart_do_and_an_audit_finds_it(survey, tmp_path, case):
    apart = [protect(None, survey(case, [place])) for place in places(case)]
    assert disclosed(*shown(case, *apart))
    for place, done in enumerate(apart):
        done.save(tmp_path / f"apart{place}")
    files = [tmp_path / f"apart{place}" / f"t{place}" / "table.csv" for place in places(case)]
    files = [file if file.exists() else file.parent.parent / "table.csv" for file in files]
    assert audit(files, survey(case, places(case))).leaks


@pytest.mark.parametrize("method", ["adjustment", "optimal"])
@pytest.mark.parametrize("case", ALIKE[:2])
def test_one_cell_of_several_tables_is_published_alike_by_other_methods(survey, case, method):
    done = protect(None, survey(case, places(case), method={"name": method}))
    assert not written_twice(cells_of(*shown(case, done)))


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
@pytest.mark.parametrize("case", [case for case, own in CASES.items() if "/" not in "".join(own[1:])])
def test_tables_of_a_batch_file_disclose_no_sensitive_cell(tmp_path, case, way):
    survey, *tables = CASES[case]
    names, counts = SURVEYS[survey]
    lines = [record.replace(",", ";") for record, count in counts.items() for _ in range(count)]
    (tmp_path / "m.asc").write_text("\n".join(lines) + "\n")
    wide = wide_codes(CASES[case])
    described = []
    for name in names.split():
        tree = f'<HIERARCHICAL>\n<HIERCODELIST> "{name}.hrc"\n<HIERLEADSTRING> "@"\n' if name in wide else ""
        described.append(f'{name} 4\n<RECODEABLE>\n<TOTCODE> "T"\n{tree}')
        (tmp_path / f"{name}.hrc").write_text(HIERARCHIES.get(name, ""))
    (tmp_path / "m.rda").write_text('<SEPARATOR> ";"\n' + "".join(described))
    columns = [table.replace("*", "").split() for table in tables]
    specified = "".join(
        "<SPECIFYTABLE> " + "".join(f'"{name}"' for name in own) + '|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n'
        for own in columns
    )
    writes = "".join(f'<WRITETABLE> ({place}, 3, AS+, "{place}.csv")\n' for place in range(1, len(tables) + 1))
    head = f'<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n{specified}<READMICRODATA>\n'
    (tmp_path / "b.arb").write_text(f"{head}<SUPPRESS> {way}\n{writes}")
    done = run_batch(tmp_path / "b.arb", tmp_path / "out")
    assert done.passed and not done.warnings
    read = []
    for place, own in enumerate(columns, 1):
        with (tmp_path / "out" / f"{place}.csv").open(encoding="utf-8", newline="") as file:
            rows = [(dict(zip(own, row, strict=False)), row[len(own)]) for row in csv.reader(file)]
        read.append((rows, wide))
    assert not disclosed(names.split(), counts, read, "T")
    assert case not in ALIKE or not written_twice(cells_of(names.split(), counts, read, "T"))
