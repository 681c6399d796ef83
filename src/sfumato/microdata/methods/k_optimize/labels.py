"""Labels that K-Optimize publishes for blocks of values, and the recoding that a head describes.

- A single value is published unchanged; so is a rest of `isolate` that is a single value.
- All values together, the rest of `isolate`, and a block of the missing value and others are `*`.
- Neighbors of an ordered scale are an interval from the first to the last: `20-34`, `[55, 199)`, `none..mild`;
  intervals of original numbers end at round numbers between these values and the next, if there are some.
- Other blocks have the hierarchy's label if one covers exactly these values, else they are a set: `{Divorced,
  Widowed}`.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.types import inexact, numerals
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.cut_features import Alphabet, Codes, SearchSpace, State
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding, Labels, class_recoding
from sfumato.microdata.recoding.range_grid import number_grid

# Maximum distance of a range's ends from the smallest and largest value, as a share of the range.
_MARGIN = 10
_BRACKETS = re.compile(r"([\[(])([^,]+), ([^,]+)([\])])")
_DASH = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


def published(space: SearchSpace, state: State) -> tuple[Labels, ...]:
    """Return for each column the labels of its blocks, in the order of the blocks."""
    return tuple(_column_labels(space, state, column) for column in range(len(space.alphabets)))


def recoding_of(space: SearchSpace, state: State, table: FrequencyTable) -> ClassRecoding:
    """Return the recoding that publishes a head; classes are numbered by their labels, small ones are suppressed."""
    columns = range(len(space.alphabets))
    blocks = np.column_stack([space.blocks(state, column)[space.codes[:, column]] for column in columns])
    classes, owners = np.unique(blocks, axis=0, return_inverse=True)
    owners = owners.reshape(-1)[space.owners]
    sizes = np.bincount(owners, weights=table.counts, minlength=len(classes)).astype(np.int64)
    suppressed = sizes < space.instance.params[at.K]
    return class_recoding(table, owners, published(space, state), classes.astype(np.int32), sizes, suppressed)


def _column_labels(space: SearchSpace, state: State, column: int) -> Labels:
    alphabet, blocks = space.alphabets[column], space.blocks(state, column)
    members = [np.flatnonzero(blocks == block) for block in range(int(blocks.max()) + 1)]
    scale = bool(space.instance.params[at.ORDERED]) and _is_scale(alphabet.ladder)
    rest = -1 if space.instance.params[at.ORDERED] else len(members) - 1
    labels = [_label(alphabet, places, scale, block == rest) for block, places in enumerate(members)]
    return tuple(
        _set(alphabet, members[block]) if labels.count(label) > 1 and len(members[block]) > 1 else label
        for block, label in enumerate(labels)
    )


def _label(alphabet: Alphabet, places: Codes, scale: bool, rest: bool) -> str | None:
    """Return the label of one block."""
    labels = alphabet.labels
    if len(places) == 1:
        return labels[int(places[0])]
    if rest or len(places) == len(labels) or alphabet.missing in places:
        return STAR
    if scale:
        return _round_range(alphabet, places) or joined(str(labels[places[0]]), str(labels[places[-1]]))
    return _name(alphabet, places) or _set(alphabet, places)


def _round_range(alphabet: Alphabet, places: Codes) -> str | None:
    """Return the range of a block of original numbers; its ends are round, because a value may be one person's.

    None if values are no numbers, or are hierarchy labels, which reveal no person's value.
    """
    texts = [label for label in alphabet.labels if label is not None]
    numbers = numerals(texts)
    are_exact = bool(np.isfinite(numbers).all()) and not inexact(texts, numbers)
    if alphabet.level or not are_exact or (np.diff(numbers) <= 0).any():
        return None
    grid = number_grid(numbers)
    steps, ends = grid.below(numbers), grid.above(numbers)
    first, last = int(places[0]), int(places[-1])
    beyond = int(steps[-1] - steps[0]) // _MARGIN
    lowest = max(int(steps[0]) - beyond, 0) if steps[0] >= 0 else int(steps[0]) - beyond
    low = grid.roundest(int(steps[first - 1]) + 1 if first else lowest, int(steps[first]))
    if last + 1 < len(steps):
        high = grid.roundest(int(ends[last]) + 1, int(steps[last + 1])) - 1
    else:
        high = grid.roundest(int(ends[last]), int(ends[last]) + beyond)
    if high < ends[last]:  # no round number lies between the block and the next value
        return None
    low_text, high_text = grid.text(low), grid.text(high)
    return joined(low_text, high_text) if grid.decimals == 0 else f"{low_text}..{high_text}"


def _is_scale(ladder: Hierarchy) -> bool:
    """Return whether the values are numbers or dates in ascending order."""
    if ladder.numbers is not None:
        return True
    numbers = numerals([value for value in ladder.values if value is not None])
    return bool((np.diff(numbers) > 0).all()) and not np.isnan(numbers).any()


def joined(first: str, last: str) -> str:
    """Return the interval from one label to another.

    >>> joined("20-24", "30-34"), joined("17", "19"), joined("[55, 127)", "[199, 272]"), joined("<20", "20-39")
    ('20-34', '17-19', '[55, 272]', '<20..20-39')
    """
    low, high = _BRACKETS.fullmatch(first), _BRACKETS.fullmatch(last)
    if low and high:
        return f"{low[1]}{low[2]}, {high[3]}{high[4]}"
    start, end = _ends(first), _ends(last)
    return f"{start[0]}-{end[1]}" if start and end else f"{first}..{last}"


def _ends(label: str) -> tuple[str, str] | None:
    """Return the ends of an integer or of an interval of integers."""
    dashed = _DASH.fullmatch(label)
    if dashed:
        return dashed[1], dashed[2]
    return (label, label) if label.isdigit() else None


def _name(alphabet: Alphabet, places: Codes) -> str | None:
    """Return the hierarchy's label that covers exactly these values of the data, the lowest if there are several."""
    ladder = alphabet.ladder
    for level in range(alphabet.level + 1, ladder.height):
        above: npt.NDArray[np.int32] = ladder.step(alphabet.level, level)[alphabet.present]
        if np.array_equal(np.flatnonzero(above == above[places[0]]), places):
            return ladder.labels[level][int(above[places[0]])]
    return None


def _set(alphabet: Alphabet, places: Sequence[int] | Codes) -> str:
    return "{" + ", ".join(str(alphabet.labels[place]) for place in places) + "}"
