"""One table through the method of its plan that changes numbers."""

from dataclasses import dataclass

import numpy as np

from sfumato.errors import InternalError
from sfumato.tables.cells.cells import Numbers
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.parts import Part
from sfumato.tables.deadline import Deadline
from sfumato.tables.perturbed.chances import cell_keys, chances_of, keys_by_codes
from sfumato.tables.perturbed.perturbed import Perturbed
from sfumato.tables.plan.perturbation import Perturbation, Rounding
from sfumato.tables.rounding.rounding import bases_of, round_part


@dataclass(frozen=True, slots=True)
class Setting:
    """What a method works with besides the table.

    Attributes:
        perturbation: The method, as the plan has it.
        columns: The other columns of the table, row by row.
        secret: What is drawn by where there are no keys.
        bases: The base of each cell, where tables have their own.
    """

    perturbation: Perturbation
    columns: Columns
    secret: str
    bases: Numbers | None = None


def change_part(part: Part, setting: Setting, deadline: Deadline) -> Perturbed:
    """The table with changed numbers, and what a reader computes from them.

    Raises:
        UnattainableError: The method has no answer.
    """
    method = setting.perturbation
    if not isinstance(method, Rounding):
        raise InternalError(f"{method.name} changes nothing.", code="method")
    bases = bases_of(method.base, len(part.table)) if setting.bases is None else setting.bases
    return round_part(part, method, bases, _chances(part, method, setting), deadline)


def _chances(part: Part, rounding: Rounding, setting: Setting) -> Numbers:
    if rounding.kind != "random":
        return np.zeros(len(part.table))
    by_column = rounding.key is not None
    return chances_of(
        cell_keys(setting.columns, rounding.key or "") if by_column else keys_by_codes(setting.secret, part)
    )
