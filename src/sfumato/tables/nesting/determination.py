"""Find columns of records that determine another one, alone or together, except for a few erroneous records."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Mask, Numbers, Places
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.nesting.nested_codes import codes_within
from sfumato.tables.nesting.record_codes import Names, RecordCodes, names_in

# The columns of each of some dimensions.
Dimensions = tuple[Names, ...]
# One column determines another where no record is off, though some could be; or so few of those that would be, had they
# nothing to do with each other, and where at least one would be.
OFF, LEAST = 0.1, 1.0
# Of columns that only together determine one there are many, and codes of several nearly name a record: so these must
# be fewer, and would be more.
CROSSED_OFF, CROSSED_LEAST = 0.03, 10.0
# So many dimensions of a table are tried together.
MOST_CROSSED = 3


@dataclass(frozen=True, slots=True)
class _Fit:
    """The share of records that may be off of those that would be, and how many would have to be at least.

    Where none is off, more than `certain` would have to be: in few records that may be chance; but readers may know
    that it is none.
    """

    off: float = OFF
    least: float = LEAST
    certain: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """Columns that tell of each other.

    Attributes:
        columns: The columns.
        odd: The rows in which those that determine another one do not.
        fine: Those that determine the other one; none where only some of their codes tell of each other.
    """

    columns: frozenset[str]
    odd: Mask
    fine: Names = ()


def single_links(
    records: RecordCodes, dimensions: Iterable[Names], names: Sequence[str], hierarchies: Sequence[tuple[str, Tree]]
) -> list[Link]:
    """The columns that a dimension determines by itself.

    Args:
        records: The records.
        dimensions: The columns of each dimension of the tables.
        names: The columns that may be determined.
        hierarchies: Columns with a hierarchy above their codes.
    """
    links = []
    for fine in dimensions:
        trees = [tree for name, tree in hierarchies if (name,) == fine]
        found = {name: odd_rows(records, fine, name, trees) for name in names if name not in fine}
        links += [Link(frozenset((*fine, name)), odd, fine) for name, odd in found.items() if odd is not None]
    return links


def crossed_links(
    records: RecordCodes,
    dimensions: Sequence[Names],
    tables: Sequence[frozenset[str]],
    names: Sequence[str],
    links: Sequence[Link],
) -> list[Link]:
    """The links of columns that determine another one only together, where a table crosses them.

    A type by Land and Kreis, where each Land counts its Kreise anew.

    Args:
        records: The records.
        dimensions: The columns of each dimension of the tables.
        tables: The columns of each table.
        names: The columns that may be determined.
        links: Those of single dimensions: where one of them does, others say no more.
    """
    known, fitting = list(links), _Fit(CROSSED_OFF, CROSSED_LEAST, certain=CROSSED_LEAST)
    for own in crossed_dimensions(dimensions, tables):
        fine = names_in(own)
        told = {name for link in known if set(link.fine) <= set(fine) for name in link.columns}
        for name in (name for name in names if name not in {*fine, *told}):
            odd = odd_rows(records, fine, name, fit=fitting)
            known += [] if odd is None else [Link(frozenset((*fine, name)), odd, fine)]
    return known[len(links) :]


def crossed_dimensions(dimensions: Sequence[Names], tables: Sequence[frozenset[str]]) -> Iterator[Dimensions]:
    """Two or more dimensions that a table crosses, fewer first."""
    for size in range(2, MOST_CROSSED + 1):
        for own in combinations(dimensions, size):
            fine = names_in(own)
            if len(set(fine)) == len(fine) and any(table.issuperset(fine) for table in tables):
                yield own


def unexplained(links: Sequence[Link]) -> list[Link]:
    """The links without those of nearly all records between columns that a third determines in all of them.

    A Kreis whose Gemeinden are nearly all towns does not tell what a Gemeinde is, and no record is wrong.
    """
    below: dict[Names, set[str]] = {}
    for link in links:
        if not link.odd.any():
            below.setdefault(link.fine, set()).update(link.columns)
    return [link for link in links if not link.odd.any() or not any(link.columns <= own for own in below.values())]


def odd_rows(
    records: RecordCodes, fine: Names, name: str, trees: Iterable[Tree] = (), fit: _Fit | None = None
) -> Mask | None:
    """The rows in which some columns do not determine another one, though they do in nearly all; None if they do not.

    Args:
        records: The records.
        fine: The columns that may determine it.
        name: The other column.
        trees: Hierarchies above the codes of the one fine column.
        fit: How few may be off.
    """
    odd, off, near = _off(records, fine, (name,), fit or _Fit())
    if off and near:
        # A Kreis of one large Gemeinde nearly tells it, but each Gemeinde tells its Kreis better.
        _, back, nearer = _off(records, (name,), fine, _Fit())
        return None if back < off and (nearer or not back) else odd
    if near:
        return odd
    if off:
        return None
    pairs = set(zip(records.codes[fine[0]], records.codes[name], strict=True))
    return odd if any(codes_within(tree, pairs) for tree in trees) else None


def _off(records: RecordCodes, fine: Names, coarse: Names, fit: _Fit) -> tuple[Mask, float, bool]:
    """The rows in which some columns do not determine others, how many records these are, and whether these are few."""
    odd, expected = _odd(records.numbers(fine), records.numbers(coarse), records.counts)
    off = float(records.counts[odd].sum())
    few = expected >= fit.least and off <= fit.off * expected
    return odd, off, few if off else expected > fit.certain


def _odd(fine: Places, coarse: Places, counts: Numbers) -> tuple[Mask, float]:
    """The rows whose coarse code is not that of most records of the fine one, and about how many records these were if
    both had nothing to do with each other."""
    size = int(coarse.max(initial=0)) + 1
    pairs, places = np.unique(fine * size + coarse, return_inverse=True)
    records = np.bincount(places, counts, len(pairs))
    order = np.lexsort((-records, pairs // size))
    first = np.append(True, np.diff(pairs[order] // size) > 0)
    main = np.zeros(len(pairs), bool)
    main[order[first]] = True
    shares = np.bincount(coarse, counts) / max(float(counts.sum()), 1.0)
    repeated = np.maximum(np.bincount(fine, counts) - 1.0, 0.0).sum()
    return ~main[places], float(repeated * (1.0 - shares @ shares))
