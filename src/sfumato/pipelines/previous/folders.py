"""Earlier release folders: which persons stood in which classes, by the house's record of persons."""

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.order import PERSON, PERSONS_FILE
from sfumato.errors import PlanError
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.histories import History
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.stages import sealing

# What the key of an erased person begins with: such rows have no history.
ERASED = "erased-"
Values = tuple[str | None, ...]


@dataclass(frozen=True)
class EarlierRelease:
    """An earlier release.

    Attributes:
        plan: Behind it; levels: of its columns; secret: by which keys of its persons were drawn.
        classes: The class of each person by key: the labels of the person's rows; values: what was published besides
            about columns under promises; erased: how often rows are of persons who were erased since.
    """

    folder: Path
    plan: Plan
    levels: Mapping[str, int]
    secret: str
    classes: Mapping[str, Hashable]
    values: Mapping[str, tuple[Values, ...]]
    erased: Mapping[Hashable, int]


def read_release(folder: Path, quasi_identifiers: Sequence[str], promised: Sequence[str]) -> EarlierRelease:
    """A release folder with the classes of its persons.

    Raises:
        PlanError: It is no release folder, keeps no record of persons, or has other quasi-identifiers.
    """
    for name in ("plan.yaml", "recoding.json", "report.json"):
        if not (folder / name).exists():
            what = f"previous: {folder.name} is no release folder: it has no {name}."
            raise PlanError(what, "Name folders that sfumato anonymize wrote.", "previous")
    plan = read_plan(folder / "plan.yaml")
    if plan.person is None or not (folder / PERSONS_FILE).exists():
        raise PlanError(
            f"previous: {folder.name} keeps no record of its persons ({PERSONS_FILE}).",
            "Releases are compared by persons: the earlier plan needs a column of role person, the house its record.",
            "previous-persons",
        )
    if set(plan.quasi_identifiers) != set(quasi_identifiers):
        what = f"previous: {folder.name} has other quasi-identifiers."
        raise PlanError(what, "Releases of the same columns are compared.", "previous-columns")
    report = sealing.read_mapping(folder / "report.json") or {}
    recoding = json.loads((folder / "recoding.json").read_text(encoding="utf-8"))
    secret = recoding.get("person_secret") or recoding.get("secret") or f"seed {plan.seed}"
    classes, values, erased = _persons(folder, quasi_identifiers, promised)
    return EarlierRelease(folder, plan, report.get("levels", {}), secret, classes, values, erased)


def _persons(
    folder: Path, names: Sequence[str], promised: Sequence[str]
) -> tuple[dict[str, Hashable], dict[str, tuple[Values, ...]], Counter[Hashable]]:
    """The class of each person, its values, and the rows of erased ones by their class."""
    with closing(DuckDBEngine(sealing.data_of(folder), DataPlan(header=True))) as engine:
        engine.attach_persons(folder / PERSONS_FILE)
        keys = engine.texts(PERSON)
        labels = [engine.texts(name) for name in names]
        values = [engine.texts(name) for name in promised if name in engine.columns]
    rows: dict[str, list[Values]] = {}
    contents: dict[str, list[Values]] = {}
    erased: Counter[Hashable] = Counter()
    for place, key in enumerate(keys):
        if key is not None and key.startswith(ERASED):
            erased[tuple(column[place] for column in labels)] += 1
        elif key is not None:
            rows.setdefault(key, []).append(tuple(column[place] for column in labels))
            contents.setdefault(key, []).append(tuple(column[place] for column in values))
    return (
        {key: tuple(sorted(entries, key=repr)) for key, entries in rows.items()},
        {key: tuple(entries) for key, entries in contents.items()},
        erased,
    )


def read_chain(
    folders: Sequence[Path], quasi_identifiers: Sequence[str], promised: Sequence[str]
) -> list[EarlierRelease]:
    """Earlier releases, whose keys of persons must be drawn by the same secret.

    Raises:
        PlanError: They are not: nobody can say who stands in both.
    """
    releases = [read_release(folder, quasi_identifiers, promised) for folder in folders]
    if len({release.secret for release in releases}) > 1:
        raise PlanError(
            "previous: the releases do not know each other's persons: each was made by itself.",
            "Make each later release with previous: [the earlier ones]; its record then has the same keys.",
            "previous-keys",
        )
    return releases


def histories_by_person(releases: Sequence[EarlierRelease]) -> dict[str, History]:
    """The history of everybody who was in a release."""
    persons = dict.fromkeys(person for release in releases for person in release.classes)
    return {person: tuple(release.classes.get(person) for release in releases) for person in persons}
