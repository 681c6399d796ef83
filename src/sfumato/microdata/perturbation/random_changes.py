"""Random changes of published values: noise, PRAM, rank swapping, swapped households, and shifted dates.

- Noise (Kim, J. 1986. A method for limiting disclosure in microdata based on random noise and transformation): normal
  random numbers, to each column separately or with the covariance matrix of several, which preserves means and
  correlations in expectation; variances grow by the same factor for all.
- PRAM (Gouweleeuw, J., Kooiman, P., Willenborg, L., de Wolf, P.-P. 1998. Journal of Official Statistics 14(4)):
  categories change with known probabilities. With stay = d and shares t of the categories, P = d I + (1 - d) 1 tᵀ is
  invariant: the expected number of each category stays the same. The matrix allows to correct estimates.
- Rank swapping (Moore, R. 1996. US Census Bureau): values are exchanged between records near each other in rank. The
  distribution of the column stays the same; its relation to other columns gets weaker with the distance.
- Targeted record swapping (Spicer, K., Tudor, C., Cornish, G. 2013. Intruder testing): households exchange their region
  with similar households, those at risk first: some member is one of fewer than k rows of its region with the same
  quasi-identifiers. All columns of a group of regions move together; all else of a household stays, and so do tables
  without region and the number of households of each size in every region.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.microdata.counts.combinations import numbers_of
from sfumato.microdata.counts.frequency_table import value_of
from sfumato.microdata.keyed_random import uniforms
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.perturbation.kernels import swap_ranks
from sfumato.values import Value


def with_noise(values: Floats, drawn: Floats, share: float, deviation: float | None, correlated: bool) -> Floats:
    """Return values with noise of a share of the columns' standard deviations.

    Args:
        values: (records, columns).
        drawn: Standard normal numbers, (records, columns).
        share: The standard deviation of the noise as a share of that of the column.
        deviation: The standard deviation of the noise itself; None computes it from the share.
        correlated: Whether the noise of the columns has their correlations.
    """
    if not correlated:
        noisy: Floats = values + (share * values.std(axis=0) if deviation is None else deviation) * drawn
        return noisy
    covariance = np.atleast_2d(np.cov(values, rowvar=False, bias=True))
    # A root of the matrix that also exists if columns are linearly dependent.
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    together: Floats = values + share * drawn @ root.T
    return together


Codes = npt.NDArray[np.int64]


class Transition(Value):
    """Probabilities of changing category: from a row's category to a column's."""

    categories: tuple[str, ...]
    matrix: Floats

    def to_dict(self) -> dict[str, dict[str, float]]:
        return {
            category: dict(zip(self.categories, row, strict=True))
            for category, row in zip(self.categories, self.matrix.tolist(), strict=True)
        }


def invariant_transition(categories: Sequence[str], counts: npt.NDArray[np.integer], stay: float) -> Transition:
    """Return the transition that preserves the expected number of each category."""
    shares = counts / max(int(counts.sum()), 1)
    matrix = stay * np.eye(len(categories)) + (1 - stay) * np.tile(shares, (len(categories), 1))
    return Transition(tuple(categories), matrix)


def given_transition(categories: Sequence[str], matrix: Mapping[str, Mapping[str, float]], column: str) -> Transition:
    """Return the transition given in a plan.

    Raises:
        DataError: The data have categories that the matrix does not know.
    """
    targets = dict.fromkeys(name for row in matrix.values() for name in row)
    # In a fixed order, independent of the categories of these rows: a random number then gives the same category in
    # every release.
    known = tuple(sorted({*categories, *targets}))
    unknown = [name for name in categories if name not in matrix]
    if unknown:
        raise DataError("pram-matrix", column=column, count=len(unknown)).about(values=unknown, column=column)
    rows = [[matrix.get(name, {name: 1.0}).get(target, 0.0) for target in known] for name in known]
    return Transition(known, np.array(rows))


def randomized(codes: Codes, transition: Transition, draws: Floats) -> Codes:
    """Return the category that is drawn for each row.

    Args:
        codes: The category of each row.
        draws: A number from 0 up to 1 for each row.
    """
    ends = np.cumsum(transition.matrix, axis=1)
    drawn: Codes = (draws[:, None] * ends[codes, -1][:, None] >= ends[codes]).sum(axis=1)
    chosen: Codes = np.minimum(drawn, len(transition.categories) - 1)
    return chosen


Places = npt.NDArray[np.int64]


def rank_partners(values: Floats, share: float, key: str) -> Places:
    """Return for each record the one whose value it gets, at most a share of all ranks away, or itself."""
    order = np.lexsort((uniforms(f"{key}ties:", len(values)), values))
    partners = np.full(len(values), -1, np.int64)
    swap_ranks(max(1, int(share * len(values))), uniforms(key, len(values)), partners)
    places = np.empty(len(values), np.int64)
    places[order] = order[partners]
    return places


def risky_rows(regions: Codes, keys: Codes, k: int) -> BoolArray:
    """Return the rows whose keys occur in fewer than k rows of the same region."""
    columns = np.column_stack([regions, keys])
    owners, _ = numbers_of(columns, [int(column.max(initial=0)) + 1 for column in columns.T])
    risky: BoolArray = np.bincount(owners)[owners] < k
    return risky


def partners_of(households: Codes, regions: Codes, similar: Codes, risky: BoolArray, share: float, key: str) -> Codes:
    """Return for each row the row whose region it gets, or itself.

    Args:
        households: The household of each row, numbered from 0.
        regions: The region of each row.
        similar: The codes of the columns in which both rows agree, an array (rows, columns).
        risky: Rows that put their household at risk.
        share: Minimum proportion of households that are swapped.
    """
    count = int(households.max(initial=-1)) + 1
    first, sizes, at_risk = _of_households(households, risky, count)
    order = np.lexsort((uniforms(key, count), ~at_risk))
    wanted = max(int(at_risk.sum()), int(np.ceil(share * count)))
    region = regions[first]
    alike, _ = _profiles(households, similar, sizes, count)
    free = np.ones(count, bool)
    swapped = np.arange(count)
    waiting: dict[int, list[int]] = {}
    for household in order[::-1].tolist():
        waiting.setdefault(int(alike[household]), []).append(household)
    done = 0
    for household in order.tolist():
        if done >= wanted:
            break
        if not free[household]:
            continue
        other = _partner(waiting[int(alike[household])], household, region, free)
        if other is not None:
            free[[household, other]] = False
            swapped[household], swapped[other] = other, household
            done += 2
    others = swapped[households]
    return np.where(others == households, np.arange(len(households)), first[others])


def _of_households(households: Codes, risky: BoolArray, count: int) -> tuple[Codes, Codes, BoolArray]:
    """Return the first row of each household, its number of rows, and whether one of them is risky."""
    first = np.zeros(count, np.int64)
    first[households[::-1]] = np.arange(len(households) - 1, -1, -1)
    at_risk = np.bincount(households, weights=risky, minlength=count) > 0
    return first, np.bincount(households, minlength=count), at_risk


def _profiles(households: Codes, similar: Codes, sizes: Codes, count: int) -> tuple[Codes, int]:
    """Number households by profile: equal size, and equal values in the similar columns, member by member."""
    if not similar.shape[1]:
        return sizes, 0
    values, _ = numbers_of(similar, [int(column.max(initial=0)) + 1 for column in similar.T])
    order = np.lexsort((values, households))
    profiles: dict[Sequence[int], int] = {}
    alike = np.zeros(count, np.int64)
    ends = np.cumsum(sizes)
    for household in range(count):
        members = tuple(values[order[ends[household] - sizes[household] : ends[household]]].tolist())
        alike[household] = profiles.setdefault(members, len(profiles))
    return alike, len(profiles)


def _partner(waiting: list[int], household: int, region: Codes, free: BoolArray) -> int | None:
    """Return a free household of the same profile in another region, preferably a risky one."""
    while waiting and not free[waiting[-1]]:
        waiting.pop()
    for place in range(len(waiting) - 1, -1, -1):
        other = waiting[place]
        if free[other] and other != household and region[other] != region[household]:
            return other
    return None


def shifted(
    texts: Sequence[str | None], persons: Sequence[str], most: int, secret: str, missing: Sequence[str], column: str
) -> list[str | None]:
    """Return the dates of rows, each shifted by the days of its person.

    Raises:
        DataError: A value is no date.
    """
    return [
        text if value_of(text, missing) is None else _moved(str(text), days_of(secret, person, most), column)
        for text, person in zip(texts, persons, strict=True)
    ]


def days_of(secret: str, person: str, most: int) -> int:
    """Return the days by which a person's dates are shifted, uniformly distributed between both limits.

    >>> -30 <= days_of("secret", "Ada", 30) <= 30
    True
    """
    number = int.from_bytes(sha256(f"{secret}:shift:{person}".encode()).digest())
    return number % (2 * most + 1) - most


def _moved(text: str, days: int, column: str) -> str:
    try:
        return (date.fromisoformat(text[:10]) + timedelta(days)).isoformat() + text[10:]
    except (ValueError, OverflowError):
        raise DataError("date", column=column).about(column=column) from None
