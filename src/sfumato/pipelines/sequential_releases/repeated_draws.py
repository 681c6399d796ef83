"""Perturbation over several releases of the same persons: the same draw with the same size, or none.

Noise that is drawn again for each release averages out. So the value of a person gets the same noise in every release,
with the standard deviation of the first: two sizes of one draw would reveal the value. A value that drifts gets a new
number in each release; the average of n of them deviates by the guaranteed deviation divided by the root of n, which is
less than was guaranteed.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

from sfumato.engines.engine import PublishedRows
from sfumato.engines.keyed_hashes import PERSON, recorded
from sfumato.errors import PlanError, UnattainableError, issue
from sfumato.microdata.column_transforms.perturbation import Noise, Perturbation, Pram, Pseudonym
from sfumato.microdata.column_transforms.transform_plan import PublishPlan
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.plan.resolve import released_plan
from sfumato.pipelines.release_stages import checksums
from sfumato.pipelines.sequential_releases.earlier_releases import opened_release

# Published numbers of a person that differ by more than this many standard deviations come from different values.
FAR_APART = 4.0
Numbers = Mapping[str, Mapping[str, set[float]]]


def with_repeated_draws(plan: Plan, folders: Sequence[Path], at: str = "previous") -> Plan:
    """Return the plan with the noise and the matrices of the release that first contained each perturbed column.

    Args:
        plan: A plan whose chain secret is that of the earlier releases.
        folders: The earlier release folders, the first one first.
        at: The part of the plan, or of the call, that names the earlier releases.

    Raises:
        PlanError: A column is perturbed otherwise than before, or in a way that is drawn again for each release.
    """
    columns, faults = dict(plan.columns), []
    for name, operation in plan.perturbations.items():
        if isinstance(operation, Pseudonym):
            continue
        if plan.person is None or not operation.repeats:
            faults.append(issue(f"columns.{name}.publish", "drawn_again_2", name=operation.name))
            continue
        found = ((folder, released_plan(folder).perturbations.get(name)) for folder in folders)
        first, before = next((pair for pair in found if pair[1] is not None), (None, None))
        if first is None or before is None:
            continue
        if _as_planned(operation) != _as_planned(before):
            faults.append(issue(f"columns.{name}.publish", "differs_from", at=at, name=first.name))
            continue
        columns[name] = _repeating(columns[name], operation, _figures(first, name))
    if faults:
        raise PlanError.listing(faults)
    return replace(plan, columns=columns)


def _as_planned(operation: Perturbation) -> Perturbation:
    """Return the operation without the deviation that an earlier release filled in."""
    return replace(operation, deviation=None) if isinstance(operation, Noise) else operation


def _figures(folder: Path, name: str) -> Mapping[str, Any]:
    """Return the metrics of a column's perturbation from the report of a release."""
    report = checksums.read_mapping(folder / checksums.REPORT) or {}
    operations = (report.get("perturbation") or {}).get("operations", ())
    return next((figures for figures in operations if name in figures["columns"]), {})


def _repeating(column: ColumnPlan, operation: Perturbation, figures: Mapping[str, Any]) -> ColumnPlan:
    """Return the column with an operation that repeats the earlier draw."""
    if not isinstance(column.publish, PublishPlan):
        return column
    if isinstance(operation, Noise) and operation.deviation is None:
        (deviation,) = figures["deviations"].values()
        return replace(column, publish=replace(column.publish, noise=replace(operation, deviation=deviation or None)))
    if isinstance(operation, Pram) and operation.retention is not None:
        matrix = figures["matrices"].get("", {})
        return replace(column, publish=replace(column.publish, pram=Pram(matrix=matrix))) if matrix else column
    return column


def check_drift(plan: Plan, published: PublishedRows, folders: Sequence[Path]) -> None:
    """Refuse noise on values that changed a little since an earlier release: averages are closer than a single number.

    Args:
        plan: The plan of the published rows.
        folders: The earlier release folders.

    Raises:
        UnattainableError: The average of a person's published values deviates by less than requested.
    """
    deviations = _deviations(plan)
    if not deviations:
        return
    now, before = _numbers(published, deviations), []
    for folder in folders:
        with closing(opened_release(folder, released_plan(folder).output.quotes_formulas)) as engine:
            before.append(_numbers(engine, [name for name in deviations if name in engine.columns]))
    for name, deviation in deviations.items():
        draws = [
            1 + sum(_drifted(numbers, entry.get(name, {}).get(person, set()), deviation) for entry in before)
            for person, numbers in now[name].items()
        ]
        if max(draws, default=1) > 1:
            raise _averaged(plan, name, draws)


def _deviations(plan: Plan) -> dict[str, float]:
    """Return the standard deviation of the noise of each column with noise."""
    noisy = {name: part for name, part in plan.perturbations.items() if isinstance(part, Noise)}
    return {name: part.deviation for name, part in noisy.items() if part.deviation is not None}


def _numbers(rows: PublishedRows, names: Sequence[str] | Mapping[str, float]) -> Numbers:
    """Return the published numbers of each person, by column."""
    persons = recorded(rows.texts(PERSON))
    found: dict[str, dict[str, set[float]]] = {name: {} for name in names}
    for name, numbers in found.items():
        for person, text in zip(persons, rows.texts(name), strict=True):
            if person is not None and text not in (None, "", "*"):
                numbers.setdefault(person, set()).add(float(str(text)))
    return found


def _drifted(now: set[float], before: set[float], deviation: float) -> bool:
    """Return whether a number of an earlier release has become another one that may be of the same value."""
    return any(abs(one - other) <= FAR_APART * deviation for one in now - before for other in before - now)


def _averaged(plan: Plan, name: str, draws: Sequence[int]) -> UnattainableError:
    operation = plan.perturbations[name]
    share = operation.share if isinstance(operation, Noise) else 0.0
    persons, most = sum(number > 1 for number in draws), max(draws)
    return UnattainableError(
        "previous-noise", name=name, persons=persons, most=most, share=share / sqrt(most), share2=share
    )
