"""Compiled loops over the codes, texts and persons of n rows in one pass each."""

import numpy as np

from sfumato.native.array_types import Bool, Int32, Int64, UInt8, UInt64, UInt64_2
from sfumato.native.byte_kernels import put_word, word_at
from sfumato.native.dispatch import compiled


@compiled
def look_up(table: Int32, places: Int32 | Int64, out: Int32):
    """Look up table entries at indices (n,): out (n,)."""
    for row in range(len(places)):
        out[row] = table[places[row]]


@compiled
def mark_codes(codes: Int32, seen: Bool):
    """Mark in `seen`, which has an entry per code, the codes that occur."""
    for row in range(len(codes)):
        seen[codes[row]] = True


@compiled
def pack_codes(codes: Int32, shift: UInt64, place: int, keys: UInt64):
    """Add codes (n,) to keys (n,), shifted by the given entry of `shift`."""
    by = shift[place]
    for row in range(len(codes)):
        keys[row] |= np.uint64(codes[row]) << by


@compiled
def pack_looked_up(table: UInt64, codes: Int32, keys: UInt64):
    """Add the table entries of codes (n,) to keys (n,)."""
    for row in range(len(codes)):
        keys[row] |= table[codes[row]]


_MIX = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(0xC2B2AE3D27D4EB4F)
_SPIN = np.uint64(0x165667B19E3779F9)
_BYTES = 8
_SHORT = 24
_HALF = np.uint64(32)


@compiled
def _room(most):
    """Return the bits of a hash table that `most` entries fill at most half."""
    bits = 1
    while 1 << bits < 2 * most:
        bits += 1
    return bits


@compiled
def number_views(views: UInt64_2, most: int, firsts: Int64, codes: Int32):
    """Number string views: two words, which contain short texts and the position of long ones.

    A long text stored at several positions gets several numbers. views: (n, 2).
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
def _few_bytes(data, begin, end):
    """Read fewer than eight bytes as a number."""
    word = np.uint64(0)
    for place in range(end - 1, begin - 1, -1):
        word = word << np.uint64(_BYTES) | np.uint64(data[place])
    return word


@compiled
def _mixed_middle(data, begin, end):
    """Return the hash contribution of a long text between its first two words and its last."""
    mixed = np.uint64(0)
    for place in range(begin + 2 * _BYTES, end - _BYTES, _BYTES):
        mixed = (mixed ^ word_at(data, place)) * _MIX
        mixed ^= mixed >> _HALF
    return mixed


@compiled
def _same_middle(data, one, other, length):
    """Return whether two long texts, given by their positions, are equal except in the first two and last words."""
    for done in range(2 * _BYTES, length - _BYTES, _BYTES):
        if word_at(data, one + done) != word_at(data, other + done):
            return False
    return True


@compiled
def number_texts(offsets: Int32 | Int64, data: UInt8, most: int, firsts: Int64, codes: Int32):
    """Number texts that are stored contiguously.

    Most have no more bytes than three words, which are compared at once: the first, the second and the last one. They
    are the same where a text has fewer bytes; where it fills none, the word that ends with it loses what lies before.

    Args:
        offsets: (n + 1,) the byte at which each text begins, and the end.
    """
    bits = _room(most)
    table, known = np.zeros(1 << bits, np.int32), np.empty((most, 4), np.uint64)
    last, down, many = (1 << bits) - 1, np.uint64(64 - bits), 0
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        length, back = end - begin, end - _BYTES
        if back < 0:
            one = _few_bytes(data, begin, end)
            two, three = one, one
        else:
            # Shifted twice by half as much, because no shift may move a word by its full width.
            by = np.uint64(4 * max(_BYTES - length, 0))
            one = word_at(data, min(begin, back)) >> by >> by
            two = word_at(data, min(begin + _BYTES, back)) >> by >> by
            three = word_at(data, back) >> by >> by
        mixed = one * _MIX ^ two * _TURN ^ three * _SPIN
        if length > _SHORT:
            mixed ^= _mixed_middle(data, begin, end)
        slot = int(mixed >> down)
        while True:
            code = table[slot] - 1
            if code < 0:
                if many == most:
                    return -1
                code = many
                firsts[code] = row
                known[code, 0], known[code, 1], known[code, 2], known[code, 3] = one, two, three, np.uint64(length)
                many += 1
                table[slot] = many
                break
            differs = known[code, 0] ^ one | known[code, 1] ^ two | known[code, 2] ^ three
            differs |= known[code, 3] ^ np.uint64(length)
            if not differs and (length <= _SHORT or _same_middle(data, offsets[firsts[code]], begin, length)):
                break
            slot = (slot + 1) & last
        codes[row] = code
    return many


@compiled
def place_texts(lengths: Int64, codes: Int32, offsets: Int32 | Int64):
    """Compute where contiguous texts begin, offsets (n + 1,), and return the end.

    Args:
        lengths: The number of bytes of each text; codes: (n,) the text of each row.
    """
    at = 0
    for row in range(len(codes)):
        offsets[row] = at
        at += lengths[codes[row]]
    offsets[len(codes)] = at
    return at


@compiled
def lay_texts(data: UInt8, begins: Int64, codes: Int32, offsets: Int32 | Int64, out: UInt8):
    """Copy texts into one contiguous buffer.

    Three words are written per row, whatever the length of its text; the next row overwrites the excess.

    Args:
        data: The bytes of all texts, and three words behind; begins: where each text begins there.
        codes: (n,) the text of each row; offsets: (n + 1,) where it begins in `out`, which has three words behind.
    """
    for row in range(len(codes)):
        begin, at = begins[codes[row]], offsets[row]
        put_word(out, at, word_at(data, begin))
        put_word(out, at + _BYTES, word_at(data, begin + _BYTES))
        put_word(out, at + 2 * _BYTES, word_at(data, begin + 2 * _BYTES))
        for done in range(_SHORT, offsets[row + 1] - at, _BYTES):
            put_word(out, at + done, word_at(data, begin + done))


_ONE = np.uint64(1)


@compiled
def number(keys: UInt64, row: int, many: int, table: Int32, distinct: UInt64, numbers: Int32):
    """Number keys, equal ones alike, from a row on, until all are numbered or the hash table is half full.

    Args:
        keys: (n,); many: how many distinct ones there are so far, the first so many of `distinct` (n,).
        table: (2^b,) numbers by hashed key, -1 where none stands; numbers: (n,) receive those of the rows.

    Returns:
        The first row that is not numbered, and how many distinct keys there are.
    """
    last = np.uint64(len(table) - 1)
    down = np.uint64(64)
    size = len(table)
    while size > 1:
        size >>= 1
        down -= _ONE
    while row < len(keys) and 2 * many < len(table):
        key = keys[row]
        slot = (key * _MIX) >> down
        while table[slot] >= 0 and distinct[table[slot]] != key:
            slot = (slot + _ONE) & last
        if table[slot] < 0:
            table[slot] = many
            distinct[many] = key
            many += 1
        numbers[row] = table[slot]
        row += 1
    return row, many
