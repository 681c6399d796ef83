"""How many quasi-identifiers a plan should have: as many as lose least together, measured on some of the rows.

Every further quasi-identifier costs detail in all others. A column that is withheld loses all; where the others gain as
much by that, fewer columns are taken, whose detail is left, and not many of which little is left.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.microdata.counts.frequencies import TextCounts, tabulate
from sfumato.microdata.methods.search import find_recoding
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.plan.methods import Local, Suppression
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.stages.counting import reading_of
from sfumato.pipelines.suggesting.counted_rows import CountsRows

# Rows that are weighed; fewer than the least tell nothing.
_MOST_ROWS, _LEAST_ROWS = 5_000, 100
# Losses of whole columns that differ by less are equal: then fewer columns with more detail each are better, where what
# is withheld is not known to be anything. A known column is withheld for a gain alone.
_TIE = 0.1
_GAIN = 0.25
# What all must gain where twins are withheld.
_TWIN_GAIN = 0.2
_LEAST_COLUMNS = 2
# Nodes of the lattice that are looked at: what a column loses is to be known roughly.
_NODES = 3_000


@dataclass(frozen=True, slots=True)
class Withholding:
    """Quasi-identifiers that are better withheld: what the others lose on average with them and without them."""

    columns: tuple[str, ...] = ()
    before: float = 0.0
    after: float = 0.0


def better_withheld(
    source: CountsRows, proposal: Mapping[str, Any], members: int, unknown: Collection[str] = ()
) -> Withholding:
    """The quasi-identifiers of a proposed plan without which the rows as published lose less in all.

    Args:
        members: How many persons the promises count, or rows where they count these.
        unknown: Those of which nobody can tell what they are: these need not lose less, as long as they lose no more.
    """
    plan = read_plan(proposal)
    text_counts = source.count(plan.quasi_identifiers, reading_of(plan))
    if text_counts.rows < _LEAST_ROWS or len(plan.quasi_identifiers) <= _LEAST_COLUMNS:
        return Withholding()
    some = _sampled(text_counts)
    return _weighed(_of_sample(plan, int(some.counts.sum()) / members), some, unknown)


def spare_twins(
    source: CountsRows, proposal: Mapping[str, Any], members: int, groups: Sequence[Sequence[str]]
) -> dict[str, str]:
    """For each quasi-identifier that is better withheld since it tells the same as another, which one that is.

    Of a group the column is kept with which all lose least. A reader of all of them has what is left of the best one,
    so a group counts once.
    """
    whole = read_plan(proposal)
    text_counts = source.count(whole.quasi_identifiers, reading_of(whole))
    if text_counts.rows < _LEAST_ROWS:
        return {}
    some = _sampled(text_counts)
    plan = _of_sample(whole, int(some.counts.sum()) / members)
    losses, spare = _losses(plan, some, plan.quasi_identifiers), dict[str, str]()
    for group in groups:
        kept, trial = _best_twin(plan, some, [] if losses is None else [*losses], group)
        if losses is None or trial is None or sum(trial.values()) > _cost_of_group(losses, group) - _TWIN_GAIN:
            continue
        losses = trial
        spare |= {name: kept for name in group if name != kept}
    return spare


def _best_twin(
    plan: Plan, text_counts: TextCounts, names: Sequence[str], group: Sequence[str]
) -> tuple[str, dict[str, float] | None]:
    """The column of a group with which alone all lose least, and what they lose; None where nothing is released."""
    others = [name for name in names if name not in group]
    trials = {kept: _losses(plan, text_counts, [*others, kept]) if names else None for kept in group}
    costs = {kept: sum(trial.values()) for kept, trial in trials.items() if trial}
    kept = min(costs, key=lambda name: costs[name], default=group[0])
    return kept, trials[kept]


def _cost_of_group(losses: Mapping[str, float], group: Sequence[str]) -> float:
    """What all columns lose, of a group of twins the one alone that loses least."""
    return sum(loss for name, loss in losses.items() if name not in group) + min(losses[name] for name in group)


def _of_sample(plan: Plan, share: float) -> Plan:
    """The plan for some of the rows: their classes are smaller, and have more rows where promises count persons.

    Promises about values are left out: they cost much time, and the same whichever columns are taken.
    """
    k = next((model.k for model in plan.privacy if isinstance(model, KAnonymity)), 2)
    columns = {name: column for name, column in plan.columns.items() if column.role == "quasi-identifier"}
    method = Local(aggregate="mean", nodes=_NODES, suppression=getattr(plan.method, "suppression", Suppression()))
    return replace(plan, privacy=(KAnonymity(max(2, ceil(k * share))),), columns=columns, method=method)


def _weighed(plan: Plan, text_counts: TextCounts, unknown: Collection[str]) -> Withholding:
    """What is better withheld: of unknown columns, and then of others, those that lose most; each then loses 1."""
    losses = _losses(plan, text_counts, plan.quasi_identifiers)
    if losses is None:
        return Withholding()
    ranked = sorted(losses, key=lambda name: (name in unknown, losses[name]))
    rest, least = losses, _cost(losses)
    for size in range(len(ranked) - 1, _LEAST_COLUMNS - 1, -1):
        trial = _losses(plan, text_counts, ranked[:size])
        if trial is None:
            break
        if _cost(trial) <= least + (_TIE if ranked[size] in unknown else -_GAIN):
            rest, least = trial, min(least, _cost(trial))
    if rest is losses:
        return Withholding()
    before = sum(losses[name] for name in rest) / len(rest)
    return Withholding(tuple(name for name in losses if name not in rest), before, sum(rest.values()) / len(rest))


def _cost(losses: Mapping[str, float]) -> float:
    """What all columns lose: those that are not there lose 1 each, so what is kept is counted instead."""
    return sum(losses.values()) - len(losses)


def _losses(plan: Plan, text_counts: TextCounts, names: Sequence[str]) -> dict[str, float] | None:
    """What each of some quasi-identifiers loses where there are no others; None where there is no release."""
    own = replace(plan, columns={name: plan.columns[name] for name in names})
    table, _ = tabulate(_projected(text_counts, names), own)
    try:
        return dict(find_recoding(own, table, None).per_column)
    except SfumatoError:
        return None


def _projected(text_counts: TextCounts, names: Sequence[str]) -> TextCounts:
    """What was counted, by some of its columns alone."""
    places = [text_counts.columns.index(name) for name in names]
    codes, owners = np.unique(text_counts.codes[:, places], axis=0, return_inverse=True)
    counts = np.bincount(owners.reshape(-1), weights=text_counts.counts).astype(np.int64)
    values = tuple(text_counts.values[place] for place in places)
    return TextCounts(tuple(names), values, np.ascontiguousarray(codes), counts, text_counts.rows)


def _sampled(text_counts: TextCounts) -> TextCounts:
    """Some of the rows, drawn evenly; the same ones each time."""
    rows = int(text_counts.counts.sum())
    if rows <= _MOST_ROWS:
        return text_counts
    drawn = np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False)
    places = np.searchsorted(np.cumsum(text_counts.counts), drawn, side="right")
    counts = np.bincount(places, minlength=len(text_counts.counts))
    kept = counts > 0
    return replace(text_counts, codes=text_counts.codes[kept], counts=counts[kept], rows=_MOST_ROWS)
