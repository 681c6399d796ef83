"""Number the texts of Arrow columns in place, and build columns from numbers, copying each text only once."""

import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts import row_kernels, text_kernels
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
        told = not len(part) or (not part.null_count and _numbered(part, codes[begin : begin + len(part)], numbers))
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


def _numbered(part: Any, codes: Codes, numbers: dict[str, int]) -> bool:
    """Number the texts of an array, continuing with new ones, and return whether that succeeded."""
    firsts = np.empty(MOST_TEXTS, np.int64)
    kind, begin, end = str(part.type), part.offset, part.offset + len(part)
    if kind == "string_view":
        views = np.frombuffer(part.buffers()[1], np.uint64).reshape(-1, 2)[begin:end]
        many = text_kernels.number_views(views, MOST_TEXTS, firsts, codes)
    elif kind in ("string", "large_string"):
        _, places, texts = part.buffers()
        short = kind == "string"
        offsets = np.frombuffer(places, np.int32) if short else np.frombuffer(places, np.int64)
        data = np.frombuffer(texts or b"", np.uint8)
        many = text_kernels.number_texts(offsets[begin : end + 1], data, MOST_TEXTS, firsts, codes)
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
    many = text_kernels.place_texts(lengths, codes, offsets)
    if short and many > MOST_BYTES:
        return None
    data = np.frombuffer(b"".join([*parts, bytes(BYTES_BEHIND)]), np.uint8)
    laid = np.empty(many + BYTES_BEHIND, np.uint8)
    text_kernels.lay_texts(data, np.cumsum(lengths) - lengths, codes, offsets, laid)
    array = pyarrow.StringArray if short else pyarrow.LargeStringArray
    return array.from_buffers(rows, pyarrow.py_buffer(offsets), pyarrow.py_buffer(laid[:many]))
