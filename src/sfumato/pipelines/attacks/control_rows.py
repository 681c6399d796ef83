"""Control rows that were never published; without any, the plan is run again on a part of the original rows."""

import csv
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np

from sfumato.engines.engine import PublishedRows
from sfumato.errors import DataError, PlanError
from sfumato.microdata.attacks.attack_data import Columns
from sfumato.microdata.attacks.dictionary_encoding import CodedTexts
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_folder import ProgressCallback

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
        raise PlanError("control.the_rows_of_the")


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
