"""Evaluate models that compare distributions against the published rows as well, because data users see only these.

Suppression changes the shares of sensitive values: a class similar to the original table may differ from the published
rows. Classes that differ too much from the remaining rows are therefore suppressed as well, and the remaining ones are
compared again, until none differs. The set of suppressed classes is not unique; another set may suppress fewer rows.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses, reference_of
from sfumato.microdata.models.model import PrivacyModel, checks_published


def suppress_skewed_classes(
    classes: EquivalenceClasses, whole: EquivalenceClasses, models: Sequence[PrivacyModel], suppressed: BoolArray
) -> BoolArray:
    """Return the classes that are suppressed once the remaining ones satisfy every model for the remaining rows.

    Args:
        whole: The original table.
        suppressed: The classes that are suppressed for other reasons.
    """
    comparing = [model for model in models if checks_published(model)]
    while comparing:
        left = np.flatnonzero(~suppressed)
        kept = classes.kept(~suppressed)
        if not len(left) or kept.rows == whole.rows:
            break
        seen = reference_of(kept, whole)
        skewed = np.any([model.violating(kept, seen) for model in comparing], axis=0)
        if not skewed.any():
            break
        suppressed = suppressed.copy()
        suppressed[left[skewed]] = True
    return suppressed
