"""Compiled loops of SHA-256 (FIPS 180-4) of many numbers under one key, faster than one call per number.

Words of 32 bits are stored in words of 64; sums are truncated to 32 bits when stored.
"""

import numpy as np

from sfumato.native.array_types import Int64, UInt8, UInt64, UInt64_2
from sfumato.native.dispatch import compiled

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_BLOCK = 64


@compiled
def _compress(text, begin, constants, schedule, state):
    """Process one block of a text.

    Args:
        text: Bytes; the block is 64 of them from `begin` on; constants, schedule: (64,), the latter a buffer.
        state: (8,) is updated.
    """
    for at in range(16):
        word = np.uint64(0)
        for place in range(begin + 4 * at, begin + 4 * at + 4):
            word = word << np.uint64(8) | np.uint64(text[place])
        schedule[at] = word
    for at in range(16, 64):
        early, late = schedule[at - 15], schedule[at - 2]
        twice, again = early | early << _HALF, late | late << _HALF
        small = (twice >> np.uint64(7) ^ twice >> np.uint64(18)) & _LOW ^ early >> np.uint64(3)
        large = (again >> np.uint64(17) ^ again >> np.uint64(19)) & _LOW ^ late >> np.uint64(10)
        schedule[at] = schedule[at - 16] + small + schedule[at - 7] + large & _LOW
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for at in range(64):
        twice = e | e << _HALF
        mixed = (twice >> np.uint64(6) ^ twice >> np.uint64(11) ^ twice >> np.uint64(25)) & _LOW
        first = h + mixed + (g ^ e & (f ^ g)) + constants[at] + schedule[at]
        twice = a | a << _HALF
        mixed = (twice >> np.uint64(2) ^ twice >> np.uint64(13) ^ twice >> np.uint64(22)) & _LOW
        second = mixed + (a & b | c & (a | b))
        h, g, f, e = g, f, e, d + first & _LOW
        d, c, b, a = c, b, a, first + second & _LOW
    state[0], state[1] = state[0] + a & _LOW, state[1] + b & _LOW
    state[2], state[3] = state[2] + c & _LOW, state[3] + d & _LOW
    state[4], state[5] = state[4] + e & _LOW, state[5] + f & _LOW
    state[6], state[7] = state[6] + g & _LOW, state[7] + h & _LOW


@compiled
def _digits(number):
    """Return the number of digits of a number."""
    many = 1
    while number > 9:
        number //= 10
        many += 1
    return many


@compiled
def _pad(length, before, text):
    """Pad a text as SHA-256 requires, given its length and the bytes before it; return its number of blocks."""
    blocks = (length + 9 + _BLOCK - 1) // _BLOCK
    for place in range(length, blocks * _BLOCK):
        text[place] = 0
    text[length] = 128
    bits = 8 * (before + length)
    for place in range(8):
        text[blocks * _BLOCK - 1 - place] = bits >> 8 * place & 255
    return blocks


@compiled
def hash_numbers(prefix: UInt8, numbers: Int64, constants: UInt64, first: UInt64, out: UInt64_2):
    """Hash texts that consist of a prefix and a number.

    Args:
        prefix: (p,) bytes; numbers: (n,), none below 0; constants: (64,) and first: (8,) are those of SHA-256.
        out: (n, 4) receives the hashes.
    """
    schedule, begun, state = np.empty(64, np.uint64), first.copy(), np.empty(8, np.uint64)
    whole = len(prefix) // _BLOCK * _BLOCK
    for begin in range(0, whole, _BLOCK):
        _compress(prefix, begin, constants, schedule, begun)
    ahead = len(prefix) - whole
    text = np.empty(3 * _BLOCK, np.uint8)
    for place in range(ahead):
        text[place] = prefix[whole + place]
    blocks, digits = 0, 0
    for row in range(len(numbers)):
        number = numbers[row]
        many = _digits(number)
        if many != digits:  # numbers of equal length share all but their digits
            blocks, digits = _pad(ahead + many, whole, text), many
        for place in range(ahead + many - 1, ahead - 1, -1):
            text[place] = 48 + number % 10
            number //= 10
        for place in range(8):
            state[place] = begun[place]
        for at in range(blocks):
            _compress(text, at * _BLOCK, constants, schedule, state)
        for part in range(4):
            out[row, part] = state[2 * part] << _HALF | state[2 * part + 1]
