"""What files of tables disclose: values and counts, crosstabs and batch files, formulas, rows of persons."""

import csv
import json
import re
from itertools import product

import numpy as np
import pandas
import pytest

import sfumato as sf
from refusals import refused
from sfumato.cli.main import run
from sfumato.delimited.records import delimited_text, plain_cell, quoted_cell
from sfumato.errors import DataError, InternalError, PlanError
from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.pipelines.tables.protect import protect, run_plan
from sfumato.policies.policy import CellRule
from sfumato.report.tables.report import review_lines
from sfumato.tables import tabulate as counting
from sfumato.tables.crosstabs.crosstabs import Crosstab
from sfumato.tables.crosstabs.policies import _check_shown, apply, relations_of
from sfumato.tables.plan.table_plan import read_table_plan

# Published files judged by what values, counts, ranges and marks of the same cells prove together.

AREA = {"area": {"column": "area", "total": "Total"}}
FEW = {"rule": "frequency", "min": 5}
RECORDS = {"value": "count", "frequency": "holdings", "holdings": "holdings"}
SUMS = {"value": "v", "frequency": "firms", "contributions": ["top1", "top2"], "harmless": ["firms", "groups"]}
P_PERCENT = {"rule": "p-percent", "p": 10}


def audited(columns, table, *rules, dimensions=AREA, **more):
    plan = {"version": 1, "table": table, "dimensions": dimensions, "primary": list(rules)} | more
    return sf.audit(pandas.DataFrame(columns), plan)


def areas(**columns):
    return {"area": ["Total", *"abcdefg"][: len(next(iter(columns.values())))], **columns}


def exposed(review):
    return [leak.name for leak in review.leaks if leak.published]


@pytest.mark.parametrize("rule", ["frequency", "holdings"])
def test_a_count_of_records_is_of_no_more_respondents_than_records(rule):
    review = audited(areas(count_published=["40", "4", "*", "*", "20"]), RECORDS, {"rule": rule, "min": 5})
    assert exposed(review) == ["area a"]
    assert review.unjudged == (rule,)  # Of 20 records, one respondent may have all.
    assert not exposed(audited(areas(count_published=["40", "5", "*", "*", "20"]), RECORDS, FEW))
    assert not exposed(audited(areas(count_published=["40", "0", "*", "*", "20"]), RECORDS, FEW))


def test_sums_that_are_no_counts_of_records_prove_no_number_of_respondents():
    assert not exposed(audited(areas(v_published=["40", "4", "*", "*", "20"]), RECORDS | {"value": "v"}, FEW))
    weighted = areas(count_published=["40.5", "0.5", "*", "*", "20"])
    assert not exposed(audited(weighted, RECORDS, FEW))


@pytest.mark.parametrize(("text", "narrow"), [("2-3", 1), ("1-3", 0), ("4-6", 0)])
def test_a_range_of_records_in_which_all_are_of_few_is_too_narrow(text, narrow):
    review = audited(areas(count_published=["40", text, "*", "*", "20"]), RECORDS, FEW)
    assert review.too_narrow == narrow


@pytest.mark.parametrize("rule", [P_PERCENT, {"rule": "dominance", "n": 2, "k": 85}, {"rule": "holdings", "min": 3}])
def test_few_respondents_dominate_whatever_each_of_them_has(rule):
    """Of two, each one learns the other; of three that are alike nobody does."""
    table = SUMS | {"holdings": "groups"}
    shown = areas(v_published=["90", "30", "*", "*", "30"], firms=["12", "2", "", "", "3"])
    assert exposed(audited(shown, table, rule)) == ["area a"]


def test_who_contributes_is_no_more_than_respond_or_hold():
    table = SUMS | {"holdings": "groups"}
    shown = areas(v_published=["90", "30", "*", "*", "30"], firms=["19", "9", "", "", "9"])
    assert not exposed(audited(shown, table, P_PERCENT))
    assert exposed(audited(shown | {"groups": ["9", "2", "", "", "9"]}, table, P_PERCENT)) == ["area a"]


def test_a_suppressed_sum_of_few_needs_its_range():
    """Sums must not be known within 10 %, and everyone sees that two respond."""
    for text, narrow in (("100-105", 1), ("90-110", 0)):
        shown = areas(v_published=["900", text, "*", "*", "30"], firms=["12", "2", "", "", "9"])
        assert audited(shown, SUMS, {"rule": "frequency", "min": 3}).too_narrow == narrow


