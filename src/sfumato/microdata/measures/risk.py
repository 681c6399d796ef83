"""Risk: how likely an attacker who knows the quasi-identifiers finds the right row.

Prosecutor risk: the attacker knows that the person is in the data; the risk of a row is 1 / size of its class. Dankar,
F., El Emam, K. (2010), https://doi.org/10.1145/1754239.1754271. Rows that were suppressed are not published and carry
no risk; averages are over the published rows.
"""

from dataclasses import asdict, dataclass

from sfumato.microdata.classes import Counts


@dataclass(frozen=True, slots=True)
class Risk:
    """Prosecutor risk of a table.

    Attributes:
        rows: Rows at hand; classes: their number; smallest, largest: of the classes' sizes.
        highest: Risk of the row most at risk; average: mean over rows (classes / rows).
        uniques: Rows that are alone in their class.
    """

    rows: int
    classes: int
    smallest: int
    largest: int
    highest: float
    average: float
    uniques: int

    def to_dict(self) -> dict[str, float | int]:
        return asdict(self)


def prosecutor(sizes: Counts) -> Risk:
    """The prosecutor risk of classes of these sizes.

    >>> prosecutor(np.array([1, 3])).average
    0.5
    """
    rows = int(sizes.sum())
    if not rows:
        return Risk(0, 0, 0, 0, 0.0, 0.0, 0)
    smallest = int(sizes.min())
    return Risk(rows, len(sizes), smallest, int(sizes.max()), 1 / smallest, len(sizes) / rows, int((sizes == 1).sum()))
