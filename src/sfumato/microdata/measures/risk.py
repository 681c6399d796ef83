"""Re-identification risk of classes, of single rows, and of survey samples with weights and households.

Three attackers, after Dankar, F., El Emam, K. (2010). A method for evaluating marketer re-identification risk,
https://doi.org/10.1145/1754239.1754271:

- the prosecutor knows that the person is in the data: the risk of a row is 1 / size of its class, or, if a missing
  value matches anything, 1 / rows that match it;
- the journalist does not: the risk is 1 / persons of the population with the same values. If only the size of the
  population is known, the expectation given the class size is used (Benedetti, R., Franconi, L. (1998); Franconi, L.,
  Polettini, S. (2004), https://doi.org/10.1007/978-3-540-25955-8_20); if not even that is known, the data are taken as
  the population, which is the conservative choice;
- the marketer wants to find as many persons as possible: the mean of the journalist's risk over the rows.

Suppressed rows carry no risk. In a survey sample, the risk of a household is the probability that one of its members is
found, 1 - Π(1 - r); each of its rows has it as hierarchical risk. The global risk is the expected number of rows that
are found, Σ r. Matching missing values increases rows and persons and lowers the risk.
"""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.combinations import matching_rows
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.survey_sample import Households
from sfumato.microdata.measures.uniques import SpecialUniques
from sfumato.microdata.models.equivalence_classes import MILLIONTHS, BoolArray, Counts, Floats
from sfumato.microdata.models.re_identification_risk import expected_risks
from sfumato.microdata.recoding.mapping import Recoding
from sfumato.values import Value, asdict, fields

THRESHOLD = 0.2


class ReidentificationRisk(Value):
    """Prosecutor risk of a table.

    Attributes:
        rows: Number of published rows.
        classes: Number of published classes.
        smallest: Smallest class size, or number of matching rows if a missing value matches anything; persons if
            counted.
        largest: Largest class size, counted like `smallest`.
        highest: Maximum risk of a row.
        average: Mean risk of the rows (classes / rows, unless rows match others).
        uniques: Unique rows that match no other row; if persons are counted, rows of a person who is the only one in a
            class.
        rows_above: Number of rows with a risk above the threshold.
        share_above: The same number as a proportion of the rows.
    """

    rows: int
    classes: int
    smallest: int
    largest: int
    highest: float
    average: float
    uniques: int
    threshold: float = THRESHOLD
    rows_above: int = 0
    share_above: float = 0.0

    def to_dict(self) -> dict[str, float | int]:
        return asdict(self)


class AttackerRisk(Value):
    """The success an attacker can expect.

    Attributes:
        highest: Maximum risk of a row.
        average: Mean risk of the rows.
        rows_above: Number of rows with a risk above the threshold.
        share_above: The same number as a proportion of the rows.
        estimated: Whether the population's classes had to be estimated from those of the data.
    """

    highest: float
    average: float
    rows_above: int
    share_above: float
    estimated: bool = False


def prosecutor(sizes: Counts, threshold: float = THRESHOLD, matches: Counts | None = None) -> ReidentificationRisk:
    """Return the prosecutor risk of classes of these sizes.

    Args:
        matches: The effective class sizes, if they differ from `sizes`.

    >>> import numpy as np
    >>> prosecutor(np.array([1, 3])).average
    0.5
    >>> prosecutor(np.array([1, 3]), matches=np.array([4, 4])).average
    0.25
    """
    if not sizes.sum():
        return ReidentificationRisk(0, 0, 0, 0, 0.0, 0.0, 0, threshold)
    among = sizes if matches is None else matches
    figures = attacker(sizes, 1 / among, threshold)
    return ReidentificationRisk(
        int(sizes.sum()),
        len(sizes),
        int(among.min()),
        int(among.max()),
        figures.highest,
        float((sizes / among).sum() / sizes.sum()),
        int(sizes[among == 1].sum()),
        threshold,
        figures.rows_above,
        figures.share_above,
    )


def attacker(counts: Counts, risks: Floats, threshold: float, estimated: bool = False) -> AttackerRisk:
    """Return what an attacker can expect of combinations with given numbers of rows, each row at the given risk."""
    rows = int(counts.sum())
    if not rows:
        return AttackerRisk(0.0, 0.0, 0, 0.0, estimated)
    above = int(counts[risks > threshold + 1e-12].sum())
    return AttackerRisk(float(risks.max()), float((counts * risks).sum() / rows), above, above / rows, estimated)


Codes = npt.NDArray[np.int32]


