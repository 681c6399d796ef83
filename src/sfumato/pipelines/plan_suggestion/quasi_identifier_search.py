"""Choose the number of quasi-identifiers with the lowest total information loss, measured on a sample of rows.

Every further quasi-identifier costs detail in all others. A removed column loses everything; if the others gain as much
by that, fewer columns are chosen, with more detail left.
"""

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from typing import Any, cast

import numpy as np

from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, tabulate
from sfumato.microdata.methods.local_recoding.candidates import rough_losses
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.plan.methods import Local, Suppression
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.pipelines.release_stages.counting import reading_of
from sfumato.values import Value, replace

# Maximum number of sampled rows; fewer rows than the minimum are inconclusive.
_MOST_ROWS, _LEAST_ROWS = 5_000, 100
# Total losses that differ by less are equal. Then fewer columns with more detail are better, if the removed column is
# of unknown meaning. A column of known meaning is removed only for a gain.
_TIE = 0.1
_GAIN = 0.25
# Maximum loss that columns of unknown meaning may add to known ones, on average and for one column.
_HARM, _HARM_OF_ONE = 0.1, 0.15
# Maximum number of known columns tried in vain in succession; fewer columns are no better, either.
_MOST_IN_VAIN = 2
# Minimum total gain from removing near duplicates.
_TWIN_GAIN = 0.2
_LEAST_COLUMNS = 2
# Maximum number of lattice nodes to search; the loss of a column is needed only roughly.
_NODES = 300


class ColumnSelection(Value):
    """Quasi-identifiers better removed, with the average loss of the others before and after."""

    columns: tuple[str, ...] = ()
    before: float = 0.0
    after: float = 0.0


def better_withheld(
    source: RowCounter, proposal: Mapping[str, Any], members: int, unknown: Collection[str] = ()
) -> ColumnSelection:
    """Return the quasi-identifiers of a proposed plan whose removal reduces the total information loss.

    Args:
        members: The number of persons that models count, or of rows if they count rows.
        unknown: Columns of unknown meaning; removing them need not reduce the loss, only not increase it much.
    """
    plan = resolve(read_plan(proposal))
    text_counts = source.count(plan.quasi_identifiers, reading_of(plan))
    if text_counts.rows < _LEAST_ROWS or len(plan.quasi_identifiers) <= _LEAST_COLUMNS:
        return ColumnSelection()
    sample, table = _sample_of(plan, text_counts, members)
    return _weighed(sample, table, unknown)


def drop_near_duplicates(
    source: RowCounter, proposal: Mapping[str, Any], members: int, groups: Sequence[Sequence[str]]
) -> dict[str, str]:
    """Return the redundant quasi-identifiers that are better removed, each with the near duplicate to keep.

    The column that minimizes the total loss is kept of each group. Data users of the whole group have the detail of its
    best column, so a group counts once.
    """
    whole = resolve(read_plan(proposal))
    text_counts = source.count(whole.quasi_identifiers, reading_of(whole))
    if text_counts.rows < _LEAST_ROWS:
        return {}
    plan, table = _sample_of(whole, text_counts, members)
    losses, spare = _losses(plan, table, plan.quasi_identifiers), dict[str, str]()
    for group in groups:
        kept, trial = _best_twin(plan, table, [] if losses is None else [*losses], group)
        if losses is None or trial is None or sum(trial.values()) > _cost_of_group(losses, group) - _TWIN_GAIN:
            continue
        losses = trial
        spare |= {name: kept for name in group if name != kept}
    return spare


def _best_twin(
    plan: Plan, table: FrequencyTable, names: Sequence[str], group: Sequence[str]
) -> tuple[str, dict[str, float] | None]:
    """Return the column of a group to keep for the least total loss, and the losses; None without a release."""
    others = [name for name in names if name not in group]
    trials = {kept: _losses(plan, table, [*others, kept]) if names else None for kept in group}
    costs = {kept: sum(trial.values()) for kept, trial in trials.items() if trial}
    kept = min(costs, key=lambda name: costs[name], default=group[0])
    return kept, trials[kept]


def _cost_of_group(losses: Mapping[str, float], group: Sequence[str]) -> float:
    """Return the total loss of all columns; a group of near duplicates counts as its column with the least loss."""
    return sum(loss for name, loss in losses.items() if name not in group) + min(losses[name] for name in group)


