"""The interface of privacy models: what every class must satisfy, and the properties a search may rely on."""

from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, Literal, Protocol, TypeGuard

import numpy as np

from sfumato.microdata.models.classes import Classes, Counts, Mask
from sfumato.shapes.records import Note

# What the shares in a class are compared with: those in the raw table (the definition of the literature), or also those
# in the published rows, which are all that a reader sees.
Against = Literal["both", "raw"]
Comparison = Annotated[Against, Note("compare with the raw table and the published rows, or with the raw table alone")]
SensitiveColumn = Annotated[str, Note("the sensitive column")]
# How far a share or a distance may lie beyond its limit because numbers in a machine have no more digits.
EXACT = 1e-9


class Model(Protocol):
    """A promise about every class of a release.

    Attributes:
        name: The model's name in a plan; asks: its parameter that is the number asked for.
        monotone_generalization: When all classes of a table satisfy the model, so do all of any coarser table.
        monotone_suppression: A class that satisfies the model still does so after any other rows were merged into it
            (so the rows in failing classes only shrink when a table gets coarser).
        of_release: The promise is about all classes together (see `ReleaseModel`).
        compares: The promise compares each class with a whole table, by the shares of a column's values.
        least: The number asked for is the least that may be reached; else it is the most.
    """

    name: ClassVar[str]
    asks: ClassVar[str]
    of_release: ClassVar[bool]
    compares: ClassVar[bool]

    @property
    def against(self) -> Against:
        """What a promise that compares is compared with."""
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
        """The column that the model is about."""
        ...

    @property
    def least(self) -> bool: ...

    @property
    def asked(self) -> float:
        """The number that the plan asks for."""
        ...

    @property
    def least_rows(self) -> int:
        """Rows that a class must have to satisfy the model, whatever it holds."""
        ...

    def failing(self, classes: Classes, whole: Classes) -> Mask:
        """Which classes do not satisfy the model; `whole` is the raw table (one class a combination)."""
        ...

    def failing_among(self, classes: Classes, whole: Classes, asked: Mask) -> Mask:
        """As `failing`, of some classes; the others count as satisfying."""
        ...

    def lost(self, classes: Classes, whole: Classes, failing: Mask, enough: int) -> Counts:
        """For each class, rows of it that every finer table is certain to suppress.

        Where the model is monotone under generalization, the rows of a class that a finer table keeps satisfy the
        model together; so a class loses at least its size less its largest part that satisfies it.

        Args:
            failing: What `failing` said of the same classes; other classes lose nothing.
            enough: It does not matter by how much more than this all classes together lose.
        """
        ...

    def reached(self, classes: Classes, whole: Classes) -> float:
        """The number that the worst class reaches, in the unit of `asked`."""
        ...

    def limits(self, whole: Classes) -> str | None:
        """Why the raw table can never satisfy the model, or None."""
        ...


class ReleaseModel(Model, Protocol):
    """A promise about all classes of a release together, such as their average risk.

    Its `failing` judges classes one by one, by what is enough whatever the other classes are: so it can be held by a
    method that never sees all of them at once. A full-domain search judges them together by these functions.
    """

    def short(self, classes: Classes) -> Mask:
        """Which classes must be suppressed so that the others together keep the promise: those most at risk, as few
        as do, all classes that are alike together."""
        ...

    def keeps(self, classes: Classes) -> bool:
        """Whether classes together keep the promise."""
        ...

    def lost_together(self, classes: Classes) -> int:
        """Rows that every finer table is certain to suppress."""
        ...


def for_readers(model: Model) -> bool:
    """Whether a promise must also hold against the published rows."""
    return model.compares and model.against == "both"


def evaluate(model: Model, classes: Classes, whole: Classes) -> tuple[bool, float]:
    """Return whether classes satisfy a model, and what the worst of them reaches.

    A model says twice whether it is satisfied: by the classes that fail, and by the number reached. A guarantee needs
    both, so that a condition which one of them forgets is never reported as satisfied.
    """
    reached = model.reached(classes, whole)
    if not len(classes.sizes):
        return True, reached
    fine = model.keeps(classes) if of_release(model) else not model.failing(classes, whole).any()
    gap = model.asked - reached if model.least else reached - model.asked
    return bool(fine) and gap <= EXACT * (1 + abs(model.asked)), reached


def of_release(model: Model) -> TypeGuard[ReleaseModel]:
    """Whether a promise is about all classes together."""
    return model.of_release


class ClassModel(ABC):
    """What models share unless they know better."""

    __slots__ = ()
    of_release: ClassVar[bool] = False
    compares: ClassVar[bool] = False
    least: ClassVar[bool] = False
    asks: ClassVar[str]

    @property
    def against(self) -> Against:
        return "raw"

    @property
    def monotone_generalization(self) -> bool:
        return True

    @property
    def monotone_suppression(self) -> bool:
        return False

    @property
    def subject(self) -> str | None:
        """The column that the model is about, also where classes do not count its values."""
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
        """Nothing in the raw table rules the promise out."""
        return None

    @abstractmethod
    def failing(self, classes: Classes, whole: Classes) -> Mask:
        """Every model says which classes do not satisfy it."""

    def failing_among(self, classes: Classes, whole: Classes, asked: Mask) -> Mask:
        """As `failing`, of some classes."""
        found: Mask = self.failing(classes, whole) & asked
        return found

    def lost(self, classes: Classes, whole: Classes, failing: Mask, enough: int) -> Counts:  # noqa: ARG002
        """All rows of a failing class where nothing mends it, one where something finer must fail, else none."""
        if self.monotone_suppression:
            return np.where(failing, classes.sizes, 0)
        return failing.astype(np.int64) if self.monotone_generalization else np.zeros(len(failing), np.int64)

    def lost_together(self, classes: Classes) -> int:  # noqa: ARG002
        """Nothing is known of finer tables."""
        return 0


class ThresholdModel(ClassModel):
    """What models share that ask for a greatest risk and look at no sensitive column."""

    __slots__ = ()
    asks: ClassVar[str] = "threshold"
    column: ClassVar[None] = None


class ReleaseRisk(ThresholdModel):
    """What models share that ask for a greatest risk of all classes together."""

    __slots__ = ()
    of_release: ClassVar[bool] = True


class ComparingModel(ClassModel):
    """What models share that compare the shares in a class with those in a whole table."""

    __slots__ = ()
    compares: ClassVar[bool] = True


def short_of(sizes: Counts, kept: Counts) -> Counts:
    """Rows of each class beyond the part of it that may be kept."""
    missing: Counts = sizes - np.minimum(kept, sizes)
    return missing
