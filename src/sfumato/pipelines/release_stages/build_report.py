"""Compose the report of a release from the results of its steps: metrics, and notes in addition to the guarantees."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.engines.engine import Engine, MissingRules
from sfumato.localization.messages import Message, quoted
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, value_of
from sfumato.microdata.measures.attribute_disclosure import Disclosure
from sfumato.microdata.measures.columns import (
    coded_column,
    coded_shares,
    column_fates,
    counted_shares,
    few_values_left,
    rare_values_named,
)
from sfumato.microdata.measures.overview import Measures
from sfumato.microdata.measures.risk import household_figures
from sfumato.microdata.methods.full_domain.problem import levels_allowed
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.perturbation.plan import SwapHouseholds
from sfumato.microdata.plan.model import REMOVED_ROLES, Plan, RequestedPlan
from sfumato.microdata.plan.resolve import needless_models
from sfumato.microdata.recoding.mapping import AbsentTexts, Recoding, absent_texts, tells_something
from sfumato.microdata.release_report import ClassFigures, LossFigure, Timings, metrics
from sfumato.microdata.verdict import Verdict
from sfumato.pipelines.release_folder import ReleaseReport
from sfumato.pipelines.release_stages.counting import (
    SharedCounts,
    other_columns,
    published_reading,
    reading_of,
    unnamed,
)
from sfumato.pipelines.release_stages.published_columns import changed_texts
from sfumato.values import Value
from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.pipelines.release_stages.perturb import PerturbedRows


# Minimum proportion of rows made unique by other columns that causes a warning.
_MOST_UNIQUE = 0.5
# Minimum proportion of households linked by a column that causes a warning, and the maximum number of rows checked.
_MOST_TIED = 0.1
_MOST_ROWS = 1_000_000
# Values with fewer rows on average are in one region by chance.
_FEWEST_NESTED = 4


def merged_spellings(plan: Plan, table: FrequencyTable) -> tuple[Message, ...]:
    """Return notes on columns whose spelling variants were merged, without naming values."""
    absent = {name: absent_texts(table, name) for name in plan.promise_columns if name in table.sensitive_values}
    merged = {name: changed_texts(plan, table, name) for name in plan.spelled_columns if name in table.sensitive_values}
    return (*blanked_words(plan, absent), *merged_remarks(merged))


def blanked_words(plan: Plan, absent: Mapping[str, AbsentTexts]) -> tuple[Message, ...]:
    """Return notes on columns in which texts that mean missing are published as empty fields."""
    several = [name for name, entry in absent.items() if entry.are_several(plan)]
    rare = [name for name, entry in absent.items() if entry.is_rare_word(plan)]
    return (
        *((Message("note.missing", names=quoted(several)),) if several else ()),
        *((Message("note.rare_missing", names=quoted(rare)),) if rare else ()),
    )


def unneeded(plan: RequestedPlan) -> tuple[Message, ...]:
    """Return a note on models that are left out because the plan removes their column."""
    models = needless_models(plan)
    names = quoted(dict.fromkeys(model.column or "" for model in models))
    return (Message("note.needless_models", names=names),) if models else ()


def decimal_points(plan: Plan) -> tuple[Message, ...]:
    """Return a note if numbers with a decimal comma are published with a point."""
    if plan.data.decimal == ".":
        return ()
    return (Message("note.decimal_points"),)


def column_codes(plan: Plan) -> tuple[Message, ...]:
    """Return a note on codes that were read as missing values, by column."""
    told = ", ".join(f"{name} ({', '.join(codes)})" for name, codes in plan.source_data.codes.items())
    return (Message("note.column_codes", columns=told),) if told else ()


def merged_remarks(merged: Mapping[str, int]) -> tuple[Message, ...]:
    """Return notes on texts treated as spelling variants, by column, with their number."""
    counts = {name: count for name, count in merged.items() if count}
    return tuple(
        Message("note.spelling_one", name=name) if count == 1 else Message("note.spellings", count=count, name=name)
        for name, count in counts.items()
    )


def tied_households(plan: Plan, source: Engine, rows: int) -> tuple[Message, ...]:
    """Return a warning on published columns that link the members of households although household keys are removed.

    A column links a household if all its rows have one value that no other household has. Exact weights and the income
    of a household do.
    """
    if plan.household is None or rows > _MOST_ROWS:
        return ()
    plain = [name for name in other_columns(plan) if plan.columns[name].published is None]
    shares = {name: _tied_share(source, plan, name) for name in plain}
    names = ", ".join(f'"{name}"' for name, share in shares.items() if share > _MOST_TIED)
    if not names:
        return ()
    return (Message("note.tied_households", share=max(shares.values()), names=names),)


def _tied_share(source: Engine, plan: Plan, name: str) -> float:
    """Return the proportion of multi-row households that a column links."""
    text_counts = source.count((plan.household or "", name), reading_of(plan))
    households, values = text_counts.codes.T
    # Rows that name no household are one household each.
    named, told = (
        np.array([value_of(text, plan.data.missing) is not None for text in texts] or [False], bool)
        for texts in text_counts.values
    )
    several = int((np.bincount(households, weights=text_counts.counts * named[households]) > 1).sum())
    alone = (np.bincount(households) == 1)[households] & (np.bincount(values) == 1)[values]
    tied = alone & told[values] & named[households] & (text_counts.counts > 1)
    return int(tied.sum()) / several if several else 0.0


def undone_swaps(plan: Plan, source: Engine, rows: int) -> tuple[Message, ...]:
    """Return a warning on published columns that reveal where swapped households come from, as towns reveal regions."""
    swapped = [name for name, column in plan.columns.items() if isinstance(column.perturbation, SwapHouseholds)]
    if not swapped or rows > _MOST_ROWS:
        return ()
    beside = (*plan.quasi_identifiers, *other_columns(plan))
    plain = [name for name in beside if plan.columns[name].perturbation is None and name not in swapped]
    return tuple(
        (Message("note.undone_swaps", region=region, name=name))
        for region in swapped
        for name in plain
        if _is_nested(source, plan, name, region)
    )


def _is_nested(source: Engine, plan: Plan, name: str, region: str) -> bool:
    """Return whether each value of a column occurs in one region only, in too many rows for this to be chance."""
    text_counts = source.count((name, region), reading_of(plan))
    values, regions = text_counts.codes.T
    present = np.array(
        [value_of(text, plan.data.missing) is not None for text in text_counts.values[0]] or [False], bool
    )
    kept = present[values]
    sizes = np.bincount(values[kept], weights=text_counts.counts[kept])
    sizes, places = sizes[sizes > 0], np.bincount(values[kept])
    many = len(sizes) > 1 and float(sizes.mean()) >= _FEWEST_NESTED and len(np.unique(regions[kept])) > 1
    return bool(many and places.max(initial=0) == 1)


def risks_of_persons(plan: Plan, table: FrequencyTable) -> tuple[Message, ...]:
    """Return notes if the risks count persons, without the weights of rows, or if some rows have the weight 0."""
    persons = () if plan.person is None else (Message("note.risks_of_persons"),)
    unused = (Message("note.weights_unused", column=plan.weight),) if plan.person and plan.weight else ()
    zeros = table.sample.zero_rows if table.sample is not None else 0
    return (*persons, *unused, *((Message("note.zero_weights", rows=zeros),) if zeros else ()))


def inferring_columns(disclosed: Disclosure, rows: int) -> tuple[Message, ...]:
    """Return a warning on published columns that make most rows unique, because no privacy model covers them."""
    worst = disclosed.most_telling
    if worst is None or worst.rows <= _MOST_UNIQUE * rows:
        return ()
    names = quoted(worst.columns)
    return (Message("note.telling", names=names, worst=worst.rows, rows=rows),)


def matching_values(measures: Measures) -> tuple[Message, ...]:
    """Return a note on the risks if missing values match every value."""
    matching = measures.risk.get("matching")
    if matching is None:
        return ()
    highest = matching["after"]["highest"]
    return (Message("note.matching_values", risk=highest),)


def order_remarks(plan: Plan) -> tuple[Message, ...]:
    """Return notes on the order of the published rows."""
    if plan.output.order == "keep":
        return (Message("note.order_kept"),)
    if plan.seed is not None:
        return (Message("note.seed_named"),)
    return ()


# Above this number of rows, the numbers of a column are not counted one by one.
MOST_ROWS = 2_000_000
# Maximum number of cells of sensitive columns counted again for their distributions.
MOST_CELLS = 20_000_000


def coded_columns(plan: Plan, source: Engine, rows: int) -> Iterator[dict[str, Any]]:
    """Yield the columns published rounded, limited or in intervals, with what is preserved of them."""
    for name, column in plan.columns.items():
        if column.operations is None or name in plan.removed_columns or rows > MOST_ROWS:
            continue
        texts = _texts(source.count((name,), reading_of(plan)))
        coded = coded_column(
            name, column.operations, {text: count for text, count in texts.items() if text is not None}
        )
        if coded is not None:
            yield {**coded.to_dict(), "shares": coded_shares(column.operations, texts)}


def sensitive_shares(
    plan: Plan, source: Engine, published: Engine, shared: SharedCounts, rows: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the distribution of each published sensitive column before and after, except for transformed ones."""
    names = [name for name in plan.shown_sensitive if plan.columns[name].operations is None]
    reading = published_reading(plan, source)
    for name in names[: MOST_CELLS // max(2 * rows, 1)]:
        before = _texts(shared.count(source, (name,), reading))
        after = _texts(shared.count(published, (name,), MissingRules(plan.data.missing)))
        shares, others = counted_shares(before, after, plan.columns[name].holds_numbers)
        yield name, {"shares": shares, "others": others}


def _texts(counted: ValueCounts) -> Mapping[str | None, int]:
    """Return the number of rows of each text of a column; a star is a missing value."""
    rows: dict[str | None, int] = {}
    for (code,), count in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True):
        text = counted.values[0][code]
        told = text if tells_something(text) else None
        rows[told] = rows.get(told, 0) + count
    return rows


