"""Who runs which tests: a file is run by one worker, and so is all that needs Spark, and all that needs a browser.

What files set up is then set up once, and so are the two dearest things to start.
"""

import re
from collections import Counter

from xdist.scheduler import LoadScopeScheduling

# By what the names of tests say, the longest first.
UNITS = {
    "browser": re.compile(r"^tests/web/"),
    "spark": re.compile(r"spark|test_same_release"),
    "faults": re.compile(r"test_fault"),
    "cluster": re.compile(r"test_cluster"),
    "loops": re.compile(r"test_kernels"),
}


def unit_of(name: str) -> str:
    """The unit of a test: one of those above, or its file."""
    return next((unit for unit, pattern in UNITS.items() if pattern.search(name)), name.split("::", 1)[0])


def places(names: list[str]) -> list[int]:
    """The order in which tests are handed out: the units above, then those of many tests; the last ones are short."""
    units = [unit_of(name) for name in names]
    tests = Counter(units)
    ranks = {unit: place - len(UNITS) for place, unit in enumerate(UNITS)}
    return sorted(range(len(names)), key=lambda place: (ranks.get(units[place], 0), -tests[units[place]], units[place]))


class Units(LoadScopeScheduling):
    """Gives workers one unit after the other, in the order of their first tests."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
