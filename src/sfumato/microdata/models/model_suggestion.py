"""The privacy model proposed for a sensitive column, chosen by its values.

If most rows have a harmless value, the other values must not fill a class. Otherwise the values of a class must differ;
a frequent value is as sensitive as a rare one, unless it states the absence of something. If nearly all rows have one
sensitive value, no model can hide who has it, and the column should not be published.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sfumato.hierarchies.absence_values import negatives_of
from sfumato.hierarchies.role_detection.lexicon.name_terms import counts_something
from sfumato.hierarchies.spelling_variants import one_spelling
from sfumato.hierarchies.types import are_plain_numbers

# l-diversity costs little unless one value is in nearly all rows.
_COMMON_SHARE = 0.6
_RARE_SHARE = 0.3
# If fewer rows have other values than the frequent one, classes with two values would be too large to be useful.
_OTHER_SHARE = 0.05
_MAX_NAMED = 200
ALPHA = 0.8


def proposed_promise(column: str, counts: Mapping[str, int], missing: int, k: int) -> dict[str, Any] | None:
    """Return a model for a sensitive column; None if no useful one could be satisfied.

    Args:
        counts: The rows of each published value; missing: rows without one.

    >>> proposed_promise("hiv", {"no": 85, "yes": 15}, 0, 5)["values"]
    ['yes']
    >>> proposed_promise("hiv", {"pos": 85, "neg": 15}, 0, 5)["model"]
    'l-diversity'
    >>> proposed_promise("hiv", {"pos": 98, "neg": 2}, 0, 5)
    >>> proposed_promise("mark", {"x": 55}, 45, 5)["model"], proposed_promise("mark", {"x": 70}, 30, 5)
    ('alpha-k-anonymity', None)
    """
    rows = sum(counts.values()) + missing
    values = _values(counts)
    negatives = negatives_of(counts, counted=counts_something(column))
    delicate = sorted(counts.keys() - negatives)
    harmless = missing + sum(counts[text] for text in negatives)
    # A mark that is present or missing has one value: no class has two, but its share can be limited.
    mark = len(values) == 1 and rows - harmless <= _COMMON_SHARE * rows
    if (mark or harmless > _COMMON_SHARE * rows) and 0 < len(delicate) <= _MAX_NAMED:
        return {"model": "alpha-k-anonymity", "alpha": ALPHA, "k": k, "column": column, "values": delicate}
    if len(values) == 1 and missing:
        return None
    most = max(values.values(), default=0)
    if len(values) > 1 and sum(values.values()) - most < _OTHER_SHARE * rows and not _is_harmless(values, negatives):
        return None
    many = max(most, missing) <= _RARE_SHARE * rows and len(values) >= 2 * k
    return {"model": "l-diversity", "variant": "distinct", "l": 3 if many else 2, "column": column}


def _values(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the rows of each value, with spelling variants merged."""
    if are_plain_numbers(counts):
        return dict(counts)
    spelling = one_spelling(counts)
    if len({*spelling.values()}) == len(counts):
        return dict(counts)
    values = dict.fromkeys(spelling.values(), 0)
    for text, rows in counts.items():
        values[spelling[text]] += rows
    return values


def _is_harmless(values: Mapping[str, int], negatives: Collection[str]) -> bool:
    """Return whether the most frequent value states the absence of something."""
    return max(values, key=lambda text: values[text]) in negatives
