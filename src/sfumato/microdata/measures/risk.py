"""Re-identification risk: how likely an attacker who knows the quasi-identifiers finds the right row.

Three attackers, after Dankar, F., El Emam, K. (2010). A method for evaluating marketer re-identification risk,
https://doi.org/10.1145/1754239.1754271:

- the prosecutor knows that the person is in the data: the risk of a row is 1 / size of its class, or, if a missing
  value matches anything, 1 / rows that match it;
- the journalist does not: the risk is 1 / persons of the population with the same values. If only the size of the
  population is known, the expectation given the class size is used (Benedetti, R., Franconi, L. (1998); Franconi, L.,
  Polettini, S. (2004). Individual risk estimation in μ-Argus, https://doi.org/10.1007/978-3-540-25955-8_20); if not
  even that is known, the data are taken as the population, which is the conservative choice;
- the marketer wants to find as many persons as possible: the expected share of rows found is the mean of the
  journalist's risk over the rows.

Suppressed rows are not published and carry no risk; averages are over the published rows.
"""

from dataclasses import asdict

from sfumato.dataclass import dataclass
from sfumato.microdata.models.equivalence_classes import Counts, Floats

THRESHOLD = 0.2


@dataclass(frozen=True, slots=True)
class ReidentificationRisk:
    """Prosecutor risk of a table.

    Attributes:
        rows: Published rows; classes: their number.
        smallest, largest: Class sizes, or numbers of matching rows if a missing value matches anything; persons if
            counted.
        highest: Risk of the row most at risk; average: mean over rows (classes / rows, unless rows match others).
        uniques: Rows that are alone in their class and match no other; if persons are counted, rows of a person who is
            alone in a class.
        rows_above: Rows whose risk is above the threshold; share_above: the same as a share of the rows.
    """

    rows: int
    classes: int
    smallest: int
    largest: int
    highest: float
    average: float
    uniques: int
    threshold: float = THRESHOLD
    rows_above: int = 0
    share_above: float = 0.0

    def to_dict(self) -> dict[str, float | int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class AttackerRisk:
    """The success an attacker can expect.

    Attributes:
        highest: Risk of the row most at risk; average: mean over rows.
        rows_above, share_above: Rows whose risk is above the threshold.
        estimated: Whether the population's classes had to be estimated from those of the data.
    """

    highest: float
    average: float
    rows_above: int
    share_above: float
    estimated: bool = False


def prosecutor(sizes: Counts, threshold: float = THRESHOLD, matches: Counts | None = None) -> ReidentificationRisk:
    """Return the prosecutor risk of classes of these sizes.

    Args:
        matches: The effective class sizes, if they differ from `sizes`.

    >>> import numpy as np
    >>> prosecutor(np.array([1, 3])).average
    0.5
    >>> prosecutor(np.array([1, 3]), matches=np.array([4, 4])).average
    0.25
    """
    if not sizes.sum():
        return ReidentificationRisk(0, 0, 0, 0, 0.0, 0.0, 0, threshold)
    among = sizes if matches is None else matches
    figures = attacker(sizes, 1 / among, threshold)
    return ReidentificationRisk(
        int(sizes.sum()),
        len(sizes),
        int(among.min()),
        int(among.max()),
        figures.highest,
        float((sizes / among).sum() / sizes.sum()),
        int(sizes[among == 1].sum()),
        threshold,
        figures.rows_above,
        figures.share_above,
    )


def attacker(counts: Counts, risks: Floats, threshold: float, estimated: bool = False) -> AttackerRisk:
    """Return what an attacker can expect of combinations with given numbers of rows, each row at the given risk."""
    rows = int(counts.sum())
    if not rows:
        return AttackerRisk(0.0, 0.0, 0, 0.0, estimated)
    above = int(counts[risks > threshold + 1e-12].sum())
    return AttackerRisk(float(risks.max()), float((counts * risks).sum() / rows), above, above / rows, estimated)
