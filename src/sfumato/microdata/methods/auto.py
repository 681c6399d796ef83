"""Method `auto`: try local recoding, Mondrian by loss and the optimal node, and keep the one that loses least.

The results are compared by the mean loss metric of the published rows, a suppressed row counting 1. A result that fully
generalizes a column which another one preserves cannot win, because a mean would hide that. Nor can one whose
suppression depends on more outcomes, because analysts would get wrong answers. The loss is computed as in
the verification. No method is best for every table: with one level per column a few rare combinations dominate, and
classes with labels of their own do not need a suitable hierarchy.
"""

from collections.abc import Callable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from sfumato.errors import SfumatoError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.losses.additive_losses import aggregated
from sfumato.microdata.methods.class_assessment import HALF, shares_lost
from sfumato.microdata.methods.class_labels import with_protections
from sfumato.microdata.methods.full_domain import search as full_domain
from sfumato.microdata.methods.local_recoding import search as local
from sfumato.microdata.methods.mondrian import search as mondrian
from sfumato.microdata.methods.search_result import ProgressCallback, Result
from sfumato.microdata.plan.methods import Auto, FullDomain, Local, Method, Mondrian, Optimal
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.questions.star_bias import predicted_bias
from sfumato.values import Value, replace

# Losses that differ by less are equal; the method named first is taken.
TIE = 1e-9
# A column that keeps less than this proportion of its information counts as lost.
LEAST_LEFT = 0.05


class Trial(Value):
    """The result of one method.

    Attributes:
        loss: The mean loss metric of a published row, with 1 for a suppressed one; None without a release.
        lost: The columns that lose more than half of their information, as counted by the verification.
        gone: Columns with almost no information left.
        void: Columns with no information left.
        biased: Outcomes on which suppression depends.
        error: Why there is no release.
    """

    method: Method
    seconds: float
    result: Result | None = None
    loss: float | None = None
    lost: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    void: frozenset[str] = frozenset()
    biased: frozenset[str] = frozenset()
    error: SfumatoError | None = None

    def to_dict(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"method": self.method.name, "seconds": self.seconds, "loss": self.loss}
        if self.result is None:
            return entry | {"error": str(self.error)}
        hidden = self.result.recoding.sizes[self.result.recoding.suppressed]
        return entry | {
            "suppressed_rows": int(hidden.sum()),
            "columns_lost": sorted(self.lost),
            "suppression_depends_on": sorted(self.biased),
            "proved_optimal": self.result.proved_optimal,
            "cut_short": self.result.cut_short,
        }


def search(plan: Plan, method: Auto, table: FrequencyTable, progress: ProgressCallback | None = None) -> Result:
    """Return the release of least mean loss among those of three methods.

    Raises:
        UnattainableError: No method finds a release; the error is that of the first.
        EngineError: No method finds a release, and some methods timed out.
    """
    methods = methods_tried(plan, method)
    with ThreadPoolExecutor(len(methods)) as pool:
        trials = list(pool.map(lambda one: _trial(plan, one, table, progress), methods))
    return result_of(method, trials, trials)


def result_of(method: Auto, trials: Sequence[Trial], eligible: Sequence[Trial]) -> Result:
    """Return the result of the best trial, with what was tried.

    Args:
        eligible: The trials that may win: all, or those that answer the questions of the plan best.

    Raises:
        UnattainableError: No method finds a release; the error is that of the first.
        EngineError: No method finds a release, and some methods timed out.
    """
    won = _least(eligible)
    if won is None or won.result is None or won.loss is None:
        raise _error(trials)
    why = _why(won, trials) if won is _least(trials) else _answers_best(won)
    remarks = (why, *_late(trials), *won.result.notes)
    details = {**won.result.details, "methods_tried": [trial.to_dict() for trial in trials]}
    chosen = replace(won.method, time_limit=method.time_limit)
    return replace(won.result, notes=remarks, details=details, method=chosen)


def _error(trials: Sequence[Trial]) -> SfumatoError:
    """Return the error: a timeout if there was one, else the error of the first method."""
    errors = [trial.error for trial in trials if trial.error is not None]
    late = next((error for error in errors if not isinstance(error, UnattainableError)), None)
    return late or UnattainableError("auto", message=errors[0].message, hint=Message("hint.ask_for_less_or_allow"))


