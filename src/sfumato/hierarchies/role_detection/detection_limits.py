"""Detection limits: texts such as `<0.5` and `>100` among numbers, given when a quantity could not be measured.

They are no numbers, and replacing them by the limit would be false. They are treated as missing, so that the column is
typed by its numbers. A column of a few ranges (`<5`, `5-10`, `>10`) has no numbers and stays categorical.
"""

from collections.abc import Iterator, Mapping
from itertools import compress
from operator import not_

from sfumato.hierarchies.role_detection.missing_value_codes import MISSING_WORDS
from sfumato.hierarchies.types import canonical
from sfumato.patterns import regex

Counts = Mapping[str | None, int]
_LIMIT = regex(r"(?:[<>]=?|=[<>]|[≤≥⩽⩾])\s?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?(?:\s?[^\W\d_%][^\s<>]{0,11}|\s?%)?")
_SIGNS = tuple("<>=≤≥⩽⩾")
# With this many distinct numbers, they are measured, not chosen; a limit belongs to a device or a kit, so there are
# few.
_MEASURED, _MOST_LIMITS = 10, 20
# Proportion of the other values that must be numbers; maximum proportion of rows with words for "not measured".
_WRONG_NUMBERS, _FEW_WORDS, _MOST_WORDS = 0.05, 5, 0.3


def is_limit(text: str) -> bool:
    """Return whether a text states that a number is below or above another.

    >>> [is_limit(text) for text in ("<0.5", "≥ 1,000 mg/l", "<= 5", "> 65 years old", "<b>", "<5-10", "0.5")]
    [True, True, True, False, False, False, False]
    """
    return text.lstrip().startswith(_SIGNS) and _LIMIT.fullmatch(text.strip()) is not None


def limits_by_column(texts: Mapping[str, Counts]) -> dict[str, list[str]]:
    """Return the detection limits in columns of measured numbers, and the few words that occur with them.

    >>> measured = {str(tenth / 10): 3 for tenth in range(5, 40)}
    >>> limits_by_column({"crp": {**measured, "<0.5": 9, "NS": 2}, "dose": {"<5": 9, "5-10": 7, ">10": 3}})
    {'crp': ['<0.5', 'NS']}
    """
    found = {name: [*_limits(counts)] for name, counts in texts.items()}
    return {name: limits for name, limits in found.items() if limits}


def _limits(counts: Counts) -> Iterator[str]:
    limits = {text for text in counts if text and is_limit(text)}
    if not limits or len(limits) > _MOST_LIMITS:
        return
    others = [text for text in counts if text and not text.isspace() and text not in limits]
    with_digits = [any(map(str.isdigit, text)) for text in others]
    numbers, words = [*compress(others, with_digits)], [*compress(others, map(not_, with_digits))]
    if len(numbers) < _MEASURED or len(canonical(numbers, "amount")[1]) > _WRONG_NUMBERS * len(numbers):
        return
    yield from sorted(limits)
    words = [word for word in words if word not in MISSING_WORDS]
    if len(words) <= _FEW_WORDS and sum(counts[word] for word in words) <= _MOST_WORDS * sum(counts.values()):
        yield from sorted(words)
