"""Texts as numbers to be perturbed, and numbers as texts to be published."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from sfumato.errors import DataError
from sfumato.hierarchies.types import canonical
from sfumato.microdata.counts.frequencies import value_of
from sfumato.microdata.models.classes import Floats
from sfumato.microdata.publishing.operation import written
from sfumato.microdata.publishing.round import Round

Texts = Sequence[str | None]
# Published numbers have so many digits: more than anybody measured, fewer than machines disagree on.
DIGITS = 12


def numbers_of(texts: Texts, column: str, missing: Sequence[str]) -> Floats:
    """The numbers behind texts; NaN where one is missing.

    Raises:
        DataError: Some texts are no numbers.
    """
    quick = _all_numbers(texts, missing)
    if quick is not None:
        return quick
    values = [value_of(text, missing) for text in texts]
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values])
    except ValueError:
        raise _no_numbers(values, column) from None
    if (np.isnan(numbers) != np.array([value is None for value in values], bool)).any() or np.isinf(numbers).any():
        raise _no_numbers(values, column)
    return numbers


def _all_numbers(texts: Texts, missing: Sequence[str]) -> Floats | None:
    """The numbers of texts none of which is missing; None where some may be."""
    if any(text.strip().lstrip("+-")[:1].isdigit() for text in missing):
        return None
    try:
        numbers = np.array(list(map(float, texts)))  # type: ignore[arg-type]  # a missing one is no float
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _no_numbers(values: Texts, column: str) -> DataError:
    present = list(dict.fromkeys(value for value in values if value is not None))
    _, wrong = canonical(present, "decimal")
    return DataError(
        f'column "{column}": {max(len(wrong), 1)} values are no numbers.',
        "Mend the data, or take publish off that column: it is about numbers.",
        "invalid-value",
        values=[present[place] for place in wrong],
        column=column,
    )


def texts_of(numbers: Floats, step: float | None = None) -> list[str | None]:
    """Numbers as they are published: of twelve digits, or rounded to a step; None for NaN.

    >>> texts_of(np.array([1 / 3, 2.0, np.nan])), texts_of(np.array([12.4]), 5)
    (['0.333333333333', '2', None], ['10'])
    """
    distinct, places = np.unique(numbers, return_inverse=True)
    operation = None if step is None else Round(Decimal(str(step)))
    plain = [f"{number:.{DIGITS}g}" for number in distinct.tolist()]
    texts = np.array([_text(text, operation) for text in plain], object)
    shown: list[str | None] = texts[places.reshape(-1)].tolist()
    return shown


def _text(text: str, operation: Round | None) -> str | None:
    """What the shortest text of a number is published as."""
    if text == "nan":
        return None
    if operation is None and "e" not in text and text != "-0":
        return text
    short = Decimal(text)
    return written(short) if operation is None else operation.publish(short)
