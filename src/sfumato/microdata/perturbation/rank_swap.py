"""Rank swapping: values are exchanged between records that are near each other in rank.

Moore, R. (1996). Controlled data-swapping techniques for masking public use microdata sets. US Census Bureau. The
distribution of the column stays exactly as it is; its relation to other columns becomes looser with the distance.
"""

import numpy as np

from sfumato.microdata.models.classes import Floats
from sfumato.microdata.perturbation.draws import uniforms
from sfumato.microdata.perturbation.swap_kernels import swap_ranks


def rank_swapped(values: Floats, share: float, key: str) -> Floats:
    """Values after each was exchanged with one at most a share of all ranks away."""
    order = np.lexsort((uniforms(f"{key}ties:", len(values)), values))
    partners = np.full(len(values), -1, np.int64)
    swap_ranks(max(1, int(share * len(values))), uniforms(key, len(values)), partners)
    swapped = np.empty_like(values)
    swapped[order] = values[order[partners]]
    return swapped
