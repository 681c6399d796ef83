"""Apply the recoding of a release to new rows: equal values are published identically, and the guarantees are checked
again.

Rows of a class that the release suppressed are suppressed again. A value or combination that the recoding does not know
is an error. Each class of the new rows must satisfy the guarantees by itself, because an attacker may have either file.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import combinations, product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.atomic_folders import make_private, staged, workspace_for, write_text
from sfumato.dataclass import dataclass
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import Engine, PublishedRows
from sfumato.engines.join_keys import PERSON, recorded, text_hash
from sfumato.engines.postprocessing import quote_formulas, separator_of, with_bounds
from sfumato.errors import DataError, PlanError, UnattainableError, ViolationError
from sfumato.hierarchies.spellings import plain_text
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message
from sfumato.localization.plurals import filled
from sfumato.microdata.counts.combinations import failing_classes
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable, ValueCounts, table_of, typed
from sfumato.microdata.counts.persons import person_view
from sfumato.microdata.counts.survey_sample import weighted_view
from sfumato.microdata.methods.class_assessment import assess
from sfumato.microdata.models.equivalence_classes import BoolArray
from sfumato.microdata.models.protection import holding_groups
from sfumato.microdata.plan.methods import SafePub
from sfumato.microdata.plan.model import ColumnPlan, Plan, UtilityPlan
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
from sfumato.pipelines.persons.earlier_releases import opened_release, with_repeated_draws
from sfumato.pipelines.persons.pseudonyms import keys_of
from sfumato.pipelines.release_check import refuse, release_check
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
from sfumato.report.checks import verdict_text

# The record of all applications of a recoding, in the folder of its release; internal.
APPLIED = "applied.json"
# How many other files new rows are compared with together.
MOST_TOGETHER = 3
DIFFERS = (
    "Compared with the release of the recoding, {added} were added and {removed} removed or changed. Anyone who has "
    "both files sees which.\n"
)


@dataclass(frozen=True, slots=True)
class Differences:
    """How new rows differ from the release, with the record of all earlier applications.

    Attributes:
        added: Persons, or rows without a person column, that are new.
        removed: Persons, or rows, of the release that are missing in the new rows.
        path: The record in the release folder; None if nothing is published.
        records: For each application of the recoding, the keyed hashes of its persons or rows.
    """

    added: int = 0
    removed: int = 0
    path: Path | None = None
    records: tuple[tuple[str, ...], ...] = ()

    def record(self) -> None:
        """Write the record, so that the next application is compared with this one."""
        if self.path is not None:
            write_text(self.path, json.dumps({"applied": self.records}) + "\n")
            make_private(self.path)


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """The result of applying a recoding to new rows.

    Attributes:
        added: Persons, or rows without a person column, that the release of the recoding does not have.
        removed: Persons, or rows, of that release that are missing in the new rows.
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


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What is known from the release: its recoding, and the population behind its published rows.

    Attributes:
        released: Whether its rows were published.
    """

    recoding_file: RecodingFile
    persons: Mapping[Labels, int] | None
    released: bool


def _check_applicable(plan: Plan, divided: bool) -> None:
    """Refuse a recoding that is valid for its own rows only."""
    if divided:
        raise PlanError("recoding-divided")
    if plan.subset is not None:
        raise PlanError("recoding-list")
    if isinstance(plan.method, SafePub):
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
        raise _broken(int(recoding.sizes[failing].sum()), int(failing.sum()))
    recoding = replace(recoding, suppressed=recoding.suppressed | failing)
    target = stage / f"data.{plan.output.format}"
    verdict, found = _written(engine, plan, table, recoding, target, earlier)
    outcome = ApplyResult(verdict, int(recoding.sizes[recoding.suppressed].sum()), found.added, found.removed)
    write_text(stage / "report.json", json.dumps(outcome.to_dict(), indent=2, ensure_ascii=False) + "\n")
    found.record()
    return outcome


def _broken(rows: int, classes: int) -> ViolationError:
    return ViolationError("reapply.applied_to_these_rows", rows=rows, classes=classes)


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
        differences = _differences(plan, published) if earlier.released else Differences()
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


def _differences(plan: Plan, published: PublishedRows) -> Differences:
    """Compare the rows with the release, with those before it, and with all rows to which their recodings were applied.

    Raises:
        UnattainableError: They differ by fewer than k persons, so anyone with the files learns about those.
    """
    before, now = _released_units(plan.folder, published, plan), _units(published, _columns(published, plan), plan)
    folders = [entry.within(plan.folder) for entry in plan.previous]
    earlier = [_released_units(folder, published, plan) for folder in folders if folder.exists()]
    own = applied_units([plan.folder])
    check_apart([before, *own, *earlier, *applied_units(folders)], now, plan)
    records = tuple(tuple(sorted(one.elements())) for one in (*own, now))
    return Differences((now - before).total(), (before - now).total(), plan.folder / APPLIED, records)


def check_beside_applied(published: PublishedRows, plan: Plan, folders: Sequence[Path]) -> None:
    """Compare a release with the rows to which the recodings of earlier ones were applied.

    Raises:
        UnattainableError: They differ by fewer than k persons.
    """
    if applied := applied_units(folders):
        now = _units(published, _columns(published, plan), plan)
        releases = [_released_units(folder, published, plan) for folder in folders]
        check_apart([*applied, *releases], now, plan, len(applied))


def applied_units(folders: Sequence[Path]) -> list[Counter[str]]:
    """Return the units of all rows to which the recodings of some releases were applied."""
    records = (read_mapping(folder / APPLIED) or {} for folder in folders)
    return [Counter(one) for record in records for one in record.get("applied", ())]


def _released_units(folder: Path, published: PublishedRows, plan: Plan) -> Counter[str]:
    """Return the units of an earlier release; none if it lacks columns."""
    with closing(opened_release(folder, plan.output.quotes_formulas)) as earlier:
        columns = _columns(published, plan)
        return _units(earlier, columns, plan) if {*columns} <= {*earlier.columns} else Counter()


def _columns(published: PublishedRows, plan: Plan) -> list[str]:
    return [name for name in published.columns if name != plan.output.class_column]


def check_apart(others: Sequence[Counter[str]], now: Counter[str], plan: Plan, telling: int | None = None) -> None:
    """Refuse rows that differ by fewer than k from others, or from what up to three of them add up to.

    Of the rows of January, of February, and of both with one more person, the third without the first two is that
    person.

    Args:
        others: The units of each of the other files.
        telling: How many of these, from the first on, are compared; further ones only together with them.

    Raises:
        UnattainableError: They do.
    """
    k, unit = plan.minimum_class_size, Message("phrase.rows" if plan.person is None else "phrase.persons")
    for views in _views(now, *others):
        patterns = Counter(tuple(view[one] for view in views) for one in set().union(*views))
        counts, numbers = np.array([*patterns], np.int64), np.array([*patterns.values()], np.int64)
        for places, signs in _combinations(len(others), len(others) if telling is None else telling):
            rest = counts[:, 0] + counts[:, places] @ np.array(signs)
            added, removed = (int(numbers @ np.maximum(rest, 0)), int(numbers @ np.maximum(-rest, 0)))
            # Together, others rarely leave so little by chance; either part alone they often do.
            if 0 < added + removed < k or (len(places) == 1 and (0 < added < k or 0 < removed < k)):
                single = places == [1] and telling is None
                code = "several" if len(places) > 1 else "release" if single else "rows"
                raise UnattainableError(f"reapply-difference.{code}", added=added, unit=unit, removed=removed, k=k)


def _combinations(others: int, telling: int) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Yield places of up to three other files, from 1 on, each with the sign by which it is added."""
    for number in range(1, MOST_TOGETHER + 1):
        for places in combinations(range(1, others + 1), number):
            if places[0] <= telling:
                yield from (([*places], signs) for signs in product((-1, 1), repeat=number) if -1 in signs)


