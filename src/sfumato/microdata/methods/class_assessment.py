"""Assess classes by all privacy models: which must be suppressed, and what that implies for finer nodes."""

from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses
from sfumato.microdata.models.model import GlobalModel, PrivacyModel, is_global, suppress_skewed_classes

ALL = 2**62


@dataclass(frozen=True, slots=True)
class ClassAssessment:
    """The result of evaluating a table's classes by all models.

    Attributes:
        violating: The classes that must be suppressed.
        suppression_lower_bound: For each class, a lower bound of the rows that every finer table must suppress.
        global_suppression_lower_bound: The same for all classes together, by global models.
    """

    violating: BoolArray
    suppression_lower_bound: Counts
    global_suppression_lower_bound: int = 0

    @property
    def certain_rows(self) -> int:
        """A lower bound of the rows that every finer table must suppress."""
        return max(int(self.suppression_lower_bound.sum()), self.global_suppression_lower_bound)


def assess(
    classes: EquivalenceClasses,
    whole: EquivalenceClasses,
    models: Sequence[PrivacyModel],
    enough: int = ALL,
    bounded: bool = True,
) -> ClassAssessment:
    """Evaluate classes by all models: first class by class, then the remaining ones jointly.

    Args:
        enough: Once more rows than this must be suppressed, the evaluation stops; `violating` may then be incomplete.
        bounded: Whether lower bounds for finer tables are needed; if not, they are computed only if that is fast.
    """
    failing: BoolArray = np.zeros(len(classes.sizes), bool)
    lost: Counts = np.zeros(len(failing), np.int64)
    # The fastest models come first: if they exclude a table, the others are not evaluated.
    for model in sorted(models, key=lambda model: not model.monotone_suppression):
        if not is_global(model):
            # A class that one model suppresses completely is not evaluated by the next.
            settled = lost == classes.sizes
            mask = model.violating_among(classes, whole, ~settled)
            failing = failing | mask
            if (bounded or model.monotone_suppression) and mask.any():
                left = enough - int(lost[settled].sum())
                lost = np.maximum(lost, model.suppression_lower_bound(classes, whole, mask, left))
                if enough < ALL and int(lost.sum()) > enough:
                    return ClassAssessment(failing, lost)
    while True:
        assessment = _together(models, classes, failing, lost)
        failing = suppress_skewed_classes(classes, whole, models, assessment.violating)
        if failing is assessment.violating or (failing == assessment.violating).all():
            return assessment


def beyond_limits(models: Sequence[PrivacyModel], whole: EquivalenceClasses) -> UnattainableError | None:
    """Return the error for a model that no recoding of these data can satisfy; None if there is none."""
    reasons = ((model.name, model.infeasibility(whole)) for model in models)
    return next(
        (UnattainableError(name, message=why, hint=Message("hint.less_or_more_rows")) for name, why in reasons if why),
        None,
    )


def _together(
    models: Sequence[PrivacyModel], classes: EquivalenceClasses, failing: BoolArray, lost: Counts
) -> ClassAssessment:
    """Evaluate the remaining classes by the global models."""
    judging = [model for model in models if is_global(model)]
    together = max((model.global_suppression_lower_bound(classes) for model in judging), default=0)
    while True:
        before = failing
        for model in judging:
            failing = _without_short(model, classes, failing)
        # Suppressing classes may violate a model that was satisfied before.
        if failing is before:
            return ClassAssessment(failing, lost, together)


def _without_short(model: GlobalModel, classes: EquivalenceClasses, failing: BoolArray) -> BoolArray:
    """Suppress further classes until the remaining ones satisfy a global model."""
    left = np.flatnonzero(~failing)
    short = model.classes_to_suppress(classes.kept(~failing))
    if not short.any():
        return failing
    more = failing.copy()
    more[left[short]] = True
    return more
