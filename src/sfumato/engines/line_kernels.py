"""Compiled loops: count the records of delimited files by bytes, respecting quotes."""

import numpy as np

from sfumato.native.array_types import Int64, UInt8
from sfumato.native.byte_kernels import word_at
from sfumato.native.dispatch import compiled

# Indices of the state that is carried from one piece of a file to the next.
QUOTED, LENGTH, LINE, BEGUN, ROWS, LONGEST, LONGEST_LINE, END, OTHER_END, OTHER_LINE = range(10)
# Line endings: a newline, a carriage return, or both.
LF, CR, CRLF = 1, 2, 3
_NEWLINE, _RETURN, _BLANK = 10, 13, 32
_ONES, _TOPS, _ALL = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0xFFFFFFFFFFFFFFFF)
_BYTES = 8


@compiled
def _has_zero(word):
    """Return whether one of the eight bytes is 0."""
    return (word - _ONES) & (word ^ _ALL) & _TOPS != np.uint64(0)


@compiled
def _plain_until(data, place, quote):
    """Find the first position from which eight bytes contain a quote or a line break, or the piece ends."""
    quotes, newlines, returns = _ONES * np.uint64(quote), _ONES * np.uint64(_NEWLINE), _ONES * np.uint64(_RETURN)
    while place + _BYTES <= len(data):
        word = word_at(data, place)
        if _has_zero(word ^ quotes) or _has_zero(word ^ newlines) or _has_zero(word ^ returns):
            return place
        place += _BYTES
    return place


@compiled
def _opens(data, begin, place, separator):
    """Return whether a quote begins a field: it follows the separator or the start of its record, ignoring blanks."""
    at = place - 1
    while at >= max(begin, 0) and data[at] == _BLANK and separator[len(separator) - 1] != _BLANK:
        at -= 1
    if at < begin:
        return True
    if at + 1 < len(separator):
        return False
    same = 0
    for back in range(len(separator)):
        same += int(data[at - back] == separator[len(separator) - 1 - back])
    return same == len(separator)


@compiled
def count_records(data: UInt8, separator: UInt8, quote: int, blanks: bool, state: Int64):
    """Count the records of a piece of a file that ends with a line break or with the file.

    Args:
        blanks: Whether an empty line is a record, as in files of one column.
        state: The carried state. It has whether a quote is open, the bytes of the current record, the current line, and
            the first line of the record. It also has the number of records, and the bytes and first line of the longest
            one. Finally, it has how the first record ends, and a different ending with its line; 0 for none.
    """
    quoted, begin, place, line = state[QUOTED] > 0, -state[LENGTH], 0, state[LINE]
    while place < len(data):
        place = _plain_until(data, place, quote)
        if place >= len(data):
            break
        byte = data[place]
        is_return = byte == _RETURN
        if byte == quote:
            if quoted and place + 1 < len(data) and data[place + 1] == quote:
                place += 1
            else:
                quoted = not quoted and _opens(data, begin, place, separator)
        elif byte == _NEWLINE or is_return:
            length, end = place - begin, CR if is_return else LF
            if is_return and place + 1 < len(data) and data[place + 1] == _NEWLINE:
                place, end = place + 1, CRLF
            if not quoted and state[END] == 0:
                state[END] = end
            if not quoted and state[END] != end and state[OTHER_END] == 0:
                state[OTHER_END], state[OTHER_LINE] = end, line
            line += 1
            if not quoted:
                if length > 0 or blanks:
                    state[ROWS] += 1
                if length > state[LONGEST]:
                    state[LONGEST], state[LONGEST_LINE] = length, state[BEGUN]
                begin, state[BEGUN] = place + 1, line
        place += 1
    state[QUOTED], state[LENGTH], state[LINE] = int(quoted), len(data) - begin, line