class ReleaseOutcome(Value):
    """The results of the stages of a release."""

    table: FrequencyTable
    result: Result
    verdict: Verdict
    measures: Measures
    disclosed: Disclosure
    perturbation: "PerturbedRows | None"
    limit_remarks: tuple[Message, ...] = ()


def report_of(plan: Plan, source: Engine, outcome: ReleaseOutcome, seconds: Mapping[str, float]) -> ReleaseReport:
    """Return the report of a release.

    Args:
        source: The raw rows.
        seconds: The duration of each stage.
    """
    table, result = outcome.table, outcome.result
    persons, repeated_names = _person_findings(plan, source, table.rows)
    changes: Mapping[str, Any] = {} if outcome.perturbation is None else outcome.perturbation.figures
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
        notes=(*repeated_names, *_remarks(plan, source, outcome, withheld_rows)),
        details={
            "column_count": len(plan.columns),
            "column_outcomes": column_fates(plan, table, result.recoding, changes.get("unchanged", ())),
            **result.details,
            **({} if plan.person is None else {"counts_persons": True}),
            **persons,
            **dict(_further_figures(plan, source, outcome)),
            **({"perturbation": changes} if outcome.perturbation else {}),
        },
        disclosure=outcome.disclosed,
        star_rows=plan.output.suppressed == "star",
        removed_columns=plan.removed_columns,
    )