def _sample_of(plan: Plan, text_counts: ValueCounts, members: int) -> tuple[Plan, FrequencyTable]:
    """Return the plan for a sample of the rows, and its table; the values are coded once for all trials."""
    some = _sampled(text_counts)
    sample = _of_sample(plan, int(some.counts.sum()) / members)
    return sample, tabulate(some, sample)[0]


def _of_sample(plan: Plan, share: float) -> Plan:
    """Return the plan for a sample: its classes are smaller, but have more rows if models count persons.

    Models of sensitive columns are left out: they take much time and are the same for every choice of columns.
    """
    k = requested_class_size(plan.privacy, 2)
    columns = {name: column for name, column in plan.columns.items() if column.role == "quasi-identifier"}
    method = Local(aggregate="mean", nodes=_NODES, suppression=getattr(plan.method, "suppression", Suppression()))
    return replace(plan, privacy=(KAnonymity(max(2, ceil(k * share))),), columns=columns, method=method)


def _weighed(plan: Plan, table: FrequencyTable, unknown: Collection[str]) -> ColumnSelection:
    """Return the columns better removed: first unknown ones, then the costliest; each of them has loss 1."""
    losses = _losses(plan, table, plan.quasi_identifiers)
    if losses is None:
        return ColumnSelection()
    ranked = sorted(losses, key=lambda name: (name in unknown, losses[name]))
    alone = _known_alone(plan, table, losses, unknown)
    rest, least, vain = losses, _cost(losses), 0
    for size in range(len(ranked) - 1, _LEAST_COLUMNS - 1, -1):
        trial = alone if alone.keys() == {*ranked[:size]} else _losses(plan, table, ranked[:size])
        if trial is None or vain == _MOST_IN_VAIN:
            break
        strange = ranked[size] in unknown
        if _cost(trial) <= least + (_TIE if strange else -_GAIN) or (strange and _harms(rest, alone)):
            rest, least, vain = trial, min(least, _cost(trial)), 0
        else:
            vain += not strange
    if rest is losses:
        return ColumnSelection()
    before = sum(losses[name] for name in rest) / len(rest)
    return ColumnSelection(tuple(name for name in losses if name not in rest), before, sum(rest.values()) / len(rest))


def _known_alone(
    plan: Plan, table: FrequencyTable, losses: Mapping[str, float], unknown: Collection[str]
) -> dict[str, float]:
    """Return the losses of the known columns without any unknown one; empty if too few are known, or all are."""
    known = [name for name in losses if name not in unknown]
    if len(known) < _LEAST_COLUMNS or len(known) == len(losses):
        return {}
    return _losses(plan, table, known) or {}


def _harms(losses: Mapping[str, float], alone: Mapping[str, float]) -> bool:
    """Return whether known columns lose clearly more with unknown columns than without them."""
    more = [losses[name] - loss for name, loss in alone.items()]
    return bool(more) and (sum(more) > _HARM * len(more) or max(more) > _HARM_OF_ONE)


def _cost(losses: Mapping[str, float]) -> float:
    """Return the total loss minus the number of columns, because each removed column has loss 1."""
    return sum(losses.values()) - len(losses)


def _losses(plan: Plan, table: FrequencyTable, names: Sequence[str]) -> dict[str, float] | None:
    """Return the loss of each of some quasi-identifiers if there are no others; None if there is no release."""
    own = replace(plan, columns={name: plan.columns[name] for name in names})
    losses = rough_losses(own, cast("Local", own.method), _projected(table, names))
    return None if losses is None else dict(losses)


def _projected(table: FrequencyTable, names: Sequence[str]) -> FrequencyTable:
    """Return the table with some of its columns only."""
    places = [table.columns.index(name) for name in names]
    codes, owners = np.unique(table.codes[:, places], axis=0, return_inverse=True)
    counts = np.bincount(owners.reshape(-1), weights=table.counts).astype(np.int64)
    codings = tuple(table.codings[place] for place in places)
    return replace(table, columns=tuple(names), codings=codings, codes=np.ascontiguousarray(codes), counts=counts)


def _sampled(text_counts: ValueCounts) -> ValueCounts:
    """Return a uniform sample of the rows, the same one each time."""
    rows = int(text_counts.counts.sum())
    if rows <= _MOST_ROWS:
        return text_counts
    drawn = np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False)
    places = np.searchsorted(np.cumsum(text_counts.counts), drawn, side="right")
    counts = np.bincount(places, minlength=len(text_counts.counts))
    kept = counts > 0
    return replace(text_counts, codes=text_counts.codes[kept], counts=counts[kept], rows=_MOST_ROWS)
