"""Measures of perturbed numbers: how often record linkage re-identifies rows, and the information loss for analyses.

Risk: interval disclosure, the share of values that lie near their published ones, in ranks or in standard deviations
(Mateo-Sanz, J., Domingo-Ferrer, J., Sebé, F. 2005, https://doi.org/10.1007/s10618-005-0011-9); record linkage by an
attacker who knows all original numbers of a person. By distance: the nearest published row is taken. By probability
(Fellegi, I., Sunter, A. 1969, https://doi.org/10.1080/01621459.1969.10501049): agreement in each column is weighted by
how much likelier it is for a row and its own published row than for others. Each is also computed before perturbation,
and as a control: for persons who are not in the file, simulated by omitting the person's published record and those
equal
to it. Only the excess is disclosure.

Loss: IL1s, the mean distance from the original value in units of sqrt(2) standard deviations (Yancey, W., Winkler, W.,
Creecy, R. 2002), and the changes of covariances, eigenvalues and quantiles. With many rows, a sample of them is linked
with all others. Metrics of one column use all rows that have its number; others use the rows that have all numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.microdata.keyed_random import uniforms
from sfumato.microdata.measures import kernels as linkage_kernels
from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.values import Value


class Linkage(Value):
    """The result of one method of linkage.

    Attributes:
        linked: The proportion of rows linked with their own published row.
        learned: The proportion of values near those of the linked row.
        learned_of_others: The same proportion for persons who are not in the file.
    """

    linked: float
    learned: float
    learned_of_others: float


def by_distance(raw: Floats, published: Floats, chosen: Any, near: float) -> Linkage:
    """Link with the nearest published row; near: maximum distance of a value from the linked one to be learned."""
    links = _Links.empty(len(chosen))
    linkage_kernels.link_nearest(raw, published, chosen, links.own, links.places, links.others)
    return links.linkage(raw, published, chosen, near)


def by_probability(raw: Floats, published: Floats, chosen: Any, near: float, key: str) -> Linkage:
    """Link with the published row of the largest weight; key: for sampling the rows used for comparison."""
    reach = np.maximum(np.abs(raw - published).mean(axis=0), 1e-12)
    weights = _weights(raw, published, reach, chosen, key)
    links = _Links.empty(len(chosen))
    linkage_kernels.link_heaviest(raw, published, reach, weights, chosen, links.own, links.places, links.others)
    return links.linkage(raw, published, chosen, near)


class _Links(Value):
    """For each chosen row the probability of its own row, the linked row, and the one linked without it."""

    own: Floats
    places: Any
    others: Any

    @classmethod
    def empty(cls, rows: int) -> "_Links":
        return cls(np.empty(rows), np.empty(rows, np.int64), np.empty(rows, np.int64))

    def linkage(self, raw: Floats, published: Floats, chosen: Any, near: float) -> Linkage:
        learned, of_others = (_learned(raw, published, chosen, places, near) for places in (self.places, self.others))
        return Linkage(float(self.own.mean()), learned, of_others)


def linked_before(raw: Floats, chosen: Any) -> float:
    """Return the proportion of rows linked with their own before perturbation, where only equal rows are ambiguous."""
    equals = np.empty(len(chosen), np.int64)
    linkage_kernels.equal_records(raw, chosen, equals)
    return float((1 / equals).mean())


def _learned(raw: Floats, published: Floats, chosen: Any, places: Any, near: float) -> float:
    """Return the proportion of values near those of the linked row; a row without a link discloses none."""
    linked = places >= 0
    close = np.abs(raw[chosen[linked]] - published[places[linked]]) <= near
    return float(close.sum() / (len(chosen) * raw.shape[1]))


def _weights(raw: Floats, published: Floats, reach: Floats, chosen: Any, key: str) -> Floats:
    """Return (columns, 3): log odds of disagreement and of agreement, and the maximum that later columns can add."""
    agree = np.zeros(raw.shape[1])
    linkage_kernels.agreement(raw, published, reach, chosen, chosen, agree)
    own = np.clip(agree / len(chosen), 1e-6, 1 - 1e-6)
    others = (uniforms(f"{key}others:", len(chosen)) * len(raw)).astype(np.int64)
    linkage_kernels.agreement(raw, published, reach, chosen, others, agree)
    chance = np.clip(agree / len(chosen), 1e-6, 1 - 1e-6)
    misses, hits = np.log((1 - own) / (1 - chance)), np.log(own / chance)
    most = np.maximum(misses, hits)
    weights: Floats = np.column_stack([misses, hits, most[::-1].cumsum()[::-1] - most])
    return np.ascontiguousarray(weights)


# Limit of the number comparisons in record linkage: some seconds of work.
MOST_WORK = 200_000_000
# A value is disclosed if it lies within this share of the ranks, or of the standard deviation, of the published one.
NEAR_RANKS, NEAR_DEVIATION = 0.01, 0.05
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def figures_of(names: Sequence[str], before: Floats, after: Floats, key: str) -> dict[str, Any]:
    """Return all metrics as plain values; linkage and covariances only if two rows have all numbers.

    Args:
        before: Original numbers, an array (rows, columns); NaN for missing values.
        after: Published numbers, an array (rows, columns); NaN for missing values.
        key: Random key for sampling rows of a large file.
    """
    there = ~(np.isnan(before) | np.isnan(after))
    whole = there.all(axis=1)
    figures = {"rows": int(whole.sum()), "incomplete_rows": int((~whole).sum())}
    columns = {name: (before[:, at], after[:, at], there[:, at]) for at, name in enumerate(names) if there[:, at].any()}
    if not columns:
        return figures
    if figures["rows"] >= 2:
        figures |= _row_figures(before[whole], after[whole], key)
    return figures | _column_figures(columns)


def _row_figures(before: Floats, after: Floats, key: str) -> dict[str, Any]:
    """Return re-identification rates and changes of joint distributions, for rows with all numbers."""
    spread = np.where(before.std(axis=0) > 0, before.std(axis=0), 1.0)
    raw, published = (np.ascontiguousarray((part - before.mean(axis=0)) / spread) for part in (before, after))
    chosen = _drawn(len(raw), raw.shape[1], key)
    nearest = by_distance(raw, published, chosen, NEAR_DEVIATION)
    alone = linked_before(raw, chosen)
    heaviest = by_probability(raw, published, chosen, NEAR_DEVIATION, key)
    return {
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
        "covariance_distance": _covariance_distance(raw, published),
        "eigenvalue_distance": _eigenvalue_distance(raw, published),
        "correlation_drift": _correlation_drift(before, after),
    }


def _column_figures(columns: Mapping[str, tuple[Floats, Floats, Any]]) -> dict[str, Any]:
    """Return risk and loss of each single column, from original and published numbers of the rows that have both."""
    pairs = {name: (raw[both], published[both]) for name, (raw, published, both) in columns.items()}
    gaps = {name: np.abs(raw - published) / (raw.std() or 1.0) for name, (raw, published) in pairs.items()}
    return {
        "near_in_rank": {name: _near_ranks(*pair) for name, pair in pairs.items()},
        "near_in_deviation": {name: float((gap <= NEAR_DEVIATION).mean()) for name, gap in gaps.items()},
        "il1s": float((np.concatenate(list(gaps.values())) / np.sqrt(2)).mean()),
        "quantiles": {name: _quantiles(raw, published) for name, (raw, published, _) in columns.items()},
    }


def _drawn(rows: int, width: int, key: str) -> Any:
    """Return the sampled rows that are linked."""
    most = max(MOST_WORK // max(rows * width, 1), 100)
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.argsort(uniforms(key, rows))[:most])


def _near_ranks(before: Floats, after: Floats) -> float:
    """Return the share of rows whose value is within a share of the ranks of its published one."""
    reach = max(1, int(NEAR_RANKS * len(before)))
    values, rows, counts = np.unique(before, return_inverse=True, return_counts=True)
    ends = np.append(0, np.cumsum(counts))  # each value has the ranks from its end here to the next
    published, places = np.unique(after, return_inverse=True)
    low = ends[np.searchsorted(values, published, "left")] - reach
    high = ends[np.searchsorted(values, published, "right")] + reach
    own, its = rows.reshape(-1), places.reshape(-1)
    return float(((ends[own + 1] > low[its]) & (ends[own] < high[its])).mean())


def _covariance_distance(raw: Floats, published: Floats) -> float:
    """Return the difference of the covariance matrices, relative to the original one."""
    one, other = (np.atleast_2d(np.cov(part, rowvar=False, bias=True)) for part in (raw, published))
    return float(np.linalg.norm(other - one) / max(float(np.linalg.norm(one)), 1e-300))


def _eigenvalue_distance(raw: Floats, published: Floats) -> float:
    """Return the mean relative difference of the covariance matrices' eigenvalues."""
    one, other = (np.linalg.eigvalsh(np.atleast_2d(np.cov(part, rowvar=False, bias=True))) for part in (raw, published))
    return float((np.abs(other - one) / np.maximum(one, 1e-9)).mean())


def _correlation_drift(before: Floats, after: Floats) -> float | None:
    """Return the mean difference of the correlations between columns; None for one column."""
    if before.shape[1] < 2 or (before.std(axis=0) == 0).any() or (after.std(axis=0) == 0).any():
        return None
    pairs = np.triu_indices(before.shape[1], 1)
    one, other = (np.asarray(np.corrcoef(part, rowvar=False))[pairs] for part in (before, after))
    return float(np.abs(one - other).mean())


def _quantiles(before: Floats, after: Floats) -> dict[str, list[float]]:
    """Return some quantiles before and after, by the share below them."""
    pairs = zip(np.nanquantile(before, QUANTILES).tolist(), np.nanquantile(after, QUANTILES).tolist(), strict=True)
    return {f"{share:g}": [one, other] for share, (one, other) in zip(QUANTILES, pairs, strict=True)}