def methods_tried(plan: Plan, method: Auto) -> list[Method]:
    """Return the methods to be tried, the usually slowest first; Mondrian does not support level limits."""
    shared: dict[str, Any] = {
        "aggregate": "mean",
        "time_limit": method.time_limit,
        "hide_minimality": method.hide_minimality,
    }
    methods: list[Method] = [
        Local(suppression=method.suppression, **shared),
        Optimal(suppression=method.suppression, **shared),
    ]
    columns = [plan.columns[name] for name in plan.quasi_identifiers]
    if not any(column.min_level or column.max_level is not None for column in columns):
        methods.append(Mondrian(cut="loss", **shared))
    return methods


def _trial(plan: Plan, method: Method, table: FrequencyTable, progress: ProgressCallback | None) -> Trial:
    begin, own = perf_counter(), replace(plan, method=method)
    try:
        result = with_protections(own, table, _search(own, method, table, progress))
    except SfumatoError as error:
        return Trial(method, perf_counter() - begin, error=error)
    return trial_of(own, table, result, perf_counter() - begin)


def trial_of(own: Plan, table: FrequencyTable, result: Result, seconds: float) -> Trial:
    """Return what the result of a plan's method is worth."""
    weights = [own.columns[name].weight for name in result.per_column]
    loss = aggregated(list(result.per_column.values()), weights, "mean")
    shares = shares_lost(own, table, result)
    limits = (HALF, 1 - LEAST_LEFT, 1 - TIE)
    lost, gone, void = (frozenset(name for name, share in shares.items() if share > most) for most in limits)
    biased = frozenset(one.outcome for one in predicted_bias(own, table, result.recoding))
    return Trial(own.method, seconds, result, loss, lost, gone, void, biased)


def _search(plan: Plan, method: Method, table: FrequencyTable, progress: ProgressCallback | None) -> Result:
    if isinstance(method, Local):
        return local.search(plan, method, table, progress)
    if isinstance(method, Mondrian):
        return mondrian.search(plan, method, table)
    assert isinstance(method, FullDomain)
    return full_domain.search(plan, method, table, None)


def _least(trials: Sequence[Trial]) -> Trial | None:
    """Return the winner: of those with the fewest fully generalized columns, those with the least biased outcomes, and
    of these the first of least loss.
    """
    done = [trial for trial in trials if trial.loss is not None]
    preserving = _fewest(done, lambda trial: trial.void - _gone_in_all(done))
    return _of_least_loss(_fewest(preserving, lambda trial: trial.biased))


def _gone_in_all(trials: Sequence[Trial]) -> frozenset[str]:
    """Return the columns of which no trial preserves anything relevant, so that they do not distinguish the trials."""
    return frozenset.intersection(*(trial.gone for trial in trials)) if trials else frozenset()


def _fewest(trials: Sequence[Trial], columns: Callable[[Trial], Sized]) -> list[Trial]:
    """Return the trials with the fewest columns of a kind."""
    fewest = min((len(columns(trial)) for trial in trials), default=0)
    return [trial for trial in trials if len(columns(trial)) == fewest]


def _of_least_loss(trials: Sequence[Trial]) -> Trial | None:
    won: Trial | None = None
    for trial in trials:
        if trial.loss is not None and (won is None or won.loss is None or trial.loss < won.loss - TIE):
            won = trial
    return won


def _answers_best(won: Trial) -> Message:
    return Message("note.auto_answers", name=won.method.name, loss=won.loss)


def _why(won: Trial, trials: Sequence[Trial]) -> Message:
    """Return why a trial won: by its loss, or because the one of less loss fully generalizes a column."""
    least = _of_least_loss(trials) or won
    if least is won:
        return Message("note.auto", name=won.method.name, loss=won.loss)
    figures = {"name": won.method.name, "loss": won.loss, "other": least.method.name, "less": least.loss}
    if least.biased > won.biased:
        return Message("note.auto_unbiased", columns=", ".join(sorted(least.biased - won.biased)), **figures)
    hopeless = _gone_in_all([trial for trial in trials if trial.loss is not None])
    return Message("note.auto_something", columns=", ".join(sorted(least.void - hopeless - won.void)), **figures)


def _late(trials: Sequence[Trial]) -> list[str]:
    return [
        Message("note.auto_late", name=trial.method.name)
        for trial in trials
        if trial.result is not None and trial.result.cut_short
    ]