def test_suppressed_numbers_of_respondents_are_read_as_far_as_they_say_something():
    shown = areas(v_published=["90", "30", "*", "*", "30"], firms=["12", "1-2", "*", "*", "*"])
    review = audited(shown, SUMS, {"rule": "frequency", "min": 3})
    assert exposed(review) == ["area a"]
    assert review.unjudged == ("frequency",)


MARKED = {
    "a range that says more than the value": {"n_lower": ["", "0", "1", "1", ""], "n_upper": ["", "9", "9", "9", ""]},
    "a range without the value": {"n_lower": ["", "7", "1", "1", ""], "n_upper": ["", "9", "9", "9", ""]},
    "a case": {"n_case": ["", "secondary", "primary", "secondary", ""]},
    "a status": {"Status": ["1", "11", "5", "11", "1"]},
}


@pytest.mark.parametrize("marks", MARKED)
def test_a_published_cell_that_the_file_marks_as_suppressed_is_a_contradiction(marks):
    review = audited(areas(n_published=["40", "6", "*", "*", "24"], **MARKED[marks]), {"value": "n"}, FEW)
    assert review.contradictions == ("area a",)


def test_marks_that_agree_with_what_is_published_are_none():
    agreed = {"n_lower": ["40", "", "1", "1", "24"], "n_upper": ["40", "", "9", "9", "24"]}
    agreed |= {"n_case": ["", "", "primary", "secondary", ""], "Status": ["1", "1", "5", "11", "14"]}
    review = audited(areas(n_published=["40", "6", "*", "*", "24"], **agreed), {"value": "n"}, FEW)
    assert review.passed


DIMENSIONS = {"job": {"column": "job", "total": "Total"}, "died": {"column": "died", "total": "Total"}}
DIED = {"rule": "group-disclosure", "dimension": "died"}


ZEROS = {"name": "optimal", "zeros": True}


