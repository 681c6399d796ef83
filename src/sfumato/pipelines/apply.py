"""Apply the recoding of a release to new rows, and check the privacy models for them.

Values are published with the same labels as in the release.
Rows of a class that the release suppressed are suppressed again. A value or combination that the recoding does not know
is an error. Each class of the new rows must satisfy the guarantees by itself, because an attacker may have either file.
"""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.atomic_folders import staged, workspace_for, write_text
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import Engine, PublishedRows
from sfumato.engines.postprocessing import quote_formulas, separator_of, with_bounds
from sfumato.errors import DataError, PlanError, ViolationError
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import to_json
from sfumato.localization.plurals import filled
from sfumato.microdata.counts.combinations import failing_classes
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable, ValueCounts, table_of, typed
from sfumato.microdata.counts.persons import person_view
from sfumato.microdata.counts.survey_sample import weighted_view
from sfumato.microdata.methods.class_assessment import assess
from sfumato.microdata.models.equivalence_classes import BoolArray
from sfumato.microdata.models.protection import holding_groups
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.plan.parts import UtilityPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.recoding.expected_counts import classes_of, expected_counts
from sfumato.microdata.recoding.mapping import (
    ClassRecoding,
    Labels,
    SuppressionHandling,
    class_recoding,
    published_labels,
)
from sfumato.microdata.recoding.recoding_file import RecodingFile, flat_ladder, no_recoding, read_recoding
from sfumato.microdata.recoding.reference import holding_persons, read_reference, weights_by_label
from sfumato.microdata.verdict import Verdict, judge_plan
from sfumato.pipelines.persons.applied_rows import Differences, differences_from
from sfumato.pipelines.persons.earlier_releases import with_repeated_draws
from sfumato.pipelines.persons.pseudonyms import keys_of
from sfumato.pipelines.release_stages.checksums import read_mapping
from sfumato.pipelines.release_stages.counting import (
    check_columns,
    check_texts,
    published_persons,
    reading_of,
    recount,
    with_person_counts,
    with_sample,
)
from sfumato.pipelines.release_stages.perturb import perturbed
from sfumato.pipelines.release_stages.published_columns import handling_of
from sfumato.pipelines.release_stages.release_check import refuse, release_check
from sfumato.report.checks import verdict_text
from sfumato.values import Value, replace

DIFFERS = (
    "Compared with the release of the recoding, {added} were added and {removed} removed or changed. Anyone who has "
    "both files sees which.\n"
)


class ApplyResult(Value):
    """The result of applying a recoding to new rows.

    Attributes:
        added: The number of persons in the new rows only; without a person column, the number of rows.
        removed: The number of persons, or rows, in the earlier release only.
    """

    verdict: Verdict
    suppressed_rows: int
    added: int
    removed: int

    def to_dict(self) -> dict[str, Any]:
        figures = {"suppressed_rows": self.suppressed_rows, "added": self.added, "removed": self.removed}
        return self.verdict.to_dict() | figures

    def text(self) -> str:
        figures = {name: f"{self.to_dict()[name]:,}" for name in ("suppressed_rows", "added", "removed")}
        rows = filled("{suppressed_rows} {suppressed_rows:row|rows} suppressed\n", figures)
        return verdict_text(self.verdict) + rows + (DIFFERS.format(**figures) if self.added or self.removed else "")


def apply(recoding: Path, data: Path, out: Path, *, drop_violating: bool = False, released: bool = True) -> ApplyResult:
    """Apply the recoding of a release to the rows of a file.

    Args:
        drop_violating: Whether classes that violate a model are suppressed instead of raising an error.
        released: Whether the rows of the release were published, so that the new ones are compared with them.

    Raises:
        ViolationError: The new rows violate a model; nothing is written.
        DataError: The recoding does not know a value or combination.
        UnattainableError: The new rows differ from those of the release by fewer than k persons.
    """
    plain = read_mapping(recoding)
    if plain is None:
        raise no_recoding(recoding.name)
    # Each release has its own secret, so that one leaked secret does not disclose both. Only draws that must be
    # identical for all releases of the same persons use the secret of the first one.
    plan = resolve(read_plan(plain.get("plan", {}), recoding.parent))
    if released:
        plan = replace(plan, person_secret=plain.get("person_secret") or plain.get("secret") or plan.secret)
        plan = with_repeated_draws(plan, [recoding.parent], "the release of the recoding")
    _check_applicable(plan, divided="division" in plain)
    source = replace(plan.source_data, source=None, separator=None)
    with (
        workspace_for(out),
        staged(out) as stage,
        closing(DuckDBEngine(data, source, tuple(plan.columns), plan.output.partition, [stage])) as engine,
    ):
        reference = read_reference(plain)
        plan = replace(plan, privacy=reference.with_hierarchies(plan.privacy))
        return _apply(engine, plan, _Earlier(read_recoding(plain), reference.persons, released), stage, drop_violating)


