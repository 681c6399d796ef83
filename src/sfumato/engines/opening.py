"""Open the engine that fits a source: a path, or a frame of any kind."""

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args

from sfumato.engines.engine import Engine
from sfumato.engines.spark.session import is_spark_frame
from sfumato.engines.sql import RESERVED, is_address, read_address
from sfumato.errors import EngineError, PlanError, did_you_mean, extra_part
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import RequestedPlan
from sfumato.values import replace

EngineName = Literal["duckdb", "frames", "spark"]
# Methods of datasets, lazy frames and query results that return rows as a frame.
HANDING_OVER = ("to_arrow", "collect", "to_arrow_table")
INDEX = "The index of the frame is not published, since the plan does not name it: {names}."


def open_engine(
    data: Any,
    plan: RequestedPlan,
    name: EngineName | None = None,
    columns: Sequence[str] | None = None,
    folder: Path | None = None,
) -> Engine:
    """Open the engine for some data.

    Args:
        data: A path, a frame, or None for the source that the plan names.
        name: The engine; by default DuckDB for paths and frames for frames.
        columns: The column names of a file without a header; by default the plan's, or c1, c2, ….
        folder: The folder for the published rows, or None.
    """
    _check_name(name)
    names = tuple(plan.columns if columns is None else columns)
    opens = () if folder is None else (folder,)
    engine = _opened(_planned(plan) if data is None else data, plan, name, names, opens)
    try:
        _check_class_column(plan.output.class_column, engine.columns)
    except PlanError:
        engine.close()
        raise
    return engine


def publishes_files(data: Any, name: EngineName | None) -> bool:
    """Return whether the rows of some data are published as files; those of frames are not, except for Spark's."""
    return name != "frames" and (data is None or isinstance(data, str | Path) or is_spark_frame(data))


def _check_name(name: str | None) -> None:
    """Refuse an unknown engine instead of silently using another one."""
    if name is not None and name not in get_args(EngineName):
        near = did_you_mean(str(name), get_args(EngineName))
        hint = Message("sentences", parts=(near, Message("error.part.frames_of_any_kind_need")))
        raise PlanError("engine.unknown_engine", hint=hint, name=name)


def _check_class_column(name: str | None, columns: tuple[str, ...]) -> None:
    """Refuse a class column that engines could not distinguish from a data column or their own."""
    if name is None:
        return
    taken = [column for column in columns if column.lower() == name.lower()]
    if taken or name.lower().startswith(RESERVED):
        if taken:
            raise PlanError("class-column.taken", name=name, other=taken[0])
        raise PlanError("class-column.reserved", name=name)


def _opened(
    data: Any, plan: RequestedPlan, name: EngineName | None, columns: tuple[str, ...], opens: tuple[Path, ...]
) -> Engine:
    if plan.output.partition and (name in ("frames", "spark") or not isinstance(data, str | Path) or is_address(data)):
        raise PlanError("partition")
    if is_address(data):
        return _database(data, plan, name, opens)
    if name == "spark" or is_spark_frame(data):
        return _spark(data, plan, name, columns)
    if isinstance(data, str | Path):
        return _of_path(Path(data), plan, name, columns, opens)
    if name == "duckdb":
        raise EngineError("engine.the_engine_duckdb_reads")
    return open_frame(data, wanted=plan.columns, codes=_data_plan(plan).codes)


def _planned(plan: RequestedPlan) -> Path | str:
    if plan.data.source is None:
        raise PlanError("no-source.data_source_is_missing")
    return str(plan.data.source) if plan.data.source.is_address else plan.data.source.within(plan.folder)


def _data_plan(plan: RequestedPlan) -> DataPlan:
    """Return how rows are read, with codes of columns, and the temporary folder relative to the plan's."""
    data = plan.data if plan.data.codes else plan.source_data
    return data if data.temp_folder is None else replace(data, temp_folder=data.temp_folder.located(plan.folder))


def _spark(data: Any, plan: RequestedPlan, name: EngineName | None, columns: tuple[str, ...]) -> Engine:
    with extra_part("pyspark", "spark"):
        from sfumato.engines.spark.engine import SparkEngine

    if isinstance(data, str | Path):
        return SparkEngine.of_path(data, _data_plan(plan), columns)
    if is_spark_frame(data) and name in (None, "spark"):
        return SparkEngine.of_frame(data, _data_plan(plan))
    raise EngineError("engine.cannot_read_this_kind", name=name, other=type(data).__name__)


def _database(data: str, plan: RequestedPlan, name: EngineName | None, opens: tuple[Path, ...]) -> Engine:
    """Open the engine for a database table; SQLite files are read by DuckDB."""
    if name not in (None, "duckdb"):
        raise EngineError("engine.cannot_read_databases", name=name)
    address = read_address(data, plan.data.table)
    if address.kind == "sqlite":
        from sfumato.engines.duckdb.engine import DuckDBEngine

        reading = replace(_data_plan(plan), format="sqlite", table=address.table)
        return DuckDBEngine(plan.folder / address.uri, reading, tuple(plan.columns), opens=opens)
    from sfumato.engines.databases import PostgreSQLEngine

    return PostgreSQLEngine(address, _data_plan(plan))


def _of_path(
    path: Path, plan: RequestedPlan, name: EngineName | None, columns: tuple[str, ...], opens: tuple[Path, ...]
) -> Engine:
    from sfumato.engines.duckdb.engine import DuckDBEngine

    engine = DuckDBEngine(path, _data_plan(plan), columns, plan.output.partition, opens)
    if name != "frames":
        return engine
    from sfumato.engines.dataframes.engine import FrameEngine

    try:
        frames = FrameEngine(engine.frame(), engine.notes, engine.source.textless)
        frames.separator = engine.source.separator
        return frames
    finally:
        engine.close()


def open_frame(
    frame: Any,
    notes: tuple[Message, ...] = (),
    wanted: Container[str] | None = None,
    codes: Mapping[str, Sequence[str]] | None = None,
) -> Engine:
    """Open the engine for a frame, or for an object that returns its rows as one.

    Args:
        notes: Notes on the data for data users.
        wanted: The index levels to use as columns; by default all named ones.
        codes: Texts that mean missing in one column.
    """
    from sfumato.engines.dataframes.engine import FrameEngine
    from sfumato.engines.dataframes.sources import with_index

    for rows in _as_frames(frame):
        with suppress(TypeError):
            columns, left = with_index(rows, wanted)
            told = (*notes, Message("note.index", names=", ".join(left))) if left else notes
            return FrameEngine(columns, told, codes=codes)
    raise EngineError("unknown-frame", name=type(frame).__name__)


def _as_frames(frame: Any) -> Iterator[Any]:
    """Yield a frame, and the result of the first method it has that returns rows as a frame."""
    yield frame
    way = next((name for name in HANDING_OVER if hasattr(frame, name)), None)
    if way is not None:
        yield getattr(frame, way)()
