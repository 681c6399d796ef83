"""Release several files: keys are replaced by the same random ones everywhere, persons are generalized with all rows.

Every file is written by its engine, read back, and counted; then all of them are joined by the published keys and
evaluated as an attacker sees them.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sfumato.atomic_folders import ScratchFolder
from sfumato.engines.engine import MissingRules, PublishedRows
from sfumato.engines.join_keys import text_hash
from sfumato.engines.opening import EngineName, publishes_files
from sfumato.engines.postprocessing import separator_of
from sfumato.errors import InternalError
from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.localization.messages import Message
from sfumato.microdata.counts.combinations import CountDifference
from sfumato.microdata.counts.frequency_table import Coding, value_of
from sfumato.microdata.linked_files import LinkedFiles, LinkedLevels, Search, Values
from sfumato.microdata.perturbation.random_changes import shifted
from sfumato.microdata.plan.model import Plan, RequestedPlan
from sfumato.microdata.plan.parts import parents_first
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.recoding.mapping import AbsentTexts, ClassRecoding, SuppressionHandling
from sfumato.pipelines.persons.joint_evaluation import LinkedFilesVerdict, judge_joined, telling, unique_rows_of_files
from sfumato.pipelines.persons.linked_files import FilesRelease, OpenFile, open_files, relations_of
from sfumato.pipelines.persons.pseudonyms import exposed_keys, read_key
from sfumato.pipelines.release_stages.build_report import blanked_words, column_codes, order_remarks
from sfumato.pipelines.release_stages.release_check import refuse
from sfumato.values import replace
from sfumato.version import __version__


def anonymize_files(
    data: Mapping[str, Any] | None,
    plan: RequestedPlan | Mapping[str, Any] | str | Path,
    *,
    engine: EngineName | None = None,
    workspace: Path | None = None,
) -> FilesRelease:
    """Release several files together.

    Args:
        data: A frame or path for each file of the plan; None for the sources that it names.

    Raises:
        PlanError: The plan is invalid, or does not fit the files.
        DataError: The rows do not match the plan, or keys do not match.
        UnattainableError: No recoding satisfies the models.
        EngineError: A file cannot be read or written.
    """
    begin = perf_counter()
    resolved = resolve(read_plan(plan))
    with ExitStack() as stack:
        first = (data or {}).get(parents_first(resolved.files)[0])
        scratch = ScratchFolder(workspace) if publishes_files(first, engine) else None
        if scratch is not None:
            stack.callback(scratch.cleanup)
        opened = open_files(data, resolved, engine, None if scratch is None else scratch.path)
        resolved = _with_separator(resolved, opened)
        for file in opened:
            stack.callback(file.engine.close)
        relations = relations_of(opened, resolved)
        placement = _search(resolved, relations).find()
        keys = _random_keys(opened, resolved)
        people = [str(text) for text in opened[0].texts(opened[0].keys[0])]
        published: dict[str, PublishedRows] = {}
        absent = absent_in_files(opened, resolved, relations)
        for file in opened:
            blanks = blanks_of(file, resolved, absent)
            rows = _publish(file, resolved, relations, placement, keys, people, scratch, blanks)
            stack.callback(rows.close)
            published[file.name] = rows
        verdict = judge_joined(resolved, published)
        refuse(verdict.checked, resolved)
        if not verdict.satisfied:
            raise InternalError("promise.files_together")
        unique = unique_rows_of_files(resolved, opened, published)
        seconds = perf_counter() - begin
        figures = _figures(resolved, relations, placement, verdict, unique, opened[0].engine.name, seconds)
        figures["remarks"] += blanked_words(resolved, absent)
        stack.pop_all()
    for file in opened:
        if published[file.name] is not file.engine:
            file.engine.close()
    return FilesRelease(resolved, published, figures, keys, scratch)


def _with_separator(plan: Plan, opened: Sequence[OpenFile]) -> Plan:
    """Return the plan with the detected separator of its files, which is also used for writing."""
    separators = {separator_of(file.engine, plan.data.separator) for file in opened}
    if plan.data.separator is not None or len(separators) != 1:
        return plan
    return replace(plan, data=replace(plan.data, separator=separators.pop()))


def _search(plan: Plan, relations: LinkedFiles) -> Search:
    columns = [_column(plan, *level) for level in relations.columns]
    tops = [ladder.height - 1 for ladder in relations.ladders]
    method: Any = plan.method
    limit = method.suppression.limit(relations.number_of_persons)
    return Search(
        relations,
        plan.privacy,
        limit,
        tuple(column.min_level for column in columns),
        tuple(
            top if column.max_level is None else min(column.max_level, top)
            for column, top in zip(columns, tops, strict=True)
        ),
        method.time_limit,
    )


def _column(plan: Plan, file: str, name: str) -> Any:
    return plan.columns.get(f"{file}.{name}") or plan.columns[name]


def _random_keys(opened: tuple[OpenFile, ...], plan: Plan) -> dict[str, dict[str, str]]:
    """Return for each file with a key the random replacement of each key, the same in all files."""
    keys = {}
    for file in opened:
        if file.file.key is not None:
            secret = f"{_key_secret(file, plan)}:key:{file.name}:"
            keys[file.name] = {str(text): text_hash(text, secret) for text in file.texts(file.file.key)}
    return keys


def _key_secret(file: OpenFile, plan: Plan) -> str:
    """Return the secret for the keys of a file: that of the release, or one from a key file.

    Raises:
        PlanError: The key file is invalid.
    """
    if file.file.key_file is None:
        return plan.secret
    return read_key(file.file.key_file.within(plan.folder)).part(f"keys of {file.name}", 32).hex()


def _publish(
    file: OpenFile,
    plan: Plan,
    relations: LinkedFiles,
    placement: LinkedLevels,
    keys: Mapping[str, Mapping[str, str]],
    people: Sequence[str],
    scratch: ScratchFolder | None,
    blanks: Mapping[str, Mapping[str | None, str | None]],
) -> PublishedRows:
    """Write one file, read it back and compare it; shift dates if the plan requests it."""
    recoding = _recoding(file, relations, placement, keys)
    handling = SuppressionHandling(
        removed_columns=tuple(name for name in file.plan.removed_columns if name not in file.keys),
        order_key=f"{plan.secret}:order:{file.name}:" if plan.output.order == "shuffle" else None,
        labels=blanks,
    )
    shifts = {own: days for own in file.names if (days := file.plan.columns[own].shift_days) is not None}
    target = None if scratch is None else scratch.path / f"{file.name}.{plan.output.format}"
    first = target if target is None or not shifts else target.with_name(f"unshifted-{target.name}")
    rows = file.engine.apply(recoding, handling, MissingRules(), first)
    if shifts:
        unshifted = rows
        rows = unshifted.replaced(_shifted(unshifted, shifts, file, plan, relations, keys, people), target)
        unshifted.close()
    _compare(rows, recoding)
    return rows


def _recoding(
    file: OpenFile, relations: LinkedFiles, placement: LinkedLevels, keys: Mapping[str, Mapping[str, str]]
) -> ClassRecoding:
    """Return a recoding with the labels and random keys of each row; rows of suppressed persons are suppressed."""
    columns = (*file.plan.quasi_identifiers, *file.keys)
    places = [file.text_counts.columns.index(name) for name in columns]
    levels = [level for (name, _), level in zip(relations.columns, placement.levels, strict=True) if name == file.name]
    codings = [*file.codings, *(_key_coding(file, name) for name in file.keys)]
    labels = [coding.ladder.labels[level] for coding, level in zip(file.codings, levels, strict=True)]
    labels += [
        tuple(keys[_owner(file, name)][str(text)] for text in file.text_counts.values[place])
        for name, place in zip(file.keys, places[len(file.codings) :], strict=True)
    ]
    combinations = np.column_stack(
        [coding.codes[file.text_counts.codes[:, place]] for coding, place in zip(codings, places, strict=True)]
    ).astype(np.int32)
    shown = np.column_stack(
        [
            *(
                coding.ladder.codes[level][combinations[:, at]]
                for at, (coding, level) in enumerate(zip(file.codings, levels, strict=True))
            ),
            *(combinations[:, at] for at in range(len(file.codings), len(columns))),
        ]
    ).astype(np.int32)
    first = np.cumsum(file.text_counts.counts) - file.text_counts.counts
    persons = relations.persons[file.name][first]
    classes, owners = np.unique(np.column_stack([shown, placement.withheld[persons]]), axis=0, return_inverse=True)
    owners = owners.reshape(-1)
    sizes = np.bincount(owners, weights=file.text_counts.counts, minlength=len(classes)).astype(np.int64)
    # Rows were also counted by sensitive columns, so a combination with two sensitive values must be listed only once.
    distinct, firsts = np.unique(combinations, axis=0, return_index=True)
    return ClassRecoding(
        columns,
        tuple(codings),
        np.ascontiguousarray(distinct),
        owners[firsts].astype(np.int32),
        tuple(labels),
        np.ascontiguousarray(classes[:, :-1]),
        classes[:, -1].astype(bool),
        sizes,
    )


def _key_coding(file: OpenFile, name: str) -> Coding:
    """Return keys as values of their own hierarchy."""
    texts = file.text_counts.values[file.text_counts.columns.index(name)]
    ladder = make_hierarchy([str(text) for text in texts], [])
    return Coding(texts, np.arange(len(texts), dtype=np.int32), ladder)


def _owner(file: OpenFile, key: str) -> str:
    """Return the file whose rows a key identifies."""
    return file.name if key == file.file.key or file.file.parent is None else file.file.parent


def _shifted(
    rows: PublishedRows,
    shifts: Mapping[str, int],
    file: OpenFile,
    plan: Plan,
    relations: LinkedFiles,
    keys: Mapping[str, Mapping[str, str]],
    people: Sequence[str],
) -> dict[str, list[str | None]]:
    """Return dates of published rows, shifted by the offset of their person."""
    name = file.keys[-1]
    published = keys[_owner(file, name)]
    numbers = relations.persons[file.name].tolist()
    persons = {published[str(text)]: people[number] for text, number in zip(file.texts(name), numbers, strict=True)}
    owners = [persons[str(key)] for key in rows.texts(name)]
    missing = plan.data.missing
    return {
        column: shifted(rows.texts(column), owners, most, plan.secret, missing, column)
        for column, most in shifts.items()
    }


def _compare(rows: PublishedRows, recoding: ClassRecoding) -> None:
    """Compare the written rows with the expected counts, by combination."""
    kept = ~recoding.suppressed
    meant = CountDifference(recoding.labels, recoding.classes[kept].astype(np.int64), recoding.sizes[kept])
    text_counts = rows.count(recoding.columns, MissingRules())
    wrong = meant.differing(CountDifference(text_counts.values, text_counts.codes, text_counts.counts))
    if wrong:
        raise InternalError("recount.combinations_were_written_with_other", count=wrong)


def _figures(
    plan: Plan,
    relations: LinkedFiles,
    placement: LinkedLevels,
    verdict: LinkedFilesVerdict,
    unique: Mapping[str, int],
    engine: str,
    seconds: float,
) -> dict[str, Any]:
    """Return the metrics of the report."""
    names = [f"{file}.{column}" for file, column in relations.columns]
    withheld = int(placement.withheld.sum())
    promises = [
        {"model": model.name, "requested": model.requested, "achieved": reached, "satisfied": True}
        | ({"column": model.column} if model.column else {})
        for model, reached in zip(plan.privacy, verdict.reached, strict=True)
    ]
    return {
        "version": __version__,
        "method": "files",
        "proved_optimal": placement.proved_optimal,
        "levels": dict(zip(names, placement.levels, strict=True)),
        "loss": {
            "name": "loss-metric",
            "value": placement.loss,
            "per_column": dict(zip(names, placement.per_column, strict=True)),
        },
        "persons": relations.number_of_persons,
        "suppressed_persons": withheld,
        "files": {
            file.name: {"rows": len(file.codes), "published_rows": verdict.rows[file.name]} for file in relations.files
        },
        "classes": {"count": placement.groups, "smallest": placement.smallest},
        "models": promises,
        "nodes": {"total": placement.total, "checked": placement.checked},
        "seconds": {"total": seconds},
        "engine": engine,
        "seed": plan.seed,
        "integrity": verdict.integrity,
        "unique_rows": unique,
        "remarks": [
            *order_remarks(plan),
            *_stable_keys(plan),
            *exposed_keys(plan),
            *telling(unique, verdict.rows),
            *column_codes(plan),
        ],
    }


def _stable_keys(plan: Plan) -> list[str]:
    """Return a warning if keys are the same in other releases."""
    names = [name for name, file in plan.files.items() if file.key_file is not None]
    return [Message("note.stable_keys", files=", ".join(names))] if names else []


def absent_in_files(opened: tuple[OpenFile, ...], plan: Plan, relations: LinkedFiles) -> dict[str, AbsentTexts]:
    """Return the texts for "missing" in each column with a privacy model, from all files that have it."""
    return {
        name: AbsentTexts(
            frozenset(
                text or None
                for entry in opened
                for own in entry.names
                for text in _texts(entry, own)
                if entry.names[own] == name and value_of(text, plan.data.missing) is None
            ),
            _persons_without(values),
        )
        for name, values in relations.values.items()
    }


def blanks_of(file: OpenFile, plan: Plan, absent: Mapping[str, AbsentTexts]) -> dict[str, dict[str | None, str | None]]:
    """Return the published texts of columns whose missing values become empty fields."""
    return {
        own: {text: text if value_of(text, plan.data.missing) is not None else None for text in _texts(file, own)}
        for own, name in file.names.items()
        if name in absent and absent[name].are_blanked(plan)
    }


def _texts(file: OpenFile, column: str) -> tuple[str | None, ...]:
    """Return the distinct texts of a column; none if it was not counted because it has no privacy model."""
    names = file.text_counts.columns
    return file.text_counts.values[names.index(column)] if column in names else ()


def _persons_without(values: Values) -> int:
    """Return how many persons have a missing value."""
    absent = [code for code, text in enumerate(values.texts) if text is None]
    return int(np.isin(values.codes, absent).sum())