def _person_findings(plan: Plan, source: Engine, rows: int) -> tuple[dict[str, Any], tuple[Message, ...]]:
    """Return which removed columns name persons; few plans have identifiers, and the detection loads slowly."""
    if not plan.named(*REMOVED_ROLES):
        return {}, ()
    from sfumato.pipelines.release_stages.uncounted_persons import person_findings

    return person_findings(plan, source, rows)


def _losses(outcome: ReleaseOutcome) -> dict[str, Any]:
    """Return all measured losses; the method's own value replaces the measured one, so that each name has one metric.

    If labels differ between classes, the loss metric is measured by the range they cover; methods count the values
    under a label.
    """
    measured, own = outcome.measures.utility["losses"], outcome.result
    if own.loss_name not in measured or not own.per_column:
        return dict(measured)
    return {**measured, own.loss_name: {"value": sum(own.per_column.values()), "per_column": own.per_column}}


def _further_figures(plan: Plan, source: Engine, outcome: ReleaseOutcome) -> Iterator[tuple[str, Any]]:
    """Yield metrics that only some releases have: undecided and transformed columns, limited levels, households."""
    if undecided := plan.named("undecided"):
        yield "undecided_columns", list(undecided)
    if allowed := levels_allowed(plan, outcome.table):
        yield "levels_allowed", allowed
    if rare := [*rare_values_named(plan, outcome.table, outcome.result.recoding), *_revealing_means(outcome)]:
        yield "rare_values", rare
    if coded := [*coded_columns(plan, source, outcome.table.rows)]:
        yield "coded_columns", coded
    if codes := plan.source_data.codes:
        yield "missing_codes", {name: [*texts] for name, texts in codes.items()}
    if few := [*few_values_left(plan, outcome.table)]:
        yield "columns_with_few_values", few
    if plan.household is not None:
        k = requested_class_size(plan.privacy, 2)
        figures_of_households = household_figures(outcome.table, outcome.result.recoding, k)
        yield "households", {} if figures_of_households is None else figures_of_households.to_dict()


