"""Dictionary-encoded text columns: each distinct text is stored once, each row takes four bytes."""

from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

Text = str | None
Codes = npt.NDArray[np.int32]


class CodedTexts(Sequence[Text]):
    """A column of texts, stored as codes.

    >>> column = CodedTexts.of(["b", "a", "b", None])
    >>> list(column), column[1], column.mapped(lambda texts: ["x" for _ in texts])[3]
    (['b', 'a', 'b', None], 'a', 'x')
    """

    def __init__(self, texts: Sequence[Text], codes: Codes) -> None:
        self._texts, self._codes = texts, codes

    @classmethod
    def of(cls, texts: Sequence[Text]) -> "CodedTexts":
        """Encode a column of texts."""
        if isinstance(texts, CodedTexts):
            return texts
        places: dict[Text, int] = {}
        codes = np.fromiter((places.setdefault(text, len(places)) for text in texts), np.int32, len(texts))
        return cls(tuple(places), codes)

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, place: int) -> Text: ...
    @overload
    def __getitem__(self, place: slice) -> "CodedTexts": ...
    def __getitem__(self, place: int | slice) -> "Text | CodedTexts":
        return (
            CodedTexts(self._texts, self._codes[place]) if isinstance(place, slice) else self._texts[self._codes[place]]
        )

    def __iter__(self) -> Iterator[Text]:
        return map(self._texts.__getitem__, self._codes.tolist())

    def taken(self, places: npt.NDArray[np.int64]) -> "CodedTexts":
        """Return the texts of the rows at these positions."""
        return CodedTexts(self._texts, self._codes[places])

    def joined(self, others: "CodedTexts") -> "CodedTexts":
        """Return these rows followed by others."""
        places = {text: place for place, text in enumerate(self._texts)}
        codes = np.array([places.setdefault(text, len(places)) for text in others._texts], np.int32)
        return CodedTexts(tuple(places), np.concatenate([self._codes, codes[others._codes]]))

    def mapped(self, change: Callable[[Sequence[Text]], Sequence[Text]]) -> "CodedTexts":
        """Return the column with each distinct text replaced by the result of a function."""
        changed = CodedTexts.of(change(self._texts))
        return CodedTexts(changed._texts, changed._codes[self._codes])

    @property
    def distinct(self) -> tuple[tuple[Text, ...], Codes]:
        """The distinct texts in order of first occurrence, and the code of each row."""
        rows = np.full(len(self._texts), len(self._codes), np.int64)
        rows[self._codes[::-1]] = np.arange(len(self._codes))[::-1]  # the first row of each is written last
        present = np.argsort(rows, kind="stable")[: int((rows < len(self._codes)).sum())]
        places = np.zeros(len(rows), np.int32)
        places[present] = np.arange(len(present), dtype=np.int32)
        return tuple(self._texts[place] for place in present.tolist()), places[self._codes]
