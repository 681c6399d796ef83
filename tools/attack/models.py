"""Meaning of published labels, and definitions of privacy models by their papers for one class of rows or persons."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from draw_rows import PARENTS, Row
from scipy.special import bdtrc, hyp2f1

Rows = list[Row]
Members = Sequence[frozenset[str]]
CLOSE = 1e-6
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"^[\[(]?({_NUMBER})(?:[-–]|\.\.|, )({_NUMBER})([\])]?)$")
_BEYOND = re.compile(rf"^(<=|>=|[<>≤≥])({_NUMBER})$")
# Required accuracy of a rule in rows that show it and in those that it reads back; maximum probability of chance.
RIGHT, RIGHT_IN_TRUTH, BY_CHANCE = 0.97, 0.95, 0.001


def shares(members: Members) -> dict[str, float]:
    counts = Counter(value for member in members for value in member)
    return {value: count / len(members) for value, count in counts.items()}


def of_class(model: Mapping[str, Any], members: Members, whole: Members) -> tuple[float, bool]:
    """Return the achieved parameter of a class for a model of a sensitive column, and whether it is satisfied."""
    own, table, name = shares(members), shares(whole), model["model"]
    if name == "l-diversity":
        reached = diversity(members, model["variant"], model["l"], model.get("c", 1.0))
        return reached, reached >= model["l"] - CLOSE
    if name == "beta-likeness":
        gains = {value: share / table[value] - 1 if value in table else math.inf for value, share in own.items()}
        enhanced = {value: -math.log(share) for value, share in table.items() if model["variant"] == "enhanced"}
        kept = (gain <= min(model["beta"], enhanced.get(value, math.inf)) + CLOSE for value, gain in gains.items())
        return max(gains.values()), all(kept)
    if name == "alpha-k-anonymity":
        figure, limit = max((share for value, share in own.items() if value), default=0.0), model["alpha"]
    elif name == "t-closeness":
        figure, limit = distance(members, whole, model["distance"]), model["t"]
    else:
        figure = max(abs(math.log(own[value] / p)) if value in own else math.inf for value, p in table.items())
        limit = model["delta"]
    return figure, figure <= limit + CLOSE


def diversity(members: Members, variant: str, wanted: float, c: float) -> float:
    """Return the achieved l; for recursive, the requested one or 1; several values per member count most unevenly."""
    parts = sorted((share for value, share in shares(members).items() if value), reverse=True)
    if not parts:
        return 0.0
    single, top, count = all(len(member) == 1 for member in members), parts[0], len(parts)
    if variant == "distinct":
        return float(count) if single or top < 1 else 1.0
    if not single:
        parts = [top, *[(1 - top) / max(count - 1, 1)] * (count - 1)]
    parts = [part / sum(parts) for part in parts if part > 0]
    if variant == "entropy":
        return math.exp(-sum(part * math.log(part) for part in parts))
    rest = sum(parts[math.ceil(wanted) - 1 :]) if single else 1 - top
    return wanted if top < c * rest * (1 - 1e-12) else 1.0


def distance(members: Members, whole: Members, kind: str) -> float:
    """Return the distance of t-closeness; if members have several values, that of the value that differs most."""
    own, table = shares(members), shares(whole)
    domain = sorted(table.keys() | own.keys(), key=lambda value: (not value, number(value) or 0, value))
    apart = np.array([own.get(value, 0.0) - table.get(value, 0.0) for value in domain])
    if any(len(member) > 1 for member in (*members, *whole)):
        return 0.0 if kind == "ordered" else float(np.abs(apart).max(initial=0.0))
    ordered = np.abs(np.cumsum(apart)).sum() / max(len(domain) - 1, 1)
    return float(ordered if kind == "ordered" else np.abs(apart).sum() / 2)


def risk_of(name: str, sizes: Sequence[int], fraction: float) -> float:
    """Return metrics of a whole release: average risk, unique rows, expected 1 / F (Franconi and Polettini 2004)."""
    if name == "average-risk":
        return len(sizes) / sum(sizes)
    if name == "sample-uniqueness":
        return sizes.count(1) / sum(sizes)
    risks = [float(fraction**size / size * hyp2f1(size, size, size + 1, 1 - fraction)) for size in sizes]
    return max(risks) if name == "individual-risk" else float(np.dot(sizes, risks)) / sum(sizes)


def delta_of(epsilon: float, k: int) -> float:
    """Return delta if 1 - exp(-epsilon) of the rows are sampled and k equal ones published (Li et al. 2012)."""
    beta, gamma = -math.expm1(-epsilon), -math.expm1(-2 * epsilon)
    first = max(math.ceil(k / gamma - 1), 1)
    sizes = first + np.unique(np.concatenate([np.arange(3000), np.linspace(0, 3 * first, 300).astype(int)]))
    return float(bdtrc(np.floor(gamma * sizes), sizes, beta).max())


def number(text: str) -> Decimal | None:
    return Decimal(text) if re.fullmatch(_NUMBER, text) else None


def is_star(key: Sequence[str]) -> bool:
    return all(label and not label.strip("*") for label in key)


@lru_cache(maxsize=100_000)
def contains(label: str, value: str) -> bool | None:
    """Return whether a label contains an original value; None if the label cannot be parsed."""
    if label == value or is_star([label]):
        return True
    if not value or not label:  # the value was missing, or is published as missing
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
    """Return whether one label implies another, and says more."""
    if fine == coarse or not fine or is_star([fine]) or fine.startswith("{"):
        return False
    ends = _RANGE.match(fine)
    return not coarse or all(contains(coarse, end) is True for end in ((ends[1], ends[2]) if ends else (fine,)))


def rows_read_back(
    rows: Rows, raw: Rows, known: list[str], sources: list[str], k: int, stars: list[int]
) -> tuple[Rows, str]:
    """Return the rows with finer labels that other columns predict, and a description of the prediction."""
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
    """Return labels of a quasi-identifier that values of columns predict in nearly all rows with finer labels."""
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
