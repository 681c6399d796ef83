"""Compose the report of a release from the results of its stages."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.dataclass import dataclass
from sfumato.engines.engine import Engine
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.attribute_disclosure import Disclosure
from sfumato.microdata.measures.column_outcomes import Fate, column_fates
from sfumato.microdata.measures.distinct_share import few_values_left
from sfumato.microdata.measures.households import household_figures
from sfumato.microdata.measures.rare_values import rare_values_named
from sfumato.microdata.measures.release import Measures
from sfumato.microdata.methods.allowed_levels import levels_allowed
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import Recoding
from sfumato.microdata.release_report import ClassFigures, LossFigure, Timings, metrics
from sfumato.microdata.verdict import Verdict
from sfumato.pipelines.pseudonyms.keys import exposed_keys
from sfumato.pipelines.release_folder import ReleaseReport
from sfumato.pipelines.release_stages.column_profiles import ColumnProfiles
from sfumato.pipelines.release_stages.counting import unnamed
from sfumato.pipelines.release_stages.order import order_remarks
from sfumato.pipelines.release_stages.report_notes import (
    column_codes,
    decimal_points,
    inferring_columns,
    matching_values,
    merged_spellings,
    risks_of_persons,
    tied_households,
    undone_swaps,
)
from sfumato.pipelines.release_stages.transformed_columns import coded_columns
from sfumato.pipelines.release_stages.uncounted_persons import repeated_persons, shared_identifiers, uncounted_persons
from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.pipelines.release_stages.perturb import PerturbedRows


@dataclass(frozen=True, slots=True)
class ReleaseOutcome:
    """The results of the stages of a release."""

    table: FrequencyTable
    result: Result
    verdict: Verdict
    measures: Measures
    disclosed: Disclosure
    perturbation: "PerturbedRows | None"
    limit_remarks: tuple[str, ...] = ()


def report_of(plan: Plan, source: Engine, outcome: ReleaseOutcome, seconds: Mapping[str, float]) -> ReleaseReport:
    """Return the report of a release.

    Args:
        source: The raw rows.
        seconds: The duration of each stage.
    """
    table, result, looks = outcome.table, outcome.result, ColumnProfiles(plan, source)
    withheld_rows = int(result.recoding.sizes[result.recoding.suppressed].sum())
    return ReleaseReport(
        version=__version__,
        method=plan.method.name,
        proved_optimal=result.proved_optimal,
        levels=result.levels,
        loss=LossFigure(result.loss_name, result.loss, result.per_column),
        rows=table.rows,
        dropped_rows=table.dropped_rows,
        suppressed_rows=withheld_rows,
        classes=_class_figures(result.recoding, table.rows),
        models=outcome.verdict.promises,
        risk=metrics(outcome.measures.risk),
        utility=metrics({**outcome.measures.utility, "losses": _losses(outcome)}),
        nodes=metrics({"total": result.total, "checked": result.checked}),
        seconds=Timings(**seconds),
        engine=source.name,
        seed=plan.seed,
        input_sha256=source.checksum(),
        candidates=result.nodes,
        notes=_remarks(looks, outcome, withheld_rows),
        details={
            "column_count": len(plan.columns),
            "column_fates": _fates(plan, outcome),
            **result.details,
            **dict(_further_figures(looks, outcome)),
            **({} if outcome.perturbation is None else {"perturbation": outcome.perturbation.figures}),
        },
        disclosure=outcome.disclosed,
        star_rows=plan.output.suppressed == "star",
        removed_columns=plan.removed_columns,
    )


def _fates(plan: Plan, outcome: ReleaseOutcome) -> dict[str, Fate]:
    """Return how each column was published."""
    changes: Mapping[str, Any] = {} if outcome.perturbation is None else outcome.perturbation.figures
    return column_fates(plan, outcome.table, outcome.result.recoding, changes.get("unchanged", ()))


def _losses(outcome: ReleaseOutcome) -> dict[str, Any]:
    """Return all measured losses; the method's own value replaces the measured one, so that each name has one metric.

    If labels differ between classes, the loss metric is measured by the range they cover; methods count the values
    under a label.
    """
    measured, own = outcome.measures.utility["losses"], outcome.result
    if own.loss_name not in measured or not own.per_column:
        return dict(measured)
    return {**measured, own.loss_name: {"value": sum(own.per_column.values()), "per_column": own.per_column}}


def _further_figures(looks: ColumnProfiles, outcome: ReleaseOutcome) -> Iterator[tuple[str, Any]]:
    """Yield metrics that only some releases have: transformed columns, limited levels, persons, households."""
    plan, source = looks.plan, looks.source
    if plan.person is not None:
        yield "counts_persons", True
    if uncounted := uncounted_persons(looks, outcome.table.rows):
        yield "persons_uncounted", [*uncounted]
    elif shared := shared_identifiers(looks):
        yield "shared_identifiers", [*shared]
    if allowed := levels_allowed(plan, outcome.table):
        yield "levels_allowed", allowed
    if rare := [*rare_values_named(plan, outcome.table, outcome.result.recoding), *_revealing_means(outcome)]:
        yield "rare_values", rare
    if coded := [*coded_columns(plan, source, outcome.table.rows)]:
        yield "coded_columns", coded
    if codes := plan.source_data.codes:
        yield "missing_codes", {name: [*texts] for name, texts in codes.items()}
    if few := [*few_values_left(plan, outcome.table)]:
        yield "few_values_left", few
    if plan.household is not None:
        k = next((int(model.requested) for model in plan.privacy if model.name == "k-anonymity"), 2)
        figures_of_households = household_figures(outcome.table, outcome.result.recoding, k)
        yield "households", {} if figures_of_households is None else figures_of_households.to_dict()


def _revealing_means(outcome: ReleaseOutcome) -> Iterator[dict[str, Any]]:
    """Yield the columns in which group means nearly reveal single values, with their number."""
    operations = () if outcome.perturbation is None else outcome.perturbation.figures["operations"]
    for entry in (*operations, outcome.result.details.get("microaggregation", {})):
        revealing: Mapping[str, int] = entry.get("revealing_means", {})
        yield from ({"column": name, "means": number} for name, number in revealing.items())


def _remarks(looks: ColumnProfiles, outcome: ReleaseOutcome, withheld_rows: int) -> tuple[str, ...]:
    """Return the notes of all stages."""
    plan, source = looks.plan, looks.source
    table, result = outcome.table, outcome.result
    return (
        *repeated_persons(looks),
        *tied_households(plan, source, table.rows),
        *undone_swaps(plan, source, table.rows),
        *inferring_columns(outcome.disclosed, table.rows - withheld_rows),
        *source.notes,
        *result.notes,
        *unnamed(plan, table),
        *matching_values(outcome.measures),
        *risks_of_persons(plan),
        *order_remarks(plan),
        *merged_spellings(plan, table),
        *decimal_points(plan),
        *column_codes(plan),
        *outcome.limit_remarks,
        *(() if outcome.perturbation is None else outcome.perturbation.notes),
        *exposed_keys(plan),
    )


def _class_figures(recoding: Recoding, rows: int) -> ClassFigures:
    kept = recoding.sizes[~recoding.suppressed]
    average = float(kept.mean()) if len(kept) else 0.0
    return ClassFigures(len(kept), int(kept.min(initial=rows)), int(kept.max(initial=0)), average)
