"""Scripts of sdcMicro whose arguments must be computed: no plan promises less than the script, and all is listed."""

import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.pipelines.migration.sdcmicro_script import translate

MADE = 'sdc <- createSdcObj(dat, keyVars = c("region", "sex"), numVars = "income")\n'


def carried(*lines):
    """The plan of a script with an object and these lines, and what was left out of it."""
    project = translate(MADE + "\n".join(lines))
    return sf.read_plan(project.plan), "\n".join(project.left_out)


@pytest.mark.parametrize(
    "lines",
    [
        ("sdc <- kAnon(sdc, k = 10)",),
        ("sdc <- kAnon(sdc, 10)",),
        ("K <- 10", "sdc <- kAnon(sdc, k = K)"),
        ("k <- 10", "sdc <- sdc |> kAnon(k = k)"),
        ("sdc <- kAnon(sdc, k = 10)", "sdc <- localSuppression(sdc, k = 2)"),
        ("sdc <- kAnon(sdc, k = 2)", "sdc <- kAnon(sdc, k = 10)"),
        ("sdc <- kAnon(sdc, k = c(5, 10), combs = c(2, 1))",),
        ("if (nrow(dat) > 100) sdc <- kAnon(sdc, k = 10)",),
    ],
)
def test_the_greatest_k_is_promised(lines):
    plan, _ = carried(*lines)
    assert plan.privacy == (sf.KAnonymity(10),)


@pytest.mark.parametrize(
    "lines",
    [
        ("sdc <- kAnon(sdc, k = K)",),
        ("K <- 3", "K <- 10", "sdc <- kAnon(sdc, k = K)"),
        ("sdc <- localSuppression(sdc, k = 2 * 5)",),
        ("for (k in c(3, 10)) sdc <- kAnon(sdc, k = k)",),
        ("sdc <- kAnon(sdc, k = 5)", "sdc <- kAnon(sdc, max(ks))"),
        ("sdc <- kAnon(sdc, k = 4.5)",),
        ('sdc <- do.call("kAnon", list(sdc, k = 10))',),
        ('other <- createSdcObj(dat, keyVars = c("job", more))',),
    ],
)
def test_a_promise_that_cannot_be_read_is_refused_with_its_line(lines):
    with pytest.raises(DataError, match=f"line {len(lines) + 1}, "):
        carried(*lines)


def test_two_promises_are_said_to_be_two():
    _, left_out = carried("sdc <- kAnon(sdc, k = 5)", "sdc <- localSuppression(sdc, k = 2)")
    assert "Line 3, localSuppression: k = 2, and k = 5 elsewhere: the greater is promised." in left_out


def test_a_k_that_the_script_does_not_name_is_told():
    assert "Line 2, kAnon: k is not named: sdcMicro takes 2, the plan promises 3." in carried("sdc <- kAnon(sdc)")[1]
    assert "The script asks for no k-anonymity; the plan promises k = 3." in carried("")[1]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sdc <- microaggregation(sdc, aggr = a)", "aggr must be computed (a)"),
        ('sdc <- addNoise(sdc, "income", n)', "noise must be computed (n)"),
        ('sdc <- addNoise(sdc, "income", noise = n * 2)', "noise must be computed (n*2)"),
        ('sdc <- topBotCoding(sdc, value = v, column = "income")', "value must be computed (v)"),
        ('sdc <- topBotCoding(sdc, value = 9, kind = k, column = "income")', "kind must be computed (k)"),
        ("sdc <- rankSwap(sdc, P = p)", "P must be computed (p)"),
        ('sdc <- pram(sdc, variables = "income", pd = p)', "pd must be computed (p)"),
        ("sdc <- addNoise(sdc, variables = vars, noise = 20)", "variables must be computed (vars)"),
        ("sdc <- addNoise(sdc, variables = c(4, 5), noise = 20)", "columns without names are not carried over"),
        ('for (v in vars) sdc <- addNoise(sdc, variables = "income")', "stands in a loop, a condition or a function"),
        ("for (v in vars) sdc <- addNoise(sdc, variables = v)", "or a function; variables must be computed (v)"),
        ("sdc <- shuffle(sdc, form = income ~ sex)", "has no counterpart here"),
        ('sdc <- globalRecode(sdc, column = "income", breaks = b)', "breaks must be computed (b)"),
        ('sdc <- globalRecode(sdc, column = "income", breaks = c(0, 50, 99))', "its recoding is not carried over"),
    ],
)
def test_a_number_that_the_script_changes_is_withheld_where_it_cannot_be_read_how(line, told):
    plan, left_out = carried("sdc <- kAnon(sdc, k = 3)", line)
    assert plan.columns["income"].role == "identifier"
    assert "Line 3, " in left_out
    assert told in left_out
    assert '"income" is withheld' in left_out


