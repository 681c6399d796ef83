"""Verifying a release: reads a published file or frame and judges it against a plan, or against k alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.engines.engine import Engine, Reading
from sfumato.errors import DataError, PlanError, did_you_mean
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.verify import Promise, Verdict, judge
from sfumato.plan.model import DataPlan, Plan
from sfumato.plan.read import read_plan

STAR = "*"


def verify(
    release: Any,
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
    *,
    k: int | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    separator: str | None = None,
) -> Verdict:
    """Whether published rows keep their promises.

    Args:
        release: A release folder (its own plan is used unless another is given), a file, or a frame.
        plan: The plan whose promises to check; or else
        k: The k to check, with `quasi_identifiers`.
        separator: Of a CSV file; found out from its header by default.
    """
    path = Path(release) if isinstance(release, str | Path) else None
    if path is not None and path.is_dir() and (path / "plan.yaml").exists():
        plan = plan if plan is not None or k is not None else path / "plan.yaml"
        path = _data_of(path)
    engine = _opened(path if path is not None else release, separator)
    try:
        if plan is not None:
            return _by_plan(engine, read_plan(plan))
        if k is None or not quasi_identifiers:
            raise PlanError("there is nothing to check.", "Give a plan, or k and the quasi-identifiers.", "nothing")
        _check(engine, quasi_identifiers)
        return judge(engine.count(quasi_identifiers, Reading()), quasi_identifiers, [KAnonymity(k)])
    finally:
        engine.close()


def _data_of(folder: Path) -> Path:
    for name in ("data.csv", "data.parquet"):
        if (folder / name).exists():
            return folder / name
    raise DataError(f"{folder.name} holds no data.csv or data.parquet.", "Give a release folder or a file.", "no-file")


def _opened(data: Any, separator: str | None) -> Engine:
    if isinstance(data, Path):
        from sfumato.engines.duckdb import DuckDBEngine

        return DuckDBEngine(data, DataPlan(separator=separator))
    from sfumato.engines.opening import open_frame

    return open_frame(data)


def _by_plan(engine: Engine, plan: Plan) -> Verdict:
    names = (*plan.quasi_identifiers, *plan.counted)
    _check(engine, names)
    verdict = judge(
        engine.count(names, Reading()),
        plan.quasi_identifiers,
        plan.privacy,
        plan.data.missing,
        plan.data.on_missing == "any",
    )
    removed = [_removed(engine, name) for name in plan.named("identifier") if name in engine.columns]
    return replace(verdict, promises=(*verdict.promises, *removed))


def _removed(engine: Engine, name: str) -> Promise:
    """That a column of identifiers holds nothing but `*`."""
    values = engine.count([name], Reading()).values[0]
    gone = all(value in (STAR, None) for value in values)
    return Promise("identifier removed", 1, int(gone), gone, name)


def _check(engine: Engine, names: Sequence[str]) -> None:
    for name in names:
        if name not in engine.columns:
            raise PlanError(f'the file has no column "{name}".', did_you_mean(name, engine.columns), "columns")
