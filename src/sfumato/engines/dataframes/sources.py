"""Prepare data frames for the engine and for the caller: wrap any library's frame, remove index and metadata."""

from collections.abc import Container, Mapping
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import narwhals as nw
from narwhals.exceptions import DuplicateError

from sfumato.engines.sql import check_names
from sfumato.errors import DataError, missing_extra

# Column types whose values are converted to text differently by different engines; such columns are not recoded.
TEXTLESS = (nw.Binary, nw.List, nw.Array, nw.Struct, nw.Duration)
# Float16 is missing in older versions of narwhals.
SHORT_FLOATS: tuple[Any, ...] = (nw.Float32, *([nw.Float16] if hasattr(nw, "Float16") else []))
FLOATS = (*SHORT_FLOATS, nw.Float64)


def eager(frame: Any) -> "nw.DataFrame[Any]":
    """Return a frame of any kind, collected if it is lazy.

    Raises:
        DataError: The object is no frame.
    """
    try:
        frame_wrapped = wrapped(frame)
    except TypeError:
        kind = type(frame).__name__
        raise DataError("frame", name=kind) from None
    return frame_wrapped.collect() if isinstance(frame_wrapped, nw.LazyFrame) else frame_wrapped


def wrapped(frame: Any, eager_only: bool = False) -> Any:
    """Wrap a frame of any kind for uniform access.

    Raises:
        TypeError: The object is no frame.
        DataError: Two of its columns have the same name.
    """
    try:
        return nw.from_native(frame, eager_only=eager_only)
    except DuplicateError:
        check_names([*getattr(frame, "column_names", frame.columns)])
        raise


def with_index(frame: Any, wanted: Container[str] | None = None) -> tuple[Any, tuple[str, ...]]:
    """Return a frame with named index levels as columns, and the names of omitted levels.

    Frames without an index are returned unchanged.

    Args:
        wanted: The levels to include; by default all named ones.

    Raises:
        DataError: A column has the same name as an index level, and other values.
    """
    try:
        known = wrapped(frame, eager_only=True)
    except TypeError:
        return frame, ()
    index = nw.maybe_get_index(known)
    if index is None or all(name is None for name in index.names):
        return frame, ()
    native = known.to_native()
    named = [name for name in index.names if name is not None and not _is_column(native, name)]
    taken = [name for name in named if wanted is None or name in wanted]
    if clash := [name for name in taken if name in known.columns or taken.count(name) > 1]:
        raise DataError("duplicate-columns.index_frame_name_column", clash=clash[0])
    left = tuple(str(name) for name in named if name not in taken)
    dropped = [place for place, name in enumerate(index.names) if name not in taken]
    if len(dropped) == len(index.names):
        return native.reset_index(drop=True), left
    return (native.droplevel(dropped) if dropped else native).reset_index(), left


def _is_column(frame: Any, level: Any) -> bool:
    """Return whether an index level is also a column, as after `set_index(…, drop=False)`."""
    return level in frame.columns and list(frame.index.get_level_values(level)) == list(frame[level])


def installed(*names: str) -> str:
    """Return the first of some data frame libraries that is installed.

    Raises:
        EngineError: None is installed.
    """
    name = next((name for name in names if find_spec(name)), None)
    if name is None:
        raise missing_extra("a library for frames", "frames")
    return name


def frame_of(columns: Mapping[str, list[Any]], backend: Any) -> Any:
    """Return columns as a frame of the given library."""
    return nw.from_dict(dict(columns), backend=backend).to_native()


def textless_in(frame: "nw.DataFrame[Any]") -> tuple[str, ...]:
    """Return the columns whose types have no canonical text (`TEXTLESS`)."""
    return tuple(name for name, kind in frame.schema.items() if isinstance(kind, TEXTLESS))


def holds_objects(series: "nw.Series[Any]") -> bool:
    """Return whether a column may contain any objects, as object columns of pandas and their categories do."""
    if isinstance(series.dtype, nw.Object | nw.Unknown | nw.Categorical):
        return True
    return str(getattr(series.to_native(), "dtype", "")) == "object"


def holds_decimals(series: "nw.Series[Any]") -> bool:
    """Return whether a column contains fixed-point numbers, as those of databases."""
    if not holds_objects(series):
        return isinstance(series.dtype, nw.Decimal)
    return any(isinstance(value, Decimal) for value in series.to_list())


def bytes_of(series: "nw.Series[Any]") -> bytes:
    """Return bytes for the checksum of a column without canonical texts; different values may have equal bytes."""
    return repr([value.tolist() if hasattr(value, "tolist") else value for value in series.to_list()]).encode()


def worded(frame: "nw.DataFrame[Any]") -> list[str]:
    """Return the columns that must be rebuilt as texts of the published rows only.

    A category dictionary, or the memory that a column of texts shares with a longer one, may contain values of
    unpublished rows. Objects are rebuilt because equal objects may have different texts.
    """
    return [
        name
        for name, kind in frame.schema.items()
        if not (kind.is_numeric() or kind.is_temporal() or isinstance(kind, nw.Boolean))
    ]


def plain_values(frame: "nw.DataFrame[Any]") -> "nw.DataFrame[Any]":
    """Return the frame with one representation of each number and timestamp.

    -0.0 becomes 0.0, NaN becomes missing, and timestamps have microseconds, as in the counts.
    """
    columns = [_zeroed(name, kind) for name, kind in frame.schema.items() if isinstance(kind, FLOATS)]
    if frame.implementation.is_polars():
        columns += [_in_microseconds(name, kind) for name, kind in frame.schema.items() if _is_finer(kind)]
    return frame.with_columns(*columns) if columns else frame


def _zeroed(name: str, kind: Any) -> "nw.Expr":
    column = nw.col(name)
    return nw.when(column == 0).then(0.0).otherwise(column).cast(kind).fill_nan(None).alias(name)


def _is_finer(kind: Any) -> bool:
    return isinstance(kind, nw.Datetime) and kind.time_unit == "ns"


def _in_microseconds(name: str, kind: Any) -> "nw.Expr":
    return nw.col(name).cast(nw.Datetime("us", kind.time_zone))


def copies_on_write() -> bool:
    """Return whether pandas frames that share memory are copied when one of them is changed."""
    import pandas

    return int(pandas.__version__.partition(".")[0]) >= 3


def handed_over(frame: "nw.DataFrame[Any]") -> Any:
    """Return the frame for the caller, whose changes do not affect the engine."""
    if frame.implementation.is_pandas() and copies_on_write():
        return frame.to_native().copy(deep=False)
    return frame.clone().to_native()


def bare(frame: "nw.DataFrame[Any]") -> "nw.DataFrame[Any]":
    """Return the frame with its columns only: without index, attributes, metadata and axis names.

    An index contains the caller's row names or numbers, which would undo a shuffle and reveal dropped rows.
    """
    native = frame.to_native()
    if frame.implementation.is_pandas():
        import pandas

        index = pandas.RangeIndex(len(frame))
        # Columns are passed as series, which pandas copies when they change. With arrays, both frames would change.
        columns = {name: native[name].set_axis(index) for name in frame.columns}
        native = pandas.DataFrame(columns, index=index, copy=not copies_on_write())
    elif frame.implementation.is_pandas_like():
        native = native.reset_index(drop=True)
    elif frame.implementation.is_pyarrow():
        import pyarrow

        native = pyarrow.table({name: native[name] for name in frame.columns})
    return nw.from_native(native, eager_only=True)
