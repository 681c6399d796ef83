"""The risk profile of ARXaaS, with its names of measures, intervals and attackers, from class sizes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.microdata.measures.population import uniqueness
from sfumato.microdata.measures.risk import prosecutor
from sfumato.microdata.models.equivalence_classes import Counts

# Bounds of the risk intervals, in percent; a risk is in the interval whose upper bound it does not exceed.
ENDS = (0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, *range(1, 10), 10, 12.5, 14.3, 16.7, 20, 25, 33.4, 50, 100)
NAMES = {1e-6: "1e-6", 1e-5: "1e-5", 1e-4: "0.0001"}
ATTACKERS = ("Prosecutor", "Journalist", "Marketer")
# The assumed sampling fraction of the rows.
SAMPLED = 0.01
CLOSE = 1e-12


def risk_profile(sizes: Counts, columns: Mapping[str, Counts]) -> dict[str, Any]:
    """Return the risk profile for given class sizes.

    Args:
        columns: For each quasi-identifier, the number of rows of each of its values.

    >>> profile = risk_profile(np.array([6, 5]), {"zip": np.array([6, 5])})
    >>> round(profile["reIdentificationRisk"]["measures"]["records_affected_by_highest_prosecutor_risk"], 4)
    0.4545
    """
    average = prosecutor(sizes).average
    rates = {f"{name}_attacker_success_rate": average for name in ATTACKERS}
    risk = {
        "measures": _measures(sizes),
        "attackerSuccessRate": {"successRates": rates},
        "quasiIdentifiers": list(columns),
        "populationModel": "DANKAR",
    }
    attributes = [_attribute(name, counts) for name, counts in columns.items()]
    return {
        "reIdentificationRisk": risk,
        "distributionOfRisk": {"riskIntervalList": _intervals(sizes)},
        "attributeRisk": {"quasiIdentifierRiskList": attributes},
    }


def _measures(sizes: Counts) -> dict[str, float]:
    risk = prosecutor(sizes)
    rows = int(sizes.sum())
    low, high = 1 / int(sizes.max()), 1 / int(sizes.min())
    affected = float(sizes[sizes == sizes.min()].sum()) / rows
    return {
        "lowest_risk": low,
        "records_affected_by_lowest_risk": float(sizes[sizes == sizes.max()].sum()) / rows,
        "average_prosecutor_risk": risk.average,
        "highest_prosecutor_risk": high,
        "records_affected_by_highest_prosecutor_risk": affected,
        "highest_journalist_risk": high,
        "records_affected_by_highest_journalist_risk": affected,
        "estimated_prosecutor_risk": high,
        "estimated_journalist_risk": high,
        "estimated_marketer_risk": risk.average,
        "sample_uniques": float((sizes == 1).sum()) / rows,
        "population_uniques": float(uniqueness(sizes, round(rows / SAMPLED)).dankar.share or 0.0),
    }


def _intervals(sizes: Counts) -> list[dict[str, Any]]:
    """Return the proportion of rows within each risk interval and up to its upper bound, the highest first."""
    risks, rows = 100 / sizes, int(sizes.sum())
    intervals = []
    for low, high in reversed(list(pairwise(ENDS))):
        below = risks <= high + CLOSE
        within = float(sizes[below & (risks > low + CLOSE)].sum()) / rows
        upto = float(sizes[below].sum()) / rows
        name = f"[{_name(low)},{_name(high)}{']' if high == ENDS[-1] else ')'}"
        intervals.append(
            {
                "interval": name,
                "recordsWithRiskWithinInterval": within,
                "recordsWithMaximalRiskWithinInterval": upto,
                # Two names in the spelling of versions up to 0.5.
                "recordsWithRiskWithinInteval": within,
                "recordsWithMaxmalRiskWithinInterval": upto,
            }
        )
    return intervals


def _name(end: float) -> str:
    return NAMES.get(end, f"{end:g}")


def _attribute(name: str, counts: Counts) -> dict[str, Any]:
    """Return how far a single column distinguishes rows: proportions of distinct values and of differing row pairs."""
    rows = int(counts.sum())
    pairs = rows * (rows - 1) / 2
    alike = float((counts * (counts - 1) / 2).sum())
    separation = (pairs - alike) / pairs if pairs else 0.0
    return {"identifier": [name], "distinction": len(counts) / rows, "separation": separation}


def counts_of(rows: Sequence[tuple[str | None, ...]]) -> Counts:
    """Return the number of rows of each distinct row.

    >>> sorted(counts_of([("a",), ("b",), ("a",)]).tolist())
    [1, 2]
    """
    sizes: dict[tuple[str | None, ...], int] = {}
    for row in rows:
        sizes[row] = sizes.get(row, 0) + 1
    return np.array(list(sizes.values()), np.int64)
