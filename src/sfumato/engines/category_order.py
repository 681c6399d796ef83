"""The order in which the texts of a column are numbered, the same for all engines."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Texts = tuple[str | None, ...]


def ordered(texts: Sequence[str | None]) -> Texts:
    """Return texts in code order: by their characters, the missing value last."""
    present = sorted(text for text in texts if text is not None)
    return (*present, *([None] * (len(texts) - len(present))))


def numbered(texts: Sequence[str | None]) -> tuple[Texts, npt.NDArray[np.int32]]:
    """Return the ordered distinct texts of a column, and the code of each text.

    >>> numbered(["b", None, "a", "b"])
    (('a', 'b', None), array([1, 2, 0, 1], dtype=int32))
    """
    distinct = ordered([*{*texts}])
    places = {text: code for code, text in enumerate(distinct)}
    return distinct, np.fromiter(map(places.__getitem__, texts), np.int32, len(texts))
