"""Compiled loops that index rows by code and count the rows that satisfy conjunctions of conditions."""

import numpy as np

from sfumato.native.array_types import Int32, Int32_2, Int64, UInt8
from sfumato.native.dispatch import compiled


@compiled
def rows_of_codes(codes: Int32, begins: Int64):
    """Sort the rows by their codes; begins: (codes + 1,) where those of each code begin."""
    members = np.empty(len(codes), np.int32)
    next_places = begins.copy()
    for row in range(len(codes)):
        members[next_places[codes[row]]] = row
        next_places[codes[row]] += 1
    return members


@compiled
def _fulfils(truths, offset, code):
    return (truths[offset + (code >> 3)] >> (code & 7)) & 1


@compiled
def _rarest(starts, numbers, predicate):
    """Return the condition of a predicate that the fewest rows satisfy."""
    best = starts[predicate]
    for place in range(starts[predicate] + 1, starts[predicate + 1]):
        if numbers[place] < numbers[best]:
            best = place
    return best


@compiled
def _holds(starts, columns, offsets, truths, codes, predicate, known, row):
    """Return whether a row that satisfies one condition of a predicate satisfies all others."""
    for place in range(starts[predicate], starts[predicate + 1]):
        if place != known and not _fulfils(truths, offsets[place], codes[columns[place], row]):
            return False
    return True


@compiled
def count_rows(
    starts: Int64,
    columns: Int64,
    offsets: Int64,
    numbers: Int64,
    truths: UInt8,
    codes: Int32_2,
    members: Int32_2,
    begins: Int64,
    firsts: Int64,
    enough: int,
):
    """Count for each predicate the rows that satisfy all its conditions; counting stops beyond `enough`.

    Only rows that satisfy the rarest condition are visited.

    starts: (predicates + 1,) where the conditions of each begin; columns: (conditions,) the column of each; offsets:
    where the truth of each code of that column begins in `truths`, a bit a code; numbers: how many rows fulfil it;
    codes, members: (columns, rows) the code of each row, and the rows in the order of their codes; begins: where those
    of each code begin, one column after the other; firsts: (columns + 1,) where each column begins there.
    """
    predicates = len(starts) - 1
    counts = np.zeros(predicates, np.int64)
    for predicate in range(predicates):
        known = _rarest(starts, numbers, predicate)
        column, count = columns[known], 0
        first = firsts[column]
        for code in range(firsts[column + 1] - first - 1):
            if count > enough:
                break
            if not _fulfils(truths, offsets[known], code):
                continue
            for at in range(begins[first + code], begins[first + code + 1]):
                if _holds(starts, columns, offsets, truths, codes, predicate, known, members[column, at]):
                    count += 1
                    if count > enough:
                        break
        counts[predicate] = count
    return counts
