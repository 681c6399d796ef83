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
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures.subset_grouping import Regrouper
from sfumato.microdata.measures.uniques.special_uniques import SpecialUniques
from sfumato.microdata.models.equivalence_classes import histogram
from sfumato.microdata.models.persons import PERSONS, persons_in

MOST_COLUMNS = 3
# Limit of the work, about a second: combinations times sets of columns.
MAX_WORK = 60_000_000


@dataclass(frozen=True, slots=True)
class MinimalUniques:
    """Unique rows by the smallest number of columns that make them unique.

    Attributes:
        by_columns: For 1, 2, … columns, how many rows need exactly so many columns to be unique.
        more: Unique rows for which more columns are needed.
        columns: For each column, how many rows it makes unique alone; with a person column, the rows of persons
        with a value that no other person has. Empty if the table is too large.
        combinations: Indices, in the frequency table, of the rows that one or two columns make unique.
    """

    by_columns: tuple[int, ...]
    more: int
    columns: tuple[tuple[str, int], ...]
    combinations: tuple[int, ...] = ()


def outliers(table: FrequencyTable, most_work: int = MAX_WORK, special: SpecialUniques | None = None) -> MinimalUniques:
    """Find rows that up to three columns make unique (fewer if the table is very large or wide).

    Args:
        special: The special uniques of the table, if already computed: they contain the result.
    """
    reach = _reach(table, most_work)
    known = special is not None and (special.complete or special.largest >= reach)
    fewest, alone = _fewest_of(special, table, reach) if special and known else _fewest(table, reach)
    if reach and table.persons:
        alone = _alone_by_persons(table)
    deepest = int(fewest[fewest < len(table.columns) + 1].max(initial=0))
    by_columns = tuple(int((fewest == width).sum()) for width in range(1, deepest + 1))
    unique = int((table.counts == 1).sum())
    return MinimalUniques(
        by_columns,
        unique - sum(by_columns),
        tuple(zip(table.columns, alone, strict=False)),
        # A table of one column has no row that two make unique: 2 means rows that nothing makes unique there.
        tuple(np.flatnonzero(fewest <= min(2, len(table.columns))).tolist()),
    )


def _reach(table: FrequencyTable, most_work: int) -> int:
    """Return how many columns at once are tried."""
    width, work = len(table.columns), 0
    for columns in range(1, min(MOST_COLUMNS, width) + 1):
        work += comb(width, columns) * len(table.counts)
        if work > most_work:
            return columns - 1
    return min(MOST_COLUMNS, width)


def _fewest_of(special: SpecialUniques, table: FrequencyTable, reach: int) -> tuple[npt.NDArray[np.int64], list[int]]:
    """Return the result of `_fewest`, from special uniques."""
    enough = (special.fewest > 0) & (special.fewest <= reach)
    fewest = np.where(enough, special.fewest, len(table.columns) + 1).astype(np.int64)
    return fewest, list(special.singled_out) if reach else []


def _fewest(table: FrequencyTable, reach: int) -> tuple[npt.NDArray[np.int64], list[int]]:
    """Return for each combination the fewest columns that make it unique, and for each column how many it makes so."""
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
    """Return for each column the rows whose value only rows of one person have."""
    grouper, members = Regrouper(table), table.persons[PERSONS]
    alone = []
    for place in range(len(table.columns)):
        owners, sizes = grouper.sizes_by((place,))
        by_value = histogram(owners[members.owners], members.values, members.counts, len(sizes), members.size)
        alone.append(int(sizes[persons_in(by_value) == 1].sum()))
    return alone
