"""Opening an engine for what the caller has: a path, or a frame of any kind."""

from pathlib import Path
from typing import Any, Literal

from sfumato.engines.engine import Engine
from sfumato.errors import EngineError, PlanError, missing_extra
from sfumato.plan.model import Plan

EngineName = Literal["duckdb", "frames", "spark"]


def open_engine(data: Any, plan: Plan, name: EngineName | None = None) -> Engine:
    """The engine for some data.

    Args:
        data: A path, a frame, or None for the source that the plan names.
        name: The engine wanted; by default DuckDB for paths and frames for frames.
    """
    if name == "spark":
        raise missing_extra("the Spark engine", "spark")
    if data is None:
        data = _planned(plan)
    if isinstance(data, str | Path):
        return _of_path(Path(data), plan, name)
    if name == "duckdb":
        raise EngineError("the engine duckdb reads files.", "Give a path, or leave the engine out.", "engine")
    return open_frame(data)


def _planned(plan: Plan) -> Path:
    if plan.data.source is None:
        raise PlanError("data.source is missing.", "Name the file in the plan, or hand the data over.", "no-source")
    return plan.folder / plan.data.source


def _of_path(path: Path, plan: Plan, name: EngineName | None) -> Engine:
    from sfumato.engines.duckdb import DuckDBEngine

    engine = DuckDBEngine(path, plan.data, tuple(plan.columns))
    if name != "frames":
        return engine
    try:
        return open_frame(engine.frame())
    finally:
        engine.close()


def open_frame(frame: Any) -> Engine:
    """The engine for a frame."""
    from sfumato.engines.frames import FrameEngine

    try:
        return FrameEngine(frame)
    except TypeError:
        raise EngineError(
            f"{type(frame).__name__} is no frame that Sfumato knows.",
            "Give a path, or a pandas, Polars or Arrow frame.",
            "unknown-frame",
        ) from None
