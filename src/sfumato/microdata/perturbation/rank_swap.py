"""Rank swapping: values are exchanged between records that are near each other in rank.

Moore, R. (1996). Controlled data-swapping techniques for masking public use microdata sets. US Census Bureau. The
distribution of the column stays exactly the same; its relation to other columns gets weaker with the distance.
"""

import numpy as np
import numpy.typing as npt

from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.perturbation.keyed_random import uniforms
from sfumato.microdata.perturbation.swap_kernels import swap_ranks

Places = npt.NDArray[np.int64]


def rank_partners(values: Floats, share: float, key: str) -> Places:
    """Return for each record the one whose value it gets, at most a share of all ranks away, or itself."""
    order = np.lexsort((uniforms(f"{key}ties:", len(values)), values))
    partners = np.full(len(values), -1, np.int64)
    swap_ranks(max(1, int(share * len(values))), uniforms(key, len(values)), partners)
    places = np.empty(len(values), np.int64)
    places[order] = order[partners]
    return places
