"""The privacy model: what every class must satisfy, and how a search may reason about it."""

from typing import ClassVar, Protocol

from sfumato.microdata.classes import Classes, Mask


class Model(Protocol):
    """A promise about every class of a release.

    Attributes:
        name: The model's name in a plan.
        monotone_generalization: When all classes of a table satisfy the model, so do all of any coarser table.
        monotone_suppression: A class that satisfies the model still does so after any other rows were merged into it
            (so the rows in failing classes only shrink when a table gets coarser).
    """

    name: ClassVar[str]

    @property
    def monotone_generalization(self) -> bool: ...

    @property
    def monotone_suppression(self) -> bool: ...

    @property
    def column(self) -> str | None:
        """The sensitive column that must be counted, if any."""
        ...

    @property
    def asked(self) -> float:
        """The number that the plan asks for."""
        ...

    def failing(self, classes: Classes, whole: Classes) -> Mask:
        """Which classes do not satisfy the model; `whole` is the raw table (one class a combination)."""
        ...

    def reached(self, classes: Classes, whole: Classes) -> float:
        """The number that the worst class reaches, in the unit of `asked`."""
        ...

    def limits(self, whole: Classes) -> str | None:
        """Why the raw table can never satisfy the model, or None."""
        ...
