"""Compiled loops: texts as Arrow lays them in memory, numbered as they come, with no text made of any row.

Both loops number n rows, which share a number where their texts are the same, and stop at `most` different ones. They
take firsts: (most,), which receives the first row of each number, and codes: (n,), which receives the numbers; they
return how many numbers there are, -1 where those are more than `most`.
"""

import numpy as np

from sfumato.loops.arrays import Halves, Ints, Words, Words2
from sfumato.loops.compiled import compiled

_MIX = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(0xC2B2AE3D27D4EB4F)
_SPIN = np.uint64(0x165667B19E3779F9)
_ALL = ~np.uint64(0)
_BYTES = 8
_SHORT = 24
_HALF = np.uint64(32)
_LONGEST = np.uint64(63)


@compiled
def _room(most):
    """The bits of a hash table of which `most` entries fill at most half."""
    bits = 1
    while 1 << bits < 2 * most:
        bits += 1
    return bits


@compiled
def number_views(views: Words2, most: int, firsts: Ints, codes: Halves):
    """Number views of texts: two words, of which a short text is a part; of long ones they say where these lie.

    Long texts that lie in several places have several numbers. views: (n, 2).
    """
    bits = _room(most)
    table = np.zeros(1 << bits, np.int32)
    last, down, many = (1 << bits) - 1, np.uint64(64 - bits), 0
    for row in range(len(views)):
        head, tail = views[row, 0], views[row, 1]
        slot = int((((head * _MIX) ^ (tail * _TURN)) * _MIX) >> down)
        while True:
            code = table[slot] - 1
            if code < 0:
                if many == most:
                    return -1
                code = many
                firsts[code] = row
                many += 1
                table[slot] = many
                break
            first = firsts[code]
            if views[first, 0] == head and views[first, 1] == tail:
                break
            slot = (slot + 1) & last
        codes[row] = code
    return many


@compiled
def _word(data, place):
    """The eight bytes from a place on, as a number."""
    at, by = place >> 3, np.uint64((place & 7) << 3)
    # Shifted twice, since no shift moves a word out of itself.
    return data[at] >> by | data[at + 1] << np.uint64(1) << (_LONGEST - by)


@compiled
def _masks(most):
    """For 0 to 8 bytes, which are most, that are left of a text, the bits that they take of a word."""
    masks = np.full(most + 1, _ALL)
    for left in range(most):
        masks[left] = (np.uint64(1) << np.uint64(_BYTES * left)) - np.uint64(1)
    return masks


@compiled
def _mixed_end(data, begin, length, masks):
    """What a text adds to its hash behind its first bytes."""
    mixed = np.uint64(0)
    for done in range(_SHORT, length, _BYTES):
        mixed = (mixed ^ _word(data, begin + done) & masks[min(length - done, _BYTES)]) * _MIX
        mixed ^= mixed >> _HALF
    return mixed


@compiled
def _same_end(data, one, other, length, masks):
    """Whether two texts of a length, given by where they begin, are the same behind their first bytes."""
    for done in range(_SHORT, length, _BYTES):
        if (_word(data, one + done) ^ _word(data, other + done)) & masks[min(length - done, _BYTES)]:
            return False
    return True


@compiled
def number_texts(offsets: Halves | Ints, base: int, data: Words, most: int, firsts: Ints, codes: Halves):
    """Number texts that lie behind each other; most have no more bytes than three words, which are compared at once.

    Args:
        offsets: (n + 1,) the byte at which each text begins, and the end; base: the byte at which the data begin.
        data: The bytes, and four words behind.
    """
    bits = _room(most)
    table, known, masks = np.zeros(1 << bits, np.int32), np.empty((most, 4), np.uint64), _masks(_BYTES)
    last, down, many = (1 << bits) - 1, np.uint64(64 - bits), 0
    for row in range(len(offsets) - 1):
        begin = offsets[row] - base
        length = offsets[row + 1] - offsets[row]
        one = _word(data, begin) & masks[min(length, _BYTES)]
        two = _word(data, begin + _BYTES) & masks[min(max(length - _BYTES, 0), _BYTES)]
        three = _word(data, begin + 2 * _BYTES) & masks[min(max(length - 2 * _BYTES, 0), _BYTES)]
        four = np.uint64(length)
        mixed = one * _MIX ^ two * _TURN ^ (three + four) * _SPIN
        if length > _SHORT:
            mixed ^= _mixed_end(data, begin, length, masks)
        slot = int(((mixed ^ mixed >> _HALF) * _MIX) >> down)
        while True:
            code = table[slot] - 1
            if code < 0:
                if many == most:
                    return -1
                code = many
                firsts[code] = row
                known[code, 0], known[code, 1], known[code, 2], known[code, 3] = one, two, three, four
                many += 1
                table[slot] = many
                break
            differs = known[code, 0] ^ one | known[code, 1] ^ two | known[code, 2] ^ three | known[code, 3] ^ four
            if not differs and (
                length <= _SHORT or _same_end(data, offsets[firsts[code]] - base, begin, length, masks)
            ):
                break
            slot = (slot + 1) & last
        codes[row] = code
    return many
