"""What every model, loss and method promises, written down person by person and row by row.

Nothing here is taken from the program: these are the definitions that it is held against, by name. Whatever is
registered and has none fails a test (`tests/test_definitions.py`), and whatever has one is tried on random tables.

A person is the set of the values that it has, None for a missing one; a row is a person with one value.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from sfumato.microdata.models.registry import SHAPES

Person = frozenset[str | None]
Persons = Sequence[Person]
NEARLY = 1e-9
COLUMN = "s"
PARENTS = {"1": "low", "2": "low", "3": "high", "4": "high"}


class Class(NamedTuple):
    """Persons who are published alike, and for how many of the population they stand."""

    persons: list[Person]
    population: int = 0


def share(value: str | None, persons: Persons) -> float:
    """The share of the persons who have a value."""
    return sum(value in person for person in persons) / len(persons)


def values_of(persons: Persons) -> set[str | None]:
    return set().union(*persons)


# l-diversity: the most uneven way to count every person for one value, looked for among all ways.


def ways(persons: Persons) -> Iterator[list[int]]:
    """All numbers of persons counted for each value, none for more than have it; those without a value are left out."""
    if all(len(person) == 1 for person in persons):
        yield sorted(Counter(value for person in persons for value in person - {None}).values(), reverse=True)
        return
    having = {value: sum(value in person for person in persons) for value in values_of(persons) - {None}}
    told = max(sum(None not in person for person in persons), *having.values(), 0)
    for counts in product(*(range(number + 1) for number in having.values())):
        if sum(counts) == told:
            yield sorted((count for count in counts if count), reverse=True)


def distinct(persons: Persons) -> int:
    return min(map(len, ways(persons)), default=0)


def exponential_entropy(persons: Persons) -> float:
    def of(counts: list[int]) -> float:
        return math.exp(-sum(c / sum(counts) * math.log(c / sum(counts)) for c in counts))

    return min(map(of, ways(persons)), default=0)


def recursive(persons: Persons, c: float) -> int:
    """The largest l with r1 < c (r_l + … + r_m)."""

    def of(counts: list[int]) -> int:
        held = [n for n in range(1, len(counts) + 1) if counts[0] < c * sum(counts[n - 1 :]) - NEARLY]
        return max(held, default=0)

    return min(map(of, ways(persons)), default=0)


def diversity(persons: Persons, variant: str = "distinct", c: float = 0.0, **_: Any) -> float:
    if values_of(persons) <= {None}:
        return 0
    kinds: dict[str, Callable[[], float]] = {
        "distinct": lambda: distinct(persons),
        "entropy": lambda: exponential_entropy(persons),
        "recursive": lambda: recursive(persons, c),
    }
    return kinds[variant]()


# t-closeness: what must be moved, from value to value or from none at all.


def variation(one: Mapping[Any, float], two: Mapping[Any, float]) -> float:
    """The total variation of two distributions; where their sums differ, the rest of the smaller is on nothing."""
    gaps = [one.get(key, 0) - two.get(key, 0) for key in {*one, *two}]
    return max(sum(gap for gap in gaps if gap > 0), -sum(gap for gap in gaps if gap < 0), 0)


def grouped(persons: Persons, group: Callable[[str | None], Any]) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for value in values_of(persons):
        found[group(value)] = found.get(group(value), 0) + share(value, persons)
    return found


def closeness(persons: Persons, whole: Persons, distance: str = "equal", **_: Any) -> float:
    if distance == "equal":
        return variation(grouped(persons, str), grouped(whole, str))
    if distance == "hierarchical":
        levels: list[Callable[[str | None], Any]] = [str, lambda value: PARENTS.get(value or "", "missing")]
        return sum(variation(grouped(persons, level), grouped(whole, level)) for level in levels) / len(levels)
    order = sorted(values_of(whole) - {None}, key=str) + ([None] if None in values_of(whole) else [])
    cuts = [set(order[:place]) for place in range(1, len(order))]
    if not cuts:
        return variation(grouped(persons, lambda _: 0), grouped(whole, lambda _: 0))
    return sum(variation(grouped(persons, cut.__contains__), grouped(whole, cut.__contains__)) for cut in cuts) / len(
        cuts
    )


# Models that bound what is learned of each value.


def likeness(persons: Persons, whole: Persons) -> float:
    ratios = [share(value, persons) / share(value, whole) - 1 for value in values_of(persons)]
    return max(ratios, default=0)


def is_like(persons: Persons, whole: Persons, beta: float, variant: str = "enhanced", **_: Any) -> bool:
    for value in values_of(persons):
        before, after = share(value, whole), share(value, persons)
        bound = min(beta, -math.log(before)) if variant == "enhanced" else beta
        if (after - before) / before > bound + NEARLY:
            return False
    return True


def disclosure(persons: Persons, whole: Persons) -> float:
    return max(
        abs(math.log(share(value, persons) / share(value, whole))) if share(value, persons) else math.inf
        for value in values_of(whole)
    )


def spread(persons: Persons) -> float:
    """How far the greatest number is from the smallest."""
    numbers = [float(value) for value in values_of(persons) if value is not None]
    return max(numbers) - min(numbers) if numbers else 0


def greatest_share(persons: Persons, values: Sequence[str] = (), **_: Any) -> float:
    return max((share(value, persons) for value in values or values_of(persons)), default=0)


# Risks.


def risk(rows: int, fraction: float) -> float:
    """The expectation of 1 / F, where F - rows is negatively binomial: the sum over all F."""
    total, chance, persons = 0.0, fraction**rows, rows
    while persons < rows + 40 / fraction:
        total += chance / persons
        chance *= (1 - fraction) * persons / (persons - rows + 1)
        persons += 1
    return total


def uniques_by_zayatz(sizes: list[int], population: int) -> float:
    """The share of unique persons: sampled uniques are that in the population as often as the sample's classes are."""
    rows, unique = sum(sizes), sizes.count(1)
    if not unique or rows >= population:
        return unique / population
    chances = [size * math.comb(population - size, rows - 1) / math.comb(population, rows) for size in sizes]
    own = sum(chance for size, chance in zip(sizes, chances, strict=True) if size == 1) / sum(chances)
    return unique * own / rows