def _revealing_means(outcome: ReleaseOutcome) -> Iterator[dict[str, Any]]:
    """Yield the columns in which group means nearly reveal single values, with their number."""
    operations = () if outcome.perturbation is None else outcome.perturbation.figures["operations"]
    for entry in (*operations, outcome.result.details.get("microaggregation", {})):
        revealing: Mapping[str, int] = entry.get("revealing_means", {})
        yield from ({"column": name, "means": number} for name, number in revealing.items())


def _remarks(plan: Plan, source: Engine, outcome: ReleaseOutcome, withheld_rows: int) -> tuple[Message, ...]:
    """Return the notes of all stages."""
    table, result = outcome.table, outcome.result
    return (
        *tied_households(plan, source, table.rows),
        *undone_swaps(plan, source, table.rows),
        *inferring_columns(outcome.disclosed, table.rows - withheld_rows),
        *source.notes,
        *result.notes,
        *unnamed(plan, table),
        *matching_values(outcome.measures),
        *risks_of_persons(plan, table),
        *order_remarks(plan),
        *merged_spellings(plan, table),
        *decimal_points(plan),
        *column_codes(plan),
        *outcome.limit_remarks,
        *(() if outcome.perturbation is None else outcome.perturbation.notes),
        *_exposed_keys(plan),
    )


def _exposed_keys(plan: Plan) -> tuple[Message, ...]:
    """Return a warning if key files of the plan are readable by others than their owner."""
    if not plan.pseudonyms:
        return ()
    from sfumato.pipelines.persons.pseudonyms import exposed_keys

    return exposed_keys(plan)


def _class_figures(recoding: Recoding, rows: int) -> ClassFigures:
    kept = recoding.sizes[~recoding.suppressed]
    average = float(kept.mean()) if len(kept) else 0.0
    return ClassFigures(len(kept), int(kept.min(initial=rows)), int(kept.max(initial=0)), average)
