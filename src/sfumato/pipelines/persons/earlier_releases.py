"""Earlier releases: which persons were in which classes, from their internal record, and whether draws are repeated."""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from math import sqrt
from pathlib import Path
from typing import Any

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import PublishedRows
from sfumato.engines.join_keys import PERSON, PERSONS_FILE, recorded
from sfumato.engines.postprocessing import open_published
from sfumato.errors import PlanError, UnattainableError, issue
from sfumato.formats import PUBLISHED
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.perturbation.plan import Noise, Perturbation, Pram, Pseudonym
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.plan.read import released_plan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.microdata.sequential_releases import History
from sfumato.pipelines.release_stages import checksums
from sfumato.values import Value, replace

# Key prefixes of erased persons, whose rows have no history. The first row of a person in a class has the first prefix,
# further ones the second. So the record has the number of persons, but not whose rows are whose.
ERASED, ERASED_TOO = "erased-", "erased-too-"
Values = tuple[str | None, ...]
# The rows of a person: the labels of each, and its values in columns with privacy models.
Contents = tuple[tuple[Values, Values], ...]


class EarlierRelease(Value):
    """An earlier release.

    Attributes:
        plan: The plan behind it.
        secret: The secret from which the keys of its persons were derived.
        classes: The class of each person by key: the labels of the person's rows.
        contents: For each row of a person, the labels and the published values of columns with privacy models.
        erased: By class, the number of persons erased since.
    """

    folder: Path
    plan: Plan
    levels: Mapping[str, int]
    secret: str
    classes: Mapping[str, Hashable]
    contents: Mapping[str, Contents]
    erased: Mapping[Hashable, int]
    erased_rows: int = 0


def read_release(folder: Path, quasi_identifiers: Sequence[str], promised: Sequence[str]) -> EarlierRelease:
    """Read a release folder with the classes of its persons.

    Raises:
        PlanError: It is no release folder, keeps no record of persons, or has other quasi-identifiers.
    """
    for name in ("plan.yaml", "recoding.json", "report.json"):
        if not (folder / name).exists():
            raise PlanError("previous.no_release_folder", folder=folder.name, name=name)
    plan = released_plan(folder)
    if plan.person is None or not (folder / PERSONS_FILE).exists():
        raise PlanError("previous-persons", name=folder.name)
    if differing := sorted({*plan.quasi_identifiers} ^ {*quasi_identifiers}):
        names = ", ".join(differing)
        what = Message("error.part.previous_has_other", name=folder.name, names=names)
        raise PlanError("previous-columns", message=what, hint=Message("hint.releases_of_the_same_columns"))
    report = checksums.read_mapping(folder / "report.json") or {}
    recoding = json.loads((folder / "recoding.json").read_text(encoding="utf-8"))
    secret = recoding.get("person_secret") or recoding.get("secret") or f"seed {plan.seed}"
    contents, erased, erased_rows = _persons(folder, quasi_identifiers, promised, plan.output.quotes_formulas)
    classes = classes_of_persons(contents)
    return EarlierRelease(folder, plan, report.get("levels", {}), secret, classes, contents, erased, erased_rows)


def _persons(
    folder: Path, names: Sequence[str], promised: Sequence[str], quotes: bool
) -> tuple[dict[str, Contents], Counter[Hashable], int]:
    """Return the rows of each person, the number of erased persons by class, and the number of their rows."""
    with closing(opened_release(folder, quotes)) as engine:
        keys = recorded(engine.texts(PERSON))
        labels = [engine.texts(name) for name in names]
        values = [engine.texts(name) for name in promised if name in engine.columns]
    contents: dict[str, list[tuple[Values, Values]]] = {}
    erased: Counter[Hashable] = Counter()
    erased_rows = 0
    for place, key in enumerate(keys):
        published = tuple(column[place] for column in labels)
        if key is not None and key.startswith(ERASED):
            erased_rows += 1
            erased[published] += not key.startswith(ERASED_TOO)
        elif key is not None:
            contents.setdefault(key, []).append((published, tuple(column[place] for column in values)))
    return {key: tuple(entries) for key, entries in contents.items()}, erased, erased_rows


def opened_release(folder: Path, quotes: bool = False) -> DuckDBEngine:
    """Open the published rows of a release with the keys of their persons.

    Args:
        quotes: Whether formulas in its CSV file are quoted.
    """
    engine = open_published(checksums.data_of(folder), DataPlan(header=True), quotes)
    if (folder / PERSONS_FILE).exists():
        engine.attach_persons(folder / PERSONS_FILE)
    return engine


