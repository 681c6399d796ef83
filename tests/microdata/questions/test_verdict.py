"""Answers from published rows are compared with raw ones: each verdict on rows made to deserve it."""

import numpy as np
import pytest

from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.questions.question import Question
from sfumato.microdata.questions.rows import column_values, rows_of
from sfumato.microdata.questions.verdict import compare_answers

ROWS = 2000


def counted(table) -> ValueCounts:
    values, codes = [], []
    for texts in table.values():
        distinct = list(dict.fromkeys(texts))
        places = {text: place for place, text in enumerate(distinct)}
        values.append(tuple(distinct))
        codes.append([places[text] for text in texts])
    rows = len(codes[0])
    return ValueCounts(tuple(table), tuple(values), np.array(codes, np.int32).T, np.ones(rows, np.int64), rows)


def compared_answers(question, raw, published):
    asked = Question(**question) if isinstance(question, dict) else Question(question)
    names = [*asked.columns()]
    before, after = (counted({name: table[name] for name in names}) for table in (raw, published))
    columns = column_values(before, after, {}, {})
    return compare_answers(asked, rows_of(before, columns, "raw", {}), rows_of(after, columns, "published", {}))


@pytest.fixture(scope="module")
def survey():
    """A survey with an outcome that depends on age and sex, a count with exposure, and rows that belong together."""
    random = np.random.default_rng(4)
    age = random.integers(20, 80, ROWS)
    sex = random.choice(["f", "m"], ROWS)
    region = random.choice(["east", "north", "south", "west"], ROWS)
    days = random.integers(1, 40, ROWS)
    ill = random.random(ROWS) < 1 / (1 + np.exp(-(age - 50) / 15 - 0.8 * (sex == "m") + 0.5 * (region == "west")))
    visits = random.poisson(days * np.exp(0.02 * (age - 50)) / 10)
    clinic = random.integers(0, 40, ROWS)
    numbers = {"age": age, "days": days, "visits": visits, "clinic": clinic}
    table = {name: [str(number) for number in column] for name, column in numbers.items()}
    return table | {"sex": sex.tolist(), "region": region.tolist(), "ill": np.where(ill, "yes", "no").tolist()}


ALIKE = [
    ("ill ~ age + sex + region", "binomial", {"Intercept", "age", "sex[m]", "region[north]", "region[south]"}),
    ({"formula": "visits ~ age", "family": "poisson", "offset": "log(days)", "groups": "clinic"}, "poisson", {"age"}),
    ({"formula": "visits ~ age * sex", "weights": "days"}, "gaussian", {"age:sex[m]"}),
    ({"formula": "visits ~ age", "within": "clinic"}, "gaussian", {"age"}),
    ("Surv(days, ill) ~ age + C(sex, Treatment('m'))", "cox", {"age", "sex[f]"}),
    ("mean of visits by region, sex", "means", {"east / f", "west / m"}),
    ("mean of (ill == 'yes') by cut(age, [20, 40, 60, 80])", "means", {"20-40", "60-80"}),
    ({"formula": "count by region", "filter": "age >= 50 and sex in ['m', 'x']"}, "counts", {"north"}),
    ("log(visits + 1) ~ I(age ** 2) + sex:region", "gaussian", {"age ** 2"}),
]


@pytest.mark.parametrize("question, family, terms", ALIKE)
def test_unchanged_rows_give_the_same_answer(survey, question, family, terms) -> None:
    found = compared_answers(question, survey, survey)
    assert found.verdict == "same" and found.reasons == ()
    assert found.raw.family == family and terms <= {
        name.replace("I(", "").replace("2)", "2") for name in found.raw.estimates
    }
    assert found.raw.estimates == found.published.estimates


def test_coefficients_are_those_of_the_rows(survey) -> None:
    found = compared_answers({"formula": "visits ~ age", "family": "poisson", "offset": "log(days)"}, survey, survey)
    assert found.raw.estimates["age"].value == pytest.approx(0.02, abs=0.003)
    mean = compared_answers("mean of visits by sex", survey, survey).raw.estimates["f"]
    own = [int(number) for number, sex in zip(survey["visits"], survey["sex"]) if sex == "f"]
    assert (mean.value, mean.rows) == (pytest.approx(np.mean(own)), len(own))


def test_ranges_are_read_as_midpoints(survey) -> None:
    decades = [f"{age[0]}0-{age[0]}9" for age in survey["age"]]
    found = compared_answers("ill ~ age + sex", survey, survey | {"age": decades})
    assert found.verdict == "same"
    assert found.published.estimates["age"].value == pytest.approx(found.raw.estimates["age"].value, rel=0.1)


def test_merged_categories_are_compared_with_raw_ones_merged_alike(survey) -> None:
    merged = ["{north, south}" if region in ("north", "south") else region for region in survey["region"]]
    found = compared_answers({"formula": "ill ~ age + region"}, survey, survey | {"region": merged})
    assert found.verdict == "weaker" and {reason.code for reason in found.reasons} == {"question.why.merged"}
    focused = compared_answers({"formula": "ill ~ age + region", "focus": ["age"]}, survey, survey | {"region": merged})
    assert focused.verdict == "same"
    # (an indicator of one of the two is unknown where the label covers both)
    known = compared_answers("mean of (region == 'north') by sex", survey, survey | {"region": merged})
    assert known.published is None and known.verdict == "impossible"


def test_suppression_that_depends_on_the_outcome_gives_a_different_answer(survey) -> None:
    hidden = [
        "*" if (ill == "yes") == (int(age) > 45) and place % 20 else age
        for place, (age, ill) in enumerate(zip(survey["age"], survey["ill"]))
    ]
    found = compared_answers("ill ~ age + sex", survey, survey | {"age": hidden})
    assert found.verdict == "different"
    assert "question.why.turned" in {reason.code for reason in found.reasons}
    table = compared_answers("mean of (ill == 'yes') by cut(age, [20, 40, 60, 80])", survey, survey | {"age": hidden})
    assert table.verdict == "different" and table.reasons[0].code == "question.why.order"


IMPOSSIBLE = [
    ("ill ~ age", {"age": ["*"] * ROWS}, "removed"),
    ("ill ~ age", {"age": ["20-79"] * ROWS}, "constant"),
    ("ill ~ age", {"age": ["30"] * 20 + ["*"] * (ROWS - 20)}, "few_rows"),
    ("ill ~ region", {"region": ["*" if i % 50 else "east" for i in range(ROWS)]}, "constant"),
    ("region ~ age", {}, "not_two"),
    ("visits ~ log(region)", {}, "not_numeric"),
    ({"formula": "age ~ visits", "family": "binomial"}, {}, "outcome_family"),
    ({"formula": "visits ~ age", "within": "row"}, {}, "not_linked"),
    ("visits ~ C(age) * C(days)", {}, "many_terms"),
    ("visits ~ C(row)", {}, "many_levels"),
]


@pytest.mark.parametrize("question, changed, code", IMPOSSIBLE)
def test_what_cannot_be_answered_says_why(survey, question, changed, code) -> None:
    table = survey | {"row": [str(row) for row in range(ROWS)]}
    found = compared_answers(question, table, table | changed)
    assert found.verdict == "impossible" and found.reasons[0].code == f"question.why.{code}"


def test_the_order_of_rows_changes_nothing(survey) -> None:
    turned = {name: column[::-1] for name, column in survey.items()}
    question = {"formula": "ill ~ age + region", "weights": "days"}
    one, other = compared_answers(question, survey, survey), compared_answers(question, turned, turned)
    assert one.to_dict() == other.to_dict()
