"""Find cycles of variables when tables use different codes of one variable, such as municipality, district, type.

A table by municipality is also one by district, but not the other way round; types and districts are both sums of
municipalities, and neither follows from the other. So a variable is split into as many as there are partitions of it.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations

from sfumato.tables.batch.code_coverage import Cover, Coverage
from sfumato.tables.batch.variable_cycles import Variables, connected, variable_cycles

# The finest codes of a variable in a table.
Leaves = frozenset[Cover]
# Separator between a variable and the number of its partition.
BETWEEN = "\x1f"


def grain_cycles(coverage: Coverage, tables: Mapping[int, Variables], linked: Iterable[str]) -> list[Variables]:
    """Return the variables of cycles, and variables with two partitions of which neither is finer than the other.

    Args:
        coverage: What codes cover.
        tables: The variables of each table, by its number.
        linked: The variables whose codes may differ.
    """
    ways = {name: _ways(coverage, name, tables) for name in linked}
    edges = [_grains(coverage, number, variables, ways) for number, variables in tables.items()]
    mixed = [
        frozenset(_grain(name, place) for place in range(len(own)))
        for name, own in ways.items()
        if not all(is_finer(one, two) or is_finer(two, one) for one, two in combinations(own, 2))
    ]
    cycles = connected([*variable_cycles([*edges, *mixed]), *mixed])
    return connected(frozenset(name.partition(BETWEEN)[0] for name in cycle) for cycle in cycles)


def _ways(coverage: Coverage, name: str, tables: Mapping[int, Variables]) -> list[Leaves]:
    """Return the different partitions of a variable in the tables."""
    return list(dict.fromkeys(coverage.leaves[number][name] for number, own in tables.items() if name in own))


def _grains(coverage: Coverage, number: int, variables: Variables, ways: Mapping[str, list[Leaves]]) -> frozenset[str]:
    """Return the variables of a table; one with several partitions is replaced by those its codes can be summed to."""
    plain = [name for name in variables if name not in ways]
    made = [
        _grain(name, place)
        for name in variables - set(plain)
        for place, way in enumerate(ways[name])
        if is_finer(coverage.leaves[number][name], way)
    ]
    return frozenset((*plain, *made))


def _grain(name: str, place: int) -> str:
    return f"{name}{BETWEEN}{place}"


def is_finer(fine: Leaves, coarse: Leaves) -> bool:
    """Return whether every code of one partition lies within one code of the other.

    >>> is_finer(frozenset({frozenset("a"), frozenset("b")}), frozenset({frozenset("ab")}))
    True
    """
    unit = {code: place for place, cover in enumerate(coarse) for code in cover}
    return all(len({unit.get(code, -1) for code in cover}) == 1 for cover in fine)
