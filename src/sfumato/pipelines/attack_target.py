"""The input of attacks: published rows and plan, original and control rows; and the minimality attack on both."""

import csv
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sfumato.delimited.dialect import with_points
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import PublishedRows
from sfumato.engines.opening import open_engine, open_frame
from sfumato.engines.postprocessing import open_published
from sfumato.errors import DataError, PlanError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message, from_json
from sfumato.microdata.attacks.coded_rows import CodedTexts, Columns, codes_of
from sfumato.microdata.attacks.label_semantics import Text
from sfumato.microdata.attacks.minimality import Finer, attack_minimality
from sfumato.microdata.attacks.minimality import SensitiveTarget as Attacked
from sfumato.microdata.attacks.result import Absence, AttackResult
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.model import is_global, requested_class_size
from sfumato.microdata.plan.model import Plan, RequestedPlan, hierarchy_of
from sfumato.microdata.plan.read import read_plan, released_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_folder import ProgressCallback, Release
from sfumato.pipelines.release_stages import checksums
from sfumato.values import Value, replace

# Numbers with a decimal comma, and numbers whose point cannot separate thousands.
_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+")
_POINT = re.compile(r"[+-]?\d+\.(?:\d{1,2}|\d{4,})")


class AttackTarget(Value):
    """A release to attack.

    Attributes:
        rows: The published rows, by column.
        plan: The plan behind it, or None.
        report: The content of its report.json, or None.
    """

    rows: Columns
    plan: Plan | None = None
    report: Mapping[str, Any] | None = None
    folder: Path | None = None


def target_of(release: Any, plan: Any = None) -> AttackTarget:
    """Return a release, its folder, a file or a frame as a target."""
    if isinstance(release, Release):
        published = cast("PublishedRows", release.published)
        rows = {name: CodedTexts.of(published.texts(name)) for name in release.published.columns}
        return AttackTarget(
            rows, release.resolved if plan is None else resolve(read_plan(plan), rows), release.report.to_dict()
        )
    path = Path(release) if isinstance(release, str | Path) else None
    if path is None or not (path / "plan.yaml").exists():
        asked = None if plan is None else read_plan(plan)
        rows = others_texts(release if path is None else path, asked)
        return AttackTarget(rows, None if asked is None else resolve(asked, rows))
    own = released_plan(path) if plan is None else resolve(read_plan(plan))
    checksums.check_single(path)
    report = from_json((path / "report.json").read_text(encoding="utf-8"))
    return AttackTarget(others_texts(checksums.data_of(path), own, own.output.quotes_formulas), own, report, path)


def others_texts(data: Any, plan: RequestedPlan | None = None, quotes: bool = False) -> dict[str, CodedTexts]:
    """Return all rows of a release or of any other file, whose format may differ from the plan's source.

    The plan's separator is used if the first line contains it; otherwise it is detected. With `quotes`, formulas are
    quoted.
    """
    if not isinstance(data, str | Path):
        return _in_points(_read(open_frame(data)), plan)
    reading = DataPlan(header=True, separator=_separator(Path(data), plan))
    return _in_points(_read(open_published(Path(data), reading, quotes)), plan)


def strings_of(data: Any, plan: Plan | None = None) -> dict[str, CodedTexts]:
    """Return all rows of a file or frame as texts, column by column; read as the plan requests, if there is one."""
    if plan is None:
        return others_texts(data)
    path = Path(data) if isinstance(data, str | Path) else None
    engine = open_engine(data, plan) if path is None else DuckDBEngine(path, plan.source_data, tuple(plan.columns))
    return _in_points(_read(engine), plan)


def _read(engine: Any) -> dict[str, CodedTexts]:
    with closing(engine):
        textless = engine.textless(engine.columns)
        return {name: CodedTexts.of(engine.texts(name)) for name in engine.columns if name not in textless}


def _separator(path: Path, plan: RequestedPlan | None) -> str | None:
    """Return the plan's separator if the first line of a file contains it, else None."""
    wanted = None if plan is None else plan.data.separator
    if wanted is None or not path.is_file():
        return None
    with path.open("rb") as stream:
        return wanted if wanted.encode() in stream.readline() else None


