"""Survey samples: the sampling weights of combinations, and the households of rows."""

import re
from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import DROPPED, FrequencyTable, Sample, ValueCounts
from sfumato.microdata.counts.persons import combinations_of
from sfumato.microdata.models.equivalence_classes import MILLIONTHS, WEIGHTS, Counts, Floats, weight_content
from sfumato.values import Value, replace

Labels = tuple[str | None, ...]
# Upper bound of the number of humans in history, as a plausibility limit.
MOST_PERSONS = 10**12
_COMMA = re.compile(r"\d+,\d+")


def with_weights(table: FrequencyTable, text_counts: ValueCounts, missing: Sequence[str]) -> FrequencyTable:
    """Return the table with the sum of the weights of each combination.

    Args:
        text_counts: The combinations with their weights last.

    Raises:
        DataError: A weight is missing or negative, all are 0, or some rows represent fewer persons than rows.
    """
    owners = combinations_of(table, text_counts)
    kept = owners != DROPPED
    each = _millionths(text_counts, missing)[text_counts.codes[:, -1]] * text_counts.counts
    weights = _sums(owners[kept], each[kept], len(table.counts))
    if (weights < table.counts * MILLIONTHS).any():
        raise DataError("weight.the_weights_of_some", column=text_counts.columns[-1]).about(
            column=text_counts.columns[-1]
        )
    zeros = np.array([_is_zero(text) for text in text_counts.values[-1]] or [False], bool)
    none = int(text_counts.counts[zeros[text_counts.codes[:, -1]]].sum())
    return replace(table, sample=replace(table.sample or Sample(), weights=weights, zero_rows=none))


def _sums(owners: npt.NDArray[np.int64], values: Counts, many: int) -> Counts:
    sums = np.zeros(many, np.int64)
    np.add.at(sums, owners, values)
    return sums


def _millionths(text_counts: ValueCounts, missing: Sequence[str]) -> Counts:
    """Return the weight behind each text of the last column.

    A row of weight 0, as surveys give persons outside of their population, represents at least its own person.
    """
    texts = text_counts.values[-1]
    present = [text for text in texts if text is not None and text not in missing]
    forms, wrong = canonical(present, "decimal")
    numbers = [float(form or 0) for form in forms]
    outside = any(not 0 <= number < MOST_PERSONS for number in numbers)
    if wrong or len(present) < len(texts) or outside or not any(numbers):
        raise _fault(text_counts, missing)
    millionths = np.array([round(number * MILLIONTHS) or (0 if number else MILLIONTHS) for number in numbers], np.int64)
    if float(millionths[text_counts.codes[:, -1]] @ text_counts.counts.astype(float)) > MOST_PERSONS * MILLIONTHS:
        raise DataError("weight.the_weights_add_up")
    return millionths


def _is_zero(text: str | None) -> bool:
    return text is not None and text.strip(" 0.,+") == ""


FAULTS = ("missing", "comma", "nan", "text", "negative", "zero", "endless")


def _fault(text_counts: ValueCounts, missing: Sequence[str]) -> DataError:
    """Return the error about weights: the problems, their numbers of rows and hints, without any weight."""
    kinds = [_kind_of_fault(text, missing) for text in text_counts.values[-1]]
    rows = np.bincount(text_counts.codes[:, -1], text_counts.counts, len(kinds)).astype(np.int64)
    if {*kinds} - {"zero", None}:  # zeros are a fault only if no row has a weight
        kinds = [None if kind == "zero" else kind for kind in kinds]
    faults = {
        kind: int(sum(rows[at] for at, other in enumerate(kinds) if other == kind)) for kind in FAULTS if kind in kinds
    }
    name = text_counts.columns[-1]
    what = tuple(Message(f"weight.{kind}", count=count) for kind, count in faults.items())
    remedies = tuple(dict.fromkeys(Message(f"weight.{kind}.do") for kind in faults))
    return DataError("weight.column", name=name, what=what, remedies=remedies).about(column=name)


def _kind_of_fault(text: str | None, missing: Sequence[str]) -> str | None:
    """Return the problem of a weight; None if it is a number above 0."""
    if text is None or text in missing:
        return "missing"
    try:
        number = float(text)
    except ValueError:
        return "comma" if _COMMA.fullmatch(text.strip()) else "text"
    if isnan(number):
        return "nan"
    if number <= 0:
        return "negative" if number < 0 else "zero"
    if number >= MOST_PERSONS:
        return "endless"
    return "text" if canonical([text], "decimal")[1] else None


def with_households(table: FrequencyTable, text_counts: ValueCounts, missing: Sequence[str]) -> FrequencyTable:
    """Return the table with the households of its rows.

    Args:
        text_counts: The combinations with their households last; rows of no household are one each.
    """
    owners = combinations_of(table, text_counts)
    kept = owners != DROPPED
    alone = np.array([text is None or text in missing for text in text_counts.values[-1]] or [False], bool)
    numbers = np.where(alone[text_counts.codes[:, -1]], -1, text_counts.codes[:, -1])
    households = Households(owners[kept], numbers[kept].astype(np.int64), text_counts.counts[kept])
    return replace(table, sample=replace(table.sample or Sample(), households=households))


class Households(Value):
    """The assignment of rows to households.

    Attributes:
        combinations: The combination of each entry.
        numbers: The household of each entry, or -1 for none.
        rows: The number of rows of each entry.
    """

    combinations: Counts
    numbers: Counts
    rows: Counts

    def risks(self, risks: Floats) -> tuple[Floats, Counts]:
        """Return the risk of each entry's household, 1 - Π(1 - r) over its rows, and the rows of the entry.

        Args:
            risks: The risk of a row of each combination.
        """
        own = risks[self.combinations]
        with np.errstate(divide="ignore"):
            stays = np.log1p(-own) * self.rows
        member = self.numbers >= 0
        together = np.zeros(int(self.numbers.max(initial=-1)) + 1)
        np.add.at(together, self.numbers[member], stays[member])
        hierarchical = own.copy()
        hierarchical[member] = -np.expm1(together[self.numbers[member]])
        return hierarchical, self.rows


def weighted_view(table: FrequencyTable) -> FrequencyTable:
    """Return the table for evaluating classes: grouping aggregates weights, if they are known."""
    if table.sample is None or table.sample.weights is None:
        return table
    return replace(table, sensitive={**table.sensitive, WEIGHTS: weight_content(table.sample.weights)})


def weights_of_labels(text_counts: ValueCounts, missing: Sequence[str]) -> dict[Labels, int]:
    """Return the weights of each published combination, in millionths; they are the last column of the counts."""
    each = _millionths(text_counts, missing)[text_counts.codes[:, -1]] * text_counts.counts
    weights: dict[Labels, int] = {}
    for codes, weight in zip(text_counts.codes[:, :-1].tolist(), each.tolist(), strict=True):
        labels = tuple(texts[code] for texts, code in zip(text_counts.values[:-1], codes, strict=True))
        weights[labels] = weights.get(labels, 0) + weight
    return weights


def weights_in_order(weights: Mapping[Labels, int], combinations: Sequence[Labels]) -> Counts:
    """Return the weights of some published combinations."""
    return np.array([weights.get(labels, 0) for labels in combinations], np.int64)
