"""Find cycles of variables in several tables, such as a, b, c in the tables a by b, b by c and a by c.

Tables without a cycle disclose together no more than their common cells do: whatever these allow, some cross of all
variables agrees (Vorob'ev 1962, doi:10.1137/1107014). In a cycle the cross must agree with all tables at once, which
narrows it.
"""

from collections.abc import Iterable, Sequence

Variables = frozenset[str]


def variable_cycles(tables: Iterable[Variables]) -> list[Variables]:
    """Return the variables of cycles, one set per connected group of cycles. Variables in no cycle are removed
    repeatedly until none is left (Graham 1979; Yu and Ozsoyoglu 1979).

    >>> [sorted(own) for own in variable_cycles([frozenset("ab"), frozenset("bc"), frozenset("acd")])]
    [['a', 'b', 'c']]
    >>> variable_cycles([frozenset("ab"), frozenset("bc"), frozenset("ac"), frozenset("abc")])
    []
    """
    left, before = _maximal(tables), list[Variables]()
    while left != before:
        before = left
        left = _maximal(own & _shared(left) for own in left)
    return connected(left)


def _maximal(sets: Iterable[Variables]) -> list[Variables]:
    """Return the distinct sets that are not contained in another."""
    distinct = sorted({own for own in sets if own}, key=sorted)
    return [own for own in distinct if not any(own < other for other in distinct)]


def _shared(sets: Sequence[Variables]) -> Variables:
    """Return the variables that are in more than one set."""
    return frozenset(name for own in sets for name in own if sum(name in other for other in sets) > 1)


def connected(sets: Iterable[Variables]) -> list[Variables]:
    """Merge sets that share a variable."""
    groups: list[Variables] = []
    for own in sets:
        near = [group for group in groups if group & own]
        groups = [group for group in groups if not group & own] + [own.union(*near)]
    return sorted(groups, key=sorted)
