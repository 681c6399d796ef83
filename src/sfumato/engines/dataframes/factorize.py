"""Find equal values of a column with the frame's own library, which is much faster than value by value."""

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.engines.dataframes.arrow_strings import numbered_texts

Codes = npt.NDArray[np.int32]
# Indices of rows, from 0.
Rows = npt.NDArray[np.int64]
# Types of which values equal to the library have equal texts; this fails for floats, objects and timestamps with zones.
EXACT = (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Date)
# Python types whose values are equal only if their texts are.
PLAIN = {str, float, type(None)}
# Maximum length of a lookup table from minimum to maximum, as a multiple of the column's length.
MOST_SPAN = 4


def numbered_rows(series: "nw.Series[Any]") -> tuple[Codes, list[Any]] | None:
    """Return a code for each row, shared by rows with equal values, and the value of each code.

    Codes are numbered from 0 in row order. The result is None if the library cannot decide, or if values equal to it
    may have different texts.
    """
    if not len(series):
        return None
    told = _told(series)
    if told is not None:
        return told
    made = _numbered(series)
    if made is None:
        return None
    codes, firsts = _as_they_come(_dense(made))
    return codes, series[firsts.tolist()].to_list()


def _told(series: "nw.Series[Any]") -> tuple[Codes, list[Any]] | None:
    """Return codes and texts of a complete text column, which libraries number in row order; None for others."""
    if not isinstance(series.dtype, nw.String):
        return None
    told = numbered_texts(series)
    if told is not None or series.null_count():
        return told
    native = series.to_native()
    if series.implementation.is_polars():
        import polars

        distinct = native.unique(maintain_order=True)
        # A separate enumeration, because categories would be kept in a table of the whole process.
        return native.cast(polars.Enum(distinct)).to_physical().to_numpy().astype(np.int32), distinct.to_list()
    if series.implementation.is_pandas() and native.dtype != object:
        import pandas

        codes, values = pandas.factorize(native)
        return codes.astype(np.int32), list(values)
    return None


def _numbered(series: "nw.Series[Any]") -> npt.NDArray[Any] | None:
    """Return for each row an integer that is the same for equal values."""
    kind = series.dtype
    if series.implementation.is_pandas():
        return _of_pandas(series.to_native(), kind)
    if not (isinstance(kind, EXACT) or kind.is_integer()):
        return None
    if series.implementation.is_polars():
        return _of_polars(series.to_native(), kind)
    return _of_arrow(series.to_native()) if series.implementation.is_pyarrow() else None


def _of_pandas(native: Any, kind: Any) -> npt.NDArray[Any] | None:
    import pandas

    if isinstance(native.dtype, pandas.CategoricalDtype):
        return np.asarray(native.cat.codes)
    if isinstance(native.dtype, np.dtype) and native.dtype.kind in "iub":
        return np.asarray(native.to_numpy())
    exact = set(map(type, native.to_numpy())) <= PLAIN if native.dtype == object else isinstance(kind, nw.String)
    return np.asarray(pandas.factorize(native)[0]) if exact else None


def _of_polars(native: Any, kind: Any) -> npt.NDArray[Any]:
    import polars

    if isinstance(kind, nw.String):
        native = native.cast(polars.Enum(native.drop_nulls().unique(maintain_order=True)))
    numbers = native.to_physical()
    if not numbers.null_count():
        return np.asarray(numbers.to_numpy())
    # Codes without gaps leave a number for the missing value.
    there = numbers.is_not_null().to_numpy()
    codes = np.full(len(numbers), -1, np.int64)
    codes[there] = _dense(np.asarray(numbers.drop_nulls().to_numpy()))
    return codes


def _of_arrow(native: Any) -> npt.NDArray[Any] | None:
    encoded = native.dictionary_encode().unify_dictionaries()
    parts = [np.asarray(chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)) for chunk in encoded.chunks]
    return np.concatenate(parts) if parts else None


def _dense(numbers: npt.NDArray[Any]) -> Codes:
    """Return the numbers as codes from 0 without gaps."""
    if not len(numbers):
        return np.zeros(0, np.int32)
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= MOST_SPAN * len(numbers):
        return np.asarray(np.unique(numbers, return_inverse=True)[1].reshape(-1), np.int32)
    # Large unsigned numbers, and differences of short signed ones, do not fit into their own type.
    unsigned = numbers.dtype.kind == "u"
    places = (numbers - numbers.dtype.type(least)).astype(np.int64) if unsigned else numbers.astype(np.int64) - least
    occurs = np.zeros(most - least + 1, bool)
    occurs[places] = True
    codes: Codes = (np.cumsum(occurs) - 1).astype(np.int32)[places]
    return codes


def _as_they_come(codes: Codes) -> tuple[Codes, Rows]:
    """Return the codes renumbered in row order, and the first row of each."""
    firsts = first_rows(codes)
    order = np.argsort(firsts)
    if (order[1:] > order[:-1]).all():
        return codes, firsts
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places[codes], firsts[order]


def first_rows(codes: Codes) -> Rows:
    """Return the first row of each code."""
    firsts = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return firsts
