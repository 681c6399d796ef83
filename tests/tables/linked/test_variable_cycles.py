"""Which variables of several tables form a cycle."""

import pytest

from sfumato.tables.linked.cross import variable_cycles


@pytest.mark.parametrize(
    ("tables", "cycles"),
    [
        ("ab bc", []),
        ("ab bc ac", ["abc"]),
        ("ab bc ac abc", []),
        ("ab bc acd", ["abc"]),
        ("ab bc cd", []),
        ("ab bc cd ad", ["abcd"]),
        ("ab bc cd ad ac", ["abcd"]),
        ("abc cde aef", ["ace"]),
        ("abc cde aef ace", []),
        ("ab bc ac xy yz xz", ["abc", "xyz"]),
        ("ab bc ac ad", ["abc"]),
        ("ab ab", []),
        ("a b c", []),
    ],
)
def test_cycles(tables, cycles):
    found = variable_cycles(frozenset(table) for table in tables.split())
    assert ["".join(sorted(own)) for own in found] == cycles
