"""The reader's view: promises that compare with a whole table also hold against the rows that a reader sees.

Suppression changes the shares of sensitive values: a class that is like the raw table may be unlike what was published
of it. So classes that are unlike the rows left are suppressed, too, and those left are compared again, until none is.
Which classes that takes is not settled by each class alone: other sets of them may do as well, or better.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.microdata.models.classes import Classes, Mask, reference_of
from sfumato.microdata.models.model import Model, for_readers


def without_skew(classes: Classes, whole: Classes, models: Sequence[Model], suppressed: Mask) -> Mask:
    """The classes that are suppressed once those left keep every promise against the rows left.

    Args:
        whole: The raw table.
        suppressed: The classes that are suppressed for other reasons.
    """
    comparing = [model for model in models if for_readers(model)]
    while comparing:
        left = np.flatnonzero(~suppressed)
        kept = classes.kept(~suppressed)
        if not len(left) or kept.rows == whole.rows:
            break
        seen = reference_of(kept, whole)
        skewed = np.any([model.failing(kept, seen) for model in comparing], axis=0)
        if not skewed.any():
            break
        suppressed = suppressed.copy()
        suppressed[left[skewed]] = True
    return suppressed
