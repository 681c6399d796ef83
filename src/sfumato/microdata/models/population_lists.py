"""Models given a list of persons of the population: k-map and δ-presence."""

from collections.abc import Mapping
from math import ceil, exp, sqrt
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DATA, DataPlan
from sfumato.microdata.models.equivalence_classes import POPULATION, BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.model import EXACT, BaseModel, Judges, Needs, rows_beyond
from sfumato.schema.composite import Conversion, KeySchema, RecordSchema, Scalar, UnionSchema
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.paths import FilePath
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import replace

# Above this mean, a Poisson variable is approximated by a normal one.
LARGE_MEAN = 500.0
TABLE = UnionSchema(
    (
        ((str,), Conversion(FilePath("path of the table, relative to the plan"), DataPlan)),
        (
            (dict,),
            RecordSchema(
                {"source": KeySchema(FilePath("path of the table, relative to the plan"), required=True)}
                | {name: DATA.keys[name] for name in ("separator", "encoding", "missing", "table")},
                DataPlan,
            ),
        ),
    ),
    "the table of the population",
)


class KMap(BaseModel):
    """Every class has at least `k` rows in the `population`.

    Sweeney, L. (2002). k-anonymity: a model for protecting privacy, https://doi.org/10.1142/S0218488502001648 (there as
    k-map); El Emam, K., Dankar, F. (2008). Protecting privacy using k-anonymity, https://doi.org/10.1197/jamia.M2716.
    The population is a table (a register, a census) with the same quasi-identifiers; it is generalized like the rows,
    and its rows are counted. The persons in the data belong to the population: a class corresponds to at least its own
    rows, even if the population table lacks them.

    It protects against an attacker who does not know that a person is in the data. Against one who does, it is weaker
    than k-anonymity. It relies on the table being the population that the attacker has.

    Classes with labels of their own (mondrian, local) may mix levels, and then match no combination by which the
    population could be counted: they use the stricter condition that the class itself has k rows. If local falls back
    on the best single node, that uses k-map unchanged, and a class may have fewer rows. K-Optimize refuses k-map.

    If no population table is available, the sampling fraction may be given instead. A population class of k persons
    then has Poisson(k times the fraction) rows in the sample; a class counts as k persons if it has so many rows that
    fewer than `significance` of such classes would have as many (El Emam and Dankar, the same paper).

    Monotone under generalization and under suppression: the number of persons behind a class only grows.
    """

    k: Annotated[int, KeyInfo("persons of the population that a class must represent", minimum=1)]
    population: Annotated[DataPlan | None, TABLE] = None
    sampling_fraction: Annotated[
        float | None, KeyInfo("the share of the population in the rows, where its table is not at hand", 0, 1)
    ] = None
    significance: Annotated[
        float,
        KeyInfo("how often a class of fewer persons may have the requested number of rows", minimum=0, maximum=1),
    ] = 0.05
    name: ClassVar[str] = "k-map"
    judges: ClassVar[Judges] = "population"
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"k": 5})
    parameter: ClassVar[str] = "k"
    least: ClassVar[bool] = True
    column: ClassVar[None] = None
    monotone_suppression: ClassVar[bool] = True

    @property
    def population_table(self) -> DataPlan | None:
        return self.population

    def check_part(self) -> None:
        if (self.population is None) == (self.sampling_fraction is None):
            raise ValueError(Message("error.value.k_map_needs_population"))
        if self.sampling_fraction == 0 or not 0 < self.significance < 1:
            raise ValueError(Message("error.value.sampling_fraction_range"))

    @property
    def min_class_size(self) -> int:
        """The minimum class size: enough to represent k persons by estimate if the population is not known."""
        if self.sampling_fraction is None:
            return 1
        return min(self.k, rows_by_estimate(self.k * self.sampling_fraction, self.significance))

    def resolve_paths(self, folder: Path) -> "KMap":
        """Return the model with the path of its population table resolved from a folder."""
        if self.population is None or self.population.source is None:
            return self
        return replace(self, population=replace(self.population, source=self.population.source.located(folder)))

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        if self.population is None:
            return classes.sizes < self.min_class_size
        return persons_of(classes) < self.k

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        """Return the fewest persons of a class; by estimate, the largest k that its rows represent."""
        if not len(classes.sizes):
            return 0
        if self.population is not None:
            return int(persons_of(classes).min())
        k, rows = self.k, int(classes.sizes.min())
        while replace(self, k=k + 1).min_class_size <= rows:
            k += 1
        while k > 1 and replace(self, k=k).min_class_size > rows:
            k -= 1
        return k


