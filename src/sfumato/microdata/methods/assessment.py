"""The assessment of classes by all promises: which must be suppressed, and what that says about finer tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.microdata.classes import Classes, Counts, Mask
from sfumato.microdata.models.model import Model, ReleaseModel, of_release

ALL = 2**62


@dataclass(frozen=True, slots=True)
class Assessed:
    """What the promises say of a table's classes.

    Attributes:
        failing: The classes that must be suppressed.
        certain_rows: Rows that every finer table is certain to suppress, at least.
    """

    failing: Mask
    certain_rows: int


def assess(classes: Classes, whole: Classes, models: Sequence[Model], enough: int = ALL) -> Assessed:
    """Judge classes by all models: first class by class, then those that are left together.

    Args:
        enough: Once more rows than this are certain to be lost, nothing more is worked out; `failing` may lack some.
    """
    failing: Mask = np.zeros(len(classes.sizes), bool)
    lost: Counts = np.zeros(len(failing), np.int64)
    # The models that are quickly judged come first: where they rule a table out, the others need not be asked.
    for model in sorted(models, key=lambda model: not model.monotone_suppression):
        if not of_release(model):
            mask = model.failing(classes, whole)
            failing = failing | mask
            lost = np.maximum(lost, model.lost(classes, whole, mask, enough)) if mask.any() else lost
            if enough < ALL and int(lost.sum()) > enough:
                return Assessed(failing, int(lost.sum()))
    return _together(models, classes.sizes, failing, int(lost.sum()))


def _together(models: Sequence[Model], sizes: Counts, failing: Mask, lost: int) -> Assessed:
    """Judge the classes that are left by the promises about the release as a whole."""
    for model in models:
        if of_release(model):
            lost = max(lost, model.lost_together(sizes))
            failing = _without_short(model, sizes, failing)
    return Assessed(failing, lost)


def _without_short(model: ReleaseModel, sizes: Counts, failing: Mask) -> Mask:
    """Suppress further classes until those left keep a promise about the release as a whole."""
    left = np.flatnonzero(~failing)
    short = model.short(sizes[left])
    if not short.any():
        return failing
    found = failing.copy()
    found[left[short]] = True
    return found
