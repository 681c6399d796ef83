"""Linkage attack: the attacker knows two sets of columns of a person and checks whether both lead to the same row.

Giomi et al. (2023). Ties between equally near rows are broken at random. With a register of persons, the attack also
counts the persons whom exactly one published row matches.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.attacks.attack_data import AttackColumn, AttackRows
from sfumato.microdata.attacks.attack_result import AttackResult, Rate
from sfumato.microdata.attacks.dictionary_encoding import Codes
from sfumato.microdata.attacks.neighbors import space_of
from sfumato.microdata.attacks.predicate_counts import Told

NAME = "linking"


def link(
    rows: AttackRows, attempts: int, random: np.random.Generator, neighbors: int = 1, told: Told = lambda: None
) -> AttackResult | None:
    """Run the attack with the published columns divided into two sets; None if there are fewer than two.

    Args:
        told: Called after each part of the work.
    """
    columns = rows.shown
    if len(columns) < 2:
        return None
    order = random.permutation(len(columns))
    first, second = ([columns[place] for place in sorted(part)] for part in (order[::2], order[1::2]))
    published, of_raw, of_control = rows.sizes
    raw = _hits(first, second, "raw", _sample(of_raw, attempts, random), neighbors, random, told)
    control = _hits(first, second, "control", _sample(of_control, attempts, random), neighbors, random, told)
    chance = 1 - (1 - min(neighbors / published, 1.0)) ** neighbors
    sets = [[column.name for column in part] for part in (first, second)]
    details = {"columns": sets, "neighbors": neighbors}
    return AttackResult(
        NAME, Message("note.attack_sets"), raw, Rate(chance * raw.attempts, raw.attempts), control, details=details
    )


def _sample(size: int, attempts: int, random: np.random.Generator) -> Codes:
    chosen: Codes = random.permutation(size)[:attempts].astype(np.int32)
    return chosen


def _hits(
    first: Sequence[AttackColumn],
    second: Sequence[AttackColumn],
    which: str,
    targets: Codes,
    neighbors: int,
    random: np.random.Generator,
    told: Told,
) -> Rate:
    found = []
    for columns in (first, second):
        space = space_of(columns, [getattr(column, which)[targets] for column in columns])
        found.append(space.nearest(neighbors, random, told))
    shared = (found[0][:, :, None] == found[1][:, None, :]).any(axis=(1, 2))
    return Rate(int(shared.sum()), len(targets))


def link_register(rows: AttackRows, members: Codes, strangers: Codes) -> AttackResult:
    """Count the persons of a register whom exactly one published row matches in all shared columns.

    Args:
        rows: With the register's rows as original ones; members, strangers: which of them are in the data, and which
            not.
    """
    fits = _fitting(rows.shown)
    alone = fits == 1
    return AttackResult(
        NAME,
        "register",
        Rate(int(alone[members].sum()), len(members)),
        Rate(len(members) / max(rows.sizes[0], 1), len(members)),
        Rate(int(alone[strangers].sum()), len(strangers)) if len(strangers) else None,
        details={"columns": [column.name for column in rows.shown]},
    )


def _fitting(columns: Sequence[AttackColumn]) -> Codes:
    """Return how many published rows match each row of the register."""
    number = len(columns[0].raw)
    counts = np.zeros(number, np.int32)
    for row in range(number):
        fit = np.ones(len(columns[0].published), bool)
        for column in columns:
            value = column.raw[row]
            if column.is_large:
                fit &= column.published == column.label_places[value]
            else:
                fit &= column.covers[:, value][column.published]
        counts[row] = fit.sum()
    return counts
