"""What is attacked: published rows with the plan behind them, where there is one, and raw rows as texts."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sfumato.engines.engine import PublishedRows
from sfumato.engines.opening import open_engine, open_frame
from sfumato.hierarchies.ladder import Ladder
from sfumato.hierarchies.types import canonical
from sfumato.microdata.attacks.labels import Text
from sfumato.microdata.attacks.rows import Columns
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan, located
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_folder import Release
from sfumato.pipelines.stages import sealing


@dataclass(frozen=True)
class Target:
    """A release to be attacked.

    Attributes:
        rows: Its published rows, by column; plan: behind it; report: on it, as report.json has it.
    """

    rows: Columns
    plan: Plan | None = None
    report: Mapping[str, Any] | None = None
    folder: Path | None = None


def target_of(release: Any, plan: Any = None) -> Target:
    """A release, its folder, a file or a frame as what is attacked."""
    if isinstance(release, Release):
        published = cast("PublishedRows", release.published)
        rows = {name: list(published.texts(name)) for name in release.published.columns}
        return Target(rows, release.plan if plan is None else read_plan(plan), release.report.to_dict())
    path = Path(release) if isinstance(release, str | Path) else None
    if path is None or not (path / "plan.yaml").exists():
        return Target(texts_of(release if path is None else path), None if plan is None else read_plan(plan))
    own = read_plan(path / "plan.yaml") if plan is None else read_plan(plan)
    report = json.loads((path / "report.json").read_text(encoding="utf-8"))
    return Target(texts_of(sealing.data_of(path)), own, report, path)


def texts_of(data: Any, plan: Plan | None = None) -> dict[str, list[Text]]:
    """All rows of a file or frame as texts, column by column; read as a plan says, where one is about them."""
    if isinstance(data, str | Path):
        from sfumato.engines.duckdb.engine import DuckDBEngine

        reading = DataPlan(header=True) if plan is None else plan.data
        engine: Any = DuckDBEngine(Path(data), reading, tuple(plan.columns) if plan is not None else ())
    else:
        engine = open_frame(data) if plan is None else open_engine(data, plan)
    with closing(engine):
        return {name: list(engine.texts(name)) for name in engine.columns}


def in_one_text(columns: Columns, plan: Plan | None) -> dict[str, Sequence[Text]]:
    """Raw columns with their values as they are published: numbers in one way, missing ones as None."""
    if plan is None:
        return dict(columns)
    missing = {*plan.data.missing}
    entries: dict[str, Sequence[Text]] = {}
    for name, texts in columns.items():
        there = [None if text in missing else text for text in texts]
        kind = plan.columns[name].type if name in plan.columns else "text"
        entries[name] = there if kind == "text" else _typed(there, kind)
    return entries


def _typed(texts: Sequence[Text], kind: Any) -> list[Text]:
    distinct = [text for text in dict.fromkeys(texts) if text is not None]
    forms, _ = canonical(distinct, kind)
    places: dict[Text, Text] = {
        text: text if form is None else form for text, form in zip(distinct, forms, strict=True)
    }
    return [places.get(text) for text in texts]


def ladders_of(plan: Plan | None, raw: Columns) -> dict[str, Ladder]:
    """The hierarchies of the quasi-identifiers, bound to the raw values."""
    if plan is None:
        return {}
    ladders = {}
    for name in plan.quasi_identifiers:
        hierarchy = located(plan).columns[name].hierarchy
        if hierarchy is not None and name in raw:
            values = [text for text in dict.fromkeys(raw[name]) if text is not None]
            ladders[name] = hierarchy.bind(values).ladder
    return ladders
