"""Answers to questions that nothing tells, taken together: a few point to nobody, forty are a fingerprint.

Each of them is private and stands in many rows, so each alone may be published. Nobody can say whether others know
some of them; so as many are published as hardly any row is alone with, and the rest waits for somebody's decision.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import Reading
from sfumato.hierarchies.suggest.reasons import TOGETHER
from sfumato.hierarchies.suggest.suggestion import Suggestion
from sfumato.pipelines.suggesting.counted_rows import CountsRows
from sfumato.pipelines.suggesting.person_columns import FEW_ROWS

Ints = npt.NDArray[np.int64]
# So many rows may be alone with all answers that are published; of many rows, so many columns are.
_ALONE = 0.03
_FEW_ANSWERS = 8


def without_fingerprints(source: CountsRows, suggestions: Mapping[str, Suggestion], rows: int) -> dict[str, Suggestion]:
    """The suggestions, those answers withheld with which more than a few rows would be alone."""
    asked = [name for name, one in suggestions.items() if one.role == "sensitive" and one.asked]
    published = asked[:_FEW_ANSWERS] if rows > FEW_ROWS else _pointing_to_nobody(source, asked)
    share = f"{100 * _ALONE:g}"
    return dict(suggestions) | {
        name: suggestions[name].withheld(TOGETHER.format(known=suggestions[name].reason, share=share))
        for name in asked
        if name not in published
    }


def _pointing_to_nobody(source: CountsRows, names: Sequence[str]) -> list[str]:
    """The first of some columns, and each further one as long as few rows are alone with all that were taken."""
    if len(names) < 2:
        return [*names]
    counted = source.count(names, Reading())
    taken: list[str] = []
    owners: Ints = np.zeros(len(counted.counts), np.int64)
    for place, name in enumerate(names):
        finer = _joined(owners, counted.codes[:, place])
        if not taken or _alone(finer, counted.counts) <= _ALONE:
            taken, owners = [*taken, name], finer
    return taken


def _joined(owners: Ints, codes: npt.NDArray[np.int32]) -> Ints:
    """The groups of rows that are in one group and have one code."""
    keys = owners * (int(codes.max(initial=0)) + 1) + codes
    joined: Ints = np.unique(keys, return_inverse=True)[1].reshape(-1)
    return joined


def _alone(owners: Ints, counts: Ints) -> float:
    """The share of rows that are alone in their group."""
    sizes = np.bincount(owners, weights=counts)
    return float((sizes == 1).sum() / max(sizes.sum(), 1))