def crew(*porters):
    """Porters of whom all, some, none died; and stokers."""
    rows = [("Total", "Total", "40"), ("Total", "yes", "*"), ("Total", "no", "*")]
    rows += [("Stoker", "Total", "*"), ("Stoker", "yes", "12"), ("Stoker", "no", "16")]
    rows += [("Porter", died, own) for died, own in zip(["Total", "yes", "no"], porters, strict=True)]
    return dict(zip(["job", "died", "n"], map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize(
    ("porters", "found"),
    [
        (("12", "12", "0"), ["job Porter, died no"]),
        (("*", "*", "0"), ["job Porter, died no"]),
        (("*", "0", "*"), ["job Porter, died yes"]),
        (("*", "*", "1"), []),
        (("*", "*", "*"), []),
    ],
)
def test_zeros_that_show_what_a_whole_group_has_in_common_are_found(porters, found):
    review = audited(crew(*porters), {"value": "n"}, DIED, dimensions=DIMENSIONS)
    assert review.unjudged == ()
    assert exposed(review) == found


def test_a_group_that_may_be_empty_shows_nothing_of_anybody():
    """Ranges from 0 say that empty cells are suppressed, too."""
    table = crew("*", "*", "0")
    assert not exposed(audited(table, {"value": "n"}, DIED, dimensions=DIMENSIONS, method=ZEROS))
    printed = crew("0-20", "*", "0")
    assert not exposed(audited(printed, {"value": "n"}, DIED, dimensions=DIMENSIONS))
    least = crew("1-20", "*", "0")
    assert exposed(audited(least, {"value": "n"}, DIED, dimensions=DIMENSIONS, method=ZEROS))


def test_ranges_from_0_say_that_a_suppressed_cell_may_be_0():
    """Of 4, at most 2 are in b: if b may be 0, a may be 4, which is not sensitive."""
    few = {"rule": "frequency", "min": 4}
    assert audited(areas(n=["24", "0-4", "0-2", "0", "20"]), {"value": "n"}, few).passed
    assert audited(areas(n=["24", "1-4", "1-2", "0", "20"]), {"value": "n"}, few).too_narrow == 1


def test_several_tables_are_judged_by_the_same():
    plan = {"version": 1, "table": {"value": "n"}, "dimensions": DIMENSIONS, "primary": [DIED]}
    tables = [pandas.DataFrame(crew("*", "*", "0")), pandas.DataFrame(areas(n=["40", "20", "20"]))]
    review = sf.audit(tables, [plan, {**plan, "dimensions": AREA, "primary": [FEW]}])
    assert exposed(review) == ["job Porter, died no"]
    marked = pandas.DataFrame(areas(n_published=["40", "20", "20"], n_case=["", "primary", ""]))
    assert sf.audit([tables[0], marked], [plan, {**plan, "dimensions": AREA, "primary": [FEW]}]).contradictions


def without(table, job, died):
    kept = [key != (job, died) for key in zip(table["job"], table["died"], strict=True)]
    return {name: [text for text, own in zip(texts, kept, strict=True) if own] for name, texts in table.items()}


def test_a_row_that_is_left_out_is_refused_or_said_to_be_taken_for_empty():
    missing = without(crew("*", "*", "*"), "Porter", "yes")
    review = audited(missing, {"value": "n"}, FEW, dimensions=DIMENSIONS)
    assert review.unlisted == ("job Porter, died yes",)
    assert any("job Porter, died yes" in line for line in review_lines(review))
    adds_up = without(crew("12", "0", "12"), "Porter", "yes")
    assert audited(adds_up, {"value": "n"}, FEW, dimensions=DIMENSIONS).unlisted == ()
    with pytest.raises(DataError, match="job Porter"):
        audited(without(crew("12", "5", "7"), "Porter", "yes"), {"value": "n"}, FEW, dimensions=DIMENSIONS)


def test_a_row_that_is_left_out_shows_as_much_of_a_group_as_one_of_0():
    missing = without(crew("*", "0", "*"), "Porter", "yes")
    assert exposed(audited(missing, {"value": "n"}, DIED, dimensions=DIMENSIONS)) == ["job Porter, died yes"]
    plan = {"version": 1, "table": {"value": "n"}, "dimensions": DIMENSIONS, "primary": [DIED]}
    tables = [pandas.DataFrame(missing), pandas.DataFrame(areas(n=["40", "20", "20"]))]
    review = sf.audit(tables, [plan, {**plan, "dimensions": AREA, "primary": [FEW]}])
    assert exposed(review) == ["job Porter, died yes"]


@pytest.mark.parametrize("holding", [{}, {"holding": "who"}])
def test_pages_say_that_groups_were_not_considered_whoever_is_counted(holding, tmp_path):
    rows = [
        f"{job},{died},p{number % 90}" for number, (job, died) in enumerate([("a", "x"), ("b", "x"), ("b", "y")] * 40)
    ]
    (tmp_path / "crew.csv").write_text("\n".join(["job,died,who", *rows]) + "\n")
    table = {"value": "count", "microdata": "crew.csv", "group_disclosure": False, **holding}
    plan = {"version": 1, "table": table, "dimensions": DIMENSIONS, "primary": [{"rule": "frequency", "min": 3}]}

    def page(**more):
        done = sf.protect(None, read_table_plan(plan | more, tmp_path)).tables["table"]
        return done.page(done.report)

    assert "Group disclosure was not considered for job, died:" in page()
    assert "Group disclosure was not considered for job:" in page(primary=[*plan["primary"], DIED])
    assert "Group disclosure was not considered" not in page(table=table | {"group_disclosure": True})


# Crosstabs and batch files hand out what was attacked: an outsider who reads nothing else computes no unsafe cell.

PLAN = {"version": 1, "table": {"value": "n"}, "dimensions": {name: {"column": name} for name in ("x", "y")}}


def counts_of(seed):
    """Counts with all totals, some of them small, in some tables none of them 0."""
    rng = np.random.default_rng(seed)
    inner = rng.choice([1, 2, 3, 8, 20, 41] if seed % 2 else [0, 1, 3, 8, 20, 41], (4, 4))
    whole = np.vstack([inner, inner.sum(axis=0)])
    return np.column_stack([whole, whole.sum(axis=1)])


def audited_crosstab(shown, least):
    """The audit of texts of cells by their codes, as anyone reads them."""
    rows = [(*code, text) for code, text in shown.items()]
    frame = pandas.DataFrame(rows, columns=["x", "y", "n"])
    return sf.audit(frame, PLAN | {"primary": [{"rule": "frequency", "min": least}]})


@pytest.mark.parametrize("seed", range(6))
def test_a_crosstab_as_it_is_returned(seed):
    counts, codes = counts_of(seed), [*"abcd", "Total"]
    shown = sf.suppress(pandas.DataFrame(counts, index=codes, columns=codes), "cms-11")
    cells = {(row, column): str(shown.loc[row, column]) for row, column in product(codes, codes)}
    assert "*" in cells.values()
    assert audited_crosstab(cells, 11).passed


def test_a_crosstab_with_a_number_that_is_not_its_own_is_not_handed_out():
    counts = counts_of(1).astype(float)
    rule = CellRule(1, 3, "*")
    shown = apply(Crosstab((*"abcd", "Total"), (*"abcd", "Total"), counts), rule)
    relations = relations_of(counts, (*"abcd", "Total"), (*"abcd", "Total"), None, None)
    small = (counts >= 1) & (counts <= 3)
    _check_shown(counts, small, relations, shown, rule)
    shown[-1][-1] += 1
    with pytest.raises(InternalError):
        _check_shown(counts, small, relations, shown, rule)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("way", ["MOD(1)", "GH(1)"])
def test_a_table_as_a_batch_file_writes_it(tmp_path, seed, way):
    counts = counts_of(seed)[:4, :4]
    cells = zip(product("abcd", "abcd"), counts.ravel().tolist(), strict=True)
    lines = [f"{x};{y}" for (x, y), count in cells for _ in range(count)]
    (tmp_path / "micro.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "micro.rda").write_text(
        '<SEPARATOR> ";"\n' + "".join(f'{name} 1\n<RECODEABLE>\n<TOTCODE> "Total"\n' for name in "xy")
    )
    (tmp_path / "one.arb").write_text(
        '<OPENMICRODATA> "micro.csv"\n<OPENMETADATA> "micro.rda"\n<SPECIFYTABLE> "x""y"|<freq>||\n'
        "<SAFETYRULE> FREQ(4,30)\n<READMICRODATA>\n"
        f'<SUPPRESS> {way}\n<WRITETABLE> (1, 3, QU-, "shown.txt")\n'
    )
    assert run_batch(tmp_path / "one.arb", tmp_path / "out").passed
    with (tmp_path / "out" / "shown.txt").open() as file:
        shown = {(x, y): text for x, y, text in csv.reader(file)}
    assert "x" in shown.values()
    assert audited_crosstab(shown, 4).passed


# No file that people open holds a cell that a spreadsheet would compute, and all of them are read back.

LINK = '=HYPERLINK("https://evil.example","click")'
CODES = (LINK, "-1+1", "@sum", "＝1", "'=x", "south")
COMPUTED = re.compile(r"[=+\-@\t\r＝＋－＠]")
FORMULAS_PLAN = {
    "version": 1,
    "table": {"value": "n"},
    "dimensions": {"area": {"column": "area"}, "sex": {"column": "sex"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}


def computed(path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        cells = [cell for line in csv.reader(stream) for cell in line]
    return [cell for cell in cells if COMPUTED.match(cell) and not re.fullmatch(r"[+-]?[\d.,]+|[+-]", cell)]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table whose codes are formulas, protected and saved."""
    folder = tmp_path_factory.mktemp("formulas")
    counts = {code: (2 + place, 9 + 3 * place) for place, code in enumerate(CODES)}
    rows = [(code, sex, n) for code, pair in counts.items() for sex, n in zip("fm", pair, strict=True)]
    rows += [(code, "Total", sum(pair)) for code, pair in counts.items()]
    rows += [("Total", sex, sum(n for _, own, n in rows if own == sex)) for sex in ("f", "m", "Total")]
    with (folder / "cells.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("area", "sex", "n"), *rows])
    protect(folder / "cells.csv", FORMULAS_PLAN).save(folder / "out")
    return folder / "out"


def test_every_file_of_a_table_is_quoted(table) -> None:
    files = sorted(table.glob("*.csv"))
    assert {file.name for file in files} == {"published.csv", "table.csv", "table-external.csv"}
    for file in files:
        assert computed(file) == [], file.name
        assert "'=HYPERLINK" in file.read_text(encoding="utf-8")


def test_the_audit_reads_the_codes_back(table) -> None:
    for name in ("table-external.csv", "published.csv"):
        found = audit(table / name, table / "plan.yaml")
        assert found.passed, name


def test_a_later_table_reads_the_codes_of_an_earlier_one(table) -> None:
    again = {**FORMULAS_PLAN, "table": {"value": "n", "source": "cells.csv"}, "previous": ["out"]}
    assert run_plan(read_table_plan(again, table.parent)).passed


@pytest.mark.parametrize(
    "text", [*CODES, "-5", "+1.5e3", "-1,234.5", "-1.234.567", "-", "", "'", "''=x", " =x", "\t=x"]
)
def test_what_was_quoted_is_had_back_and_nothing_else_is_changed(text) -> None:
    assert plain_cell(quoted_cell(text)) == text
    assert (quoted_cell(text) == text) == (
        not re.match(r"'*[=+\-@\t＝]", text) or bool(re.fullmatch(r"[+-]?[\d.,e]*", text))
    )


def test_programs_get_cells_as_they_are() -> None:
    assert delimited_text([[LINK]], formulas="keep") != delimited_text([[LINK]])


def test_several_files_are_quoted_where_the_plan_asks_for_it(tmp_path) -> None:
    people = "".join(f"{number},=1+1\n" for number in range(6))
    (tmp_path / "people.csv").write_text("id,town\n" + people, encoding="utf-8")
    (tmp_path / "visits.csv").write_text("id,ward\n" + "".join(f"{n % 6},@A\n" for n in range(12)), encoding="utf-8")
    plan = {
        "version": 1,
        "files": {
            "people": {"source": "people.csv", "key": "id"},
            "visits": {"source": "visits.csv", "parent": "people"},
        },
        "columns": {
            "town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "ward": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"formulas": "quote"},
    }
    sf.anonymize(None, sf.read_plan(plan, tmp_path)).save(tmp_path / "out")
    for name in ("people", "visits"):
        assert computed(tmp_path / "out" / f"{name}.csv") == []
    assert "'@A" in (tmp_path / "out" / "visits.csv").read_text(encoding="utf-8")
    assert sf.verify(tmp_path / "out").satisfied


# Tables counted from rows of persons: empty combinations, group disclosure, categories that are names.

CREW = [("Porter", "TRUE")] + [("Stoker", "TRUE")] * 9 + [("Stoker", "FALSE")] * 6
CREW += [("Steward", "TRUE")] * 7 + [("Steward", "FALSE")] * 5 + [("Mate", "FALSE")] * 4 + [("Mate", "TRUE")] * 2
CREW_DIMENSIONS = {"job": {"column": "job"}, "died": {"column": "died"}}
CREW_PLAN = {
    "version": 1,
    "table": {"value": "count", "microdata": "crew.csv"},
    "dimensions": CREW_DIMENSIONS,
    "primary": [{"rule": "frequency", "min": 3}],
}


@pytest.fixture
def folder(tmp_path):
    lines = ["job,died", *(",".join(row) for row in CREW)]
    (tmp_path / "crew.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def of(table, job, died):
    texts = table.columns.texts
    return dict(zip(zip(texts["job"], texts["died"], strict=True), texts["count_published"], strict=True))[job, died]


def protected(folder, **table):
    plan = CREW_PLAN | {"table": CREW_PLAN["table"] | table}
    return sf.protect(None, read_table_plan(plan, folder)).tables["table"]


def test_what_all_of_a_group_have_in_common_is_suppressed(folder):
    done = protected(folder)
    assert [of(done, "Porter", died) for died in ("Total", "TRUE", "FALSE")] == ["*"] * 3
    assert len(done.columns) == 5 * 3
    assert done.report["group_disclosure"] == ["job", "died"]
    rules = [rule for rule in done.plan.plain["primary"] if rule["rule"] == "group-disclosure"]
    assert [rule["dimension"] for rule in rules] == ["job", "died"]
    assert done.plan.plain["table"]["group_disclosure"] is True
    assert sf.audit(pandas.DataFrame(dict(done.external.texts)), done.plan).passed


def test_it_is_switched_off_by_a_word_and_the_page_says_so(folder):
    done = protected(folder, group_disclosure=False)
    assert of(done, "Porter", "FALSE") == "0"
    assert done.report["group_disclosure"] == []
    assert "Group disclosure was not considered" in done.page(done.report)
    assert "Group disclosure was not considered" not in protected(folder).page(done.report)


@pytest.mark.parametrize("holding", [None, "who"])
def test_persons_with_several_rows_are_groups_too(folder, holding):
    lines = ["job,died,who", *(f"{job},{died},p{place}" for place, (job, died) in enumerate(CREW)), "Porter,TRUE,p0"]
    (folder / "crew.csv").write_text("\n".join(lines) + "\n")
    done = protected(folder, **({"holding": holding} if holding else {}))
    assert of(done, "Porter", "FALSE") == "*"


def test_several_tables_have_the_rule_for_the_dimensions_that_they_have(folder):
    tables = [
        {"name": "both", "dimensions": CREW_DIMENSIONS},
        {"name": "jobs", "dimensions": {"job": CREW_DIMENSIONS["job"]}},
    ]
    plan = {key: own for key, own in CREW_PLAN.items() if key != "dimensions"} | {"tables": tables}
    done = sf.protect(None, read_table_plan(plan, folder))
    assert of(done.tables["both"], "Porter", "FALSE") == "*"
    assert [rule["dimension"] for rule in done.tables["jobs"].plan.plain["primary"][1:]] == ["job"]


def test_the_command_writes_it_into_the_plan(folder, capsys):
    (folder / "plan.json").write_text(json.dumps(CREW_PLAN))
    assert run(["protect", str(folder / "plan.json"), "--out", str(folder / "out")]) == 0
    (saved,) = (folder / "out").glob("plan.yaml")
    assert "group_disclosure: true" in saved.read_text() and "dimension: died" in saved.read_text()
    capsys.readouterr()
    external = next((folder / "out").rglob("table-external.csv"))
    assert run(["audit", str(external), "--plan", str(saved), "--quiet"]) == 0


def test_tables_of_cells_and_sums_have_no_rule_of_their_own():
    cells = {key: own for key, own in CREW_PLAN.items() if key != "table"} | {"table": {"value": "n"}}
    assert len(read_table_plan(cells).primary) == 1
    sums = CREW_PLAN | {"table": CREW_PLAN["table"] | {"value": "hours"}}
    assert len(read_table_plan(sums).primary) == 1
    asked = cells | {"table": {"value": "n", "group_disclosure": True}}
    assert [getattr(rule, "dimension", None) for rule in read_table_plan(asked).primary] == [None, "job", "died"]


@pytest.mark.parametrize("value", [None, "hours"])
def test_every_crossing_within_hierarchies_is_a_cell(value):
    rows = [("a", "1", "f", 3), ("a", "2", "m", 4), ("b", "1", "m", 5)]
    frame = pandas.DataFrame(rows, columns=["area", "place", "sex", "hours"])
    made = sf.tabulate(frame, {"area": {"levels": ["area", "place"]}, "sex": {"column": "sex"}}, value=value)
    units = [("Total", "Total"), ("a", "Total"), ("b", "Total"), ("a", "1"), ("a", "2"), ("b", "1")]
    keys = set(zip(made["area"], made["place"], made["sex"], strict=True))
    assert keys == {(*unit, sex) for unit, sex in product(units, ("Total", "f", "m"))} and len(made) == 18
    assert made["count"].tolist().count(0) == 4


def test_too_many_cells_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(counting, "MOST_CELLS", 11)
    frame = pandas.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": ["s", "s"]})
    assert len(sf.tabulate(frame, ["a", "b"])) == 9
    with pytest.raises(PlanError, check=refused("plan.too-many-cells", count="18")):
        sf.tabulate(frame, ["a", "b", "c"])


NAMES = ["Anna Becker", "Jonas Keller", "Petra Vogel", "Ida Kern", "Max Becker", "Olga Braun", "Karl Weber"]


@pytest.mark.parametrize("names", [NAMES, [f"K-{place * 7919 % 9973:05d}" for place in range(60)]])
def test_categories_that_are_persons_are_asked_about(tmp_path, names):
    frame = pandas.DataFrame({"who": names, "sex": (["f", "m"] * len(names))[: len(names)]})
    with pytest.raises(PlanError) as caught:
        sf.tabulate(frame, ["who", "sex"])
    assert caught.value.code == "plan.person-categories" and "confirmed: true" in str(caught.value)
    assert names[0] not in str(caught.value)
    dimensions = {"who": {"column": "who", "confirmed": True}, "sex": {"column": "sex"}}
    assert len(sf.tabulate(frame, dimensions)) == 3 * (len(names) + 1)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    plan = CREW_PLAN | {
        "dimensions": {"who": {"column": "who"}},
        "table": {"value": "count", "microdata": "rows.csv"},
    }
    with pytest.raises(PlanError, check=refused("plan.person-categories", name="who")):
        sf.protect(None, read_table_plan(plan, tmp_path))