def _units(rows: PublishedRows, columns: Sequence[str], plan: Plan) -> Counter[str]:
    """Return keyed hashes of the published rows of each person, or else of each row, with how often they occur.

    Values are compared as a reader understands them: once by their texts, where `1200.0` and ` 1200` are one number,
    and once by the numbers that they may be, where `01200` and `1,200` are. A person is also compared without rows,
    because persons whose rows have all changed may still be followed.
    """
    texts = [rows.texts(name) for name in columns]
    readings = ([_read(entries, plain_text) for entries in texts], [_read(entries, _amount) for entries in texts])
    key = f"{plan.chain_secret}:applied:"
    if plan.person is None:
        contents = zip(*(zip(*reading, strict=True) for reading in readings), strict=True)
        return Counter(_hashes(content, key) for content in contents)
    by_person: dict[str | None, tuple[list[Any], ...]] = {}
    for person, *contents in zip(
        recorded(rows.texts(PERSON)), *(zip(*reading, strict=True) for reading in readings), strict=True
    ):
        for entries, content in zip(by_person.setdefault(person, ([], [])), contents, strict=True):
            entries.append(content)
    units = ((person, *((person, sorted(one, key=repr)) for one in both)) for person, both in by_person.items())
    return Counter(_hashes(unit, key) for unit in units)


def _hashes(parts: Sequence[Any], key: str) -> str:
    return " ".join(text_hash(repr(part), key) for part in parts)


def _views(*files: Counter[str]) -> Iterator[tuple[Counter[str], ...]]:
    """Yield the units of files by each of their hashes alone."""
    parts = [list(zip(*(unit.split() for unit in units.elements()), strict=True)) for units in files]
    for views in zip_longest(*parts, fillvalue=()):  # a file without rows has no hashes
        yield tuple(map(Counter, views))


def _read(texts: Sequence[str | None], reading: Callable[[str], str]) -> list[str | None]:
    read = {text: None if text is None else reading(text) for text in {*texts}}
    return [read[text] for text in texts]


def _amount(text: str) -> str:
    """Return the number that a text may be, or else the text as it is understood."""
    (number,), _ = canonical([text], "amount")
    return plain_text(text) if number is None else number


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
        raise DataError("unknown-combination.combinations_are_not_known_to", count=unknown)
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