class _Earlier(Value):
    """The earlier release: its recoding, and the number of persons in the population for each published class.

    Attributes:
        released: Whether its rows were published.
    """

    recoding_file: RecodingFile
    persons: Mapping[Labels, int] | None
    released: bool


def _check_applicable(plan: Plan, divided: bool) -> None:
    """Refuse a recoding that cannot be applied to other rows than those of its release."""
    if divided:
        raise PlanError("recoding-divided")
    if plan.subset is not None:
        raise PlanError("recoding-list")
    if plan.method.recoding == "sample":
        raise PlanError("recoding-sample")


def _apply(engine: Engine, plan: Plan, earlier: _Earlier, stage: Path, drop_violating: bool) -> ApplyResult:
    """Apply the recoding of a release to the rows of an engine, which must satisfy the models by themselves."""
    check_columns(plan, engine.columns)
    check_texts(plan, engine)
    plan = replace(plan, utility=UtilityPlan())
    text_counts = engine.count((*plan.quasi_identifiers, *plan.checked_columns), reading_of(plan))
    recoding_file = _learned(earlier.recoding_file, text_counts, plan)
    table = _table(text_counts, plan, recoding_file, engine)
    recoding = _recoding(table, recoding_file)
    failing = _failing(table, recoding, plan, earlier.persons)
    if failing.any() and not drop_violating:
        raise ViolationError(
            "reapply.applied_to_these_rows", rows=int(recoding.sizes[failing].sum()), classes=int(failing.sum())
        )
    recoding = replace(recoding, suppressed=recoding.suppressed | failing)
    target = stage / f"data.{plan.output.format}"
    verdict, found = _written(engine, plan, table, recoding, target, earlier)
    outcome = ApplyResult(verdict, int(recoding.sizes[recoding.suppressed].sum()), found.added, found.removed)
    write_text(stage / "report.json", to_json(outcome.to_dict()) + "\n")
    found.record()
    return outcome


def _written(
    engine: Engine,
    plan: Plan,
    table: FrequencyTable,
    recoding: ClassRecoding,
    target: Path,
    earlier: _Earlier,
) -> tuple[Verdict, Differences]:
    handling = handling_of(plan, table, recoding)
    with closing(with_bounds(_published(engine, plan, recoding, handling, target), plan)) as published:
        recounted = recount(published, expected_counts(table, recoding, handling, plan))
        members = published_persons(plan, published)
        columns, separator = published.columns, separator_of(published, plan.data.separator)
        differences = differences_from(plan, published) if earlier.released else Differences()
        weights = weights_by_label(table, recoding)
        judging = partial(judge_plan, plan=plan, reference=table.whole)
        verdict = judging(typed(recounted, plan)[0], persons=earlier.persons, members=members, weights=weights)
        if not verdict.rows:
            raise ViolationError("reapply.no_row_is_left")
        if not verdict.satisfied:
            raise ViolationError("reapply.the_new_rows_do")
        checked = release_check(published, plan, recounted, lambda rows, known: judging(rows, members=known))
        refuse(checked, plan)
    if plan.output.quotes_formulas:
        quote_formulas(target, columns, separator)
    return replace(verdict, faults=(*verdict.faults, *checked.faults)), differences


def _published(
    engine: Engine, plan: Plan, recoding: ClassRecoding, handling: SuppressionHandling, target: Path
) -> PublishedRows:
    """Return the published rows, perturbed if the plan requests it."""
    if not plan.perturbations:
        return engine.apply(recoding, handling, reading_of(plan), target)
    first = target.with_name(f"unperturbed{target.suffix}")
    with closing(engine.apply(recoding, handling, reading_of(plan), first)) as unperturbed:
        published = perturbed(plan, unperturbed, target, keys_of(plan, plan.folder)).engine
    first.unlink()
    return published


def _table(text_counts: ValueCounts, plan: Plan, recoding_file: RecodingFile, engine: Engine) -> FrequencyTable:
    """Return the frequency table of the new rows, with the values of the recoding."""
    codings = []
    for name, values in zip(plan.quasi_identifiers, recoding_file.codings, strict=True):
        texts = text_counts.values[text_counts.columns.index(name)]
        unknown = [text for text in texts if text not in values.places]
        if unknown:
            raise _unknown(name, unknown, engine)
        codes = np.array([values.places[text] for text in texts], np.int32)
        codings.append(Coding(tuple(texts), codes, values.ladder))
    table, invalid = table_of(text_counts, tuple(codings), plan)
    if invalid:
        raise _unknown(invalid[0].column, list(invalid[0].texts), engine)
    return with_sample(plan, engine, with_person_counts(plan, engine, table))