def classes_of_persons(contents: Mapping[str, Contents]) -> dict[str, Hashable]:
    """Return the class of each person: the sorted labels of the person's rows."""
    return {key: tuple(sorted((labels for labels, _ in rows), key=repr)) for key, rows in contents.items()}


def joint_k(plans: Iterable[Plan]) -> int:
    """Return the requested size of history groups: the greatest k of all releases, or 2 without any."""
    return requested_class_size((model for plan in plans for model in plan.privacy), 2)


def read_chain(
    folders: Sequence[Path], quasi_identifiers: Sequence[str], promised: Sequence[str]
) -> list[EarlierRelease]:
    """Read earlier releases, whose person keys must come from the same secret.

    Raises:
        PlanError: The secrets differ, so persons cannot be matched between releases.
    """
    releases = [read_release(folder, quasi_identifiers, promised) for folder in folders]
    if len({release.secret for release in releases}) > 1:
        raise PlanError("previous-keys")
    return releases


def histories_by_person(releases: Sequence[EarlierRelease]) -> dict[str, History]:
    """Return the history of every person who was in a release."""
    persons = dict.fromkeys(person for release in releases for person in release.classes)
    return {person: tuple(release.classes.get(person) for release in releases) for person in persons}


def whole_chain(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of earlier releases, the first one first; none that one of them refers to may be missing.

    Raises:
        PlanError: One is missing, so the comparison with it would be skipped.
    """
    plans = {folder: released_plan(folder) for folder in folders if (folder / "plan.yaml").exists()}
    for folder, plan in plans.items():
        for entry, seal in zip(plan.previous, _seals(folder, len(plan.previous)), strict=True):
            if not _among(folder / entry, seal, folders):
                _refuse(folder, (folder / entry).name, seal)
    return sorted(folders, key=lambda folder: len(plans[folder].previous) if folder in plans else 0)


def _refuse(folder: Path, name: str, seal: str | None) -> None:
    # Without a checksum, a folder is identified by its name only and may have been renamed.
    hint = Message("hint.all_earlier_releases", name=name)
    if not seal:
        hint = Message("sentences", parts=(hint, Message("hint.renamed", name=name)))
    raise PlanError("previous-chain", hint=hint, name=folder.name, other=name)


def _seals(folder: Path, number: int) -> Sequence[str | None]:
    """Return the checksums of the releases that a folder refers to; reports of older versions have none."""
    told = (checksums.read_mapping(folder / checksums.REPORT) or {}).get("previous")
    seals = told.get("seals") if isinstance(told, dict) else None
    return seals if isinstance(seals, list) and len(seals) == number else [None] * number


def _among(entry: Path, seal: str | None, folders: Sequence[Path]) -> bool:
    """Return whether a release is among some folders, by its checksum; without one, by its path."""
    if seal is not None:
        return seal in {seal_of(folder) for folder in folders}
    if entry.exists():
        return entry.resolve() in {folder.resolve() for folder in folders} or seal_of(entry) in map(seal_of, folders)
    return entry.name in {folder.resolve().name for folder in folders}


def seal_of(folder: Path) -> str | None:
    """Return the checksum of the published rows, which identifies a release; None if the folder has none."""
    return next((checksums.digest(folder / name) for name in PUBLISHED if (folder / name).exists()), None)


# Published numbers of a person that differ by more than this many standard deviations come from different values.
FAR_APART = 4.0
Numbers = Mapping[str, Mapping[str, set[float]]]


def with_repeated_draws(plan: Plan, folders: Sequence[Path], at: str = "previous") -> Plan:
    """Return the plan with the noise and the matrices of the release that first contained each perturbed column.

    Noise that is drawn again for each release averages out. Therefore a value of a person gets the same noise in every
    release, with the standard deviation of the first one: the same draw scaled by two standard deviations would reveal
    the value. A value that changes over time gets new noise in each release. The mean of n published values then has
    the guaranteed standard deviation divided by the square root of n, which is less than guaranteed.

    Args:
        plan: A plan whose chain secret is that of the earlier releases.
        folders: The earlier release folders, the first one first.
        at: The part of the plan, or of the call, that names the earlier releases.

    Raises:
        PlanError: A column is perturbed otherwise than before, or in a way that is drawn again for each release.
    """
    columns, faults = dict(plan.columns), []
    for name, operation in plan.perturbations.items():
        if isinstance(operation, Pseudonym):
            continue
        if plan.person is None or not operation.repeats:
            faults.append(issue(f"columns.{name}.publish", "name_drawn_again", name=operation.name))
            continue
        found = ((folder, released_plan(folder).perturbations.get(name)) for folder in folders)
        first, before = next((pair for pair in found if pair[1] is not None), (None, None))
        if first is None or before is None:
            continue
        if _as_planned(operation) != _as_planned(before):
            faults.append(issue(f"columns.{name}.publish", "differs_from", at=at, name=first.name))
            continue
        columns[name] = _repeating(columns[name], operation, _figures(first, name))
    if faults:
        raise PlanError.listing(faults)
    return replace(plan, columns=columns)


def _as_planned(operation: Perturbation) -> Perturbation:
    """Return the operation without the deviation that an earlier release filled in."""
    return replace(operation, deviation=None) if isinstance(operation, Noise) else operation


def _figures(folder: Path, name: str) -> Mapping[str, Any]:
    """Return the metrics of a column's perturbation from the report of a release."""
    report = checksums.read_mapping(folder / checksums.REPORT) or {}
    operations = (report.get("perturbation") or {}).get("operations", ())
    return next((figures for figures in operations if name in figures["columns"]), {})


def _repeating(column: ColumnPlan, operation: Perturbation, figures: Mapping[str, Any]) -> ColumnPlan:
    """Return the column with an operation that repeats the earlier draw."""
    if not isinstance(column.publish, PublishPlan):
        return column
    if isinstance(operation, Noise) and operation.deviation is None:
        (deviation,) = figures["deviations"].values()
        return replace(column, publish=replace(column.publish, noise=replace(operation, deviation=deviation or None)))
    if isinstance(operation, Pram) and operation.retention is not None:
        matrix = figures["matrices"].get("", {})
        return replace(column, publish=replace(column.publish, pram=Pram(matrix=matrix))) if matrix else column
    return column


def check_drift(plan: Plan, published: PublishedRows, folders: Sequence[Path]) -> None:
    """Refuse noise on values that changed a little since an earlier release: averages are closer than a single number.

    Args:
        plan: The plan of the published rows.
        folders: The earlier release folders.

    Raises:
        UnattainableError: The average of a person's published values deviates by less than requested.
    """
    deviations = _deviations(plan)
    if not deviations:
        return
    now, before = _numbers(published, deviations), []
    for folder in folders:
        with closing(opened_release(folder, released_plan(folder).output.quotes_formulas)) as engine:
            before.append(_numbers(engine, [name for name in deviations if name in engine.columns]))
    for name, deviation in deviations.items():
        draws = [
            1 + sum(_drifted(numbers, entry.get(name, {}).get(person, set()), deviation) for entry in before)
            for person, numbers in now[name].items()
        ]
        if max(draws, default=1) > 1:
            raise _averaged(plan, name, draws)


def _deviations(plan: Plan) -> dict[str, float]:
    """Return the standard deviation of the noise of each column with noise."""
    noisy = {name: part for name, part in plan.perturbations.items() if isinstance(part, Noise)}
    return {name: part.deviation for name, part in noisy.items() if part.deviation is not None}


def _numbers(rows: PublishedRows, names: Sequence[str] | Mapping[str, float]) -> Numbers:
    """Return the published numbers of each person, by column."""
    persons = recorded(rows.texts(PERSON))
    found: dict[str, dict[str, set[float]]] = {name: {} for name in names}
    for name, numbers in found.items():
        for person, text in zip(persons, rows.texts(name), strict=True):
            if person is not None and text not in (None, "", "*"):
                numbers.setdefault(person, set()).add(float(str(text)))
    return found


def _drifted(now: set[float], before: set[float], deviation: float) -> bool:
    """Return whether a number of an earlier release has become another one that may be of the same value."""
    return any(abs(one - other) <= FAR_APART * deviation for one in now - before for other in before - now)


def _averaged(plan: Plan, name: str, draws: Sequence[int]) -> UnattainableError:
    operation = plan.perturbations[name]
    share = operation.share if isinstance(operation, Noise) else 0.0
    persons, most = sum(number > 1 for number in draws), max(draws)
    return UnattainableError(
        "previous-noise", name=name, persons=persons, most=most, share=share / sqrt(most), share2=share
    )