def _in_points(columns: dict[str, CodedTexts], plan: RequestedPlan | None) -> dict[str, CodedTexts]:
    """Return columns with decimal points in their numbers, so that files with different marks can be compared.

    Quasi-identifiers keep their texts unless the plan has decimal commas: hierarchies contain them as written.
    """
    left = () if plan is None or plan.data.decimal == "," else plan.quasi_identifiers
    return {name: texts if name in left else texts.mapped(_with_points) for name, texts in columns.items()}


def _with_points(texts: Sequence[Text]) -> Sequence[Text]:
    """Return the distinct texts of a column with decimal points, if its numbers have decimal commas.

    >>> _with_points(["3,5", "1.234,5", "7", None]), _with_points(["3,5", "3.5"])
    (['3.5', '1234.5', '7', None], ['3,5', '3.5'])
    """
    distinct = [text for text in texts if text is not None]
    if not any(map(_COMMA.fullmatch, distinct)) or any(map(_POINT.fullmatch, distinct)):
        return texts
    places: dict[Text, Text] = dict(zip(distinct, with_points(distinct), strict=True))
    return [places.get(text) for text in texts]


def in_one_text(columns: Columns, plan: Plan | None) -> dict[str, Sequence[Text]]:
    """Return raw columns with canonical values: numbers in one form, missing values as None."""
    if plan is None:
        return dict(columns)
    missing = {*plan.data.missing}
    entries: dict[str, Sequence[Text]] = {}
    for name, texts in columns.items():
        kind = plan.columns[name].type if name in plan.columns else "text"
        entries[name] = CodedTexts.of(texts).mapped(partial(_typed, kind=kind, missing=missing))
    return entries


def _typed(texts: Sequence[Text], kind: Any, missing: Container[str | None]) -> list[Text]:
    """Return the distinct texts of a column in canonical form."""
    distinct = [text for text in texts if text is not None and text not in missing]
    forms = distinct if kind == "text" else canonical(distinct, kind)[0]
    places: dict[Text, Text] = {
        text: text if form is None else form for text, form in zip(distinct, forms, strict=True)
    }
    return [places.get(text) for text in texts]


def ladders_of(plan: Plan | None, raw: Columns) -> dict[str, Hierarchy]:
    """Return the hierarchies of the quasi-identifiers for the raw values."""
    if plan is None:
        return {}
    ladders = {}
    for name in plan.quasi_identifiers:
        hierarchy = hierarchy_of(plan, name)
        if hierarchy is not None and name in raw:
            values = [text for text in codes_of(raw[name])[0] if text is not None]
            ladders[name] = hierarchy.fit(values).hierarchy
    return ladders


SHARE = 0.8
# If the proportion of distinct raw rows is greater than this, identical rows are the same persons.
DISTINCT_SHARE = 0.5


def check_rows(columns: Columns, what: str) -> None:
    """Refuse empty data."""
    if not any(map(len, columns.values())):
        raise DataError("no-rows.has_no_rows", name=what)


def check_control(raw: Columns, control: Columns) -> None:
    """Refuse invalid control rows: they must belong to other persons than the raw rows.

    Raises:
        DataError: There are no control rows.
        PlanError: The control rows are the raw rows, or some of them.
    """
    check_rows(control, "the control")
    names = [name for name in raw if name in control]
    own = Counter(zip(*(raw[name] for name in names), strict=True))
    others = Counter(zip(*(control[name] for name in names), strict=True))
    # With few columns, rows of other persons are identical by chance; then only a full copy is refused.
    distinct = len(own) > DISTINCT_SHARE * own.total()
    if names and (others == own or (distinct and others <= own)):
        raise PlanError("control.raw_rows")


def released_again(
    plan: Plan, raw: Columns, random: np.random.Generator, progress: ProgressCallback | None = None
) -> tuple[Columns, Columns, Columns]:
    """Release a random 80 % of the raw rows by the plan; return the published rows, those raw rows, and the rest.

    Raises:
        PlanError: There are too few rows.
    """
    rows = len(next(iter(raw.values()), ()))
    chosen = _chosen(raw.get(plan.person or "", range(rows)), random)
    if not chosen.any() or chosen.all():
        raise PlanError("control.there_are_too_few")
    kept, others = _rows(raw, chosen), _rows(raw, ~chosen)
    reading = DataPlan(
        separator=",",
        header=True,
        on_missing=plan.data.on_missing,
        on_invalid=plan.data.on_invalid,
        missing=plan.data.missing,
    )
    again = replace(plan, data=reading, previous=(), output=replace(plan.output, format="csv", partition=()))
    with TemporaryDirectory() as folder:
        path = _written(kept, Path(folder) / "raw.csv")
        with closing(anonymize(path, again, progress=progress)) as release:
            rows_again = cast("PublishedRows", release.published)
            published = {name: CodedTexts.of(rows_again.texts(name)) for name in rows_again.columns}
    return published, kept, others


