"""The prediction: what the published rows must count to, if the recoding was applied as meant.

Cell by cell: the rows of each published combination of quasi-identifiers, and for each judged sensitive column the rows
of each combination with each of its values.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.microdata.classes import Classes, Counts, Histogram, histogram
from sfumato.microdata.frequencies import Counted, FrequencyTable, typed
from sfumato.microdata.recoding import STAR, ClassRecoding, Handling, Recoding, starred
from sfumato.plan.model import Plan

Combination = tuple[str | None, ...]
Tally = Counter[Combination]


@dataclass(frozen=True, slots=True)
class Prediction:
    """Rows of each published combination, and with each value of each judged sensitive column.

    Attributes:
        plan: Says which texts of sensitive columns mean missing, and which mean the same.
    """

    columns: tuple[str, ...]
    sensitive: tuple[str, ...]
    tallies: tuple[Tally, ...]
    plan: Plan

    def difference(self, counted: Counted) -> str:
        """In what the counted rows are not as predicted; empty when they are."""
        counted, _ = typed(counted, self.plan)
        found = observed(counted, self.columns, self.sensitive, self.plan.data.missing)
        for name, meant, seen in zip(("", *self.sensitive), self.tallies, found, strict=True):
            if dict.__eq__(meant, seen):  # the usual case, much quicker than key by key
                continue
            wrong = sum(1 for key in meant.keys() | seen.keys() if meant[key] != seen[key])
            if wrong:
                with_ = f" with {name}" if name else ""
                return f"{wrong} combinations{with_} have other counts ({seen.total()} rows instead of {meant.total()})"
        return ""


def predict(table: FrequencyTable, recoding: Recoding, handling: Handling, plan: Plan) -> Prediction:
    """What a recoding of a table must count to."""
    published = _published(recoding, handling)
    plain: Tally = Counter()
    for labels, size in zip(published, recoding.sizes.tolist(), strict=True):
        if labels is not None and size:
            plain[labels] += size
    tallies = [plain]
    for name, held in table.sensitive.items():
        values = table.sensitive_values[name]
        tallies.append(_with_values(recoding, published, held, values, name in handling.veiled))
    return Prediction(table.columns, tuple(table.sensitive), tuple(tallies), plan)


def _published(recoding: Recoding, handling: Handling) -> list[Combination | None]:
    """What the rows of each class are published as, or None when they are dropped."""
    columns = [texts_at(labels, recoding.classes[:, place]) for place, labels in enumerate(recoding.labels)]
    found: list[Combination | None] = list(zip(*columns, strict=True))
    instead = starred(recoding.columns) if handling.suppressed == "star" else None
    for place in np.flatnonzero(recoding.suppressed).tolist():
        found[place] = instead
    return found


def texts_at(texts: Combination, codes: npt.NDArray[np.int32]) -> list[str | None]:
    """The text behind each code."""
    found: list[str | None] = np.array([*texts, None], object)[codes].tolist()
    return found


def _with_values(
    recoding: Recoding, published: Sequence[Combination | None], held: Histogram, values: Combination, veiled: bool
) -> Tally:
    tally: Tally = Counter()
    classes = histogram(*_entries(recoding, held), len(published), held.size)
    for owner, value, rows in zip(
        classes.owners.tolist(), classes.values.tolist(), classes.counts.tolist(), strict=True
    ):
        labels = published[owner]
        if labels is not None:
            hides = veiled and bool(recoding.suppressed[owner])
            tally[(*labels, STAR if hides else values[value])] += rows
    return tally


def _entries(recoding: Recoding, held: Histogram) -> tuple[Counts, npt.NDArray[np.int32], Counts]:
    """The class, value and rows of all entries of a histogram of combinations, divided where the recoding divides."""
    owners = recoding.owners[held.owners].astype(np.int64)
    division = recoding.division if isinstance(recoding, ClassRecoding) else None
    if division is None:
        return owners, held.values, held.counts
    stays = ~np.isin(held.owners, division.combinations)
    return (
        np.concatenate([owners[stays], division.classes]),
        np.concatenate([held.values[stays], division.codes.astype(np.int32)]),
        np.concatenate([held.counts[stays], division.rows]),
    )


def observed(
    counted: Counted, columns: Sequence[str], sensitive: Sequence[str], missing: Sequence[str] = ()
) -> Iterator[Tally]:
    """The same tallies from rows that were counted."""
    plain = [_texts(counted, name) for name in columns]
    yield _tally(counted, plain)
    for name in sensitive:
        yield _tally(counted, [*plain, _texts(counted, name, missing)])


def _texts(counted: Counted, name: str, missing: Sequence[str] = ()) -> list[str | None]:
    place = counted.columns.index(name)
    values = tuple(None if text in missing else text for text in counted.values[place])
    return texts_at(values, counted.codes[:, place])


def _tally(counted: Counted, columns: Sequence[Sequence[str | None]]) -> Tally:
    tally: Tally = Counter()
    for combination, count in zip(zip(*columns, strict=True), counted.counts.tolist(), strict=True):
        tally[combination] += count
    return tally


def veils(table: FrequencyTable, recoding: Recoding, plan: Plan) -> bool:
    """Whether the sensitive values of starred rows must be `*` too, because those rows alone would betray them."""
    hidden = recoding.suppressed[recoding.owners]
    if plan.output.suppressed != "star" or not hidden.any():
        return False
    held = {}
    for name, whole in table.sensitive.items():
        entries = hidden[whole.owners]
        owners = np.zeros(int(entries.sum()), np.int64)
        held[name] = histogram(owners, whole.values[entries], whole.counts[entries], 1, whole.size)
    together = Classes(np.array([int(table.counts[hidden].sum())]), held)
    return any(bool(model.failing(together, table.whole).any()) for model in plan.privacy)
