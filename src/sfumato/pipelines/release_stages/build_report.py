"""Compose the report of a release from the results of its stages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.engines.engine import Engine, MissingRules
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts
from sfumato.microdata.measures.attribute_disclosure import Disclosure
from sfumato.microdata.measures.columns import (
    Fate,
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
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import Recoding, tells_something
from sfumato.microdata.release_report import ClassFigures, LossFigure, Timings, metrics
from sfumato.microdata.verdict import Verdict
from sfumato.pipelines.persons.pseudonyms import exposed_keys
from sfumato.pipelines.release_folder import ReleaseReport
from sfumato.pipelines.release_stages.counting import SharedCounts, published_reading, reading_of, unnamed
from sfumato.pipelines.release_stages.report_notes import (
    column_codes,
    decimal_points,
    inferring_columns,
    matching_values,
    merged_spellings,
    order_remarks,
    risks_of_persons,
    tied_households,
    undone_swaps,
)
from sfumato.values import Value
from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.pipelines.release_stages.perturb import PerturbedRows


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


# Above this number of rows, columns are not compared with each other.
_MOST_ROWS = 1_000_000
# A column is also reported if it has at most this proportion of the persons of the plan's person column.
_COARSER = 0.95


class ColumnProfiles:
    """Profiles and suggestions of a source's columns, from the first rows."""

    def __init__(self, plan: Plan, source: Engine) -> None:
        self.plan, self.source = plan, source
        self._profiles: dict[str, Profile] = {}
        self._suggestions: dict[str, Suggestion] = {}
        self.repeated_names: tuple[str, ...] | None = None

    def readable(self, names: Sequence[str]) -> list[str]:
        """Return the columns whose values have texts."""
        textless = self.source.textless(names)
        return [name for name in names if name not in textless]

    def profile(self, name: str) -> Profile:
        """Return the profile of a column."""
        if name not in self._profiles:
            texts = self.source.first_texts(name)
            present = {text: rows for text, rows in texts.items() if text not in self.plan.data.missing}
            self._profiles[name] = Profile(name, present, sum(present.values()))
        return self._profiles[name]

    def suggestion(self, name: str) -> Suggestion:
        """Return the suggestion for a column."""
        from sfumato.hierarchies.role_detection.roles import suggest

        if name not in self._suggestions:
            self._suggestions[name] = suggest(self.profile(name))
        return self._suggestions[name]


class ReleaseOutcome(Value):
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
            "column_outcomes": _fates(plan, outcome),
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


def uncounted_persons(looks: ColumnProfiles, rows: int) -> tuple[dict[str, Any], ...]:
    """Return the identifiers within whose values personal attributes are constant, the coarsest first."""
    plan = looks.plan
    names = looks.readable([name for name in plan.named("identifier") if name in looks.source.columns])
    if not names or rows > _MOST_ROWS:
        return ()
    profiles = {name: looks.profile(name) for name in names}
    limit = _COARSER * looks.profile(plan.person).distinct_keys if plan.person else rows
    few = {name: one for name, one in profiles.items() if one.counts and one.distinct_keys < limit}
    found = {name: few[name].present / few[name].distinct_keys for name in _naming_persons(looks, few)}
    order = sorted(found, key=lambda name: -found[name])
    return tuple({"column": name, "rows_each": round(found[name], 2)} for name in order)


def shared_identifiers(looks: ColumnProfiles) -> tuple[dict[str, Any], ...]:
    """Return the removed columns whose values repeat as those of persons do, although each row is counted.

    Returns:
        For each column, the number of `rows` that share their value and the number of rows `looked_at`.
    """
    from sfumato.hierarchies.role_detection.roles import may_name_persons

    names = looks.readable(looks.plan.named("identifier")) if looks.plan.person is None else ()
    found = []
    for name in names:
        profile, by_name = looks.profile(name), looks.suggestion(name).concept == "name"
        # Names may repeat by chance, unless they do so more often.
        denotes = (not by_name or repeated_persons(looks)) and _may_denote(looks, name)
        if denotes or may_name_persons(profile):
            shared = sum(rows for rows in profile.counts.values() if rows > 1)
            found.append({"column": name, "rows": shared, "looked_at": profile.rows})
    return tuple(sorted(found, key=lambda entry: -entry["rows"]))


def _may_denote(looks: ColumnProfiles, name: str) -> bool:
    """Return whether the values of a removed column repeat as those of persons can, whatever the column is called."""
    from sfumato.hierarchies.role_detection.suggestion import Suggestion
    from sfumato.pipelines.plan_suggestion.person_columns import may_denote

    return may_denote(looks.profile(name), Suggestion("identifier", "", concept=looks.suggestion(name).concept))


def repeated_persons(looks: ColumnProfiles) -> tuple[str, ...]:
    """Return a warning if names of persons repeat and there is no person column; computed once."""
    if looks.repeated_names is None:
        looks.repeated_names = _repeated_names(looks)
    return looks.repeated_names


def _repeated_names(looks: ColumnProfiles) -> tuple[str, ...]:
    from sfumato.pipelines.plan_suggestion.person_columns import repeated_names

    names = () if looks.plan.person is not None else looks.readable(looks.plan.named("identifier"))
    profiles = {name: looks.profile(name) for name in names}
    suggestions = {name: looks.suggestion(name) for name in profiles}
    if not any(suggestion.concept == "name" for suggestion in suggestions.values()):
        return ()
    known = {name: looks.profile(name) for name in looks.plan.quasi_identifiers}
    suggestions |= {name: looks.suggestion(name) for name in known}
    k = requested_class_size(looks.plan.privacy, 2)
    note = repeated_names(looks.source, suggestions, {**profiles, **known}, k)
    return (note,) if note else ()


def _naming_persons(looks: ColumnProfiles, candidates: dict[str, Profile]) -> Iterator[str]:
    from sfumato.hierarchies.role_detection.suggestion import Suggestion
    from sfumato.pipelines.plan_suggestion.person_columns import constant_within

    repeating = [name for name in candidates if _may_denote(looks, name)]
    if not repeating:
        return
    # All are treated as identifiers, because the plan removes them.
    own = {name: Suggestion("identifier", "", concept=looks.suggestion(name).concept) for name in candidates}
    further = looks.readable([name for name in looks.plan.columns if name not in candidates])
    profiles = {**candidates, **{name: looks.profile(name) for name in further}}
    suggestions = {**{name: looks.suggestion(name) for name in further}, **own}
    yield from (name for name in repeating if constant_within(looks.source, name, suggestions, profiles))
