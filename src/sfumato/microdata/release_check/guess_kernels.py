"""Compiled loops that find the most frequent finer label of a coarse label for each value of a column."""

from sfumato.loops.arrays import Ints, Reals2
from sfumato.loops.compiled import compiled


@compiled
def most_frequent(rows: Reals2, inner: Ints, ends: Ints, total: Reals2, most: Reals2, second: Reals2):
    """Count for each coarse label and value: rows with finer labels, with the most frequent of them, with the next.

    Args:
        rows: (labels, values), how much each label occurs with each value.
        inner: the finer labels of each coarse one, one after the other; ends: where those of each end.
        total, most, second: (coarse labels, values), 0 to begin with.
    """
    begin = 0
    for at in range(len(ends)):
        for place in range(begin, ends[at]):
            line = inner[place]
            for value in range(rows.shape[1]):
                number = rows[line, value]
                total[at, value] += number
                if number > most[at, value]:
                    second[at, value] = most[at, value]
                    most[at, value] = number
                elif number > second[at, value]:
                    second[at, value] = number
        begin = ends[at]
