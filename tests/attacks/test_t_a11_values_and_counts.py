"""Published files judged by what values, counts, ranges and marks of the same cells prove together."""

import pandas
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.report.tables.report import review_lines
from sfumato.tables.plan.table_plan import read_table_plan

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
