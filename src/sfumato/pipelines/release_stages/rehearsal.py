"""Ask the questions of a plan of the raw and of the published rows, and compare the answers."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from sfumato.engines.engine import Engine, MissingRules
from sfumato.errors import missing_extra
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.questions.question import Question
from sfumato.microdata.questions.rows import column_values, rows_of
from sfumato.microdata.questions.verdict import VERDICTS, RehearsedAnswer, rehearse
from sfumato.pipelines.release_stages.counting import SharedCounts, published_reading

# Larger files are not read again for questions.
MOST_ROWS = 2_000_000
# What regressions need.
LIBRARIES = ("formulaic", "statsmodels")


def check_libraries(plan: Plan) -> None:
    """Refuse a plan with regressions before anything is searched, if the libraries for these are not installed.

    Raises:
        EngineError: One is not installed.
    """
    models = any(question.parsed.kind in ("model", "survival") for question in plan.purpose.questions)
    for name in LIBRARIES if models else ():
        if find_spec(name) is None:
            raise missing_extra(name, "questions")


def rehearsed(
    plan: Plan, source: Engine, published: Engine, ladders: Mapping[str, Hierarchy], counts: SharedCounts
) -> tuple[RehearsedAnswer, ...]:
    """Return the questions of a plan, answered from both; the published rows are read as the written file has them."""
    return tuple(_rehearsed(plan, one, source, published, ladders, counts) for one in plan.purpose.questions)


def _rehearsed(
    plan: Plan,
    question: Question,
    source: Engine,
    published: Engine,
    ladders: Mapping[str, Hierarchy],
    counts: SharedCounts,
) -> RehearsedAnswer:
    if (counts.rows or 0) > MOST_ROWS:
        return RehearsedAnswer(question, "impossible", (Message("question.why.many_rows", rows=MOST_ROWS),))
    names = tuple(question.columns())
    missing = MissingRules(plan.data.missing)
    raw = counts.count(source, names, missing if plan.subset is None else published_reading(plan, source))
    written = counts.count(published, names, missing)
    absent = {name: (*plan.data.missing, *plan.columns[name].missing) for name in names}
    columns = column_values(raw, written, absent, ladders)
    before = rows_of(raw, columns, "raw", absent)
    return rehearse(question, before, rows_of(written, columns, "published", absent))


def question_findings(
    plan: Plan, source: Engine, published: Engine, table: FrequencyTable, counts: SharedCounts
) -> dict[str, Any]:
    """Return the rehearsed answers as report.json has them, with a warning if some are not the same."""
    ladders = dict(zip(table.columns, table.ladders, strict=True))
    answers = rehearsed(plan, source, published, ladders, counts)
    told: dict[str, int] = {verdict: sum(one.verdict == verdict for one in answers) for verdict in VERDICTS}
    found: dict[str, Any] = {"questions": [one.to_dict() for one in answers]}
    if told["same"] == len(answers):
        return found
    return found | {"warnings": [warning("questions", questions=len(answers), **told)]}


def warning(code: str, **values: object) -> dict[str, Any]:
    """Return a warning of the head line as report.json has it."""
    return {"code": code, "values": values, "text": str(Message(f"warning.{code}", **values))}
