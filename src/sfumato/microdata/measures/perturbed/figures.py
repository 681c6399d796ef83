"""Risk and loss of perturbed numbers.

Risk: interval disclosure, the share of values that lie near their published ones, in ranks or in standard deviations
(Mateo-Sanz, J., Domingo-Ferrer, J., Sebé, F. 2005. Probabilistic information loss measures,
https://doi.org/10.1007/s10618-005-0011-9); record linkage by distance and by probability (`linkage.py`), the share of
rows that an attacker who knows all raw numbers of a person links rightly. Loss: IL1s, the mean distance from the raw
value in units of sqrt(2) standard deviations (Yancey, W., Winkler, W., Creecy, R. 2002), and what becomes of
covariances, eigenvalues and quantiles.

Where there are many rows, some are drawn and linked with all others. Rows with a missing value are left out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.microdata.measures.perturbed.linkage import before as before_of
from sfumato.microdata.measures.perturbed.linkage import by_distance, by_probability
from sfumato.microdata.models.classes import Floats
from sfumato.microdata.perturbation.draws import uniforms

# Numbers that are compared for record linkage: some seconds of work.
MOST_WORK = 200_000_000
# A value is disclosed where it lies within this share of the ranks, or of the standard deviation, of the published one.
NEAR_RANKS, NEAR_DEVIATION = 0.01, 0.05
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def figures_of(names: Sequence[str], before: Floats, after: Floats, key: str) -> dict[str, Any]:
    """All figures, in plain values.

    Args:
        before, after: (rows, columns) raw and published numbers, NaN where one is missing.
        key: What rows are drawn by where there are too many.
    """
    whole = ~(np.isnan(before) | np.isnan(after)).any(axis=1)
    before, after = before[whole], after[whole]
    if len(before) < 2:
        return {"rows": len(before)}
    spread = np.where(before.std(axis=0) > 0, before.std(axis=0), 1.0)
    raw, published = (np.ascontiguousarray((part - before.mean(axis=0)) / spread) for part in (before, after))
    chosen = _drawn(len(raw), raw.shape[1], key)
    nearest = by_distance(raw, published, chosen, NEAR_DEVIATION)
    alone = before_of(raw, chosen)
    heaviest = by_probability(raw, published, chosen, NEAR_DEVIATION, key)
    return {
        "rows": len(raw),
        "linked_rows": len(chosen),
        "linked_by_distance": nearest.linked,
        "linked_by_probability": heaviest.linked,
        "by_chance": 1 / len(raw),
        "linked_by_distance_before": alone,
        "linked_by_probability_before": alone,
        "learned_by_linkage": nearest.learned,
        "learned_of_others": nearest.learned_of_others,
        "learned_by_probability": heaviest.learned,
        "learned_of_others_by_probability": heaviest.learned_of_others,
        "near_in_rank": dict(zip(names, _near_ranks(before, after).tolist(), strict=True)),
        "near_in_deviation": dict(
            zip(names, (np.abs(raw - published) <= NEAR_DEVIATION).mean(axis=0).tolist(), strict=True)
        ),
        "il1s": float((np.abs(raw - published) / np.sqrt(2)).mean()),
        "covariance_distance": _covariance_distance(raw, published),
        "eigenvalue_distance": _eigenvalue_distance(raw, published),
        "correlation_drift": _correlation_drift(before, after),
        "quantiles": {name: _quantiles(before[:, at], after[:, at]) for at, name in enumerate(names)},
    }


def _drawn(rows: int, width: int, key: str) -> Any:
    """The rows that are linked."""
    most = max(MOST_WORK // max(rows * width, 1), 100)
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.argsort(uniforms(key, rows))[:most])


def _near_ranks(before: Floats, after: Floats) -> Floats:
    """For each column the share of rows whose value lies within a share of the ranks of its published one."""
    shares = np.empty(before.shape[1])
    reach = max(1, int(NEAR_RANKS * len(before)))
    for column in range(before.shape[1]):
        values, rows, counts = np.unique(before[:, column], return_inverse=True, return_counts=True)
        ends = np.append(0, np.cumsum(counts))  # each value has the ranks from its end here to the next
        published, places = np.unique(after[:, column], return_inverse=True)
        low = ends[np.searchsorted(values, published, "left")] - reach
        high = ends[np.searchsorted(values, published, "right")] + reach
        own, its = rows.reshape(-1), places.reshape(-1)
        shares[column] = float(((ends[own + 1] > low[its]) & (ends[own] < high[its])).mean())
    return shares


def _covariance_distance(raw: Floats, published: Floats) -> float:
    """The difference of the covariance matrices, as a share of the raw one."""
    one, other = (np.atleast_2d(np.cov(part, rowvar=False, bias=True)) for part in (raw, published))
    return float(np.linalg.norm(other - one) / max(float(np.linalg.norm(one)), 1e-300))


def _eigenvalue_distance(raw: Floats, published: Floats) -> float:
    """The mean relative difference of the covariance matrices' eigenvalues."""
    one, other = (np.linalg.eigvalsh(np.atleast_2d(np.cov(part, rowvar=False, bias=True))) for part in (raw, published))
    return float((np.abs(other - one) / np.maximum(one, 1e-9)).mean())


def _correlation_drift(before: Floats, after: Floats) -> float | None:
    """The mean difference of the correlations between columns; None for one column."""
    if before.shape[1] < 2 or (before.std(axis=0) == 0).any() or (after.std(axis=0) == 0).any():
        return None
    pairs = np.triu_indices(before.shape[1], 1)
    one, other = (np.asarray(np.corrcoef(part, rowvar=False))[pairs] for part in (before, after))
    return float(np.abs(one - other).mean())


def _quantiles(before: Floats, after: Floats) -> dict[str, list[float]]:
    """Some quantiles before and after, by the share below them."""
    pairs = zip(np.quantile(before, QUANTILES).tolist(), np.quantile(after, QUANTILES).tolist(), strict=True)
    return {f"{share:g}": [one, other] for share, (one, other) in zip(QUANTILES, pairs, strict=True)}
