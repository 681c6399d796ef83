"""Compiled loops: how often labels occur with the values of a column, and how well these predict them."""

from sfumato.native.array_types import Bool, Float64, Float64_2, Int64
from sfumato.native.dispatch import compiled


@compiled
def count_labels(labels: Int64, values: Int64, others: Int64, many: int, weights: Float64, rows: Float64_2):
    """How much each label occurs with each pair of values.

    Args:
        labels, values, others, weights: one each for every combination; many: how many other values there are.
        rows: (labels, values x others), 0 to begin with.
    """
    for place in range(len(labels)):
        rows[labels[place], values[place] * many + others[place]] += weights[place]


@compiled
def count_values(
    labels: Int64, asked: Bool, values: Int64, others: Int64, share: Float64, weights: Float64, rows: Float64
):
    """How many rows of each value have some labels; of the rows with each other value a share is counted.

    Args:
        labels, values, others, weights: one each for every combination.
        asked: (labels,) which labels count; share: (others,).
        rows: (values,), 0 to begin with.
    """
    for place in range(len(labels)):
        if asked[labels[place]]:
            rows[values[place]] += weights[place] * share[others[place]]


@compiled
def most_frequent(
    rows: Float64_2,
    inner: Int64,
    ends: Int64,
    total: Float64_2,
    most: Float64_2,
    second: Float64_2,
    hits: Float64,
    guesses: Float64,
):
    """For each coarse label and value: the rows with finer labels, with the most frequent of them, and with the next.

    Args:
        rows: (labels, values), how much each label occurs with each value.
        inner: the finer labels of each coarse one, one after the other; ends: where those of each end.
        total, most, second: (coarse labels, values), 0 to begin with.
        hits, guesses: (coarse labels,), 0 to begin with: how many guesses by the others are right, and how many there
            are; a tie is half a guess.
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
        for value in range(rows.shape[1]):
            if total[at, value] >= 2.0:
                guesses[at] += total[at, value]
                first, next_ = most[at, value], second[at, value]
                if first - 1.0 > next_ or (next_ == 0.0 and first >= 2.0):
                    hits[at] += first
                elif first - 1.0 == next_ and next_ > 0.0:
                    hits[at] += 0.5 * first
