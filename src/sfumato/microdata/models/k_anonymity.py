"""k-anonymity: every class has at least k rows.

Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE TKDE 13(6),
https://doi.org/10.1109/69.971193; Sweeney, L. (2002). k-anonymity: a model for protecting privacy,
https://doi.org/10.1142/S0218488502001648.

It protects against singling a person out by the quasi-identifiers. It does not protect against learning a sensitive
value that all rows of a class share, nor against an attacker who knows more than the quasi-identifiers.

Monotone under generalization and under suppression: a class only grows.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.microdata.models.classes import Classes, Mask
from sfumato.microdata.models.model import ClassModel
from sfumato.shapes.records import Note


@dataclass(frozen=True, slots=True)
class KAnonymity(ClassModel):
    """Every class has at least `k` rows.

    >>> import numpy as np
    >>> classes = Classes(np.array([2, 5]))
    >>> KAnonymity(3).failing(classes, classes).tolist()
    [True, False]
    """

    k: Annotated[int, Note("rows a class must have", minimum=1)]
    name: ClassVar[str] = "k-anonymity"
    asks: ClassVar[str] = "k"
    column: ClassVar[None] = None
    monotone_suppression: ClassVar[bool] = True

    @property
    def least_rows(self) -> int:
        return self.k

    def failing(self, classes: Classes, whole: Classes) -> Mask:  # noqa: ARG002
        return classes.sizes < self.k

    def reached(self, classes: Classes, whole: Classes) -> float:  # noqa: ARG002
        return int(classes.sizes.min()) if len(classes.sizes) else 0

    def limits(self, whole: Classes) -> str | None:
        if self.k > whole.rows:
            return f"k = {self.k} needs at least {self.k} rows, the data have {whole.rows}."
        return None
