"""The definitions of privacy models, as their papers have them, for one class of persons or rows.

Each member of a class is the set of sensitive values that he has in it (a row has one, a person of several rows may
have several). The share of a value is the share of the members who have it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from labels import number
from scipy.special import hyp2f1
from scipy.stats import binom

Members = Sequence[frozenset[str]]
CLOSE = 1e-6


def shares(members: Members) -> dict[str, float]:
    """For each value the share of the members who have it."""
    counts = Counter(value for member in members for value in member)
    return {value: count / len(members) for value, count in counts.items()}


def of_class(model: Mapping[str, Any], members: Members, whole: Members) -> tuple[float, bool]:
    """What a class reaches of a model about a sensitive column, and whether that keeps it."""
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
    """The l that a class reaches; of recursive, the one wanted where it holds, else 1. Missing values add nothing.

    Where members have several values, a class counts as the most diverse one that is as certain of its most frequent
    value: what every reading of the definition needs.
    """
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
    """The distance of t-closeness; where members have several values, that of the value that differs most."""
    own, table = shares(members), shares(whole)
    domain = sorted(table.keys() | own.keys(), key=lambda value: (not value, number(value) or 0, value))
    apart = np.array([own.get(value, 0.0) - table.get(value, 0.0) for value in domain])
    if any(len(member) > 1 for member in (*members, *whole)):
        return 0.0 if kind == "ordered" else float(np.abs(apart).max(initial=0.0))
    if kind == "ordered":
        return float(np.abs(np.cumsum(apart)).sum() / max(len(domain) - 1, 1))
    return float(np.abs(apart).sum() / 2)


def risk_of(name: str, sizes: Sequence[int], fraction: float) -> float:
    """Figures of a whole release: its average risk, unique rows, expected 1 / F (Franconi and Polettini 2004)."""
    if name == "average-risk":
        return len(sizes) / sum(sizes)
    if name == "sample-uniqueness":
        return sizes.count(1) / sum(sizes)
    risks = [float(fraction**size / size * hyp2f1(size, size, size + 1, 1 - fraction)) for size in sizes]
    return max(risks) if name == "individual-risk" else float(np.dot(sizes, risks)) / sum(sizes)


def delta_of(epsilon: float, k: int) -> float:
    """The delta where 1 - exp(-epsilon) of the rows are drawn and k alike published (Li et al. 2012, theorem 1)."""
    beta, gamma = -math.expm1(-epsilon), -math.expm1(-2 * epsilon)
    first = max(math.ceil(k / gamma - 1), 1)
    sizes = first + np.unique(np.concatenate([np.arange(3000), np.linspace(0, 3 * first, 300).astype(int)]))
    return float(binom.sf(np.floor(gamma * sizes), sizes, beta).max())
