"""The assessment of classes by all promises: which must be suppressed, and what that says about finer tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.microdata.classes import Classes, Counts, Mask
from sfumato.microdata.models.model import Model, ReleaseModel


@dataclass(frozen=True, slots=True)
class Assessed:
    """What the promises say of a table's classes.

    Attributes:
        failing: The classes that must be suppressed.
        certain_rows: Rows that every finer table is certain to suppress, at least.
    """

    failing: Mask
    certain_rows: int


def assess(classes: Classes, whole: Classes, models: Sequence[Model]) -> Assessed:
    """Judge classes by all models: first class by class, then those that are left together."""
    masks = [(model, model.failing(classes, whole)) for model in models if not isinstance(model, ReleaseModel)]
    failing: Mask = np.zeros(len(classes.sizes), bool)
    for _, mask in masks:
        failing = failing | mask
    lost = _lost(classes, whole, masks, failing)
    for model in models:
        if isinstance(model, ReleaseModel):
            lost = max(lost, model.lost_together(classes.sizes))
            failing = _without_short(model, classes.sizes, failing)
    return Assessed(failing, lost)


def _lost(classes: Classes, whole: Classes, masks: Sequence[tuple[Model, Mask]], failing: Mask) -> int:
    """Rows that finer tables lose: of each class at least what the most demanding model says."""
    if all(model.monotone_suppression for model, _ in masks):
        return int(classes.sizes[failing].sum())
    most: Counts = np.zeros(len(failing), np.int64)
    for model, mask in masks:
        if mask.any():
            most = np.maximum(most, model.lost(classes, whole, mask))
    return int(most.sum())


def _without_short(model: ReleaseModel, sizes: Counts, failing: Mask) -> Mask:
    """Suppress further classes until those left keep a promise about the release as a whole."""
    left = np.flatnonzero(~failing)
    short = model.short(sizes[left])
    if not short.any():
        return failing
    found = failing.copy()
    found[left[short]] = True
    return found
