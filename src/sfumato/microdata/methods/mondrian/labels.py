"""Labels of Mondrian's classes (ranges, common ancestors, sets of values), and the loss of each class."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.microdata.losses.additive_losses import certainty_penalties
from sfumato.microdata.methods.class_labels import distinct_labels
from sfumato.microdata.methods.mondrian.axes import Axis, Places
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.recoding.mapping import STAR, Labels
from sfumato.microdata.recoding.range_grid import range_text
from sfumato.values import Value

Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]
WORD = 64


class Extent(Value):
    """The extent of classes in one column: their lowest and highest position, and for sets a mask of their values."""

    low: Ints
    high: Ints
    masks: Masks


class ColumnLabels(Value):
    """One column of all classes: its labels, each class's label, and each class's loss.

    Attributes:
        widths: (M - 1) / (|A| - 1), or (max - min) / range for numbers without a hierarchy.
        penalties: The same by the normalized certainty penalty.
    """

    labels: Labels
    codes: npt.NDArray[np.int32]
    widths: Floats
    penalties: Floats


def own_extents(axes: Sequence[Axis], places: Places, starts: Ints) -> tuple[Extent, ...]:
    """Return the extent of classes by their own values; class `i` has the items from `starts[i]` to the next start."""
    return tuple(_own(axis, places[:, column], starts) for column, axis in enumerate(axes))


def _own(axis: Axis, places: Places, starts: Ints) -> Extent:
    low = np.minimum.reduceat(places, starts).astype(np.int64)
    high = np.maximum.reduceat(places, starts).astype(np.int64)
    words = [_word(places, word, starts) for word in range(_words(axis))]
    return Extent(low, high, np.column_stack(words) if words else np.zeros((len(low), 0), np.uint64))


def _words(axis: Axis) -> int:
    return -(-len(axis.order) // WORD) if axis.kind == "set" else 0


def _word(places: Places, word: int, starts: Ints) -> Masks:
    bit = places.astype(np.int64) - word * WORD
    inside = (bit >= 0) & (bit < WORD)
    bits = np.where(inside, np.uint64(1) << np.clip(bit, 0, WORD - 1).astype(np.uint64), np.uint64(0))
    return np.bitwise_or.reduceat(bits, starts)


def cut_extents(axes: Sequence[Axis], own: Sequence[Extent], boxes: npt.NDArray[np.int32]) -> tuple[Extent, ...]:
    """Return the extent of classes by the cuts that bound them; boxes: (2, classes, columns).

    A class without missing values does not cover the missing value. A hierarchy's label reveals no person's value,
    so classes with such labels cover what their own values do.
    """
    return tuple(
        extent if axis.kind == "tree" else _between(axis, extent, boxes[0, :, column], boxes[1, :, column])
        for column, (axis, extent) in enumerate(zip(axes, own, strict=True))
    )


def _between(axis: Axis, own: Extent, low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> Extent:
    lowest, highest = low.astype(np.int64), high.astype(np.int64)
    if axis.missing >= 0:
        highest = np.where(own.high < axis.missing, np.minimum(highest, axis.missing - 1), highest)
        lowest = np.where(own.low == axis.missing, axis.missing, lowest)
    places = np.arange(max(_words(axis), 0) * WORD)
    inside = (places >= lowest[:, None]) & (places <= highest[:, None])
    weights = np.uint64(1) << (places % WORD).astype(np.uint64)
    words = [
        (inside[:, word * WORD : (word + 1) * WORD] * weights[:WORD]).sum(axis=1, dtype=np.uint64)
        for word in range(_words(axis))
    ]
    return Extent(lowest, highest, np.column_stack(words) if words else own.masks)


def describe(axis: Axis, extent: Extent) -> ColumnLabels:
    """Return labels and losses of all classes in one column."""
    single = (extent.low == extent.high) & axis.is_single[extent.low]
    mixed = (extent.high == axis.missing) & ~single if axis.missing >= 0 else np.zeros(len(single), bool)
    maker = {"numbers": _ranges, "tree": _ancestors, "set": _sets}[axis.kind]
    own = maker(axis, extent)
    widths = np.where(single, 0.0, np.where(mixed, 1.0, own.widths))
    values = int(axis.present.sum()) if axis.kind == "set" else axis.ladder.size - (axis.missing >= 0)
    penalties = widths if axis.kind == "numbers" else certainty_penalties(widths, values)
    return ColumnLabels(*distinct_labels(own.labels, own.codes), widths, np.minimum(penalties, 1.0))


def _labeled(keys: Ints, text: Callable[[int], str | None]) -> tuple[Labels, npt.NDArray[np.int32]]:
    """Return a label for each distinct key, and the label of each class."""
    distinct, codes = np.unique(keys, return_inverse=True)
    return tuple(text(key) for key in distinct.tolist()), codes.astype(np.int32)


def _ranges(axis: Axis, extent: Extent) -> ColumnLabels:
    def text(key: int) -> str | None:
        low, high = divmod(key, axis.size)
        if low == high and axis.is_single[low]:
            return _value(axis, low)
        if high == axis.missing:
            return STAR
        if axis.cells is not None and axis.ends_by_cells(low, high):
            return axis.cells.text(low, high)
        return range_text(_value(axis, low), _value(axis, high))

    labels, codes = _labeled(extent.low * axis.size + extent.high, text)
    lowest, highest = axis.extremes
    with np.errstate(invalid="ignore"):
        widths = np.minimum((highest[extent.high] - lowest[extent.low]) * axis.scale, 1.0)
    return ColumnLabels(labels, codes, widths, widths)


def _value(axis: Axis, place: int) -> str | None:
    """Return the value at a position with a single value."""
    return axis.ladder.values[int(np.flatnonzero(axis.places == place)[0])]


def _ancestors(axis: Axis, extent: Extent) -> ColumnLabels:
    ladder = axis.ladder
    level = np.zeros(len(extent.low), np.int64)
    for codes in ladder.codes[:-1]:
        in_order = codes[axis.order]
        level += in_order[extent.low] != in_order[extent.high]
    leaves = axis.order[extent.low]
    stacked = np.stack([codes[leaves] for codes in ladder.codes])
    own = stacked[level, np.arange(len(level))].astype(np.int64)
    keys, nodes = np.unique(level * ladder.size + own, return_inverse=True)
    pairs = [divmod(key, ladder.size) for key in keys.tolist()]
    labels = tuple(ladder.labels[at][code] for at, code in pairs)
    widths = np.array([ladder.penalties[at][code] for at, code in pairs])[nodes]
    return ColumnLabels(labels, nodes.astype(np.int32), widths, widths)


def _sets(axis: Axis, extent: Extent) -> ColumnLabels:
    if extent.masks.shape[1] == 1:
        distinct, codes = np.unique(extent.masks[:, 0], return_inverse=True)
        distinct = distinct.reshape(-1, 1)
    else:
        distinct, codes = np.unique(extent.masks, axis=0, return_inverse=True)
    order: list[int] = axis.order.tolist()
    labels = tuple(_set_text(axis, order, words) for words in distinct.tolist())
    members = np.bitwise_count(distinct).sum(axis=1).astype(np.int64)[codes.reshape(-1)]
    widths = np.minimum((members - 1) * axis.scale, 1.0)
    return ColumnLabels(labels, codes.reshape(-1).astype(np.int32), widths, widths)


def _set_text(axis: Axis, order: Sequence[int], words: Sequence[int]) -> str | None:
    """Return the values of a set in the order of the hierarchy."""
    members: list[int] = []
    for at, word in enumerate(words):
        rest = word
        while rest:
            members.append(order[at * WORD + (rest & -rest).bit_length() - 1])
            rest &= rest - 1
    members.sort()
    values: Labels = tuple(axis.ladder.values[code] for code in members)
    if len(values) == 1:
        return values[0]
    return STAR if None in values else "{" + ", ".join(map(str, values)) + "}"


def class_sizes(counts: Counts, starts: Ints) -> Counts:
    """Return rows of each class."""
    return np.add.reduceat(counts, starts)
