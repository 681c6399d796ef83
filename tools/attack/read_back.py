"""Reads published columns against each other: a column that determines a quasi-identifier undoes its suppression.

Rules come from published rows alone: where a value of one column (or of two) goes with one label of a quasi-
identifier in nearly all rows that show a label as fine as that, rows with a coarser label are read as having the fine
one.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from draw_rows import Row
from labels import contains, is_within

# How often a rule must be right in the published rows that show it, and in those that it reads back; how likely chance
# may make one rule of all.
RIGHT, RIGHT_IN_TRUTH, BY_CHANCE = 0.97, 0.95, 0.001


@dataclass
class ReadBack:
    """Labels as a reader of the whole file has them, and how many he gained."""

    labels: dict[str, list[str]] = field(default_factory=dict)
    rows: int = 0
    how: str = ""


def labels_read_back(
    rows: Sequence[Row],
    known: Sequence[str],
    sources: Sequence[str],
    k: int,
    raw: Sequence[Row] | None,
    stars: Collection[int],
) -> ReadBack:
    """The labels that other columns tell in place of coarser ones; rows of * stay, and what would be guessed wrong."""
    found = ReadBack()
    for name in known if raw else ():
        gain = 0
        for columns in [*((source,) for source in sources), *combinations(sources, 2)]:
            read = _by_rules(rows, name, columns, k)
            read = [rows[place][name] if place in stars else label for place, label in enumerate(read)]
            gained = [place for place, label in enumerate(read) if label != rows[place][name]]
            right = sum(contains(read[place], (raw or rows)[place][name]) is True for place in gained)
            if len(gained) > max(gain, k - 1) and right >= RIGHT_IN_TRUTH * len(gained):
                gain, found.labels[name], found.how = len(gained), read, f"{name} by {' and '.join(columns)}"
        found.rows += gain
    return found


def _by_rules(rows: Sequence[Row], name: str, columns: Sequence[str], k: int) -> list[str]:
    """The labels of one quasi-identifier, read by the values of some columns."""
    seen: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        seen[tuple(row[column] for column in columns)][row[name]] += 1
    anywhere, read = Counter(row[name] for row in rows), []
    for row in rows:
        labels, own = seen[tuple(row[column] for column in columns)], row[name]
        fine = {label: count for label, count in labels.items() if is_within(label, own)}
        label, support = max(fine, key=lambda one: fine[one], default=own), sum(fine.values())
        if support >= max(k, 5) and fine[label] >= RIGHT * support:
            usual = anywhere[label] / sum(count for one, count in anywhere.items() if is_within(one, own))
            own = label if len(seen) * usual ** fine[label] < BY_CHANCE else own
        read.append(own)
    return read