class GlobalFigures(Value):
    """Joint risk of rows: the highest, the average, the expected number of rows found, and rows above a threshold.

    The average is the expected number as a share of the rows.
    """

    highest: float
    average: float
    expected: float
    rows_above: int


class SampleRisk(Value):
    """The risk of a sample by its weights and households.

    Attributes:
        persons: The sum of the weights.
        rows: The global risk by individual risks.
        households: The global risk by hierarchical (household) risks; None if households are unknown.
        matching: The global risk if a missing value matches anything; None if no value is missing.
    """

    persons: float
    threshold: float
    rows: GlobalFigures
    households: GlobalFigures | None = None
    matching: GlobalFigures | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class WeightedClasses(Value):
    """Equivalence classes of a sample, with their weights.

    Attributes:
        rows: The number of rows of each class.
        persons: The sum of the weights of each class.
        codes: The codes of values or labels, an array (classes, columns).
        unknown: Which of these codes are missing values.
        owners: The class of each combination of the table, -1 where it is not published.
    """

    rows: Counts
    persons: Floats
    codes: Codes
    unknown: BoolArray
    owners: npt.NDArray[np.int64]

    def risks(self) -> Floats:
        """Return the risk of a row of each class, with a missing value as a separate value."""
        return expected_risks(self.rows, self.persons)

    def matching_risks(self) -> Floats:
        """Return the risk of a row of each class if a missing value matches anything."""
        rows = matching_rows(self.codes, self.unknown, self.rows)
        millionths = np.round(self.persons * MILLIONTHS).astype(np.int64)
        persons = matching_rows(self.codes, self.unknown, millionths) / MILLIONTHS
        return expected_risks(rows, np.maximum(persons, rows))


def raw_classes(table: FrequencyTable, sampling_fraction: float = 1.0) -> WeightedClasses:
    """Return the combinations of a table as classes."""
    absent = np.array([ladder.places.get(None, -1) for ladder in table.ladders], np.int32)
    unknown: BoolArray = table.codes == absent[None, :]
    persons = _persons(table, sampling_fraction)
    return WeightedClasses(table.counts, persons, table.codes, unknown, np.arange(len(table.counts)))


def published_classes(table: FrequencyTable, recoding: Recoding, missing: Sequence[str]) -> WeightedClasses | None:
    """Return the published classes; None if combinations are divided, because their weights cannot be divided."""
    if getattr(recoding, "division", None) is not None:
        return None
    kept = np.flatnonzero(~recoding.suppressed & (recoding.sizes > 0))
    places = np.full(len(recoding.sizes), -1, np.int64)
    places[kept] = np.arange(len(kept))
    sums = np.bincount(recoding.owners, weights=_persons(table), minlength=len(recoding.sizes))
    persons = sums[kept].astype(np.float64)
    codes = recoding.classes[kept]
    absent = [np.array([label is None or label in missing for label in labels], bool) for labels in recoding.labels]
    unknown = np.column_stack([mask[codes[:, place]] for place, mask in enumerate(absent)])
    return WeightedClasses(recoding.sizes[kept], persons, codes, unknown, places[recoding.owners])


def _persons(table: FrequencyTable, sampling_fraction: float = 1.0) -> Floats:
    weights = None if table.sample is None else table.sample.weights
    if weights is None:
        return table.counts / sampling_fraction
    persons: Floats = weights / MILLIONTHS
    return persons


def sample_risk(table: FrequencyTable, classes: WeightedClasses, threshold: float) -> SampleRisk:
    """Return all metrics of a sample's risk."""
    risks = classes.risks()
    households = None if table.sample is None else table.sample.households
    hierarchical = None
    if households is not None:
        of_combinations = np.where(classes.owners < 0, 0.0, np.append(risks, 0.0)[classes.owners])
        values, rows = households.risks(of_combinations)
        hierarchical = _figures(values, rows, threshold, int(classes.rows.sum()))
    matching = classes.matching_risks() if classes.unknown.any() else None
    return SampleRisk(
        float(classes.persons.sum()),
        threshold,
        _figures(risks, classes.rows, threshold),
        hierarchical,
        None if matching is None else _figures(matching, classes.rows, threshold),
    )


def _figures(risks: Floats, rows: Counts, threshold: float, all_rows: int | None = None) -> GlobalFigures:
    expected = float((risks * rows).sum())
    count = int(rows.sum()) if all_rows is None else all_rows
    above = int(rows[risks > threshold + 1e-12].sum())
    return GlobalFigures(float(risks.max(initial=0.0)), expected / max(count, 1), expected, above)


Places = npt.NDArray[np.int64]


