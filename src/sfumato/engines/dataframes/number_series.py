"""Series of numbers with missing values."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt


def number_series(name: str, numbers: Sequence[float | None], kind: Any, backend: Any) -> Any:
    """Return a series of numbers with missing values; in pandas, integers get a nullable type."""
    whole = kind is nw.Int64
    values = [None if number is None else int(number) if whole else number for number in numbers]
    if backend.__name__ == "pandas":
        return nw.from_native(
            backend.Series(values, name=name, dtype="Int64" if whole else "Float64"), series_only=True
        )
    return nw.new_series(name, values, kind, backend=backend)


def emptied(series: "nw.Series[Any]", absent: npt.NDArray[np.bool_]) -> "nw.Series[Any]":
    """Return a column without the values of some rows; integers of pandas get a nullable type."""
    if series.implementation.is_pandas():
        native = series.to_native()
        narrow = isinstance(native.dtype, np.dtype) and native.dtype.kind in "iub"
        return nw.from_native((native.convert_dtypes() if narrow else native).mask(absent), series_only=True)
    there = nw.new_series("there", (~absent).tolist(), nw.Boolean, backend=nw.get_native_namespace(series))
    return series.to_frame().select(nw.when(there).then(nw.col(series.name)).alias(series.name))[series.name]
