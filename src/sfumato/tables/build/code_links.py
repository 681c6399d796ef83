"""Relations between tables whose codes of one are sums of codes of another."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.batch.code_coverage import Cover, coverage_of, variable_of
from sfumato.tables.batch.hidden_cells import Row, Ties
from sfumato.tables.build.crossed_columns import uncrossed
from sfumato.tables.build.implied_sums import common_sums
from sfumato.tables.build.table_views import TableView, coded_table
from sfumato.tables.cells.cells import Places


def ties_between(sections: Sequence[TableView]) -> list[Row]:
    """Return constraints between tables whose codes of a column differ, such as ab in one, a and b in another.

    Series have codes of their own and are left out.
    """
    plain = _plain(sections)
    return _tied([(coded_table(one), one.cells) for one in plain], _nested(plain)) if len(plain) > 1 else []


def _plain(sections: Sequence[TableView]) -> list[TableView]:
    return [uncrossed(one) for one in sections if not any(tree.series for tree in one.trees)]


def inconsistent_links(sections: Sequence[TableView]) -> list[Row]:
    """Return constraints between tables that hold except for inconsistent records."""
    plain = _plain(sections)
    odd = [one for one in plain if any(axis.inconsistent for axis in one.axes)]
    if len(plain) < 2 or not odd or any(all(_is_made_of(two, one) for two in odd) for one in odd):
        return []
    fitting = [replace(one, **_fitting(one)) for one in plain]
    return _tied([(coded_table(one), one.cells) for one in fitting])


def _is_made_of(section: TableView, finest: TableView) -> bool:
    """Return whether all cells of a table are sums of cells of another, so that inconsistent records are included."""
    places = {name: place for place, name in enumerate(finest.variables)}
    if not places.keys() >= set(section.variables):
        return False
    for place, (name, axis) in enumerate(zip(section.variables, section.axes, strict=True)):
        own = finest.axes[places[name]]
        if axis.variable and not _are_made_of(axis.finest.values(), own.finest.values()):
            return False
        if not axis.variable and not set(section.finest(place)) <= set(finest.finest(places[name])):
            return False
    return True


def _are_made_of(covers: Iterable[Cover], parts: Iterable[Cover]) -> bool:
    inside = {code: place for place, cover in enumerate(covers) for code in cover}
    return all(len({inside.get(code) for code in part}) == 1 for part in parts)


def _fitting(section: TableView) -> dict[str, Any]:
    """Return axes, keys and cells of a table without inconsistent records; cells with nothing else are dropped."""
    covers = [{code: cover - axis.inconsistent for code, cover in axis.covers.items()} for axis in section.axes]
    axes = tuple(
        replace(axis, covers=own, finest={text: cover - axis.inconsistent for text, cover in axis.finest.items()})
        for axis, own in zip(section.axes, covers, strict=True)
    )
    kept = [
        row
        for row, key in enumerate(section.keys)
        if all(own.get(code, {""}) for own, code in zip(covers, key, strict=True))
    ]
    return {"axes": axes, "keys": tuple(section.keys[row] for row in kept), "cells": section.cells[kept]}


def _tied(tables: Sequence[tuple[ArgusTable, Places]], nested: frozenset[str] = frozenset()) -> list[Row]:
    """Return constraints between tables by what their codes cover, with the joint cells of each."""
    coded = [table for table, _ in tables]
    coverage = coverage_of(coded)
    places: dict[frozenset[tuple[str, Cover]], int] = {}
    rows: list[Row] = []
    for number, (table, cells) in enumerate(tables):
        for row, cell in enumerate(cells.tolist()):
            first = places.setdefault(coverage.identity(number, table, row), cell)
            if first != cell:
                rows.append(([first, cell], [-1.0, 1.0]))
    ties = Ties(coverage, coded, places, grows=False, nested=nested)
    ties.tie(range(len(coded)))
    return rows + ties.rows + common_sums(coverage, tables)


def _nested(sections: Sequence[TableView]) -> frozenset[str]:
    """Return linked columns of which, in each two tables, one has all codes of the other; these need no links."""
    codes: dict[str, set[frozenset[Cover]]] = {}
    for axis in (axis for section in sections for axis in section.axes if axis.finest):
        codes.setdefault(variable_of(axis.tree), set()).add(frozenset(axis.covers.values()))
    return frozenset(
        name for name, own in codes.items() if all(one <= two or two <= one for one, two in combinations(own, 2))
    )
