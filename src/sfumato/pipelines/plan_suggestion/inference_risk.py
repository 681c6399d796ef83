"""Which quasi-identifiers of a suggested plan can be inferred from its sensitive columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

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