class RowRisks(Value):
    """Metrics of each row, in the order of the rows; NaN for rows that were dropped.

    Attributes:
        alike: Number of rows with the same values.
        persons: Number of persons in the population that these rows represent.
        risk: The individual risk, the expectation of 1 / persons with the same values.
        household_risk: The probability that a member of the household is re-identified.
        matching: Like `alike`, if a missing value matches anything.
        matching_persons: Like `persons`, if a missing value matches anything.
        matching_risk: Like `risk`, if a missing value matches anything.
        score: The SUDA score of the row's special uniques.
        dis: The DIS of the row's special uniques.
    """

    alike: Floats
    persons: Floats
    risk: Floats
    household_risk: Floats
    matching: Floats
    matching_persons: Floats
    matching_risk: Floats
    score: Floats
    dis: Floats

    def lines(self) -> Iterator[Sequence[str]]:
        """Yield the names of the metrics, then those of each row with its number first; empty for NaN."""
        yield ("row", *fields(self))
        columns = [getattr(self, name).tolist() for name in fields(self)]
        for row, figures in enumerate(zip(*columns, strict=True), start=1):
            yield (str(row), *("" if isnan(figure) else f"{figure:.10g}" for figure in figures))


def row_risks(
    classes: WeightedClasses, special: SpecialUniques, places: Places, households: Sequence[str | None]
) -> RowRisks:
    """Return the metrics of rows.

    Args:
        classes: The combinations of the table.
        special: The special uniques of these combinations.
        places: The combination of each row, -1 where it was dropped.
        households: The household of each row, None for a separate one; empty if households are unknown.
    """
    matching = matching_rows(classes.codes, classes.unknown, classes.rows)
    millionths = np.round(classes.persons * MILLIONTHS).astype(np.int64)
    persons = np.maximum(matching_rows(classes.codes, classes.unknown, millionths) / MILLIONTHS, matching)
    risks = classes.risks()

    def of_rows(figures: Floats) -> Floats:
        return np.where(places < 0, np.nan, np.append(figures, np.nan)[places])

    return RowRisks(
        of_rows(classes.rows.astype(float)),
        of_rows(classes.persons),
        of_rows(risks),
        household_risks(of_rows(risks), households),
        of_rows(matching.astype(float)),
        of_rows(persons),
        of_rows(expected_risks(matching, persons)),
        of_rows(special.scores),
        of_rows(special.row_dis),
    )


def household_risks(risks: Floats, households: Sequence[str | None]) -> Floats:
    """Return for each row the probability that one of its household is found; NaN rows do not count.

    >>> household_risks(np.array([0.5, 0.5, 0.1]), ["a", "a", None]).tolist()
    [0.75, 0.75, 0.1]
    """
    if not households:
        return np.full(len(risks), np.nan)
    numbers: dict[str, int] = {}
    codes = [-1 if name is None else numbers.setdefault(name, len(numbers)) for name in households]
    rows = Households(np.arange(len(risks)), np.array(codes, np.int64), np.ones(len(risks), np.int64))
    return np.where(np.isnan(risks), np.nan, rows.risks(np.nan_to_num(risks))[0])


class HouseholdFigures(Value):
    """Numbers of households in the classes of a release.

    Attributes:
        k: The minimum class size.
        fewest: The smallest number of households in a class.
        classes: Number of classes with fewer than k households.
        rows: Number of rows in these classes.
        all_classes: Number of classes of the release.
    """

    k: int
    fewest: int
    classes: int
    rows: int
    all_classes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def household_figures(table: FrequencyTable, recoding: Recoding, k: int) -> HouseholdFigures | None:
    """Return the metrics; None without a household column, or if a combination is divided between classes."""
    households = None if table.sample is None else table.sample.households
    if not isinstance(households, Households) or getattr(recoding, "division", None) is not None:
        return None
    kept = ~recoding.suppressed
    counts = _counts(households, recoding)[kept]
    few = counts < k
    return HouseholdFigures(
        k, int(counts.min(initial=table.rows)), int(few.sum()), int(recoding.sizes[kept][few].sum()), int(kept.sum())
    )


def _counts(households: Households, recoding: Recoding) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return the number of households in each class; a row without a household counts as one."""
    owners = recoding.owners[households.combinations].astype(np.int64)
    named = households.numbers >= 0
    size = int(households.numbers.max(initial=0)) + 1
    pairs = np.unique(owners[named] * size + households.numbers[named])
    counts = np.bincount(pairs // size, minlength=len(recoding.sizes)).astype(np.int64)
    np.add.at(counts, owners[~named], households.rows[~named])
    return counts
