"""Ask the questions of a plan of the raw and of the published rows, and compare the answers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from sfumato.engines.engine import Engine, MissingRules
from sfumato.errors import SfumatoError, missing_extra
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, typed
from sfumato.microdata.counts.grouping import counted_by
from sfumato.microdata.methods.auto import Trial, methods_tried, result_of, trial_of
from sfumato.microdata.methods.search import search, search_table
from sfumato.microdata.methods.search_result import ProgressCallback, Result
from sfumato.microdata.plan.methods import Auto
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.questions.question import Question
from sfumato.microdata.questions.rows import column_values, rows_of
from sfumato.microdata.questions.star_bias import complete_rows, outcomes_of, raw_counts, star_bias
from sfumato.microdata.questions.verdict import VERDICTS, ComparedAnswer, compare_answers
from sfumato.microdata.recoding.mapping import Recoding
from sfumato.pipelines.release_stages.counting import SharedCounts, published_reading
from sfumato.pipelines.release_stages.published_columns import handling_of
from sfumato.values import replace

# Larger files are not read again for questions.
MOST_ROWS = 2_000_000
# If fewer published rows have a value in every quasi-identifier, analyses of all columns use few rows.
_FEW_COMPLETE = 0.5
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


def compared_answers(
    plan: Plan, source: Engine, published: Engine, ladders: Mapping[str, Hierarchy], counts: SharedCounts
) -> tuple[ComparedAnswer, ...]:
    """Return the questions of a plan, answered from both; the published rows are read as the written file has them."""
    return tuple(_compared(plan, one, source, published, ladders, counts) for one in plan.purpose.questions)


def _compared(
    plan: Plan,
    question: Question,
    source: Engine,
    published: Engine,
    ladders: Mapping[str, Hierarchy],
    counts: SharedCounts,
) -> ComparedAnswer:
    if (counts.rows or 0) > MOST_ROWS:
        return ComparedAnswer(question, "impossible", (Message("question.why.many_rows", rows=MOST_ROWS),))
    names = tuple(question.columns())
    missing = MissingRules(plan.data.missing)
    raw = counts.count(source, names, missing if plan.subset is None else published_reading(plan, source))
    written = counts.count(published, names, missing)
    absent = {name: (*plan.data.missing, *plan.columns[name].missing) for name in names}
    columns = column_values(raw, written, absent, ladders)
    before = rows_of(raw, columns, "raw", absent)
    return compare_answers(question, before, rows_of(written, columns, "published", absent))


def answers_of(
    plan: Plan, source: Engine, table: FrequencyTable, recoding: Recoding, workspace: Path | None
) -> tuple[ComparedAnswer, ...]:
    """Return the questions of a plan, answered from the rows that a recoding would publish; they are not kept.

    Args:
        workspace: The folder that the engine may write to; None if rows are published as a frame.
    """
    handling = handling_of(plan, table.holding(plan.checked_columns), recoding)
    ladders = dict(zip(table.columns, table.ladders, strict=True))
    with ExitStack() as opened:
        folder = None if workspace is None else Path(opened.enter_context(TemporaryDirectory(dir=workspace)))
        target = None if folder is None else folder / f"data.{plan.output.format}"
        rows = source.apply(recoding, handling, published_reading(plan, source), target)
        opened.callback(rows.close)
        counts = SharedCounts(plan, source)
        counts.rows = table.rows
        return compared_answers(plan, source, rows, ladders, counts)


def answer_rank(answers: Sequence[ComparedAnswer]) -> tuple[int, int, int]:
    """Return the rank of answers, least for the best: fewest different, then most that are the same, then weaker."""
    told = [sum(one.verdict == verdict for one in answers) for verdict in ("different", "same", "weaker")]
    return told[0], -told[1], -told[2]


def search_by_answers(
    plan: Plan, method: Auto, source: Engine, table: FrequencyTable, workspace: Path | None, progress: ProgressCallback
) -> Result:
    """Return the release of the method `auto` that answers the questions of a plan best; loss decides among equal ones.

    Raises:
        UnattainableError: No method finds a release; the error is that of the first.
        EngineError: No method finds a release, and some methods timed out.
    """
    trials, ranks = [], []
    for one in methods_tried(plan, method):
        own, begin = replace(plan, method=one), perf_counter()
        try:
            result = search(own, table, progress)
        except SfumatoError as error:
            trials.append(Trial(one, perf_counter() - begin, error=error))
            continue
        seen, steering = search_table(own, table)
        trials.append(trial_of(seen, steering, result, perf_counter() - begin))
        ranks.append((answer_rank(answers_of(own, source, table, result.recoding, workspace)), trials[-1]))
    best = min((rank for rank, _ in ranks), default=None)
    return result_of(method, trials, [trial for rank, trial in ranks if rank == best])


def analysis_findings(
    plan: Plan, source: Engine, published: Engine, table: FrequencyTable, recount: ValueCounts, counts: SharedCounts
) -> dict[str, Any]:
    """Return what analysts should know, as report.json has it: compared answers, and the warnings of the head line.

    Args:
        recount: The published rows by quasi-identifiers and the columns of privacy models.
    """
    ladders = dict(zip(table.columns, table.ladders, strict=True))
    answers = compared_answers(plan, source, published, ladders, counts)
    warnings = [*_changed_answers(answers), *_suppression(plan, table, typed(recount, plan)[0], ladders)]
    found: dict[str, Any] = {"questions": [one.to_dict() for one in answers]} if answers else {}
    return found | ({"warnings": warnings} if warnings else {})


def _suppression(
    plan: Plan, table: FrequencyTable, recount: ValueCounts, ladders: Mapping[str, Hierarchy]
) -> Iterator[dict[str, Any]]:
    """Yield warnings on suppression that depends on an outcome, and on few rows with a value in every column."""
    if plan.subset is not None:
        return
    outcomes = [name for name in outcomes_of(plan, table) if name in recount.columns]
    pairs = {name: (raw_counts(table, name), counted_by(recount, (*table.columns, name))) for name in outcomes}
    for one in star_bias(pairs, ladders):
        points = round(100 * abs(one.difference))
        if one.column is None:
            yield warning("star_bias_rows", outcome=one.outcome, points=points)
        else:
            yield warning("star_bias", outcome=one.outcome, column=one.column, points=points)
    complete, rows = complete_rows(recount, table.columns)
    if complete < _FEW_COMPLETE * rows:
        yield warning("complete_rows", complete=complete, rows=rows)


def _changed_answers(answers: Sequence[ComparedAnswer]) -> Iterator[dict[str, Any]]:
    """Yield a warning if some answers are not the same."""
    told: dict[str, int] = {verdict: sum(one.verdict == verdict for one in answers) for verdict in VERDICTS}
    if told["same"] < len(answers):
        yield warning("questions", questions=len(answers), **told)


def warning(code: str, **values: object) -> dict[str, Any]:
    """Return a warning of the head line as report.json has it."""
    return {"code": code, "values": values, "text": str(Message(f"warning.{code}", **values))}
