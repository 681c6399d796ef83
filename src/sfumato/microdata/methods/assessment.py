"""Assess classes by all privacy models: which must be suppressed, and what that implies for finer nodes."""

from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.microdata.models.classes import Classes, Counts, Mask
from sfumato.microdata.models.model import Model, ReleaseModel, of_release
from sfumato.microdata.models.readers_view import without_skew

ALL = 2**62


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the promises say of a table's classes.

    Attributes:
        failing: The classes that must be suppressed.
        lost: For each class, rows that every finer table is certain to suppress, at least.
        lost_together: The same for all classes, by promises about the release as a whole.
    """

    failing: Mask
    lost: Counts
    lost_together: int = 0

    @property
    def certain_rows(self) -> int:
        """Rows that every finer table is certain to suppress, at least."""
        return max(int(self.lost.sum()), self.lost_together)


def assess(
    classes: Classes, whole: Classes, models: Sequence[Model], enough: int = ALL, bounded: bool = True
) -> Assessment:
    """Judge classes by all models: first class by class, then those that are left together.

    Args:
        enough: Once more rows than this are certain to be lost, nothing more is worked out; `failing` may lack some.
        bounded: Whether it matters what finer tables lose; if not, it is worked out only where that is quick.
    """
    failing: Mask = np.zeros(len(classes.sizes), bool)
    lost: Counts = np.zeros(len(failing), np.int64)
    # The models that are quickly judged come first: where they rule a table out, the others need not be asked.
    for model in sorted(models, key=lambda model: not model.monotone_suppression):
        if not of_release(model):
            # A class that loses all its rows by one promise need not be judged by the next.
            settled = lost == classes.sizes
            mask = model.failing_among(classes, whole, ~settled)
            failing = failing | mask
            if (bounded or model.monotone_suppression) and mask.any():
                left = enough - int(lost[settled].sum())
                lost = np.maximum(lost, model.lost(classes, whole, mask, left))
                if enough < ALL and int(lost.sum()) > enough:
                    return Assessment(failing, lost)
    while True:
        assessment = _together(models, classes, failing, lost)
        failing = without_skew(classes, whole, models, assessment.failing)
        if failing is assessment.failing or (failing == assessment.failing).all():
            return assessment


def beyond_limits(models: Sequence[Model], whole: Classes) -> UnattainableError | None:
    """The error for a promise that these data cannot keep, whatever is published; None where each can be kept."""
    reasons = ((model.name, model.limits(whole)) for model in models)
    return next((UnattainableError(why, "Ask for less, or add rows.", name) for name, why in reasons if why), None)


def _together(models: Sequence[Model], classes: Classes, failing: Mask, lost: Counts) -> Assessment:
    """Judge the classes that are left by the promises about the release as a whole."""
    judging = [model for model in models if of_release(model)]
    together = max((model.lost_together(classes) for model in judging), default=0)
    while True:
        before = failing
        for model in judging:
            failing = _without_short(model, classes, failing)
        # What is suppressed may break what was kept before.
        if failing is before:
            return Assessment(failing, lost, together)


def _without_short(model: ReleaseModel, classes: Classes, failing: Mask) -> Mask:
    """Suppress further classes until those left keep a promise about the release as a whole."""
    left = np.flatnonzero(~failing)
    short = model.short(classes.kept(~failing))
    if not short.any():
        return failing
    more = failing.copy()
    more[left[short]] = True
    return more
