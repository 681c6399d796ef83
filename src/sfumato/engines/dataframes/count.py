"""Count a frame: number the texts of its columns, and group rows by these numbers."""

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts import row_kernels
from sfumato.microdata.counts.combinations import Packing, Words, counted_words, packing_of
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.native.dispatch import way

Codes = npt.NDArray[np.int32]
# Above this number of distinct texts, the frame's own library finds equal texts.
MOST_TEXTS = 1 << 14
# Arrow's library is not imported for fewer rows.
MANY_ROWS = 100_000
# Texts are copied three words at a time, which may reach beyond the last one.
BYTES_BEHIND = 24
# The maximum of 32-bit offsets.
MOST_BYTES = (1 << 31) - 1


def numbered_texts(series: "nw.Series[Any]") -> tuple[Codes, list[str]] | None:
    """Return the code of each row's text in order of appearance, and the texts; None if any text is missing."""
    if way() != "native" or not _has_arrow(len(series)):
        return None
    codes, numbers, begin = np.empty(len(series), np.int32), dict[str, int](), 0
    for part in _parts(series):
        told = not len(part) or (not part.null_count and _number_part(part, codes[begin : begin + len(part)], numbers))
        if not told or len(numbers) > MOST_TEXTS:
            return None
        begin += len(part)
    return (codes, list(numbers)) if begin == len(codes) else None


def _has_arrow(rows: int) -> bool:
    return "pyarrow" in sys.modules or (rows >= MANY_ROWS and find_spec("pyarrow") is not None)


def _parts(series: "nw.Series[Any]") -> Iterator[Any]:
    """Yield a column as Arrow arrays without copying; nothing if it is stored otherwise."""
    native = series.to_native()
    if series.implementation.is_polars():
        import polars

        for part in native.get_chunks():
            yield part.to_arrow(compat_level=polars.CompatLevel.newest())
    elif series.implementation.is_pyarrow():
        yield from native.chunks
    elif getattr(native.dtype, "storage", "") == "pyarrow":
        held = native.array.__arrow_array__()
        yield from getattr(held, "chunks", [held])


def _number_part(part: Any, codes: Codes, numbers: dict[str, int]) -> bool:
    """Number the texts of an array, continuing with new ones, and return whether that succeeded."""
    firsts = np.empty(MOST_TEXTS, np.int64)
    kind, begin, end = str(part.type), part.offset, part.offset + len(part)
    if kind == "string_view":
        views = np.frombuffer(part.buffers()[1], np.uint64).reshape(-1, 2)[begin:end]
        many = row_kernels.number_views(views, MOST_TEXTS, firsts, codes)
    elif kind in ("string", "large_string"):
        _, places, texts = part.buffers()
        short = kind == "string"
        offsets = np.frombuffer(places, np.int32) if short else np.frombuffer(places, np.int64)
        data = np.frombuffer(texts or b"", np.uint8)
        many = row_kernels.number_texts(offsets[begin : end + 1], data, MOST_TEXTS, firsts, codes)
    else:
        return False
    if many < 0:
        return False
    distinct = [part[row].as_py() for row in firsts[:many].tolist()]
    local = np.array([numbers.setdefault(text, len(numbers)) for text in distinct], np.int32)
    if not np.array_equal(local, np.arange(many)):
        row_kernels.look_up(local, codes.copy(), codes)
    return True


def repeated(series: "nw.Series[Any]", texts: Sequence[str | None], codes: Codes) -> "nw.Series[Any] | None":
    """Return a column with distinct texts at the given codes; None if the column is not stored as in Arrow.

    Libraries index columns of any type; for complete text columns, that takes twice as long.
    """
    if way() != "native" or len(codes) < MANY_ROWS or not _has_arrow(len(codes)):
        return None
    native = series.to_native()
    if series.implementation.is_pyarrow():
        laid = _laid(texts, codes, str(native.type))
    elif getattr(getattr(native, "dtype", None), "storage", "") == "pyarrow":
        laid = _laid(texts, codes, str(native.array.__arrow_array__().type))
        laid = None if laid is None else native.dtype.__from_arrow__(laid)
    else:
        return None
    return None if laid is None else nw.new_series(series.name, laid, backend=series.implementation)


def _laid(texts: Sequence[str | None], codes: Codes, kind: str) -> Any:
    """Return an Arrow array with the texts at the given codes; None if one is missing, or they are too long."""
    import pyarrow

    parts = [text.encode() for text in texts if text is not None]
    if kind not in ("string", "large_string") or len(parts) < len(texts):
        return None
    lengths = np.array([len(part) for part in parts], np.int64)
    short, rows = kind == "string", len(codes)
    offsets = np.empty(rows + 1, np.int32) if short else np.empty(rows + 1, np.int64)
    many = row_kernels.place_texts(lengths, codes, offsets)
    if short and many > MOST_BYTES:
        return None
    data = np.frombuffer(b"".join([*parts, bytes(BYTES_BEHIND)]), np.uint8)
    laid = np.empty(many + BYTES_BEHIND, np.uint8)
    row_kernels.lay_texts(data, np.cumsum(lengths) - lengths, codes, offsets, laid)
    array = pyarrow.StringArray if short else pyarrow.LargeStringArray
    return array.from_buffers(rows, pyarrow.py_buffer(offsets), pyarrow.py_buffer(laid[:many]))


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


