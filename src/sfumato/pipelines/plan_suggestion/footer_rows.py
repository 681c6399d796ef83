"""Detect footer rows: totals and notes below the data of a spreadsheet."""

import numpy as np

from sfumato.localization.messages import Message
from sfumato.pipelines.plan_suggestion.counted_rows import CountedRows

# A row is nearly empty if it has at most a quarter of the median number of values, and that median is large enough. A
# name and a sum may be up to a third.
_SOME_VALUES, _PART = 4, 4
_NAME_AND_SUM, _PART_OF_FEW = 2, 3
# More rows are not a footer: some values are unknown for many rows.
_MOST_ROWS, _MOST_SHARE = 3, 0.002


def footer_rows_note(rows: CountedRows) -> str | None:
    """Return a note if a few rows are nearly empty; None if there are none, or too many rows to check."""
    counts = rows.whole
    if counts is None or not len(counts.counts):
        return None
    values = np.zeros(len(counts.counts), np.int64)
    for place, texts in enumerate(counts.values):
        values += np.array([bool(text and not text.isspace()) for text in texts], bool)[counts.codes[:, place]]
    order = np.argsort(values)
    middle = int(values[order[np.searchsorted(np.cumsum(counts.counts[order]), counts.rows / 2)]])
    most = max(middle // _PART, min(_NAME_AND_SUM, middle // _PART_OF_FEW))
    few = int(counts.counts[values <= most].sum())
    if middle < _SOME_VALUES or not 0 < few <= max(_MOST_ROWS, _MOST_SHARE * counts.rows):
        return None
    return Message("note.nearly_empty", count=few)
