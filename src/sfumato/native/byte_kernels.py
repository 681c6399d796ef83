"""Read and write eight bytes as one little-endian number; the translator maps these functions to one C instruction."""

import numpy as np

from sfumato.native.dispatch import compiled


@compiled
def word_at(data, place):
    """Return the eight bytes from an index on."""
    word = np.uint64(0)
    for at in range(place + 7, place - 1, -1):
        word = word << np.uint64(8) | np.uint64(data[at])
    return word


@compiled
def put_word(data, place, word):
    """Write eight bytes from an index on."""
    for at in range(8):
        data[place + at] = word >> np.uint64(8 * at) & np.uint64(255)
