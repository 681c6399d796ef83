"""Choose the quasi-identifiers with the lowest information loss on a sample of rows, without redundant ones."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from math import ceil
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.dates import read_moments
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.types import canonical, numerals
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


# Every further quasi-identifier costs detail in all others. A removed column loses everything; if the others gain as
# much by that, fewer columns are chosen, with more detail left.
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


Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# One column is a function of the other if pairs of rows that agree in the other agree in it, beyond chance. A minimum
# number of such pairs is needed. Numbers and dates are near duplicates if they are nearly linear in each other.
_AGREEMENT, _LEAST_PAIRS = 0.9, 30
_CORRELATION = 0.97
# Minimum average rows per value, because a column with many values determines everything by chance.
_ROWS_EACH = 5
# Above this number of rows, a sample is enough.
_COMPARED_ROWS = 50_000


# Examples are a birth date and an age, a postcode and its town, an admission and a discharge. Generalizing one
# requires generalizing the other. Both take one place among the few quasi-identifiers that a plan should have.
def no_twins(_one: str, _other: str) -> bool:
    """Return False: columns are no near duplicates if they were not compared."""
    return False


def groups_of(names: Sequence[str], are_near_duplicates: Callable[[str, str], bool]) -> list[list[str]]:
    """Return the groups of near-duplicate columns, two or more each: a country, its code and its label.

    >>> groups_of(["age", "code", "country", "sex", "label"], lambda one, other: "c" in one and "l" in other)
    [['code', 'country', 'label']]
    """
    groups: list[list[str]] = []
    for name in names:
        near = [group for group in groups if any(are_near_duplicates(other, name) for other in group)]
        groups = [group for group in groups if group not in near] + [[*(one for group in near for one in group), name]]
    return [group for group in groups if len(group) > 1]


def near_duplicates_among(source: RowCounter, suggestions: Mapping[str, Suggestion]) -> Callable[[str, str], bool]:
    """Return a function that tests whether two quasi-identifiers are near duplicates, by rows counted once."""
    names = tuple(name for name, one in suggestions.items() if one.role == "quasi-identifier")
    if len(names) < 2:
        return no_twins
    counted = _one_spelling(_some(source.count(names, MissingRules())))
    places = {name: place for place, name in enumerate(names)}

    @cache
    def numbers(name: str) -> Floats | None:
        return _numbers(suggestions[name], counted.values[places[name]])

    @cache
    def are_near_duplicates(one: str, other: str) -> bool:
        if not {one, other} <= places.keys():
            return False
        first, second = counted.codes[:, places[one]], counted.codes[:, places[other]]
        mine, theirs = numbers(one), numbers(other)
        if mine is not None and theirs is not None and _correlated(mine[first], theirs[second], counted.counts):
            return True
        return _is_function(first, second, counted.counts)

    return are_near_duplicates


def _some(text_counts: ValueCounts) -> ValueCounts:
    """Return a sample of the counts if they are many."""
    step = max(len(text_counts.counts) // _COMPARED_ROWS, 1)
    codes, counts = text_counts.codes[::step], text_counts.counts[::step]
    return ValueCounts(text_counts.columns, text_counts.values, codes, counts, int(counts.sum()))


def _one_spelling(text_counts: ValueCounts) -> ValueCounts:
    """Return the counts with spellings merged that differ in case or white space, as towns often do."""
    values, codes = [], []
    for texts, column in zip(text_counts.values, text_counts.codes.T, strict=True):
        plain = [None if text is None else text.strip().casefold() for text in texts]
        places = {text: place for place, text in enumerate(dict.fromkeys(plain))}
        values.append(tuple(places))
        codes.append(np.array([places[text] for text in plain], np.int32)[column])
    table = np.column_stack(codes)
    return ValueCounts(text_counts.columns, tuple(values), table, text_counts.counts, text_counts.rows)


def _numbers(suggestion: Suggestion, texts: Iterable[str | None]) -> Floats | None:
    """Return the numbers or days that the texts of a column represent, NaN if missing; None for other columns."""
    plain = ["" if text is None else text.strip() for text in texts]
    hierarchy = suggestion.hierarchy or {}
    if hierarchy.get("type") == "date":
        moments = read_moments(plain, hierarchy["format"], hierarchy.get("latest_year"))
        return np.where(moments.valid, moments.ordinals, np.nan)
    if suggestion.type in ("integer", "decimal", "amount"):
        return numerals([text or "" for text in canonical(plain, suggestion.type)[0]])
    return None


def _correlated(one: Floats, other: Floats, counts: npt.NDArray[np.int64]) -> bool:
    fine = ~(np.isnan(one) | np.isnan(other))
    if counts[fine].sum() < _LEAST_PAIRS or not (np.ptp(one[fine]) and np.ptp(other[fine])):
        return False
    covariances = np.cov(one[fine], other[fine], fweights=counts[fine])
    return bool(abs(covariances[0, 1]) >= _CORRELATION * np.sqrt(covariances[0, 0] * covariances[1, 1]))


def _is_function(one: Codes, other: Codes, counts: npt.NDArray[np.int64]) -> bool:
    """Return whether one of two columns nearly determines the other."""
    width = int(other.max(initial=0)) + 1
    keys, owners = np.unique(one.astype(np.int64) * width + other, return_inverse=True)
    both, *each = (_pairs(codes, counts) for codes in (owners, one, other))
    rows = float(counts.sum())
    whole = rows * (rows - 1)
    if any(_agrees(both, mine, theirs / whole) for mine, theirs in (each, each[::-1])):
        return True
    sizes = np.bincount(owners.reshape(-1), weights=counts).astype(np.float64)
    sides = (keys // width, keys % width)
    return any(_most_agree(mine, theirs, sizes) for mine, theirs in (sides, sides[::-1]))


def _most_agree(one: Ints, other: Ints, counts: Floats) -> bool:
    """Return whether most rows have the most frequent value for their value, beyond chance; a few are typing errors."""
    several = np.count_nonzero(np.bincount(one)) * _ROWS_EACH <= counts.sum()
    return several and agreement(one, other, counts) >= _AGREEMENT


def agreement(one: Ints, other: Ints, counts: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> float:
    """Return how far a column determines another: the proportion of rows with the usual value, beyond chance.

    Args:
        one: The codes of the first column; each pair of codes occurs once.
        other: The codes of the second column.
        counts: The rows of each pair.
    """
    rows = float(counts.sum())
    chance = float(np.bincount(other, weights=counts).max()) / rows
    most = np.zeros(int(one.max(initial=0)) + 1)
    np.maximum.at(most, one, counts)
    return (float(most.sum()) / rows - chance) / (1 - chance) if chance < 1 else 0.0


def _agrees(both: float, mine: float, chance: float) -> bool:
    """Return whether rows that agree in one column agree in another, too, beyond chance."""
    return mine >= 2 * _LEAST_PAIRS and chance < _AGREEMENT and both / mine - chance >= _AGREEMENT * (1 - chance)


def _pairs(codes: npt.NDArray[np.integer], counts: npt.NDArray[np.int64]) -> float:
    """Return how many ordered pairs of rows share a code."""
    sizes = np.bincount(codes.reshape(-1), weights=counts)
    return float((sizes * (sizes - 1)).sum())
