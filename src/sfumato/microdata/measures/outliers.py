"""Rows that few columns already make unique, and that therefore force generalization.

The fewer columns make a row unique, the more it forces (special uniques: Elliot, M., Manning, A., Ford, R. (2002). A
computational algorithm for handling the special uniques problem, https://doi.org/10.1142/S0218488502001600). A row
unique by one column forces this column to a higher level; a row unique only by all columns together is protected by a
small generalization of any of them.
"""

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.measures.regrouping import Regrouper
from sfumato.microdata.measures.uniques.special_uniques import SpecialUniques
from sfumato.microdata.models.classes import histogram
from sfumato.microdata.models.persons import PERSONS, persons_in

MOST_COLUMNS = 3
# Combinations times sets of columns that may be gone through, about a second of work.
MAX_WORK = 60_000_000


@dataclass(frozen=True, slots=True)
class Outliers:
    """Unique rows by the fewest columns that single them out.

    Attributes:
        by_columns: For 1, 2, … columns, how many rows so many columns are enough for and no fewer.
        more: Unique rows for which more columns are needed.
        columns: For each column, how many rows it singles out alone: where a column names persons, the rows of those
        who have a value that nobody else has. Empty where the table is too large to try.
        combinations: Places, in the frequency table, of the rows that one or two columns single out.
    """

    by_columns: tuple[int, ...]
    more: int
    columns: tuple[tuple[str, int], ...]
    combinations: tuple[int, ...] = ()


def outliers(table: FrequencyTable, most_work: int = MAX_WORK, special: SpecialUniques | None = None) -> Outliers:
    """Find the outliers of a table, by up to three columns (fewer where the table is very large or wide).

    Args:
        special: The special uniques of the table, where they are known: they tell the same.
    """
    reach = _reach(table, most_work)
    known = special is not None and (special.complete or special.largest >= reach)
    fewest, alone = _fewest_of(special, table, reach) if special and known else _fewest(table, reach)
    if reach and table.persons:
        alone = _alone_by_persons(table)
    deepest = int(fewest[fewest < len(table.columns) + 1].max(initial=0))
    by_columns = tuple(int((fewest == width).sum()) for width in range(1, deepest + 1))
    unique = int((table.counts == 1).sum())
    return Outliers(
        by_columns,
        unique - sum(by_columns),
        tuple(zip(table.columns, alone, strict=False)),
        # A table of one column has none that two single out: there 2 stands for rows that nothing does.
        tuple(np.flatnonzero(fewest <= min(2, len(table.columns))).tolist()),
    )


def _reach(table: FrequencyTable, most_work: int) -> int:
    """How many columns at once are tried."""
    width, work = len(table.columns), 0
    for columns in range(1, min(MOST_COLUMNS, width) + 1):
        work += comb(width, columns) * len(table.counts)
        if work > most_work:
            return columns - 1
    return min(MOST_COLUMNS, width)


def _fewest_of(special: SpecialUniques, table: FrequencyTable, reach: int) -> tuple[npt.NDArray[np.int64], list[int]]:
    """The same as `_fewest`, from special uniques."""
    enough = (special.fewest > 0) & (special.fewest <= reach)
    fewest = np.where(enough, special.fewest, len(table.columns) + 1).astype(np.int64)
    return fewest, list(special.singled_out) if reach else []


def _fewest(table: FrequencyTable, reach: int) -> tuple[npt.NDArray[np.int64], list[int]]:
    """For each combination the fewest columns that make it unique, and for each column how many it makes so."""
    grouper = Regrouper(table)
    width = len(table.columns)
    fewest = np.full(len(table.counts), width + 1)
    alone = []
    for columns in range(1, reach + 1):
        for chosen in combinations(range(width), columns):
            owners, sizes = grouper.sizes_by(chosen)
            unique = sizes[owners] == 1
            fewest[unique & (fewest > columns)] = columns
            if columns == 1:
                alone.append(int(unique.sum()))
    return fewest, alone


def _alone_by_persons(table: FrequencyTable) -> list[int]:
    """For each column the rows whose value only rows of one person have."""
    grouper, members = Regrouper(table), table.persons[PERSONS]
    alone = []
    for place in range(len(table.columns)):
        owners, sizes = grouper.sizes_by((place,))
        by_value = histogram(owners[members.owners], members.values, members.counts, len(sizes), members.size)
        alone.append(int(sizes[persons_in(by_value) == 1].sum()))
    return alone