def _unknown(name: str, texts: list[str | None], engine: Engine) -> DataError:
    present = [text for text in texts if text is not None]
    rows = engine.locate(name, present, 10) if present else ()
    code = "values" if len(present) == len(texts) else "values_and_missing" if present else "missing"
    error = DataError(f"unknown-value.{code}", name=name, count=len(present), rows=", ".join(map(str, rows)))
    return error.about(values=texts, column=name, rows=rows)


def _learned(recoding_file: RecodingFile, text_counts: ValueCounts, plan: Plan) -> RecodingFile:
    """Return the recoding with unseen values whose labels follow from a rule-based hierarchy."""
    if recoding_file.combinations is not None:
        return recoding_file
    columns = [
        _learned_column(recoding_file, place, text_counts.values[text_counts.columns.index(name)], plan.columns[name])
        for place, name in enumerate(plan.quasi_identifiers)
    ]
    return replace(
        recoding_file, codings=tuple(coding for coding, _ in columns), labels=tuple(labels for _, labels in columns)
    )


def _learned_column(
    recoding_file: RecodingFile, place: int, texts: tuple[str | None, ...], column: ColumnPlan
) -> tuple[Coding, Labels]:
    coding, labels = recoding_file.codings[place], recoding_file.labels[place]
    new = [text for text in texts if text is not None and text not in coding.places]
    if not new or column.hierarchy is None or not column.hierarchy.is_rule_based:
        return coding, labels
    forms, _ = canonical(new, column.type)
    binding = column.hierarchy.fit(list(dict.fromkeys(form for form in forms if form is not None)))
    level = recoding_file.levels[place]
    learned = {
        text: binding.hierarchy.published(form, level)
        for text, form in zip(new, forms, strict=True)
        if form is not None and form not in binding.rejected
    }
    codes = np.append(coding.codes, np.arange(len(labels), len(labels) + len(learned), dtype=np.int32))
    ladder = flat_ladder(len(labels) + len(learned))
    return Coding((*coding.texts, *learned), codes.astype(np.int32), ladder), (*labels, *learned.values())


def _recoding(table: FrequencyTable, recoding_file: RecodingFile) -> ClassRecoding:
    """Assign each combination of the new rows to its class in the recoding."""
    published = [recoding_file.publish(tuple(codes)) for codes in table.codes.tolist()]
    if unknown := sum(entry is None for entry in published):
        raise DataError("unknown-combination.not_in_recoding", count=unknown)
    classes: dict[tuple[Labels, bool], int] = {}
    owners = np.array([classes.setdefault(entry, len(classes)) for entry in published if entry], np.int32)
    labels = tuple(tuple(dict.fromkeys(row[place] for row, _ in classes)) for place in range(len(table.columns)))
    places = [{label: code for code, label in enumerate(column)} for column in labels]
    codes = [[place[label] for place, label in zip(places, row, strict=True)] for row, _ in classes]
    sizes = np.bincount(owners, weights=table.counts, minlength=len(classes)).astype(np.int64)
    rows = np.array(codes, np.int32).reshape(-1, len(table.columns))
    return class_recoding(table, owners, labels, rows, sizes, np.array([hidden for _, hidden in classes], bool))


def _failing(
    table: FrequencyTable, recoding: ClassRecoding, plan: Plan, persons: Mapping[Labels, int] | None
) -> BoolArray:
    """Return which kept classes of the new rows violate a model."""
    kept = ~recoding.suppressed
    failing: BoolArray = np.zeros(len(recoding.sizes), bool)
    if plan.data.on_missing == "any":
        k = plan.minimum_class_size
        unknown = np.column_stack([_unknown_labels(recoding, place) for place in range(len(recoding.columns))])
        failing[kept] = failing_classes(recoding.classes[kept], unknown[kept], recoding.sizes[kept], k)
        return failing
    plan, table = person_view(plan, weighted_view(table))
    classes = classes_of(table, recoding)
    if persons is not None:
        labels = [published_labels(recoding, place) for place in range(len(recoding.sizes))]
        classes = holding_persons(classes, np.array([persons.get(label, 0) for label in labels], np.int64))
    judged = holding_groups(
        classes.kept(kept), plan.protections, recoding.columns, recoding.classes[kept], recoding.labels
    )
    failing[kept] = assess(judged, table.whole, plan.guarantees).violating
    return failing


def _unknown_labels(recoding: ClassRecoding, place: int) -> BoolArray:
    """Return which classes are published with a missing value in a column."""
    absent = np.array([label is None for label in recoding.labels[place]], bool)
    missing: BoolArray = absent[recoding.classes[:, place]]
    return missing
