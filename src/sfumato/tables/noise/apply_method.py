"""Apply the perturbation method of a plan to one table."""

from pathlib import Path

import numpy as np

from sfumato.errors import PlanError
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import Numbers
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.noise.adjustment import adjust_part
from sfumato.tables.noise.cell_key import Contents, cell_keys, chances_of, check_cell_keys, keys_by_codes, noisy_part
from sfumato.tables.noise.perturbed import PerturbedCells
from sfumato.tables.noise.ptable_file import ptable_of
from sfumato.tables.noise.rounding import bases_of, round_part
from sfumato.tables.plan.sections import Adjustment, CellKey, Perturbation, Rounding, TableSource
from sfumato.tables.tabulate import WORD
from sfumato.values import Value


class PerturbationContext(Value):
    """The inputs of a method other than the table.

    Attributes:
        perturbation: The method in the plan.
        columns: The further columns of the table, row by row.
        source: The meaning of the columns.
        folder: Folder of files that the plan names.
        secret: The source of randomness if there are no keys.
        bases: The base of each cell, if tables have different ones.
    """

    perturbation: Perturbation
    columns: TextColumns
    source: TableSource
    folder: Path
    secret: str
    bases: Numbers | None = None


def change_part(part: TablePart, setting: PerturbationContext, deadline: Deadline) -> PerturbedCells:
    """Perturb a table, and compute the feasibility intervals.

    Raises:
        UnattainableError: The method has no solution.
    """
    method = setting.perturbation
    if isinstance(method, CellKey):
        return noisy_part(part, method, ptable_of(method, setting.folder), _contents(part, method, setting), deadline)
    if isinstance(method, Adjustment):
        return adjust_part(part, deadline)
    bases = bases_of(method.base, len(part.table)) if setting.bases is None else setting.bases
    return round_part(part, method, bases, _chances(part, method, setting), deadline)


def _chances(part: TablePart, rounding: Rounding, setting: PerturbationContext) -> Numbers:
    if rounding.kind != "random":
        return np.zeros(len(part.table))
    if rounding.key is None:
        return chances_of(keys_by_codes(setting.secret, part))
    keys = cell_keys(setting.columns, rounding.key)
    check_cell_keys(part, keys, WORD, part.table.values == 0)
    return chances_of(keys)


def _contents(part: TablePart, method: CellKey, setting: PerturbationContext) -> Contents:
    """Return the inputs of noise; cells tabulated from microdata have their keys in the column `key`."""
    named = [method.key] if method.record is None and method.key is not None else []
    name = next((name for name in (*named, "key") if name in setting.columns), None)
    if method.zeros and method.secret is None:
        raise PlanError("no-secret")
    if name is None:
        raise PlanError("no-key.no_keys")
    modulus = WORD if method.digits is None else 10**method.digits
    source, columns = setting.source, setting.columns
    marks = columns.text(method.structural) if method.structural else ("",) * len(part.table)
    return Contents(
        keys=tuple(cell_keys(columns, name, modulus)),
        modulus=modulus,
        counts=None if source.counts else columns.numbers(source.frequency or ""),
        largest=tuple(columns.optional(column) for column in source.contributions),
        structural=np.array([bool(mark) for mark in marks], bool),
        secret=setting.secret,
    )