def _chosen(persons: object, random: np.random.Generator) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which rows are released: all of a person, or none."""
    listed = list(persons)  # type: ignore[call-overload]
    distinct = list(dict.fromkeys(listed))
    order = random.permutation(len(distinct))
    published = {distinct[place] for place in order[: round(SHARE * len(distinct))].tolist()}
    return np.array([person in published for person in listed], bool)


def _rows(columns: Columns, chosen: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> dict[str, CodedTexts]:
    places = np.flatnonzero(chosen)
    return {name: CodedTexts.of(texts).taken(places) for name, texts in columns.items()}


def _written(columns: Columns, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(
            zip(*(("" if text is None else text for text in texts) for texts in columns.values()), strict=True)
        )
    return path


NAME = "minimality"
Places = npt.NDArray[np.int64]
MOST_ROWS = 50_000


def minimality(
    target: AttackTarget, raw: Columns, random: np.random.Generator, absences: list[Absence]
) -> list[AttackResult]:
    """Attack each column with privacy models."""
    why = _why_not(target, raw)
    if why:
        absences.append(Absence(NAME, why))
        return []
    plan, report = target.plan, target.report
    assert plan is not None and report is not None
    groups = _groups(target, raw)
    attacks = []
    for column in dict.fromkeys(model.column for model in plan.privacy if model.column):
        texts, codes = codes_of(in_one_text(raw, plan)[column])
        models = tuple(model for model in plan.privacy if model.column == column and not is_global(model))
        finer = [[Finer(parts, codes[rows].astype(np.int64)) for rows, parts in group] for group in groups]
        attacks.append(attack_minimality(finer, Attacked(column, texts, models), random))
    return attacks


def _why_not(target: AttackTarget, raw: Columns) -> Message | None:
    plan, report = target.plan, target.report
    if plan is None or report is None or not report.get("levels"):
        return Message("note.attack_levels")
    if not any(model.column for model in plan.privacy):
        return Message("note.attack_promise")
    if getattr(plan.method, "hide_minimality", False):
        return Message("note.attack_hidden")
    if report.get("suppressed_rows"):
        return Message("note.attack_suppressed")
    return Message("note.attack_many") if len(next(iter(raw.values()))) > MOST_ROWS else None


def _groups(target: AttackTarget, raw: Columns) -> list[list[tuple[Places, Places]]]:
    """Return for each column with a finer level the rows of each class with their parts, if all parts are large."""
    plan, report = target.plan, target.report
    assert plan is not None and report is not None
    typed = in_one_text(raw, plan)
    ladders, levels = ladders_of(plan, typed), dict(report["levels"])
    k = requested_class_size(plan.privacy, 1)
    classes = _labels(typed, ladders, levels)
    groups = []
    for name, level in levels.items():
        if level <= plan.columns[name].min_level:
            continue
        finer = _labels(typed, ladders, levels | {name: level - 1})
        if np.bincount(finer).min() < k:
            continue  # the class sizes explain the level
        members = [np.flatnonzero(classes == one) for one in range(int(classes.max()) + 1)]
        groups.append([(rows, np.unique(finer[rows], return_inverse=True)[1].ravel()) for rows in members])
    return groups


def _labels(typed: Columns, ladders: Mapping[str, Hierarchy], levels: Mapping[str, int]) -> Places:
    """Return the class of each row at the given levels."""
    columns = [
        [ladders[name].published(text, level) if text is not None else None for text in typed[name]]
        for name, level in levels.items()
    ]
    places: dict[tuple[str | None, ...], int] = {}
    rows = zip(*columns, strict=True)
    return np.array([places.setdefault(labels, len(places)) for labels in rows], np.int64)
