"""Texts of a column numbered where they lie, as Arrow has them: no text is made but the different ones."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from sfumato.loops.compiled import way
from sfumato.microdata.counts import row_kernels, text_kernels

Codes = npt.NDArray[np.int32]
# Of more different texts than this the frame's own library tells which are the same.
MOST_TEXTS = 1 << 14
# What is loaded of a text at once reaches so many words behind it.
WORDS_BEHIND = 4
# For fewer rows Arrow's library is not loaded.
MANY_ROWS = 100_000


def numbered_texts(series: "nw.Series[Any]") -> tuple[Codes, list[str]] | None:
    """For each row of texts that are all there the number of its text, as they come, and the texts; None where not."""
    if way() != "native" or not _has_arrow(len(series)):
        return None
    codes, numbers, begin = np.empty(len(series), np.int32), dict[str, int](), 0
    for part in _parts(series):
        told = not len(part) or _numbered(part, codes[begin : begin + len(part)], numbers)
        if not told or len(numbers) > MOST_TEXTS:
            return None
        begin += len(part)
    return (codes, list(numbers)) if begin == len(codes) else None


def _has_arrow(rows: int) -> bool:
    return "pyarrow" in sys.modules or (rows >= MANY_ROWS and find_spec("pyarrow") is not None)


def _parts(series: "nw.Series[Any]") -> Iterator[Any]:
    """A column as arrays of Arrow that lie where the frame has them; nothing where it has them otherwise."""
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
    """Number the texts of a part, further ones as they come; whether that could be done."""
    firsts = np.empty(MOST_TEXTS, np.int64)
    kind, begin, end = str(part.type), part.offset, part.offset + len(part)
    if kind == "string_view":
        views = np.frombuffer(part.buffers()[1], np.uint64).reshape(-1, 2)[begin:end]
        many = text_kernels.number_views(views, MOST_TEXTS, firsts, codes)
    elif kind in ("string", "large_string"):
        _, places, texts = part.buffers()
        short = kind == "string"
        offsets = np.frombuffer(places, np.int32) if short else np.frombuffer(places, np.int64)
        first, last = int(offsets[begin]), int(offsets[end])
        words = _words(texts, first, last)
        many = text_kernels.number_texts(offsets[begin : end + 1], first, words, MOST_TEXTS, firsts, codes)
    else:
        return False
    if many < 0:
        return False
    distinct = [part[row].as_py() for row in firsts[:many].tolist()]
    local = np.array([numbers.setdefault(text, len(numbers)) for text in distinct], np.int32)
    if not np.array_equal(local, np.arange(many)):
        row_kernels.look_up(local, codes.copy(), codes)
    return True


def _words(texts: Any, first: int, last: int) -> npt.NDArray[np.uint64]:
    """The bytes of texts from one to before another in words, and as many words behind them as are looked at."""
    words = np.zeros((last - first) // 8 + 1 + WORDS_BEHIND, np.uint64)
    if last > first:
        words.view(np.uint8)[: last - first] = np.frombuffer(texts, np.uint8)[first:last]
    return words