@lru_cache
def poisson_rows(mean: float, significance: float) -> int:
    terms = [math.exp(-mean) * mean**n / math.factorial(n) for n in range(100)]
    return next(rows for rows in range(100) if 1 - math.fsum(terms[:rows]) <= significance)


@lru_cache
def chosen_k(epsilon: float, delta: float) -> int:
    """The least k for which more than γn of n alike are drawn with at most the probability delta, for all n from k."""
    beta = 1 - math.exp(-epsilon)
    gamma = (math.exp(epsilon) - 1 + beta) / math.exp(epsilon)

    def above(rows: int) -> float:
        first = math.floor(gamma * rows + NEARLY) + 1
        return sum(math.comb(rows, j) * beta**j * (1 - beta) ** (rows - j) for j in range(first, rows + 1))

    tails = [above(rows) for rows in range(120)]
    return next(k for k in range(1, 100) if max(tails[max(math.ceil(k / gamma - 1 - NEARLY), 1) :]) <= delta)


@dataclass(frozen=True)
class Definition:
    """What a model promises.

    Attributes:
        plans: Its parameters, as a plan gives them, in several choices.
        keeps: Whether a class keeps it, of persons of a whole table.
        reaches: The number that one class reaches, or that all classes together reach.
        worst: Which class is the worst: `min` or `max` of what they reach; None where all classes are judged together.
        by_persons: Whether it may be about persons with several rows.
        bounds: The parameter that `reaches` is to be compared with.
    """

    plans: tuple[dict[str, Any], ...]
    reaches: Callable[..., float]
    bounds: str
    worst: Callable[..., Any] | None = max
    keeps: Callable[..., bool] | None = None
    by_persons: bool = True

    def holds(self, classes: Sequence[Class], whole: Persons, plan: Mapping[str, Any]) -> bool:
        """Whether the classes keep the promise."""
        if self.worst is None:
            return self.reaches(classes, whole, plan) <= plan[self.bounds] + NEARLY
        return not any(self.failing(classes, whole, plan))

    def failing(self, classes: Sequence[Class], whole: Persons, plan: Mapping[str, Any]) -> list[bool]:
        """Which classes break it."""
        return [not self._kept(one, whole, plan) for one in classes]

    def _kept(self, one: Class, whole: Persons, plan: Mapping[str, Any]) -> bool:
        further = self.keeps is None or self.keeps(one, whole, plan)
        reached, asked = self.reaches(one, whole, plan), plan[self.bounds]
        return further and (reached >= asked - NEARLY if self.worst is min else reached <= asked + NEARLY)

    def reached(self, classes: Sequence[Class], whole: Persons, plan: Mapping[str, Any]) -> float:
        if self.worst is None:
            return self.reaches(classes, whole, plan)
        return self.worst(self.reaches(one, whole, plan) for one in classes)


def _stands_for(one: Class) -> int:
    return max(one.population, len(one.persons))


