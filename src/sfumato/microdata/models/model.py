"""The interface of privacy models: what every class must satisfy, and the properties a search may rely on."""

from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, Literal, Protocol, TypeGuard

import numpy as np

from sfumato.microdata.models.equivalence_classes import Classes, Counts, Mask
from sfumato.schema.dataclass_schema import Note

# The reference distribution of a class: the original table (the definition of the literature), or also the published
# rows, which are all a data user sees.
Against = Literal["both", "raw"]
Comparison = Annotated[
    Against, Note("compare with the original table and the published rows, or with the original table only")
]
SensitiveColumn = Annotated[str, Note("the sensitive column")]
# Tolerance for rounding errors of shares and distances beyond their limit.
EXACT = 1e-9


class Model(Protocol):
    """A privacy model: what every class of a release must satisfy.

    Attributes:
        name: The model's name in a plan.
        asks: Name of the parameter that sets the threshold, such as `k`.
        monotone_generalization: If all classes of a table satisfy the model, so do all of any coarser table.
        monotone_suppression: A class that satisfies the model still does after any other rows were merged into it (so
            the rows in violating classes only decrease when a table gets coarser).
        of_release: The model is evaluated on all classes jointly (see `ReleaseModel`).
        compares: The model compares the proportions of a column's values in each class with a reference table.
        least: Whether the parameter is a minimum; else it is a maximum.
    """

    name: ClassVar[str]
    asks: ClassVar[str]
    of_release: ClassVar[bool]
    compares: ClassVar[bool]

    @property
    def reference(self) -> Against:
        """The reference distribution of a model that compares distributions."""
        ...

    @property
    def monotone_generalization(self) -> bool: ...

    @property
    def monotone_suppression(self) -> bool: ...

    @property
    def column(self) -> str | None:
        """The sensitive column that must be counted, if any."""
        ...

    @property
    def subject(self) -> str | None:
        """The column that the model refers to."""
        ...

    @property
    def least(self) -> bool: ...

    @property
    def asked(self) -> float:
        """The requested parameter."""
        ...

    @property
    def least_rows(self) -> int:
        """The minimum class size that the model implies, whatever the class contains."""
        ...

    def failing(self, classes: Classes, whole: Classes) -> Mask:
        """Return which classes violate the model; `whole` is the original table (one class per combination)."""
        ...

    def failing_among(self, classes: Classes, whole: Classes, asked: Mask) -> Mask:
        """Like `failing`, for some classes; the others count as satisfying."""
        ...

    def lost(self, classes: Classes, whole: Classes, failing: Mask, enough: int) -> Counts:
        """Return for each class a lower bound of its rows that every finer table must suppress.

        If the model is monotone under generalization, the rows of a class that a finer table keeps satisfy the
        model together; so a class loses at least its size minus its largest part that satisfies it.

        Args:
            failing: The result of `failing` for the same classes; other classes lose nothing.
            enough: The computation may stop once all classes together lose more than this.
        """
        ...

    def reached(self, classes: Classes, whole: Classes) -> float:
        """Return the achieved parameter: the value of the worst class, in the unit of `asked`."""
        ...

    def limits(self, whole: Classes) -> str | None:
        """Return the reason why no recoding of the table can satisfy the model, or None if one may."""
        ...


class ReleaseModel(Model, Protocol):
    """A global model: a requirement on all classes of a release jointly, such as their average risk.

    Its `failing` evaluates classes one by one by a sufficient condition, so that methods that never see all classes at
    once can use it. A full-domain search evaluates the classes jointly by these functions.
    """

    def short(self, classes: Classes) -> Mask:
        """Return the classes to suppress so that the others jointly satisfy the model.

        The classes of highest risk are suppressed first, as few as possible, classes of equal risk together.
        """
        ...

    def keeps(self, classes: Classes) -> bool:
        """Return whether the classes jointly satisfy the model."""
        ...

    def lost_together(self, classes: Classes) -> int:
        """Return a lower bound of the rows that every finer table must suppress."""
        ...


def for_readers(model: Model) -> bool:
    """Return whether a model must also be satisfied for the published rows as reference."""
    return model.compares and model.reference == "both"


def evaluate(model: Model, classes: Classes, whole: Classes) -> tuple[bool, float]:
    """Return whether classes satisfy a model, and the achieved parameter of the worst one.

    A model decides twice whether it is satisfied: by the violating classes, and by the achieved parameter. A guarantee
        needs
    both, so that a condition which one of them forgets is never reported as satisfied.
    """
    reached = model.reached(classes, whole)
    if not len(classes.sizes):
        return True, reached
    fine = model.keeps(classes) if of_release(model) else not model.failing(classes, whole).any()
    gap = model.asked - reached if model.least else reached - model.asked
    return bool(fine) and gap <= EXACT * (1 + abs(model.asked)), reached


def of_release(model: Model) -> TypeGuard[ReleaseModel]:
    """Return whether a model is global."""
    return model.of_release


class ClassModel(ABC):
    """Base class of privacy models, with defaults."""

    __slots__ = ()
    of_release: ClassVar[bool] = False
    compares: ClassVar[bool] = False
    least: ClassVar[bool] = False
    asks: ClassVar[str]

    @property
    def reference(self) -> Against:
        return "raw"

    @property
    def monotone_generalization(self) -> bool:
        return True

    @property
    def monotone_suppression(self) -> bool:
        return False

    @property
    def subject(self) -> str | None:
        """The column that the model refers to, even if classes do not count its values."""
        column: str | None = getattr(self, "column", None)
        return column

    @property
    def asked(self) -> float:
        asked: float = getattr(self, self.asks)
        return asked

    @property
    def least_rows(self) -> int:
        return 1

    def limits(self, whole: Classes) -> str | None:  # noqa: ARG002
        """Return None: nothing in the original table excludes the model."""
        return None

    @abstractmethod
    def failing(self, classes: Classes, whole: Classes) -> Mask:
        """Return which classes violate the model."""

    def failing_among(self, classes: Classes, whole: Classes, asked: Mask) -> Mask:
        """Like `failing`, for some classes."""
        found: Mask = self.failing(classes, whole) & asked
        return found

    def lost(self, classes: Classes, whole: Classes, failing: Mask, enough: int) -> Counts:  # noqa: ARG002
        """Return all rows of a violating class that nothing can fix, one if a finer class must violate, else none."""
        if self.monotone_suppression:
            return np.where(failing, classes.sizes, 0)
        return failing.astype(np.int64) if self.monotone_generalization else np.zeros(len(failing), np.int64)

    def lost_together(self, classes: Classes) -> int:  # noqa: ARG002
        """Return 0: nothing is known about finer tables."""
        return 0


class ThresholdModel(ClassModel):
    """Base class of models with a maximum risk and no sensitive column."""

    __slots__ = ()
    asks: ClassVar[str] = "threshold"
    column: ClassVar[None] = None


class ReleaseRisk(ThresholdModel):
    """Base class of models with a maximum risk of all classes jointly."""

    __slots__ = ()
    of_release: ClassVar[bool] = True


class ComparingModel(ClassModel):
    """Base class of models that compare proportions in a class with those in a reference table."""

    __slots__ = ()
    compares: ClassVar[bool] = True


def short_of(sizes: Counts, kept: Counts) -> Counts:
    """Return the rows of each class beyond the part that may be kept."""
    missing: Counts = sizes - np.minimum(kept, sizes)
    return missing
