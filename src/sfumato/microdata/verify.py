"""Verification: judges published rows by themselves, with none of the code that searched for the release.

A row with `*` in every quasi-identifier is a suppressed row: it tells nothing by which it could be found. The
suppressed rows together must still keep every promise about sensitive values, unless those are `*` too: who is in no other class
must be one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.microdata.classes import Classes, Counts, Histogram, Mask, histogram
from sfumato.microdata.frequencies import Counted
from sfumato.microdata.models.model import Model
from sfumato.microdata.wildcards import matching_rows

STAR = "*"


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise, as found in the published rows."""

    model: str
    asked: float
    reached: float
    holds: bool
    column: str | None = None

    def to_dict(self) -> dict[str, object]:
        found = {"model": self.model, "asked": self.asked, "reached": self.reached, "holds": self.holds}
        return found | ({"column": self.column} if self.column else {})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What published rows keep of the promises asked for."""

    rows: int
    suppressed_rows: int
    classes: int
    smallest: int
    largest: int
    promises: tuple[Promise, ...]

    @property
    def holds(self) -> bool:
        return all(promise.holds for promise in self.promises)

    def to_dict(self) -> dict[str, object]:
        sizes = {"count": self.classes, "smallest": self.smallest, "largest": self.largest}
        return {
            "holds": self.holds,
            "rows": self.rows,
            "suppressed_rows": self.suppressed_rows,
            "classes": sizes,
            "models": [promise.to_dict() for promise in self.promises],
        }


@dataclass(frozen=True, slots=True)
class Published:
    """Published rows as classes: those that tell something, and the suppressed rows as one class."""

    visible: Classes
    suppressed: Classes
    whole: Classes


def judge(
    counted: Counted,
    quasi_identifiers: Sequence[str],
    models: Sequence[Model],
    missing: Sequence[str] = (),
    missing_matches: bool = False,
    reference: Classes | None = None,
) -> Verdict:
    """Whether published rows keep the promises.

    Args:
        counted: The published combinations of quasi-identifiers and sensitive columns.
        missing: Texts that mean missing.
        missing_matches: Whether a missing value matches anything.
        reference: The raw table, where it is known, for promises that compare with it.
    """
    published = classes_of(counted, quasi_identifiers, {model.column for model in models if model.column}, missing)
    whole = reference or published.whole
    visible = published.visible
    if missing_matches:
        visible = Classes(_matched(counted, quasi_identifiers, missing), {})
    promises = tuple(_promise(model, visible, published.suppressed, whole) for model in models)
    sizes = published.visible.sizes
    return Verdict(
        published.visible.rows + published.suppressed.rows,
        published.suppressed.rows,
        len(sizes),
        int(sizes.min(initial=0) if not len(sizes) else sizes.min()),
        int(sizes.max(initial=0)),
        promises,
    )


def _promise(model: Model, visible: Classes, suppressed: Classes, whole: Classes) -> Promise:
    holds = not model.failing(visible, whole).any() if len(visible.sizes) else True
    if model.column is not None and len(suppressed.sizes):
        holds = holds and not model.failing(suppressed, whole).any()
    return Promise(model.name, model.asked, model.reached(visible, whole), bool(holds), model.column)


def classes_of(
    counted: Counted, quasi_identifiers: Sequence[str], judged: set[str], missing: Sequence[str]
) -> Published:
    """Published rows as classes of equal quasi-identifiers."""
    places = [counted.columns.index(name) for name in quasi_identifiers]
    codes = counted.codes[:, places]
    _, owners = np.unique(codes, axis=0, return_inverse=True)
    owners = owners.reshape(-1)
    count = int(owners.max(initial=-1)) + 1
    sizes = np.bincount(owners, weights=counted.counts, minlength=count).astype(np.int64)
    held = {name: _histogram(counted, name, owners, count, missing) for name in judged}
    hidden = np.zeros(count, bool)
    hidden[owners[_stars(counted, places)]] = True
    if hidden.all():
        hidden[:] = False
    all_classes = Classes(sizes, held)
    suppressed = Classes(sizes[hidden], {}) if _veiled(counted, judged, hidden[owners]) else all_classes.kept(hidden)
    return Published(all_classes.kept(~hidden), suppressed, all_classes)


def _stars(counted: Counted, places: Sequence[int]) -> Mask:
    """The combinations with `*` in every quasi-identifier."""
    stars = np.ones(len(counted.counts), bool)
    for place in places:
        texts = np.array([text == STAR for text in counted.values[place]], bool)
        stars &= texts[counted.codes[:, place]]
    return stars


def _veiled(counted: Counted, judged: set[str], hidden: Mask) -> bool:
    """Whether the sensitive values of all suppressed rows are `*` too."""
    for name in judged:
        place = counted.columns.index(name)
        if any(counted.values[place][code] != STAR for code in np.unique(counted.codes[hidden, place])):
            return False
    return True


def _histogram(counted: Counted, name: str, owners: Counts, count: int, missing: Sequence[str]) -> Histogram:
    place = counted.columns.index(name)
    texts = [None if text in missing else text for text in counted.values[place]]
    domain = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    recode = np.array([domain[text] for text in texts], np.int32)
    return histogram(owners, recode[counted.codes[:, place]], counted.counts, count, max(len(domain), 1))


def _matched(counted: Counted, quasi_identifiers: Sequence[str], missing: Sequence[str]) -> Counts:
    """For each published combination the rows that match it when a missing value matches anything."""
    places = [counted.columns.index(name) for name in quasi_identifiers]
    stars = _stars(counted, places)
    absent = [
        np.array([text is None or text in missing for text in counted.values[place]], bool)[counted.codes[:, place]]
        for place in places
    ]
    keep = ~stars if not stars.all() else np.ones(len(stars), bool)
    unknown = np.column_stack(absent)[keep]
    return matching_rows(counted.codes[keep][:, places], unknown, counted.counts[keep])