def _mean_risk(classes: Sequence[Class], plan: Mapping[str, Any]) -> float:
    rows = sum(len(one.persons) for one in classes)
    return sum(len(one.persons) * risk(len(one.persons), plan["sampling_fraction"]) for one in classes) / rows


def _k_of_rows(one: Class, plan: Mapping[str, Any]) -> float:
    """The greatest k that the rows of a class stand for."""
    if "population" in plan:
        return _stands_for(one)

    def least(k: int) -> int:
        return min(k, poisson_rows(k * plan["sampling_fraction"], plan.get("significance", 0.05)))

    return max((k for k in range(1, 60) if least(k) <= len(one.persons)), default=1)


MODELS: dict[str, Definition] = {
    "k-anonymity": Definition(({"k": 3},), lambda one, whole, plan: len(one.persons), "k", min),
    "k-map": Definition(
        ({"k": 4, "population": "people.csv"}, {"k": 6, "sampling_fraction": 0.2}),
        lambda one, whole, plan: _k_of_rows(one, plan), "k", min,
    ),
    "alpha-k-anonymity": Definition(
        ({"alpha": 0.6, "k": 2}, {"alpha": 0.4, "k": 1, "values": ["1", "3"]}),
        lambda one, whole, plan: greatest_share(one.persons, **plan), "alpha",
        keeps=lambda one, whole, plan: len(one.persons) >= plan["k"],
    ),
    "k-e-anonymity": Definition(
        ({"k": 2, "e": 2}, {"k": 3, "e": 0.5}),
        lambda one, whole, plan: spread(one.persons), "e", min,
        keeps=lambda one, whole, plan: len(values_of(one.persons) - {None}) >= plan["k"],
        by_persons=False,
    ),
    "l-diversity": Definition(
        ({"l": 3}, {"l": 2}, {"l": 2.2, "variant": "entropy"}, {"l": 2, "variant": "recursive", "c": 1.5}),
        lambda one, whole, plan: diversity(one.persons, **plan), "l", min,
    ),
    "t-closeness": Definition(
        (
            {"t": 0.35}, {"t": 0.0}, {"t": 0.2, "distance": "ordered"},
            {"t": 0.3, "distance": "hierarchical", "hierarchy": {"type": "tree", "parents": PARENTS}},
        ),
        lambda one, whole, plan: closeness(one.persons, whole, **plan), "t",
    ),
    "delta-disclosure": Definition(
        ({"delta": 1.1},),
        lambda one, whole, plan: disclosure(one.persons, whole), "delta",
        # As near as that is too near.
        keeps=lambda one, whole, plan: disclosure(one.persons, whole) < plan["delta"] - NEARLY,
    ),
    "beta-likeness": Definition(
        ({"beta": 0.8, "variant": "basic"}, {"beta": 1.5}),
        lambda one, whole, plan: max(likeness(one.persons, whole), 0), "beta",
        keeps=lambda one, whole, plan: is_like(one.persons, whole, **plan),
    ),
    "delta-presence": Definition(
        ({"lower": 0.2, "upper": 0.7, "subset": {"column": "in", "value": "yes"}},),
        lambda one, whole, plan: len(one.persons) / _stands_for(one), "upper",
        keeps=lambda one, whole, plan: len(one.persons) / _stands_for(one) >= plan["lower"] - NEARLY,
        by_persons=False,
    ),
    "average-risk": Definition(
        ({"threshold": 0.3},),
        lambda classes, whole, plan: len(classes) / sum(len(one.persons) for one in classes), "threshold", None,
    ),
    "sample-uniqueness": Definition(
        ({"threshold": 0.1},),
        lambda classes, whole, plan: sum(len(one.persons) == 1 for one in classes)
        / sum(len(one.persons) for one in classes),
        "threshold", None,
    ),
    "individual-risk": Definition(
        ({"threshold": 0.1, "sampling_fraction": 0.3},),
        lambda one, whole, plan: risk(len(one.persons), plan["sampling_fraction"]), "threshold",
    ),
    "global-risk": Definition(
        ({"threshold": 0.1, "sampling_fraction": 0.3},),
        lambda classes, whole, plan: _mean_risk(classes, plan), "threshold", None,
    ),
    "population-uniqueness": Definition(
        ({"threshold": 0.02, "estimator": "zayatz", "population_size": 60},),
        lambda classes, whole, plan: uniques_by_zayatz(
            [len(one.persons) for one in classes],
            max(plan["population_size"], sum(len(one.persons) for one in classes)),
        ),
        "threshold", None,
    ),
    "differential-privacy": Definition(
        ({"epsilon": 1.0, "delta": 0.3, "search": 0.0},),
        lambda one, whole, plan: (
            plan["epsilon"] if len(one.persons) >= chosen_k(plan["epsilon"], plan["delta"]) else math.inf
        ),
        "epsilon", by_persons=False,
    ),
}  # fmt: skip


