"""δ-presence: from no class can it be told whether a person of the population is in the research subset.

Nergiz, M., Atzori, M., Clifton, C. (2007). Hiding the presence of individuals from shared databases,
https://doi.org/10.1145/1247480.1247554. The rows are the population (a public list); a column marks those that belong
to the subset (the study). In every class the share of marked rows lies between `lower` and `upper`: that is the
probability with which an attacker who knows the list places a person of the class in the study.

All rows of the list are released, generalized alike, with the marking column; who keeps only the marked ones shows no
more than that. It does not protect other sensitive values, nor against an attacker with a better list. A missing mark
means "not in the subset".

Monotone under generalization (a share of a union lies between the shares of its parts), not under suppression.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.microdata.models.classes import Classes, Counts, Floats, Mask
from sfumato.microdata.models.model import EXACT, ClassModel, short_of
from sfumato.shapes.records import Note
from sfumato.shapes.shapes import Scalar


@dataclass(frozen=True, slots=True)
class Subset:
    """The rows that belong to the research subset: those with this value in this column."""

    column: Annotated[str, Note("the column that marks the subset")]
    value: Annotated[str, Scalar("its value for rows of the subset")]


@dataclass(frozen=True, slots=True)
class DeltaPresence(ClassModel):
    """In every class, the share of rows of the `subset` lies between `lower` and `upper`."""

    lower: Annotated[float, Note("the least share of the subset in a class", minimum=0, maximum=1)]
    upper: Annotated[float, Note("the greatest share", minimum=0, maximum=1)]
    subset: Subset
    name: ClassVar[str] = "delta-presence"
    asks: ClassVar[str] = "upper"

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError("lower is above upper.")

    @property
    def column(self) -> str:
        return self.subset.column

    def failing(self, classes: Classes, whole: Classes) -> Mask:
        shares = self._shares(classes, whole)
        return (shares < self.lower - EXACT) | (shares > self.upper + EXACT)

    def lost(self, classes: Classes, whole: Classes, failing: Mask, enough: int) -> Counts:  # noqa: ARG002
        """Too many marked: all others stay, with as many marked as they allow; too few: the other way round."""
        sizes = classes.sizes
        marked = np.rint(self._shares(classes, whole) * sizes)
        few = marked < self.lower * sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(few, marked / self.lower, (sizes - marked) / (1 - self.upper))
        kept = np.floor(np.nan_to_num(most, nan=0.0, posinf=1e18) + 1e-6)
        return short_of(sizes, np.where(failing, np.minimum(kept, sizes), sizes).astype(np.int64))

    def reached(self, classes: Classes, whole: Classes) -> float:
        """The greatest share."""
        return float(self._shares(classes, whole).max(initial=0.0))

    def limits(self, whole: Classes) -> str | None:
        content = whole.sensitive[self.column]
        share = float(content.shares()[_marked(content.texts, self.subset.value)].sum())
        if share == 0:
            return f"no row has the value of {self.column} that marks the subset."
        if not self.lower - EXACT <= share <= self.upper + EXACT:
            return (
                f"{share:.4g} of all rows are in the subset: without suppression some class has a share outside "
                f"{self.lower:g} to {self.upper:g}."
            )
        return None

    def _shares(self, classes: Classes, whole: Classes) -> Floats:
        content = classes.sensitive[self.column]
        marked = _marked(whole.sensitive[self.column].texts, self.subset.value)
        rows = np.bincount(
            content.owners, weights=content.counts * marked[content.values], minlength=len(classes.sizes)
        )
        return rows / np.maximum(classes.sizes, 1)


def _marked(texts: tuple[str | None, ...], value: str) -> Mask:
    return np.array([text == value for text in texts] or [False], bool)
