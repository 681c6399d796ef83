"""Count by integer codes in the embedded engine: encode columns, encode rows, group by codes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines.category_order import Texts
from sfumato.engines.duckdb.count_statements import CodeCounting, Counting, in_order
from sfumato.engines.duckdb.error_messages import changed
from sfumato.engines.duckdb.in_memory_persons import fits
from sfumato.hierarchies.levels import present_codes
from sfumato.microdata.counts.key_packing import Words, counted_words

# The texts of each column, and the codes and number of rows of each combination.
Combinations = tuple[tuple[Texts, ...], npt.NDArray[np.int32], npt.NDArray[np.int64]]
# The coding of columns, the packed codes of combinations, and their numbers of rows.
Coded = tuple[CodeCounting, Words, npt.NDArray[np.int64]]


class CountsByCodes:
    """Counts by codes if columns are dictionary-encoded with few texts."""

    def _by_codes(self: Any, counting: Counting) -> Combinations | None:
        """Return texts of columns, codes and rows of combinations; None if columns must be counted by texts."""
        kinds = self._dictionaries() if counting.columns else {}
        texts = in_order(self._run(counting.sampled())[0]) if kinds else None
        if texts is None:
            return None
        coding = counting.by_codes(texts, kinds)
        if coding.packing.words == 1 and fits(self._all_rows(), self.plan):
            coded = self._grouped_here(coding)
        else:
            coded = self._grouped(counting, kinds)
        if coded is None:
            return None
        coding, packed, counts = coded
        for name, entry in zip(counting.columns, coding.values, strict=True):
            self._known_texts[name, counting.reading.required] = entry
        return coding.values, coding.packing.unpack(packed), np.asarray(counts, np.int64)

    def _grouped_here(self: Any, coding: CodeCounting) -> Coded | None:
        """Group packed codes in memory; None if columns have too many texts.

        The first rows usually contain all texts. Otherwise the texts of rows without a code are queried.
        """
        keys = self._codes_of_rows(coding)
        if np.ma.is_masked(keys):
            further = self._run(coding.unknown())[0]
            texts = in_order([[*known, *(more or ())] for known, more in zip(coding.values, further, strict=True)])
            if texts is None:
                return None
            coding = coding.by_codes(texts, coding.kinds)
            if coding.packing.words > 1:
                grouped: Coded | None = self._grouped(coding, coding.kinds)
                return grouped
            keys = self._codes_of_rows(coding)
        words, counts = counted_words(_whole_codes(keys))
        if not _all_occur(coding, words):
            raise changed()
        return coding, words.reshape(1, -1), counts

    def _codes_of_rows(self: Any, coding: CodeCounting) -> Any:
        """Return the packed code of each row, masked if it has none."""
        for statement in coding.types():
            self._run(statement)
        return self._connection.execute(coding.codes_of_rows()).fetchnumpy()["k"]

    def _grouped(self: Any, counting: Counting, kinds: Mapping[str, str]) -> Coded | None:
        """Group packed codes in the database."""
        texts = in_order(self._run(counting.whole())[0])
        if texts is None:
            return None
        coding = counting.by_codes(texts, kinds)
        for statement in coding.types():
            self._run(statement)
        arrays = self._connection.execute(coding.group_by_codes()).fetchnumpy()
        packed = np.array([_whole_codes(arrays[f"k{word}"]) for word in range(coding.packing.words)])
        return coding, packed, arrays["n"]


def _all_occur(coding: CodeCounting, words: Words) -> bool:
    """Return whether each text of each column occurs in some combination."""
    codes = coding.packing.unpack(words.reshape(1, -1))
    return all(len(present_codes(codes[:, place])) == len(texts) for place, texts in enumerate(coding.values))


def _whole_codes(codes: Any) -> Words:
    """Return codes without missing ones.

    Raises:
        EngineError: A code is missing, because its text appeared during reading.
    """
    if np.ma.is_masked(codes):
        raise changed()
    return np.asarray(codes, np.uint64)