def rows_by_estimate(mean: float, significance: float) -> int:
    """Return the smallest number that a Poisson variable of this mean reaches with at most this probability.

    >>> rows_by_estimate(0.5, 0.05), rows_by_estimate(5.0, 0.05)
    (3, 10)
    """
    if mean > LARGE_MEAN:
        from statistics import NormalDist

        return ceil(mean + NormalDist().inv_cdf(1 - significance) * sqrt(mean)) + 1
    rows, term = 0, exp(-mean)
    reached = 1.0
    while reached > significance:
        reached -= term
        rows += 1
        term *= mean / rows
    return rows


def persons_of(classes: EquivalenceClasses) -> Counts:
    """Return the persons each class represents: of the population if known, and no fewer than its own rows."""
    content = classes.sensitive.get(POPULATION)
    if content is None:
        return classes.sizes
    import numpy as np

    persons = np.bincount(content.owners, weights=content.counts, minlength=len(classes.sizes)).astype(np.int64)
    found: Counts = np.maximum(persons, classes.sizes)
    return found


class Subset(PlanPart):
    """The rows that belong to the research subset: those with this value in this column."""

    column: Annotated[str, KeyInfo("the column that marks the subset")]
    value: Annotated[str, Scalar("its value for rows of the subset")]


class DeltaPresence(BaseModel):
    """In every class, the share of the `subset` among the persons of the list lies between `lower` and `upper`.

    Nergiz, M., Atzori, M., Clifton, C. (2007). Hiding the presence of individuals from shared databases,
    https://doi.org/10.1145/1247480.1247554. The rows are the population (a public list); a column marks those that
    belong to the subset (the study). Only the subset is published, and the column is `*` in every row. In every
    published class, the share of its rows among the persons of the list with the same quasi-identifiers lies between
    `lower` and `upper`: that is the probability with which an attacker who has the list places a person of the class in
    the study. All other models are evaluated on the published rows.

    It does not protect other sensitive values, nor against an attacker with a better list. No guarantee covers persons
    whose class is not published: anyone with the list learns that they are not in the study, or that their rows were
    suppressed. A missing mark means "not in the subset".

    Not monotone: with a `lower` above 0 a finer class may satisfy it when a coarser one, with more persons outside the
    subset, does not. With `lower: 0` it is monotone under generalization (a share of a union lies between the shares of
    its parts).
    """

    lower: Annotated[float, KeyInfo("the least share of the subset in a class", minimum=0, maximum=1)]
    upper: Annotated[float, KeyInfo("the greatest share", minimum=0, maximum=1)]
    subset: Annotated[Subset, KeyInfo("which rows belong to the subset")]
    name: ClassVar[str] = "delta-presence"
    judges: ClassVar[Judges] = "population"
    needs: ClassVar[Needs] = "list"
    counts_persons: ClassVar[bool] = False
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"lower": 0.0, "upper": 0.5})
    parameter: ClassVar[str] = "upper"
    column: ClassVar[None] = None

    @property
    def published_subset(self) -> Subset:
        return self.subset

    @property
    def listed_values(self) -> tuple[str, ...]:
        return (self.subset.value,)

    def with_listed_values(self, values: tuple[str, ...]) -> "DeltaPresence":
        return replace(self, subset=replace(self.subset, value=values[0]))

    def check_part(self) -> None:
        if self.lower > self.upper:
            raise ValueError(Message("error.value.lower_is_above_upper"))

    @property
    def monotone_generalization(self) -> bool:
        return self.lower == 0

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        shares = _shares(classes)
        return (shares < self.lower - EXACT) | (shares > self.upper + EXACT)

    def suppression_lower_bound(
        self,
        classes: EquivalenceClasses,
        whole: EquivalenceClasses,  # noqa: ARG002
        failing: BoolArray,
        enough: int,  # noqa: ARG002
    ) -> Counts:
        """Return a bound: finer classes have no more persons together, so no more rows than these allow."""
        kept = np.floor(self.upper * persons_of(classes) + 1e-6).astype(np.int64)
        return rows_beyond(classes.sizes, np.where(failing, kept, classes.sizes))

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:  # noqa: ARG002
        """Return the largest share."""
        return float(_shares(classes).max(initial=0.0))


def _shares(classes: EquivalenceClasses) -> Floats:
    """Return the share of each class's rows among the persons it represents; 1 if the list is not known."""
    shares: Floats = classes.sizes / np.maximum(persons_of(classes), 1)
    return shares