class Node(NamedTuple):
    """Rows at a node: their values, what each column's value is published as, and which rows are suppressed.

    Attributes:
        labels: For each column the label of each value of its domain; steps: its level, of so many.
        targets: A value of each row that classes are to agree in.
    """

    rows: Sequence[tuple[int, ...]]
    labels: Sequence[Sequence[int]]
    steps: Sequence[tuple[int, int]]
    suppressed: frozenset[int]
    targets: Sequence[Any]

    def classes(self) -> list[list[int]]:
        """The rows that are published alike, by their numbers."""
        found: dict[Any, list[int]] = {}
        for row, values in enumerate(self.rows):
            if row not in self.suppressed:
                labels = tuple(of[value] for of, value in zip(self.labels, values, strict=True))
                found.setdefault(labels, []).append(row)
        return [*found.values()]

    def mean(self, kept: Callable[[int, int], float], suppressed: Callable[[int, int], float]) -> float:
        """The mean over rows of what they lose, added up over columns; both losses by column and value."""
        return sum(
            (suppressed if row in self.suppressed else kept)(column, value)
            for row, values in enumerate(self.rows)
            for column, value in enumerate(values)
        ) / len(self.rows)


def covered(node: Node) -> float:
    def lost(column: int, value: int) -> float:
        labels = node.labels[column]
        return (labels.count(labels[value]) - 1) / max(len(labels) - 1, 1)

    return node.mean(lost, lambda column, value: 1.0)


def entropy_lost(node: Node) -> float:
    total = 0.0
    for column, labels in enumerate(node.labels):
        values = [row[column] for row in node.rows]
        alike = Counter(labels[value] for value in values)
        each, everyone = Counter(values), len(values)
        most = sum(math.log(everyone / each[value]) for value in values)
        lost = sum(
            math.log((everyone if row in node.suppressed else alike[labels[value]]) / each[value])
            for row, value in enumerate(values)
        )
        total += lost / most if most else 0.0
    return total


def unlike_their_class(node: Node) -> float:
    alike = sum(max(Counter(node.targets[row] for row in rows).values()) for rows in node.classes())
    return len(node.rows) - alike


LOSSES: dict[str, Callable[[Node], float]] = {
    "score": lambda node: sum(level / height for level, height in node.steps),
    "height": lambda node: sum(level for level, _ in node.steps),
    "precision": lambda node: node.mean(
        lambda column, _: node.steps[column][0] / max(node.steps[column][1] - 1, 1), lambda *_: 1.0
    ),
    "loss-metric": covered,
    "non-uniform-entropy": entropy_lost,
    "discernibility": lambda node: (
        sum(len(rows) ** 2 for rows in node.classes()) + len(node.suppressed) * len(node.rows)
    ),
    "average-class-size": lambda node: len(node.rows) / (len(node.classes()) + bool(node.suppressed)),
    "classification": unlike_their_class,
}


class Found(NamedTuple):
    """What a method found: its figures, and those of every node within the budget that keeps k-anonymity.

    Attributes:
        loss: By discernibility; height: the levels added up; others: the same of every node, as pairs.
    """

    loss: float
    height: int
    others: list[tuple[float, int]]


def least(found: Found) -> bool:
    return found.loss == min(loss for loss, _ in found.others)


def lowest(found: Found) -> bool:
    height = min(height for _, height in found.others)
    return (found.height, found.loss) == (height, min(loss for loss, own in found.others if own == height))


def some_node(found: Found) -> bool:
    return (found.loss, found.height) in found.others


# What each method promises beside true labels, classes large enough and the budget; None where it is of no lattice.
METHODS: dict[str, Callable[[Found], bool] | None] = {
    "exhaustive": least,
    "optimal": least,
    "samarati": lowest,
    "greedy": some_node,
    "auto": None,
    "k-optimize": None,
    "local": None,
    "mondrian": None,
    "local-suppression": None,
    "microaggregation": None,
    "safepub": None,
}


def examples(name: str, column: str) -> list[dict[str, Any]]:
    """Parameters of a model as a plan gives them, about a sensitive column if it has one."""
    about = {"column": column} if "column" in SHAPES[name].keys else {}
    return [given | about for given in MODELS[name].plans]
