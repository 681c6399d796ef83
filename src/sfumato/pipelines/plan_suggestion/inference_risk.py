"""Which quasi-identifiers can be inferred from sensitive columns, and which columns follow from a sensitive one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.column_context import is_unknown
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, tables_of
from sfumato.microdata.counts.grouping import one_row_each
from sfumato.microdata.measures.inference import ROWS_MORE, pair_inferences, positions_of, sensitive_pair_inferences
from sfumato.microdata.measures.inference import inference_risks as tells_of
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.microdata.release_check.evidence import RIGHT, USUAL
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.pipelines.plan_suggestion.person_columns import FEW_ROWS
from sfumato.pipelines.plan_suggestion.quasi_identifier_search import Codes, agreement
from sfumato.pipelines.release_stages.counting import reading_of
from sfumato.values import Value


class InferenceFinding(Value):
    """What can be inferred from a sensitive column: one quasi-identifier, or the two it is computed from.

    Attributes:
        words: The finding in words.
        with_private: Whether the inference needs another sensitive column.
    """

    words: str
    quasi_identifier: str | None = None
    computed_from: tuple[str, str] | None = None
    with_private: bool = False


def find_inference_risks(
    source: RowCounter, proposal: Mapping[str, Any], person: str | None = None
) -> dict[str, InferenceFinding]:
    """Return the sensitive columns that infer a quasi-identifier, or are computed from two, with the findings.

    If two columns jointly infer one, the later column is returned.

    Args:
        person: The person column, or None. What all rows of a person repeat reveals nothing about others.
    """
    plan = resolve(read_plan(proposal))
    if not plan.promise_columns:
        return {}
    columns = (*plan.quasi_identifiers, *plan.promise_columns)
    text_counts = source.count(columns if person is None else (*columns, person), reading_of(plan))
    if person is not None:
        text_counts = one_row_each(text_counts)
    # Computed columns are computed from the numbers as they are read, not as they are published.
    table, read = tables_of(text_counts, plan)
    joint = _jointly_told(read)
    worst = (
        max(tells_of(table, name), key=lambda tell: tell.guessed_with_column, default=None)
        for name in plan.promise_columns
    )
    told = dict(inferred_by_values(read)) | {tell.column: tell.quasi_identifier for tell in worst if tell is not None}
    one = {name: InferenceFinding(Message("reason.tells_one", other=other), other) for name, other in told.items()}
    alone = {name: telling for name in plan.promise_columns if (telling := one.get(name) or joint.get(name))}
    return alone | dict(_told_by_two(text_counts, plan, [*alone]))


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


def _told_by_two(text_counts: ValueCounts, plan: Plan, told: Sequence[str]) -> Iterator[tuple[str, InferenceFinding]]:
    """Yield the later of two numeric sensitive columns that jointly infer a quasi-identifier, unless it is known."""
    private = [name for name in plan.promise_columns if name not in told]
    withheld: set[str] = set()
    for tell in sensitive_pair_inferences(text_counts, plan.quasi_identifiers, private, plan.data.missing):
        if not {tell.column, tell.beside} & withheld:
            withheld.add(tell.column)
            words = Message("reason.tells_two", first=tell.quasi_identifier, second=tell.beside)
            yield tell.column, InferenceFinding(words, with_private=True)


def _jointly_told(table: FrequencyTable) -> dict[str, InferenceFinding]:
    positions = positions_of(table)
    tells = (tell for name in table.sensitive for tell in pair_inferences(table, name, positions)[:1])
    return {
        tell.column: InferenceFinding(
            Message("reason.tells_two", first=tell.quasi_identifiers[0], second=tell.quasi_identifiers[1]),
            computed_from=tell.quasi_identifiers,
        )
        for tell in tells
    }


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


def _as_private(told: Mapping[str, str], suggestions: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Return the dependent columns as sensitive ones, in the order in which they were found."""
    chosen: dict[str, Suggestion] = {}
    for name, teller in told.items():
        like = chosen.get(teller, suggestions[teller])
        type_ = "text" if suggestions[name].rejected else suggestions[name].type
        reason = Message("reason.says_less", column=teller)
        chosen[name] = Suggestion("sensitive", reason, type_, protected=like.protected, concept=like.concept)
    return chosen
