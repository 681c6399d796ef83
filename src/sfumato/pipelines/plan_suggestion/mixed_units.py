"""Numbers of several kinds in one column, one row per measurement: rounding for large ones destroys small ones."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.types import numerals
from sfumato.localization.messages import Message
from sfumato.microdata.publish_plan import PublishPlan, read_numbers
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter

# Maximum number of values of a column of units or test names.
_MOST_KINDS = 100
# A kind with this many distinct numbers loses them if at least this proportion of its rows are published identically.
_SOME_NUMBERS, _ALIKE = 5, 0.9
# Minimum factor between the numbers of two kinds with different units or meanings.
_FACTOR = 10


def mixed_units_note(rows: RowCounter, plan: Mapping[str, Any], profiles: Mapping[str, Profile]) -> str | None:
    """Return a note on the first column whose rounding destroys the numbers of some kinds, or None."""
    columns = plan["columns"]
    rounded = {
        name: PublishPlan(**column["publish"]) for name, column in columns.items() if "round" in _publish(column)
    }
    kinds = [
        name for name, profile in profiles.items() if name not in rounded and 2 <= len(profile.counts) <= _MOST_KINDS
    ]
    found = (
        Message("note.mixed_measures", name=name, kinds=kind, number=number)
        for name, publish in rounded.items()
        for number, kind in sorted(_lost_by_kind(rows, name, publish, kinds), reverse=True)[:1]
    )
    return next(found, None)


def _publish(column: Mapping[str, Any]) -> Mapping[str, Any]:
    publish = column.get("publish")
    return publish if isinstance(publish, Mapping) else {}


def _lost_by_kind(rows: RowCounter, name: str, publish: PublishPlan, kinds: list[str]) -> Iterator[tuple[int, str]]:
    """Yield how many kinds lose all of their numbers, for each column that may name kinds."""
    for kind in kinds:
        numbers = _numbers_by_kind(rows, name, kind)
        middles = [numerals(sorted(counts, key=float))[len(counts) // 2] for counts in numbers if counts]
        lost = sum(_is_lost(counts, publish) for counts in numbers)
        if 0 < lost < len(numbers) and max(middles) > _FACTOR * min(middles):
            yield lost, kind


def _numbers_by_kind(rows: RowCounter, name: str, kind: str) -> list[Counter[str]]:
    """Return the number of rows of each number, for each kind."""
    text_counts = rows.count((kind, name), MissingRules())
    forms = read_numbers([text or "" for text in text_counts.values[1]])
    numbers: list[Counter[str]] = [Counter() for _ in text_counts.values[0]]
    for (own, number), count in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True):
        if (form := forms[number]) is not None:
            numbers[own][form] += count
    return numbers


def _is_lost(counts: Counter[str], publish: PublishPlan) -> bool:
    """Return whether nearly all rows of a kind are published identically although they have several numbers."""
    if len(counts) < _SOME_NUMBERS:
        return False
    published: Counter[str | None] = Counter()
    for text, count in zip(publish.publish([*counts]), counts.values(), strict=True):
        published[text] += count
    return published.most_common(1)[0][1] >= _ALIKE * counts.total()
