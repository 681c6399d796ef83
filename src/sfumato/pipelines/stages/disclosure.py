"""Measuring what published rows disclose besides what was promised: counted from what was written."""

from itertools import combinations

from sfumato.engines.engine import Engine, Reading
from sfumato.microdata.counts.frequencies import Counted, typed
from sfumato.microdata.measures.disclosure import Disclosure, UniqueRows, attribute_figures, unique_rows
from sfumato.microdata.plan.model import Plan

# Rows that may be gone through for it, all counts together: a report must not cost more than the release.
MOST_WORK = 10_000_000
PAIRS_SHOWN = 10


class _Budget:
    """How many more times the rows may be counted."""

    def __init__(self, published: Engine, rows: int) -> None:
        self.published = published
        self.counts = MOST_WORK // max(rows, 1)

    def count(self, columns: tuple[str, ...]) -> Counted | None:
        """The rows counted by some columns; None where that would be too much work."""
        self.counts -= 1
        return None if self.counts < 0 else self.published.count(columns, Reading())


def disclosure(published: Engine, recounted: Counted, plan: Plan) -> Disclosure:
    """What published rows disclose.

    Args:
        recounted: The rows as they were counted for the promises.
    """
    budget = _Budget(published, int(recounted.counts.sum()))
    star_rows = plan.output.suppressed == "star"
    figures, unmeasured = {}, []
    for name in plan.shown_sensitive:
        counted = recounted if name in recounted.columns else budget.count((*plan.quasi_identifiers, name))
        if counted is None:
            unmeasured.append(f'Too many rows: what classes tell of "{name}" was not measured.')
            continue
        canonical, _ = typed(counted, plan)
        figures[name] = attribute_figures(canonical, plan.quasi_identifiers, name, plan.data.missing, star_rows)
    unique, complete = _unique_rows(budget, recounted, plan)
    if not complete:
        unmeasured.append("Too many rows: not every column and pair that is no quasi-identifier was tried.")
    return Disclosure(figures, unique, tuple(unmeasured))


def _unique_rows(budget: _Budget, recounted: Counted, plan: Plan) -> tuple[tuple[UniqueRows, ...], bool]:
    """Rows that are unique by published columns that are no quasi-identifiers; and whether all of them were tried."""
    names = [*plan.shown_sensitive, *plan.named("insensitive")]
    by_width: dict[int, list[UniqueRows]] = {1: [], 2: []}
    for width, entries in by_width.items():
        for chosen in combinations(names, width):
            counted = recounted if set(chosen) <= set(recounted.columns) else budget.count(chosen)
            if counted is None:
                return (*by_width[1], *_worst(by_width[2])), False
            entries.append(unique_rows(counted, chosen, plan.data.missing))
    return (*by_width[1], *_worst(by_width[2])), True


def _worst(pairs: list[UniqueRows]) -> list[UniqueRows]:
    return sorted(pairs, key=lambda entry: (-entry.rows, entry.columns))[:PAIRS_SHOWN]
