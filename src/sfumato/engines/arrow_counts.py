"""Convert combinations that an engine grouped and returned as Arrow to frequency counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines.canonical_text import as_text, short_text
from sfumato.errors import extra_part
from sfumato.microdata.counts.frequency_table import ValueCounts


def text_counts(columns: Sequence[str], grouped: Any, rows: int | None = None) -> ValueCounts:
    """Convert an Arrow table of combinations to counts.

    Args:
        columns: The names of the columns, in the order of the keys.
        grouped: An Arrow table whose last column is the number of rows of each combination; keys are texts or numbers.
        rows: The number of all rows of the source, if it is not the sum of those counted.
    """
    coded = [_coded(grouped.column(place)) for place in range(len(columns))]
    counts = np.asarray(grouped.column(len(columns)).to_numpy(), np.int64)
    codes = np.column_stack([codes for _, codes in coded]) if coded else np.zeros((0, 0), np.int32)
    whole = int(counts.sum()) if rows is None else rows
    return ValueCounts(tuple(columns), tuple(texts for texts, _ in coded), codes, counts, whole)


def _coded(column: Any) -> tuple[tuple[str | None, ...], npt.NDArray[np.int32]]:
    """Return the distinct texts of an Arrow column, and the code of each entry."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return (), np.zeros(0, np.int32)
    values = encoded.chunk(0).dictionary
    written = short_text if str(values.type) == "float" else as_text
    texts: list[str | None] = [written(value) for value in values.to_pylist()]
    parts = [_places(chunk.indices, len(texts)) for chunk in encoded.chunks]
    return (*texts, *([None] if column.null_count else [])), np.concatenate(parts)


def _places(indices: Any, missing: int) -> npt.NDArray[np.int32]:
    return np.asarray(indices.fill_null(missing).to_numpy(zero_copy_only=False), np.int32)


def arrow(extra: str = "frames") -> Any:
    """Import the Arrow library; `extra` is the name of the extra to install if it is missing."""
    with extra_part("pyarrow", extra):
        import pyarrow
    return pyarrow
