"""Several tables of one survey, and releases of before: what one masks, another does not tell."""

import random

import pytest

from refusals import refused
from sfumato.errors import DataError, PlanError
from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.protect import protect
from sfumato.pipelines.tables.protect_linked import sheets_of
from sfumato.report.tables.report import review_lines
from sfumato.tables.linked.protection import joint_part
from sfumato.tables.plan.table_plan import read_table_plan

RULES = [{"rule": "p-percent", "p": 10}, {"rule": "frequency", "min": 3}]
ACTIVITY, REGION, SIZE = ({"column": name} for name in ("act", "region", "size"))
CROSSINGS = {
    "act_region": {"act": ACTIVITY, "region": REGION},
    "act_size": {"act": ACTIVITY, "size": SIZE},
    "region_size": {"region": REGION, "size": SIZE},
}


@pytest.fixture
def survey(tmp_path):
    """Records of 45 enterprises in a file."""
    draw = random.Random(14)
    rows = ["act,region,size,turnover,group"]
    for place in range(45):
        codes = draw.choice("abcde"), draw.choice("NSW"), draw.choices("sml", [4, 2, 1])[0]
        rows.append(",".join([*codes, f"{draw.lognormvariate(3, 1.5):.2f}", f"g{place // 2 if place < 20 else place}"]))
    (tmp_path / "firms.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def plan(folder, names, **more):
    """A plan for some crossings of the survey."""
    table = {"microdata": "firms.csv", "value": "turnover", "holding": "group"}
    tables = [{"name": name, "dimensions": CROSSINGS[name]} for name in names]
    entries = {"version": 1, "table": table, "tables": tables, "primary": RULES, "method": "fast"}
    return read_table_plan(entries | more, folder)


def published(done, name):
    return done.tables[name].columns


def external(done):
    """The tables as they are handed out."""
    return [table.external for table in done.tables.values()]


def test_tables_protected_one_by_one_give_each_other_away(survey):
    alone = [protect(None, plan(survey, [name], attackers={"holdings": False})) for name in CROSSINGS]
    together = plan(survey, CROSSINGS, attackers={"holdings": False})
    values = [table.columns for done in alone for table in done.tables.values()]
    assert not audit(values, plan_of_tables(survey)).passed
    joint = protect(None, together)
    assert audit([table.columns for table in joint.tables.values()], plan_of_tables(survey)).passed
    assert not audit(external(joint), plan_of_tables(survey)).exact


def test_a_cell_that_one_table_masks_and_another_shows_is_computed(tmp_path):
    (tmp_path / "A.csv").write_text("x,v\nT,100\na,*\nb,*\nc,40\n")
    (tmp_path / "B.csv").write_text("x,z,v\nT,T,100\nT,p,100\na,T,35\na,p,35\nb,T,25\nb,p,25\nc,T,40\nc,p,40\n")
    plans = [
        read_table_plan(
            {
                "version": 1,
                "table": {"source": f"{name}.csv", "value": "v"},
                "dimensions": {one: {"column": one, "total": "T"} for one in columns},
                "primary": [{"rule": "p-percent", "p": 20}],
            },
            tmp_path,
        )
        for name, columns in (("A", "x"), ("B", "xz"))
    ]
    found = audit([str(tmp_path / "A.csv"), str(tmp_path / "B.csv")], plans)
    assert not found.passed and found.exact == 2
    assert review_lines(found)[1] == "x a: exact, masked in one table and published in table 2"


def plan_of_tables(folder):
    """The plan that audits tables which were crossed before."""
    table = {"value": "turnover", "frequency": "count", "contributions": [f"top{place + 1}" for place in range(10)]}
    tables = [{"name": name, "source": f"{name}.csv", "dimensions": own} for name, own in CROSSINGS.items()]
    entries = {"version": 1, "table": table, "tables": tables, "primary": RULES}
    return read_table_plan(entries | {"method": {"name": "fast", "insiders": False}}, folder)


def test_releases_one_after_the_other_stay_safe(survey):
    before = []
    for name in CROSSINGS:
        more = {"previous": list(before)} if before else {}
        done = protect(None, plan(survey, [name], attackers={"holdings": False}, **more))
        done.save(survey / name)
        before.append(name)
    files = [survey / name / name / "table.csv" for name in CROSSINGS]
    assert audit(files, plan_of_tables(survey)).passed
    first = (survey / "act_region" / "act_region" / "table-external.csv").read_text()
    again = protect(None, plan(survey, ["act_region"], previous=["act_region"], attackers={"holdings": False}))
    texts = again.tables["act_region"].external.texts
    assert [",".join(row) for row in zip(*texts.values(), strict=True)] == first.splitlines()[1:]


def test_tables_that_differ_in_a_common_cell_are_refused(tmp_path):
    (tmp_path / "one.csv").write_text("act,region,n\nTotal,Total,9\na,Total,9\nTotal,N,9\na,N,9\n")
    (tmp_path / "two.csv").write_text("act,size,n\nTotal,Total,8\na,Total,8\nTotal,s,8\na,s,8\n")
    tables = [
        {"name": "one", "source": "one.csv", "dimensions": CROSSINGS["act_region"]},
        {"name": "two", "source": "two.csv", "dimensions": CROSSINGS["act_size"]},
    ]
    entries = {"version": 1, "table": {"value": "n"}, "tables": tables, "primary": [{"rule": "frequency", "min": 3}]}
    with pytest.raises(
        DataError,
        check=refused("error.data.tables-differ.differs_from_another_one", name="the grand total", other="two"),
    ):
        protect(None, read_table_plan(entries, tmp_path))


def test_plan_says_what_goes_together(tmp_path):
    entries = {"version": 1, "table": {"value": "n", "source": "x.csv"}, "primary": [{"rule": "frequency", "min": 3}]}
    tables = [{"name": "one", "dimensions": {"act": ACTIVITY}}]
    with pytest.raises(PlanError, check=refused("plan.faults", "error.value.several_tables_have_their")):
        read_table_plan(entries | {"tables": tables})
    (tmp_path / "firms.csv").write_text("act,size,turnover,group\na,s,1,g\na,l,2,h\n")
    with pytest.raises(PlanError, check=refused("error.plan.no-release.is_no_release_folder")):
        protect(None, plan(tmp_path, ["act_size"], previous=["nowhere"]))


def test_a_series_to_which_each_release_adds_a_year_stays_safe(tmp_path):
    """Six releases: the total over the years so far is another one each time, and differences give nothing away."""
    pandas = pytest.importorskip("pandas")
    rows = [
        {"year": f"y{year}", "region": f"r{firm % 3}", "v": 10 + firm * (year + 2), "h": f"h{firm % 8}"}
        for year in range(6)
        for firm in range(10)
    ]
    names: list[str] = []
    for year in range(6):
        pandas.DataFrame(rows[: 10 * (year + 1)]).to_csv(tmp_path / "firms.csv", index=False)
        dimensions = {"year": {"column": "year", "series": True}, "region": {"column": "region"}}
        plan = {
            "version": 1,
            "table": {"microdata": "firms.csv", "value": "v", "holding": "h"},
            "tables": [{"name": "t", "dimensions": dimensions}],
            "primary": [{"rule": "p-percent", "p": 20}],
            **({"previous": names} if names else {}),
        }
        done = protect(None, read_table_plan(plan, tmp_path))
        assert done.passed
        done.save(tmp_path / f"release{year}")
        names.append(f"release{year}")


def test_a_total_that_grows_is_refused_where_nothing_says_that_it_is_a_series(tmp_path):
    rows = ["year,n", "Total,9", "y1,9"], ["year,n", "Total,20", "y1,9", "y2,11"]
    plan = {
        "version": 1,
        "table": {"value": "n", "source": "cells.csv"},
        "dimensions": {"year": {"column": "year"}},
        "primary": [{"rule": "frequency", "min": 3}],
    }
    (tmp_path / "cells.csv").write_text("\n".join(rows[0]))
    protect(None, read_table_plan(plan, tmp_path)).save(tmp_path / "first")
    (tmp_path / "cells.csv").write_text("\n".join(rows[1]))
    with pytest.raises(DataError) as error:
        protect(None, read_table_plan(plan | {"previous": ["first"]}, tmp_path))
    assert error.value.code == "data.tables-differ"


def test_cells_that_one_table_has_twice_are_one(tmp_path):
    """Land by Gemeinde with a hierarchy of Länder: Land N and the Gemeinden of N are the same firms."""
    units = {"n1": "N", "n2": "N", "s1": "S", "s2": "S", "w1": "W"}
    rows = [
        f"{land},{gem},{size},{1 + 7 * place}" for gem, land in units.items() for size in "st" for place in range(5)
    ]
    (tmp_path / "c.csv").write_text("land,gem,size,turnover\n" + "\n".join(rows) + "\n")
    (tmp_path / "g.hrc").write_text("N\n@n1\n@n2\nS\n@s1\n@s2\nW\n@w1\n")
    land, gem = {"column": "land"}, {"column": "gem", "hierarchy": "g.hrc"}
    tables = [{"name": "both", "dimensions": {"land": land, "gem": gem}}, {"name": "gem", "dimensions": {"gem": gem}}]
    entries = {"version": 1, "table": {"microdata": "c.csv", "value": "turnover"}, "tables": tables, "primary": RULES}
    own = read_table_plan({**entries, "method": "fast"}, tmp_path)
    crossed, sheets = sheets_of(own)
    part, joint = joint_part(crossed, sheets)
    assert len(joint.names) == len(joint.heights) == len(part.table)
    assert len(part.table) < sum(len(section.keys) for section in joint.sections)
    assert protect(None, own).tables.keys() == {"both", "gem"}


def test_a_land_beside_the_land_of_a_gemeinde_is_not_the_other_way_round(tmp_path):
    """A file that shows empty cells, too: Land N of Gemeinden in S is not Land S of Gemeinden in N."""
    (tmp_path / "g.hrc").write_text("N\n@n1\n@n2\nS\n@s1\n@s2\n")
    inside = {"n1": "N", "n2": "N", "s1": "S", "s2": "S"}
    sizes = {"n1": 5, "n2": 8, "s1": 2, "s2": 9}
    cells = ["land,gem,count"]
    for land in ("N", "S", "Total"):
        for code in (*inside, "N", "S", "Total"):
            own = [gem for gem in inside if code in (gem, inside[gem], "Total") and land in (inside[gem], "Total")]
            cells.append(f"{land},{code},{sum(sizes[gem] for gem in own)}")
    (tmp_path / "both.csv").write_text("\n".join(cells) + "\n")
    levels = ["land,gem,count", "Total,Total,24", "N,Total,13", "S,Total,11"]
    levels += [f"{inside[gem]},{gem},{size}" for gem, size in sizes.items()]
    (tmp_path / "levels.csv").write_text("\n".join(levels) + "\n")
    both = {"land": {"column": "land"}, "gem": {"column": "gem", "hierarchy": "g.hrc"}}
    tables = [
        {"name": "both", "source": "both.csv", "dimensions": both},
        {"name": "levels", "source": "levels.csv", "dimensions": {"geo": {"levels": ["land", "gem"]}}},
    ]
    rules = {"primary": [{"rule": "frequency", "min": 3}], "method": "fast", "table": {"value": "count"}}
    own = read_table_plan({"version": 1, **rules, "tables": tables}, tmp_path)
    _, joint = joint_part(*sheets_of(own))
    cell = dict(zip(joint.sections[0].keys, joint.sections[0].cells.tolist(), strict=True))
    assert cell[("N",), ("S",)] != cell[("S",), ("N",)]
    assert cell[("N",), ("N",)] == cell[("N",), ("Total",)]
    assert protect(None, own).tables.keys() == {"both", "levels"}


@pytest.mark.parametrize("other", [{"column": "region"}, {"levels": ["size", "region"]}])
def test_a_table_that_names_a_column_twice_is_refused_by_its_name(tmp_path, other):
    tables = [{"name": "twice", "dimensions": {"region": REGION, "other": other}}]
    entries = {"version": 1, "table": {"microdata": "firms.csv", "value": "turnover"}, "tables": tables}
    with pytest.raises(PlanError, check=refused("plan.faults", "error.value.two_dimensions_of_one")):
        read_table_plan({**entries, "primary": RULES}, tmp_path)
