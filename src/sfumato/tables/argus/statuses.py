"""Cell statuses of τ-ARGUS and their meaning here."""

from enum import IntEnum

import numpy as np

from sfumato.tables.cells.system import BoolArray, CellStatus, Places, Statuses


class ArgusStatus(IntEnum):
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
    "s": ArgusStatus.SAFE,
    "u": ArgusStatus.UNSAFE,
    "p": ArgusStatus.PROTECTED,
    "m": ArgusStatus.SECONDARY,
    "e": ArgusStatus.EMPTY,
}
# The status letters of sdcTable and of solver files.
MARKS = {
    "s": ArgusStatus.SAFE,
    "u": ArgusStatus.UNSAFE,
    "x": ArgusStatus.SECONDARY,
    "m": ArgusStatus.SECONDARY,
    "z": ArgusStatus.PROTECTED,
}
# The flags of CONF_STATUS (CL_CONF_STATUS of the SDMX content-oriented guidelines).
OF_FLAG = {
    **{"F": ArgusStatus.SAFE, "": ArgusStatus.SAFE, "A": ArgusStatus.UNSAFE_FREQUENCY, "G": ArgusStatus.UNSAFE},
    **{"O": ArgusStatus.UNSAFE, "T": ArgusStatus.UNSAFE, "E": ArgusStatus.UNSAFE, "M": ArgusStatus.UNSAFE_MANUAL},
    **{"C": ArgusStatus.UNSAFE_MANUAL, "N": ArgusStatus.UNSAFE_MANUAL, "P": ArgusStatus.UNSAFE_MANUAL},
    **{"D": ArgusStatus.SECONDARY, "S": ArgusStatus.SECONDARY},
}


def unsafe_of(statuses: Places) -> BoolArray:
    """Return the sensitive cells: statuses 3 to 9."""
    return np.asarray((statuses >= ArgusStatus.UNSAFE) & (statuses <= ArgusStatus.UNSAFE_MANUAL))


def secondary_of(statuses: Places) -> BoolArray:
    """Return the secondary cells: statuses 11 and 12."""
    return np.isin(statuses, (ArgusStatus.SECONDARY, ArgusStatus.SECONDARY_MANUAL))


def masked_of(statuses: Places) -> BoolArray:
    """Return the cells that are not published.

    >>> masked_of(np.array([1, 3, 10, 11, 14])).tolist()
    [False, True, False, True, False]
    """
    return unsafe_of(statuses) | secondary_of(statuses)


def choices_of(statuses: Places) -> Statuses:
    """Return what may happen to each cell: 10 and 14 must be published, 3 to 9 suppressed, others either way."""
    fixed = np.isin(statuses, (ArgusStatus.PROTECTED, ArgusStatus.EMPTY))
    free = np.where(fixed, CellStatus.PUBLISH, CellStatus.SAFE)
    return np.where(unsafe_of(statuses), CellStatus.SENSITIVE, free).astype(np.int8)


def status_in(text: str, letters: dict[str, ArgusStatus]) -> ArgusStatus | None:
    """Parse a status: a number from 1 to 14, or a letter; None if it is invalid."""
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 14:
        return ArgusStatus(int(text))
    return letters.get(text) or letters.get(text.lower())


def flag_of(status: int) -> str:
    """Return the flag of a cell in structural business statistics: V published, A few respondents, B dominance, C other
    reasons, D secondary.

    >>> [flag_of(status) for status in (1, 5, 11)]
    ['V', 'A', 'D']
    """
    if status in (ArgusStatus.SECONDARY, ArgusStatus.SECONDARY_MANUAL):
        return "D"
    if not ArgusStatus.UNSAFE <= status <= ArgusStatus.UNSAFE_MANUAL:
        return "V"
    if status in (ArgusStatus.UNSAFE_FREQUENCY, ArgusStatus.UNSAFE_SINGLETON, ArgusStatus.UNSAFE_SINGLETON_MANUAL):
        return "A"
    return "B" if status == ArgusStatus.UNSAFE else "C"
