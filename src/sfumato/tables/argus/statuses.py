"""Cell statuses of τ-ARGUS and their meaning here."""

from enum import IntEnum

import numpy as np

from sfumato.tables.cells.cells import Mask, Places, Status, Statuses


class CellStatus(IntEnum):
    """The status of a cell, 1 to 14."""

    SAFE = 1
    SAFE_MANUAL = 2
    UNSAFE = 3
    UNSAFE_REQUEST = 4
    UNSAFE_FREQUENCY = 5
    UNSAFE_ZERO = 6
    UNSAFE_SINGLETON = 7
    UNSAFE_SINGLETON_MANUAL = 8
    UNSAFE_MANUAL = 9
    PROTECTED = 10
    SECONDARY = 11
    SECONDARY_MANUAL = 12
    EMPTY_NON_STRUCTURAL = 13
    EMPTY = 14


# Letters for statuses, unless a file defines others; τ-ARGUS itself writes all of these.
LETTERS = {
    "s": CellStatus.SAFE,
    "u": CellStatus.UNSAFE,
    "p": CellStatus.PROTECTED,
    "m": CellStatus.SECONDARY,
    "e": CellStatus.EMPTY,
}
# The status letters of sdcTable and of solver files.
MARKS = {
    "s": CellStatus.SAFE,
    "u": CellStatus.UNSAFE,
    "x": CellStatus.SECONDARY,
    "m": CellStatus.SECONDARY,
    "z": CellStatus.PROTECTED,
}
# The flags of CONF_STATUS (CL_CONF_STATUS of the SDMX content-oriented guidelines).
OF_FLAG = {
    **{"F": CellStatus.SAFE, "": CellStatus.SAFE, "A": CellStatus.UNSAFE_FREQUENCY, "G": CellStatus.UNSAFE},
    **{"O": CellStatus.UNSAFE, "T": CellStatus.UNSAFE, "E": CellStatus.UNSAFE, "M": CellStatus.UNSAFE_MANUAL},
    **{"C": CellStatus.UNSAFE_MANUAL, "N": CellStatus.UNSAFE_MANUAL, "P": CellStatus.UNSAFE_MANUAL},
    **{"D": CellStatus.SECONDARY, "S": CellStatus.SECONDARY},
}


def unsafe_of(statuses: Places) -> Mask:
    """Return the sensitive cells: statuses 3 to 9."""
    return np.asarray((statuses >= CellStatus.UNSAFE) & (statuses <= CellStatus.UNSAFE_MANUAL))


def secondary_of(statuses: Places) -> Mask:
    """Return the secondary cells: statuses 11 and 12."""
    return np.isin(statuses, (CellStatus.SECONDARY, CellStatus.SECONDARY_MANUAL))


def masked_of(statuses: Places) -> Mask:
    """Return the cells that are not published.

    >>> masked_of(np.array([1, 3, 10, 11, 14])).tolist()
    [False, True, False, True, False]
    """
    return unsafe_of(statuses) | secondary_of(statuses)


def choices_of(statuses: Places) -> Statuses:
    """Return what may happen to each cell: 10 and 14 must be published, 3 to 9 suppressed, others either way."""
    fixed = np.isin(statuses, (CellStatus.PROTECTED, CellStatus.EMPTY))
    free = np.where(fixed, Status.PUBLISH, Status.SAFE)
    return np.where(unsafe_of(statuses), Status.UNSAFE, free).astype(np.int8)


def status_in(text: str, letters: dict[str, CellStatus]) -> CellStatus | None:
    """Parse a status: a number from 1 to 14, or a letter; None if it is invalid."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 14:
        return CellStatus(int(text))
    return letters.get(text) or letters.get(text.lower())


def flag_of(status: int) -> str:
    """Return the flag of a cell in structural business statistics: V published, A few respondents, B dominance, C other
    reasons, D secondary.

    >>> [flag_of(status) for status in (1, 5, 11)]
    ['V', 'A', 'D']
    """
    if status in (CellStatus.SECONDARY, CellStatus.SECONDARY_MANUAL):
        return "D"
    if not CellStatus.UNSAFE <= status <= CellStatus.UNSAFE_MANUAL:
        return "V"
    if status in (CellStatus.UNSAFE_FREQUENCY, CellStatus.UNSAFE_SINGLETON, CellStatus.UNSAFE_SINGLETON_MANUAL):
        return "A"
    return "B" if status == CellStatus.UNSAFE else "C"
