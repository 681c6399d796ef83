"""Which quasi-identifiers can be inferred from sensitive columns, and which columns follow from a sensitive one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import is_unknown
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, tables_of
from sfumato.microdata.counts.grouping import one_row_each
from sfumato.microdata.measures.inference import ROWS_MORE, pair_inferences, positions_of, sensitive_pair_inferences
from sfumato.microdata.measures.inference import inference_risks as tells_of
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.release_check.evidence import RIGHT, USUAL
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.pipelines.plan_suggestion.person_columns import FEW_ROWS
from sfumato.pipelines.release_stages.counting import reading_of
from sfumato.values import Value

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class InferenceFinding(Value):
    """Columns from which a quasi-identifier can be inferred: without one of them it cannot.

    Attributes:
        columns: The sensitive columns, one or two.
        quasi_identifiers: The inferred one, or the two from which the sensitive column is computed.
    """

    columns: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]


# The cost of removing a quasi-identifier that counts fully, one that hardly counts, a sensitive column, one of unknown
# meaning, and one that a question needs.
_COST, _COST_OF_LITTLE, _COST_OF_SENSITIVE, _COST_OF_UNKNOWN = 1.4, 0.5, 1.5, 1.0
_COST_OF_NEEDED = 20.0
# The last quasi-identifiers are never removed.
_LEAST_LEFT = 2


def without_inference(
    source: RowCounter, suggestions: Mapping[str, Suggestion], proposal: Mapping[str, Any]
) -> dict[str, Suggestion]:
    """Return the suggestions without the columns by which quasi-identifiers could be inferred.

    Of the columns of each inference at least one is removed: what costs less of the sensitive columns, or of the
    quasi-identifiers that not everybody knows. The day of a relapse is missing without a relapse, so every column about
    relapses predicts it: it is removed rather than all of these.
    """
    person = next((name for name, one in suggestions.items() if one.role == "person"), None)
    known = [name for name, one in suggestions.items() if one.role == "quasi-identifier"]
    spare = {name for name in known if suggestions[name].rank} if len(known) > _LEAST_LEFT else set[str]()
    findings = find_inference_risks(source, proposal, person)
    removed = {
        finding.columns[-1]: finding for finding in findings if not spare.intersection(finding.quasi_identifiers)
    }
    for linked in _linked([finding for finding in findings if not {*finding.columns} & removed.keys()]):
        private = {finding.columns[-1]: finding for finding in linked}
        public = {[name for name in one.quasi_identifiers if name in spare][-1]: one for one in linked}
        left = len(known) - len({*public, *removed} & {*known})
        cheaper = sum(_cost(suggestions[name]) for name in public) < sum(_cost(suggestions[name]) for name in private)
        removed |= public if cheaper and left >= _LEAST_LEFT else private
    chosen = dict(suggestions)
    for name, finding in removed.items():
        others = ", ".join(f'"{other}"' for other in (*finding.quasi_identifiers, *finding.columns) if other != name)
        chosen[name] = chosen[name].withheld(Message("reason.infers", reason=chosen[name].reason, names=others))
    return chosen


def _linked(findings: Sequence[InferenceFinding]) -> list[list[InferenceFinding]]:
    """Return the groups of findings that share columns."""
    groups: list[tuple[set[str], list[InferenceFinding]]] = []
    for finding in findings:
        names = {*finding.columns, *finding.quasi_identifiers}
        near = [group for group in groups if group[0] & names]
        merged = [one for _, group in near for one in group]
        groups = [group for group in groups if group not in near]
        groups.append((names.union(*(group[0] for group in near)), [*merged, finding]))
    return [group for _, group in groups]


def _cost(suggestion: Suggestion) -> float:
    if suggestion.needed:
        return _COST_OF_NEEDED
    if suggestion.role == "quasi-identifier":
        return _COST if suggestion.weight == 1 else _COST_OF_LITTLE
    return _COST_OF_UNKNOWN if suggestion.kept else _COST_OF_SENSITIVE


def find_inference_risks(
    source: RowCounter, proposal: Mapping[str, Any], person: str | None = None
) -> list[InferenceFinding]:
    """Return the sensitive columns that infer a quasi-identifier, or are computed from two.

    Args:
        person: The person column, or None. What all rows of a person repeat reveals nothing about others.
    """
    plan = resolve(read_plan(proposal))
    if not plan.promise_columns:
        return []
    columns = (*plan.quasi_identifiers, *plan.promise_columns)
    text_counts = source.count(columns if person is None else (*columns, person), reading_of(plan))
    if person is not None:
        text_counts = one_row_each(text_counts)
    # Computed columns are computed from the numbers as they are read, not as they are published.
    table, read = tables_of(text_counts, plan)
    positions = positions_of(read)
    pairs = [(one.column, one.quasi_identifier) for name in plan.promise_columns for one in tells_of(table, name)]
    found = [InferenceFinding((name,), (other,)) for name, other in dict.fromkeys((*inferred_by_values(read), *pairs))]
    for name in read.sensitive:
        found += [InferenceFinding((name,), one.quasi_identifiers) for one in pair_inferences(read, name, positions)]
    known = plan.quasi_identifiers
    for one in sensitive_pair_inferences(text_counts, known, plan.promise_columns, plan.data.missing):
        found.append(InferenceFinding((one.beside, one.column), (one.quasi_identifier,)))
    return found


def inferred_by_values(table: FrequencyTable) -> Iterator[tuple[str, str]]:
    """Yield sensitive columns with a value that occurs with only one value of a quasi-identifier, and the latter.

    An attacker infers it from the release if the quasi-identifier is generalized.
    """
    for name, content in table.sensitive.items():
        for place, other in enumerate(table.columns):
            known = table.codes[content.owners, place]
            size = int(known.max(initial=0)) + 1
            cells = content.values.astype(np.int64) * size + known
            counts = np.bincount(cells, content.counts, content.size * size).reshape(-1, size)
            total, usual = counts.sum(axis=1), counts.sum(axis=0) / max(counts.sum(), 1)
            common = (total >= ROWS_MORE * counts.sum()) & (counts.max(axis=1) >= RIGHT * total)
            if (common & (usual[counts.argmax(axis=1)] <= USUAL)).any():
                yield name, other


# Minimum proportion of rows, beyond chance, with the most frequent value for their sensitive value; the others are
# typing errors.
_TOLD = 0.9
# A sensitive column with many values determines everything by chance, so each value needs this many rows on average.
_ROWS_EACH, _LEAST_ROWS = 20, 100
_ROUNDS = 2


# If each value of a sensitive column has one value of another column of unknown meaning, that column contains the same
# or less information. Published together it reveals nothing more, and it is equally sensitive.
def mark_dependent_columns(
    source: RowCounter, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> dict[str, Suggestion]:
    """Return the suggestions with unknown columns marked as sensitive if they depend on a sensitive column."""
    rows = next(iter(profiles.values())).rows
    private = [name for name, one in suggestions.items() if _may_tell(one, profiles[name])]
    unknown = [name for name, one in suggestions.items() if is_unknown(one) and len(profiles[name].counts) > 1]
    if not private or not unknown or not _LEAST_ROWS <= rows <= FEW_ROWS:
        return dict(suggestions)
    counted = source.count((*private, *unknown), MissingRules())
    codes = dict(zip(counted.columns, counted.codes.T, strict=True))
    told: dict[str, str] = {}
    # A dependent column may determine others: a code determines its group.
    for _ in range(_ROUNDS):
        for name in unknown:
            tellers = [one for one in (*private, *told) if one != name]
            teller = told.get(name) or _teller(codes[name], tellers, codes, counted.counts)
            told |= {name: teller} if teller else {}
    return dict(suggestions) | _as_private(told, suggestions)


def _may_tell(suggestion: Suggestion, profile: Profile) -> bool:
    """Return whether a column is known to be sensitive and has few values."""
    known = suggestion.role == "sensitive" and not suggestion.guessed and not suggestion.asked
    return known and 1 < len(profile.counts) <= profile.rows / _ROWS_EACH


def _teller(
    codes: Codes, private: Sequence[str], columns: Mapping[str, Codes], counts: npt.NDArray[np.int64]
) -> str | None:
    """Return the first sensitive column that determines a column, or None."""
    return next((name for name in private if _tells(columns[name], codes, counts)), None)


def _tells(private: Codes, codes: Codes, counts: npt.NDArray[np.int64]) -> bool:
    width = int(codes.max(initial=0)) + 1
    keys, owners = np.unique(private.astype(np.int64) * width + codes, return_inverse=True)
    sizes = np.bincount(owners.reshape(-1), weights=counts)
    return agreement(keys // width, keys % width, sizes) >= _TOLD


def agreement(one: Ints, other: Ints, counts: npt.NDArray[np.float64] | Ints) -> float:
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


def _as_private(told: Mapping[str, str], suggestions: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Return the dependent columns as sensitive ones, in the order in which they were found."""
    chosen: dict[str, Suggestion] = {}
    for name, teller in told.items():
        like = chosen.get(teller, suggestions[teller])
        type_ = "text" if suggestions[name].rejected else suggestions[name].type
        reason = Message("reason.says_less", column=teller)
        chosen[name] = Suggestion("sensitive", reason, type_, protected=like.protected, concept=like.concept)
    return chosen
