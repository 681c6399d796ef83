"""Rules as the handbook has them, through the whole pipeline; brute force where a table is small."""

from itertools import product

import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import PlanError

AREAS, ILLNESS = ("a", "b", "c"), ("flu", "cold", "none")
COUNTS = {("a", "flu"): 7, ("b", "flu"): 4, ("b", "cold"): 5, ("b", "none"): 6, ("c", "cold"): 8, ("c", "none"): 3}


def crossed(counts):
    """All cells of a two-way table, totals first."""
    rows = []
    for area, ill in product(("Total", *AREAS), ("Total", *ILLNESS)):
        value = sum(n for (own, what), n in counts.items() if area in ("Total", own) and ill in ("Total", what))
        rows.append({"area": area, "illness": ill, "n": value})
    return rows


def frame(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


def tables_of(published, most=8):
    """Every table of whole numbers that agrees with what is published: the parts of each area, one after another."""
    inner = list(product(AREAS, ILLNESS))
    options = [range(most + 1) if published[cell] is None else [published[cell]] for cell in inner]
    for values in product(*options):
        table = dict(zip(inner, values, strict=True))
        if all(
            shown is None
            or shown == sum(n for (a, i), n in table.items() if area in ("Total", a) and ill in ("Total", i))
            for (area, ill), shown in published.items()
        ):
            yield table


def test_nobody_learns_that_a_whole_group_is_in_one_category():
    done = sf.protect(
        frame(crossed(COUNTS)),
        value="n",
        dimensions={"area": {"column": "area"}, "illness": {"column": "illness"}},
        primary=[{"rule": "group-disclosure", "dimension": "illness"}],
    )
    cells = list(zip(done.data["area"], done.data["illness"], strict=True))
    published = {
        cell: None if text == "*" else int(text) for cell, text in zip(cells, done.data["n_published"], strict=True)
    }
    assert published["a", "flu"] is None
    agreeing = list(tables_of(published))
    assert len(agreeing) > 1
    assert any(table["a", "cold"] + table["a", "none"] > 0 for table in agreeing)


def test_a_group_rule_names_a_dimension_of_the_table():
    with pytest.raises(PlanError, check=coded("value.unknown_dimension")):
        sf.protect(
            frame(crossed(COUNTS)),
            value="n",
            dimensions={"area": {"column": "area"}, "illness": {"column": "illness"}},
            primary=[{"rule": "group-disclosure", "dimension": "sex"}],
        )


FIRMS = {
    "area": ["a"] * 3 + ["b"] * 3 + ["c"] * 4,
    "branch": ["x", "x", "y", "x", "y", "y", "x", "x", "y", "y"],
    "turnover": [50, 50, 90, 40, 30, 30, 20, 30, 40, 50],
    "staff": [99, 1, 10, 10, 5, 5, 4, 4, 4, 4],
    "group": ["g1", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8", "g9"],
}


def unsafe_by(**table):
    """The cells that are unsafe of the firms, crossed from microdata."""
    done = sf.protect(
        frame(FIRMS),
        {
            "version": 1,
            "table": {"value": "turnover", **table.pop("table", {})},
            "tables": [{"name": "t", "dimensions": {"area": {"column": "area"}, "branch": {"column": "branch"}}}],
            "primary": [{"rule": "dominance", "n": 1, "k": 90, **table.pop("rule", {})}],
            "attackers": {"respondents": False, "holdings": False},
            **table,
        },
    )
    part = done.joint.parts[0].part.table
    return {name for name, unsafe in zip(part.names, part.sensitive, strict=True) if unsafe}, done


def test_a_shadow_is_what_the_rules_look_at():
    plain, _ = unsafe_by()
    shadowed, done = unsafe_by(table={"shadow": "staff"})
    # In (a, x) two firms turn over the same, but one has nearly all of the staff.
    assert "area a, branch x" not in plain
    assert "area a, branch x" in shadowed
    assert done.passed


def test_rules_look_at_holdings_or_at_respondents():
    by_holding, _ = unsafe_by(table={"holding": "group"})
    by_respondent, _ = unsafe_by(table={"holding": "group"}, rule={"level": "respondent"})
    # Both firms of (a, x) are of one holding.
    assert "area a, branch x" in by_holding - by_respondent
    assert by_respondent <= by_holding


def test_cost_is_a_column_of_its_own():
    rows = [row | {"dear": 1000 if row["area"] == "c" else 1} for row in crossed(COUNTS)]
    done = sf.protect(
        frame(rows),
        value="n",
        dimensions={"area": {"column": "area"}, "illness": {"column": "illness"}},
        primary=[{"rule": "range", "min": 4, "max": 5}],
        method={"name": "optimal", "cost": "dear"},
    )
    masked = {area for area, text in zip(done.data["area"], done.data["n_published"], strict=True) if text == "*"}
    assert "c" not in masked


def union(**attackers):
    """Two unsafe cells of one row, with a firm that dominates each."""
    cells = {"Total": (200.0, 48.0, 48.0), "x": (50.0, 48.0, 2.0), "y": (50.0, 48.0, 2.0), "z": (100.0, 40.0, 30.0)}
    rows = [{"area": area, "v": v, "n": 9, "top1": one, "top2": two} for area, (v, one, two) in cells.items()]
    done = sf.protect(
        frame(rows),
        value="v",
        frequency="n",
        contributions=["top1", "top2"],
        dimensions={"area": {"column": "area"}},
        primary=[{"rule": "dominance", "n": 1, "k": 90}],
        attackers=attackers,
    )
    return set(done.data["area"][done.data["v_published"] == "*"])


def test_rules_hold_for_unions_of_cells_that_are_masked_together():
    # The one who has 48 of x knows that y is at most 52: the other's 48 within 8 %.
    assert union(respondents=False) == {"x", "y"}
    assert union() == {"x", "y", "z"}
