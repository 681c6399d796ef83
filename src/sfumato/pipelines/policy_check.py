"""Check any file against a policy, clause by clause."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

from sfumato.delimited.dialect import check_separator
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.tabulation import labeled_columns
from sfumato.errors import DataError, EngineError, PlanError
from sfumato.localization.messages import Message, from_json
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.pipelines.attack import attack
from sfumato.pipelines.policy_completion import Roles, measure_rows, opened, people_of, profiles_of, roles_of
from sfumato.pipelines.release_stages import checksums
from sfumato.policies.identifiers import SafeHarborContext
from sfumato.policies.policy import CellRule, Measurement, Policy, PolicyVerdict, judge_policy, policy_named
from sfumato.tables.crosstabs import published_crosstab as crosstabs
from sfumato.values import replace

_ALL = 10_000_000
# Rates based on fewer events must be marked, by CDC WONDER and by WISQARS (20 or fewer).
UNRELIABLE, UNSTABLE = 20, 21
# The kind of attack for each risk metric.
ATTACKS = {"linking-risk": "linking", "inference-risk": "inference"}
NOT_ATTACKED = (
    "No attack was run. Provide the original rows (--raw FILE), or attack the folder: sfumato attack DIR --save."
)
# Metrics of classes and attacks; other files of a release may distinguish more rows.
RISKS = ("sample-uniques", "smallest-class", "highest-risk", "smallest-l", "linking-risk", "inference-risk")


def check(
    data: Any,
    policy: str,
    *,
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    values: Mapping[str, float] | None = None,
    attested: Mapping[str, str] | None = None,
    raw: Any = None,
    control: Any = None,
    population: Any = None,
    code_column: str | None = None,
    today: date | None = None,
    separator: str | None = None,
    table: str | None = None,
) -> PolicyVerdict:
    """Check a file against a policy.

    Args:
        data: A release folder, a file with rows or with a table of counts, or a frame.
        policy: The id of the policy.
        plan: The plan behind the rows; by default that of a release folder.
        quasi_identifiers: The quasi-identifiers if there is no plan; guessed by default.
        sensitive: The sensitive columns if there is no plan; guessed by default.
        values: Other values for clauses, by name; the verdict shows them.
        attested: Who attests clauses that cannot be measured, by clause name.
        raw: The raw rows, for clauses on attacks.
        control: Rows that were never published, for the attacks.
        population: A file or frame with the columns `zip3` and `people`, for ZIP codes.
        code_column: The column with a re-identification code (HIPAA), which must then be judged by people.
        today: The reference date for years of birth.
        separator: The separator of a CSV file; detected by default.
        table: The table of a database, or the sheet of a workbook; the first by default.

    Raises:
        PlanError: There is no such policy, clause or column.

    >>> import polars
    >>> check(polars.DataFrame({"zip": ["02139"], "sex": ["f"]}), "hipaa-safe-harbor").failed
    ('geography',)
    """
    chosen = policy_named(policy, values)
    _check_attested(chosen, attested or {})
    check_separator(separator)
    reading = DataPlan(separator=separator, header=True, table=table)
    path = Path(data) if isinstance(data, str | Path) else None
    if chosen.about == "tables" and path is not None and (handed_out := _handed_out(path)).exists():
        return _of_table(handed_out, chosen, attested or {}, reading)
    own = path / "plan.yaml" if path is not None and (path / "plan.yaml").exists() else None
    plan_read = None if plan is None and own is None else read_plan(plan if plan is not None else own)  # type: ignore[arg-type]
    file = checksums.data_of(path) if path is not None and own is not None else path
    if chosen.about == "tables":
        return _of_table(data if file is None else file, chosen, attested or {}, reading)
    quotes = own is not None and plan_read is not None and plan_read.output.quotes_formulas
    setting = SafeHarborContext(today or date.today(), people_of(population), code_column)
    with closing(opened(data if file is None else file, reading, quotes)) as engine:
        profiles = profiles_of(engine)
        resolved = None if plan_read is None else resolve(plan_read, engine.columns)
        roles = roles_of(engine, profiles, resolved, quasi_identifiers, sensitive)
        measured, remarks = measure_rows(engine, profiles, roles, setting, resolved)
    measured |= measure_attacks(chosen, data if path is None else path, roles, resolved, raw, control)
    verdict = judge_policy(chosen, measured, attested or {}, remarks)
    siblings = checksums.remark_on_siblings(data)
    return _of_one_file(verdict, siblings) if siblings else verdict


def _of_one_file(verdict: PolicyVerdict, siblings: str) -> PolicyVerdict:
    """Return the verdict on one of several linked files: satisfied clauses about risks become open."""
    clauses = tuple(
        replace(judgment, status="open", measurement=replace(judgment.measurement, remark=siblings))
        if judgment.status == "satisfied" and judgment.clause.metric in RISKS
        else judgment
        for judgment in verdict.clauses
    )
    return replace(verdict, clauses=clauses, notes=(*verdict.notes, siblings))


def _check_attested(policy: Policy, attested: Mapping[str, str]) -> None:
    known = [clause.name for clause in policy.clauses if clause.op == "attested"]
    for name in attested:
        if name not in known:
            raise PlanError(
                "no-clause.no_clause_somebody_attests",
                hint=Message("hint.those_are", names=", ".join(known)) if known else Message("hint.there_none"),
                id=policy.id,
                name=name,
            )


def _handed_out(folder: Path) -> Path:
    """Return the path of the published table in a release folder."""
    from sfumato.report.tables.page import HANDED_OUT

    return folder / HANDED_OUT


def _of_table(data: Any, policy: Policy, attested: Mapping[str, str], reading: DataPlan) -> PolicyVerdict:
    """Return the verdict on a published table of counts."""
    assert policy.cells is not None
    if not isinstance(data, Path):
        return judge_policy(policy, measure_table(table_of_frame(data), policy.cells), attested)
    with closing(DuckDBEngine(data, reading)) as engine:
        return judge_policy(policy, measure_table(table_of_file(engine), policy.cells), attested)


def measure_attacks(
    policy: Policy, release: Any, roles: Roles, plan: Plan | None, raw: Any, control: Any
) -> dict[str, Measurement]:
    """Measure the risks of the attacks that clauses require.

    Args:
        release: A release folder, a file or a frame.
        plan: The plan behind it, or None.
        raw: The raw rows, or None if they are not available.
        control: Rows that were never published, or None.
    """
    metrics = [clause.metric for clause in policy.clauses if clause.metric in ATTACKS]
    if not metrics:
        return {}
    figures = _saved(release) if raw is None else _attacked(release, roles, plan, raw, control)
    if figures is None:
        return dict.fromkeys(metrics, Measurement(None, NOT_ATTACKED))
    return {metric: _risk(figures, ATTACKS[metric]) for metric in metrics}


def _attacked(release: Any, roles: Roles, plan: Plan | None, raw: Any, control: Any) -> Mapping[str, Any]:
    columns: dict[str, Any] = (
        {"quasi_identifiers": roles.quasi_identifiers, "sensitive": roles.sensitive} if plan is None else {}
    )
    return attack(release, raw, control=control, plan=plan, **columns).to_dict()


def _saved(release: Any) -> Mapping[str, Any] | None:
    """Return the attack results in the report of a release folder, or None."""
    path = release / "report.json" if isinstance(release, Path) else None
    if path is None or not path.exists():
        return None
    content = from_json(path.read_text(encoding="utf-8")).get("attack")
    return content if isinstance(content, dict) else None


def _risk(figures: Mapping[str, Any], kind: str) -> Measurement:
    """Return the greatest risk of attacks of a kind; failed attacks count as risk 0."""
    attacks = [one for one in figures["attacks"] if one["attack"] == kind and one["counted"] and one["attempts"]]
    if not attacks:
        reasons = [one["why"] for one in figures["not_run"] if one["attack"] == kind]
        return Measurement(None, "not attacked: " + (" ".join(reasons) or "there was nothing to try."))
    risks = [one["risk"] for one in attacks if one["evidence"]]
    what = f"{len(risks)} of {len(attacks)} attacks succeeded: a measurement, no proof."
    return Measurement(max(risks, default=0.0), what)


def table_of_file(engine: DuckDBEngine) -> crosstabs.PublishedCrosstab:
    """Return a published table from a file: labels in its first columns, counts and rates in the others."""
    return crosstabs.read_crosstab(engine.columns, [list(row.values()) for row in engine.first_rows(_ALL)])


def table_of_frame(frame: Any) -> crosstabs.PublishedCrosstab:
    """Return a published table from a frame; pandas may have labels in the index."""
    columns = labeled_columns(frame)
    return crosstabs.read_crosstab([*columns], [list(row) for row in zip(*columns.values(), strict=True)])


def measure_table(table: crosstabs.PublishedCrosstab, rule: CellRule) -> dict[str, Measurement]:
    """Return the measurements of a table, by metric."""
    unrounded = crosstabs.unrounded(table, rule.low, rule.high, rule.small, rule.base)
    return {
        "smallest-shown-count": Measurement(crosstabs.smallest_count(table, rule.low, rule.high)),
        "shown-zeros": Measurement(crosstabs.shown_zeros(table)),
        "unrounded-counts": Measurement(unrounded),
        "rates-of-masked-counts": Measurement(crosstabs.rates_of_masked_counts(table)),
        "derivable-small-cells": _derivable(table, rule),
        "unmarked-unreliable-rates": Measurement(crosstabs.unmarked_rates(table, UNRELIABLE)),
        "county-rates": Measurement(crosstabs.county_rates(table, UNSTABLE)),
        "unmarked-unstable-rates": Measurement(crosstabs.unmarked_rates(table, UNSTABLE)),
    }


def _derivable(table: crosstabs.PublishedCrosstab, rule: CellRule) -> Measurement:
    """Measure the small counts that can be derived; not measured if the solver is not installed."""
    from sfumato.tables.linear_programs import check_installed

    if rule.base > 1:
        return Measurement(None, "counts are rounded: their totals need not add up.")
    try:
        check_installed()
        cells = crosstabs.derivable(table, max(rule.low, 1), rule.high)
    except (EngineError, DataError) as error:
        return Measurement(None, error.text)
    return Measurement(len(cells), "; ".join(cells))
