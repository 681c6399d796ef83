"""Scripts of sdcMicro: the calls that stand plainly become a plan."""

import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.pipelines.migration.sdcmicro_script import translate

SCRIPT = """
library(sdcMicro)  # kAnon(nothing, k=9)
dat <- read.csv("survey.csv", sep = ";")
sdc <- createSdcObj(dat, keyVars = c('urbrur', "sex", 'age'), numVars = c("income", "expend"),
                    weightVar = "w", hhId = 'hid')
sdc <- removeDirectID(sdc, var = "name")
sdc <- globalRecode(sdc, column = "age", breaks = c(0, 20, 40, 60, 100))
sdc <- topBotCoding(sdc, value = 5000, replacement = 5001, kind = "top", column = "savings")
sdc <- sdcMicro::kAnon(sdc, k = 5, importance = c(1, 2, 3))
sdc <- microaggregation(sdc, aggr = 4, variables = c("income", "expend"))
sdc <- pram(sdc, variables = "roof", pd = 0.7)
sdc <- addNoise(sdc, noise = 20, variables = "tax")
sdc <- ldiversity(sdc, ldiv_index = "illness")
sdc <- pram(sdc, variables = names(dat)[3])
"""


@pytest.fixture(scope="module")
def project():
    return translate(SCRIPT)


def test_columns_models_and_limits_are_carried_over(project):
    plan = sf.read_plan(project.plan)
    assert plan.quasi_identifiers == ("urbrur", "sex", "age")
    assert plan.data.source == "survey.csv"
    assert plan.data.separator == ";"
    assert plan.columns["name"].role == "identifier"
    assert plan.columns["age"].hierarchy == sf.intervals(start=0, end=100, bounds=[[0, 20, 40, 60]])
    assert plan.columns["age"].min_level == 1
    assert plan.privacy == (sf.KAnonymity(5), sf.LDiversity(2, "illness"))
    assert plan.other == "identifier"
    assert plan.columns["savings"].publish.top == 5000


def test_operations_are_carried_over(project):
    columns = project.plan["columns"]
    operations = {
        "microaggregate": ("income", {"k": 4, "group": "script"}),
        "pram": ("roof", {"retention": 0.7}),
        "noise": ("tax", {"share": 0.2}),
    }
    for key, (name, parameters) in operations.items():
        assert columns[name]["publish"] == {key: parameters}
    assert project.plan["method"] == {"name": "local"}
    assert any(line.startswith("Suppression of single cells") for line in project.left_out)


def test_suppression_of_single_cells_is_that_here():
    script = "sdc <- createSdcObj(d, keyVars=c('a','b','c')); sdc <- localSuppression(sdc, k=4, importance=c(1,3,2))"
    project = translate(script)
    plan = sf.read_plan(project.plan)
    assert plan.method.name == "local-suppression"
    assert [plan.columns[name].importance for name in ("a", "b", "c")] == [4.0, 1.0, 2.0]
    assert plan.privacy == (sf.KAnonymity(4),)


def test_what_is_left_out_is_listed_with_its_line(project):
    text = "\n".join(project.left_out)
    assert "Line 14, pram: variables must be computed (names(dat)[3])" in text
    assert "Line 8, topBotCoding: values beyond are published as >value" in text
    assert "Columns that the script does not name are withheld" in text


def test_a_script_without_columns_is_none(sfumato, tmp_path):
    with pytest.raises(DataError, match="createSdcObj"):
        translate("x <- read.csv('a.csv')")
    (tmp_path / "script.R").write_text(SCRIPT)
    ran = sfumato("import", tmp_path / "script.R", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert (tmp_path / "out" / "plan.yaml").exists()


@pytest.mark.parametrize("out", ["project", "elsewhere/deep/project"])
def test_the_plan_finds_the_rows_where_the_script_reads_them(tmp_path, sfumato, out):
    script, rows = tmp_path / "work" / "script.R", tmp_path / "work" / "rows" / "survey.csv"
    rows.parent.mkdir(parents=True)
    (tmp_path / out).parent.mkdir(parents=True, exist_ok=True)
    rows.write_text("sex,region\n" + "m,north\nf,south\n" * 3, encoding="utf-8")
    script.write_text(
        'd <- read.csv("rows/survey.csv")\ns <- createSdcObj(d, keyVars = c("sex", "region"))\ns <- kAnon(s, k = 3)\n',
        encoding="utf-8",
    )
    assert sfumato("import", script, "--out", tmp_path / out).code == 0
    made = sfumato("anonymize", tmp_path / out / "plan.yaml", "--out", tmp_path / "release", "--quiet")
    assert made.code == 0, made.err
