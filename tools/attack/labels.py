"""What published labels say: which raw values they contain, which says more, and what other columns tell of them."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import combinations

from draw_rows import PARENTS, Row

_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"^[\[(]?({_NUMBER})(?:[-–]|\.\.|, )({_NUMBER})([\])]?)$")
_BEYOND = re.compile(rf"^(<=|>=|[<>≤≥])({_NUMBER})$")
# How often a rule must be right in the published rows that show it, and in those that it reads back; how likely chance
# may make one rule of all.
RIGHT, RIGHT_IN_TRUTH, BY_CHANCE = 0.97, 0.95, 0.001


def number(text: str) -> Decimal | None:
    """A text as an exact number."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def is_star(key: Sequence[str]) -> bool:
    """Whether a row is published as * throughout."""
    return all(label and not label.strip("*") for label in key)


@lru_cache(maxsize=100_000)
def contains(label: str, value: str) -> bool | None:
    """Whether a label contains a raw value; None where nobody can read it."""
    if label == value or is_star([label]):
        return True
    if not value or not label:  # what was missing, or is published as missing
        return None
    if label.startswith("{"):
        return f", {value}, " in f", {label[1:-1]}, "
    if "*" in label and len(label) == len(value):
        return all(shown in ("*", own) for shown, own in zip(label, value, strict=True))
    own = number(value)
    if own is None:  # a text: its labels are those above it
        return label in (PARENTS.get(value), PARENTS.get(PARENTS.get(value, "")))
    if (single := number(label)) is not None:
        return single == own
    if beyond := _BEYOND.match(label):
        end = Decimal(beyond[2])
        return (own == end and beyond[1] not in "<>") or (own < end if beyond[1][0] in "<≤" else own > end)
    if ends := _RANGE.match(label):
        return Decimal(ends[1]) <= own and (own < Decimal(ends[2]) if ends[3] == ")" else own <= Decimal(ends[2]))
    return None


@lru_cache(maxsize=100_000)
def is_within(fine: str, coarse: str) -> bool:
    """Whether one label says all that another says, and more."""
    if fine == coarse or not fine or is_star([fine]) or fine.startswith("{"):
        return False
    ends = _RANGE.match(fine)
    return not coarse or all(contains(coarse, end) is True for end in ((ends[1], ends[2]) if ends else (fine,)))


def rows_read_back(
    rows: list[Row], raw: Sequence[Row], known: Sequence[str], sources: Sequence[str], k: int, stars: Collection[int]
) -> tuple[list[Row], str]:
    """Rows with the finer labels that other columns tell, and how: a column that determines another undoes it."""
    found, how = rows, {}
    for name in known:
        most = k - 1
        for columns in [*((source,) for source in sources), *combinations(sources, 2)]:
            read = _by_rules(rows, name, columns, k)
            gained = [at for at, label in enumerate(read) if at not in stars and label != rows[at][name]]
            right = sum(contains(read[at], raw[at][name]) is True for at in gained)
            if len(gained) > most and right >= RIGHT_IN_TRUTH * len(gained):
                most, how[name] = len(gained), f"{len(gained)} labels of {name} by {' and '.join(columns)}"
                found = [row | {name: read[at] if at not in stars else row[name]} for at, row in enumerate(found)]
    return found, ", ".join(how.values())


def _by_rules(rows: Sequence[Row], name: str, columns: Sequence[str], k: int) -> list[str]:
    """Labels of a quasi-identifier, by the one that goes with values of columns in nearly all rows as fine as that."""
    seen: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        seen[tuple(row[column] for column in columns)][row[name]] += 1
    anywhere, read = Counter(row[name] for row in rows), []
    for row in rows:
        labels, own = seen[tuple(row[column] for column in columns)], row[name]
        fine = Counter({label: count for label, count in labels.items() if is_within(label, own)})
        if fine.total() >= max(k, 5):
            ((label, count),) = fine.most_common(1)
            usual = anywhere[label] / sum(other for one, other in anywhere.items() if is_within(one, own))
            own = label if count >= RIGHT * fine.total() and len(seen) * usual**count < BY_CHANCE else own
        read.append(own)
    return read