Numbers = npt.NDArray[np.float64]
# The distinct texts of a column and, for each row, the index of its text.
Coded = tuple[tuple[str | None, ...], Codes]
# Rows to keep: indices, or all.
Kept = npt.NDArray[np.int64] | slice
ALL = slice(None)
# Types of which equal values have the same text; other values are compared by their texts.
SAME_TEXT = {str, int, bool, float, date, datetime}
# Types of columns that contain double-precision numbers only; a missing value is NaN.
FLOATS = {float, type(None)}


def count_rows(columns: Sequence[str], coded: Sequence[Coded], keep: Kept, rows: int) -> ValueCounts:
    """Count the distinct combinations of columns among the kept rows; `rows` is the total number."""
    present = [*coded] if isinstance(keep, slice) else [occurring(*entry, keep) for entry in coded]
    values = tuple(texts for texts, _ in present)
    packing = packing_of([max(len(texts), 1) for texts in values])
    if not coded or packing.words > 1:
        return _count_wide(columns, present, rows)
    keys, counts = counted_words(packed([codes for _, codes in present], packing))
    return ValueCounts(tuple(columns), values, packing.unpack(keys.reshape(1, -1)), counts, rows)


def _count_wide(columns: Sequence[str], present: Sequence[Coded], rows: int) -> ValueCounts:
    """Count combinations if the codes of a row do not fit into one word."""
    codes = np.column_stack([codes for _, codes in present]) if present else np.zeros((0, 0), np.int32)
    values = tuple(texts for texts, _ in present)
    codes = codes[packing_of([max(len(texts), 1) for texts in values]).order(codes)]
    first = np.ones(len(codes), bool)
    first[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(codes))).astype(np.int64)
    return ValueCounts(tuple(columns), values, np.ascontiguousarray(codes[starts]), counts, rows)


def packed(columns: Sequence[Codes], packing: Packing, tables: Sequence[Codes] | None = None) -> Words:
    """Return the codes of each row packed into one word; no matrix of all codes is made.

    Args:
        tables: For each column a table that replaces its codes, or None.
    """
    keys = np.zeros(len(columns[0]), np.uint64)
    for place, (column, shift) in enumerate(zip(columns, packing.shift, strict=True)):
        if tables is None:
            row_kernels.pack_codes(column, packing.shift, place, keys)
        else:
            row_kernels.pack_looked_up(tables[place].astype(np.uint64) << shift, column, keys)
    return keys


def occurring(texts: tuple[str | None, ...], codes: Codes, rows: Kept) -> Coded:
    """Return the texts that occur in some rows, and the code of each of these rows."""
    taken, occurs = codes[rows], np.zeros(len(texts), bool)
    row_kernels.mark_codes(taken, occurs)
    if occurs.all():
        return texts, taken
    places = (np.cumsum(occurs) - 1).astype(np.int32)
    return tuple(text for text, there in zip(texts, occurs.tolist(), strict=True) if there), places[taken]


def factorize(values: list[Any], written: Callable[[Any], str | None]) -> Coded:
    """Return the distinct texts of a list of values, and the code of each value."""
    numbers = floats_of(values)
    if numbers is not None:
        return _factorize_floats(numbers, written)
    told_apart = _distinguishable(values, written)
    # Two passes in C take a third of the time of one pass in Python.
    places = {value: place for place, value in enumerate(dict.fromkeys(told_apart))}
    codes = np.fromiter(map(places.__getitem__, told_apart), np.int32, len(values))
    return coded_of([values[row] for row in first_rows(codes).tolist()], codes, written)


def coded_of(distinct: Sequence[Any], codes: Codes, written: Callable[[Any], str | None]) -> Coded:
    """Return the distinct texts of values, and the code of each row's text; `codes` has the value of each row."""
    texts: dict[str | None, int] = {}
    recode = np.fromiter((texts.setdefault(written(value), len(texts)) for value in distinct), np.int32, len(distinct))
    if len(texts) == len(recode):  # each value has its own text
        return tuple(texts), codes
    return tuple(texts), recode[codes]


def _factorize_floats(numbers: Numbers, written: Callable[[Any], str | None]) -> Coded:
    """Return the distinct texts and codes of numbers, by sorting: measurements have nearly as many values as rows."""
    distinct, firsts, codes = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return tuple(map(written, distinct[order].tolist())), places[codes.reshape(-1)]


def strings_of(values: list[Any], written: Callable[[Any], str | None]) -> list[str | None]:
    """Return the text of each value; equal numbers are formatted once."""
    numbers = floats_of(values)
    if numbers is None:
        return list(map(written, values))
    distinct, codes = np.unique(numbers, return_inverse=True)
    texts: list[str | None] = np.array([*map(written, distinct.tolist())], object)[codes.reshape(-1)].tolist()
    return texts


def floats_of(values: list[Any]) -> Numbers | None:
    """Return double-precision numbers, NaN if missing; None for values of other types."""
    return np.array(values, np.float64) if set(map(type, values)) <= FLOATS else None


def plain_floats(numbers: Numbers) -> Numbers:
    """Return the numbers with one sign of zero and one NaN, as in their texts."""
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0)


def _distinguishable(values: list[Any], written: Callable[[Any], str | None]) -> list[Any]:
    """Return the values in a form in which they are equal only if their texts are."""
    kinds = set(map(type, values)) - {type(None)}
    if not kinds <= SAME_TEXT:
        return list(map(written, values))
    return values if len(kinds) <= 1 else list(zip(map(type, values), values, strict=True))
