"""Record linkage of original and perturbed numbers by an attacker who knows all original numbers of a person.

By distance: the nearest published row is taken. By probability (Fellegi, I., Sunter, A. 1969. A theory for record
linkage, https://doi.org/10.1080/01621459.1969.10501049): agreement in each column is weighted by how much likelier it
is for a row and its own published row than for others, and the row with the largest weight is taken. Each is also
computed before perturbation, on the original rows, and as a control: for persons who are not in the file, simulated by
leaving out the own published record and those equal to it. What can be learned about these can be learned about anyone;
only the excess is disclosure.
"""

from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.measures.perturbed import linkage_kernels
from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.perturbation.keyed_random import uniforms


@dataclass(frozen=True, slots=True)
class Linkage:
    """The result of one method of linkage.

    Attributes:
        linked: The share of rows linked with their own published row.
        learned: The share of values that lie near those of the linked row; learned_of_others: of persons not in the
            file.
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


@dataclass(frozen=True, slots=True)
class _Links:
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


def before(raw: Floats, chosen: Any) -> float:
    """Return the share of rows linked with their own before perturbation: only equal rows cannot be distinguished."""
    equals = np.empty(len(chosen), np.int64)
    linkage_kernels.equal_records(raw, chosen, equals)
    return float((1 / equals).mean())


def _learned(raw: Floats, published: Floats, chosen: Any, places: Any, near: float) -> float:
    """Return the share of values that lie near those of the linked row; a row without link reveals nothing."""
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