@pytest.mark.parametrize(
    ("lines", "published"),
    [
        (("A <- 4", "sdc <- microaggregation(sdc, aggr = A)"), {"microaggregate": {"k": 4}}),
        (("n <- 20", "vars <- c('income')", "sdc <- addNoise(sdc, vars, n)"), {"noise": {"share": 0.2}}),
        (("sdc <- topBotCoding(sdc, value = 0.5, column = 'income')",), {"top": {"value": 0.5}}),
        (("sdc %>% rankSwap(P = 10)",), {"swap": {"share": 0.1}}),
    ],
)
def test_values_with_a_name_are_carried_over(lines, published):
    project = translate(MADE + "\n".join(lines))
    assert project.plan["columns"]["income"]["publish"] == published


def test_pram_is_about_its_own_columns():
    project = translate(MADE.replace(")\n", ', pramVars = "roof")\n') + "sdc <- pram(sdc)")
    assert project.plan["columns"]["roof"]["publish"] == {"pram": {"retention": 0.8}}
    assert "publish" not in project.plan["columns"]["income"]


def test_groups_that_are_aggregated_apart_stay_apart():
    first, second = "c('a', 'b'), 3", "variables = c('d', 'e'), aggr = 5"
    project = translate(f"{MADE}microaggregation(sdc, {first})\nmicroaggregation(sdc, {second})")
    columns = sf.read_plan(project.plan).columns
    assert columns["a"].publish.microaggregate.k == 3
    assert columns["e"].publish.microaggregate.k == 5
    assert columns["a"].publish.microaggregate.group != columns["e"].publish.microaggregate.group


@pytest.mark.parametrize(
    "lines",
    [
        ("sdc <- kAnon(sdc, k = 3, importance = c(1, 2))", 'sdc <- ldiversity(sdc, ldiv_index = "illness")'),
        ("sdc <- kAnon(sdc, k = 3, importance = c(1, 2, 3))",),
        ("sdc <- kAnon(sdc, k = 3, importance = ranks)",),
    ],
)
def test_importance_that_is_not_carried_over_is_listed(lines):
    assert "importance" in carried(*lines)[1]


@pytest.mark.parametrize(
    ("read", "data"),
    [
        ('dat <- read.csv2("a.csv")', ("a.csv", ";", ",")),
        ('dat <- read.table("a.csv", header = TRUE, sep = ";", dec = ",")', ("a.csv", ";", ",")),
        ('dat <- read.csv("a.csv", TRUE, "|")', ("a.csv", "|", ".")),
        ('dat <- read.delim("a.csv")', ("a.csv", "\t", ".")),
        (r'dat <- read.table("a.csv", sep = "\t")', ("a.csv", "\t", ".")),
        ('codes <- read.csv("codes.csv")\ndat <- read_csv2("a.csv")', ("a.csv", ";", ",")),
    ],
)
def test_the_file_is_read_as_the_script_reads_it(read, data):
    plan = sf.read_plan(translate(f"{read}\n{MADE}").plan)
    assert (plan.data.source, plan.data.separator, plan.data.decimal) == data


def test_what_else_is_said_of_the_file_is_carried_over_or_listed():
    project = translate('dat <- read.csv("a.csv", na.strings = c("", "?"), skip = 2, dec = d)\n' + MADE)
    assert project.plan["data"]["missing"] == ["?"]
    assert "Line 1, read.csv: skip is not carried over." in project.left_out
    assert "Line 1, read.csv: dec is not carried over." in project.left_out


def test_of_two_roles_the_one_that_protects_more_is_kept():
    plan, left_out = carried(
        'other <- createSdcObj(dat, keyVars = "job", numVars = "tax", sensibleVar = "sex")',
        'sdc <- ldiversity(sdc, ldiv_index = "region")',
    )
    assert plan.quasi_identifiers == ("region", "sex", "job")
    assert plan.columns["tax"].role == plan.columns["income"].role == "insensitive"
    assert "Line 2, createSdcObj: another object" in left_out
    assert '"sex" stays quasi-identifier' in left_out
    assert '"region" stays quasi-identifier' in left_out
