"""Questions of analysts: proposed plans name them, releases are asked them."""

import pytest

from sfumato.datasets import four_rows
from sfumato.errors import PlanError
from sfumato.pipelines.suggest import suggest


def test_a_proposed_plan_names_the_questions() -> None:
    plan = suggest(four_rows().to_polars(), questions=["count by illness"])
    assert [question.formula for question in plan.purpose.questions] == ["count by illness"]


def test_questions_of_unknown_columns_are_refused_before_anything_is_searched() -> None:
    with pytest.raises(PlanError) as error:
        suggest(four_rows().to_polars(), questions=["count by ilness", "count by agee"])
    assert [issue.path for issue in error.value.issues] == ["questions[0]", "questions[1]"]
