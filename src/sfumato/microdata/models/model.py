"""The interface of privacy models: what every class must satisfy, and the properties a search may rely on."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeGuard

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, reference_of
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import AbstractValue

# The reference distribution of a class: the original table (the definition of the literature), or also the published
# rows, which are all a data user sees.
Against = Literal["both", "raw"]
Comparison = Annotated[
    Against, KeyInfo("compare with the original table and the published rows, or with the original table only")
]
SensitiveColumn = Annotated[str, KeyInfo("the sensitive column")]
# Tolerance for rounding errors of shares and distances beyond their limit.
EXACT = 1e-9


# What decides whether a model is satisfied: the sizes of classes, the values of a column in them, the persons of the
# population behind them, weights of rows, all classes jointly, how rows were sampled, or the persons of each class.
Judges = Literal["sizes", "values", "population", "weights", "release", "sampling", "persons"]
# What must be known besides the published rows to verify a model.
Needs = Literal["", "list", "sampling", "weights"]
# Parts of plans that support few models: three methods, and several files.
Support = Literal["k-optimize", "local-suppression", "microaggregation", "linked-files"]


class PrivacyModel(Protocol):
    """A privacy model: what every class of a release must satisfy.

    Plans, searches, verification, reports and pages use a model by these attributes only, never by its class or name.

    Attributes:
        name: The model's name in a plan.
        judges: The data that decide whether the model is satisfied.
        needs: The data that verification needs in addition to the published rows.
        supported_by: Parts of plans that support few models, and support this one.
        counts_persons: Whether it may count persons instead of rows.
        start: Initial parameters on a page; the sensitive column comes from the data.
        ignores_spelling: Whether a listed value means all spellings of it.
        lists_all_values: Whether the listed values are all values of the column in their order.
        parameter: Name of the parameter that sets the threshold, such as `k`.
        monotone_generalization: If all classes of a table satisfy the model, so do all of any coarser table.
        monotone_suppression: A class that satisfies the model still does after any other rows were merged into it (so
            the rows in violating classes only decrease when a table gets coarser).
        is_global: The model is evaluated on all classes jointly (see `GlobalModel`).
        compares_distributions: The model compares the proportions of a column's values in each class with a reference
            table.
        least: Whether the parameter is a minimum; else it is a maximum.
    """

    name: ClassVar[str]
    parameter: ClassVar[str]
    is_global: ClassVar[bool]
    compares_distributions: ClassVar[bool]
    judges: ClassVar[Judges]
    needs: ClassVar[Needs]
    supported_by: ClassVar[frozenset[Support]]
    counts_persons: ClassVar[bool]
    start: ClassVar[Mapping[str, Any]]

    ignores_spelling: ClassVar[bool]
    lists_all_values: ClassVar[bool]

    @property
    def published_subset(self) -> Any:
        """The column and value of the published rows, for a model that hides membership in the published subset."""
        ...

    @property
    def population_table(self) -> DataPlan | None:
        """The table of the population that classes are compared with."""
        ...

    @property
    def value_hierarchy(self) -> Any:
        """The hierarchy of the values of its column."""
        ...

    @property
    def listed_values(self) -> tuple[str, ...]:
        """The values of its column that a plan lists for it."""
        ...

    def with_listed_values(self, values: tuple[str, ...]) -> "PrivacyModel":
        """Return the model with other listed values."""
        ...

    @property
    def states_population(self) -> bool:
        """Whether its parameters state the size of the population, so that rows need no weights."""
        ...

    @property
    def reference(self) -> Against:
        """The reference distribution of a model that compares distributions."""
        ...

    @property
    def monotone_generalization(self) -> bool: ...

    @property
    def monotone_suppression(self) -> bool: ...

    @property
    def column(self) -> str | None:
        """The sensitive column that must be counted, if any."""
        ...

    @property
    def subject(self) -> str | None:
        """The column that the model refers to."""
        ...

    @property
    def least(self) -> bool: ...

    @property
    def requested(self) -> float:
        """The requested parameter."""
        ...

    @property
    def min_class_size(self) -> int:
        """The minimum class size that the model implies, whatever the class contains."""
        ...

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        """Return which classes violate the model; `whole` is the original table (one class per combination)."""
        ...

    def violating_among(self, classes: EquivalenceClasses, whole: EquivalenceClasses, asked: BoolArray) -> BoolArray:
        """Like `violating`, for some classes; the others count as satisfying."""
        ...

    def suppression_lower_bound(
        self, classes: EquivalenceClasses, whole: EquivalenceClasses, failing: BoolArray, enough: int
    ) -> Counts:
        """Return for each class a lower bound of its rows that every finer table must suppress.

        If the model is monotone under generalization, the rows of a class that a finer table keeps satisfy the
        model together; so a class loses at least its size minus its largest part that satisfies it.

        Args:
            failing: The result of `violating` for the same classes; other classes have no suppressed rows.
            enough: The computation may stop once all classes together lose more than this.
        """
        ...

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        """Return the achieved parameter: the value of the worst class, in the unit of `requested`."""
        ...

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        """Return the reason why no recoding of the table can satisfy the model, or None if one may."""
        ...


class GlobalModel(PrivacyModel, Protocol):
    """A global model: a requirement on all classes of a release jointly, such as their average risk.

    Its `violating` evaluates classes one by one by a sufficient condition, so that methods that never see all classes
    at once can use it. A full-domain search evaluates the classes jointly by these functions.
    """

    def classes_to_suppress(self, classes: EquivalenceClasses) -> BoolArray:
        """Return the classes to suppress so that the others jointly satisfy the model.

        The classes of highest risk are suppressed first, as few as possible, classes of equal risk together.
        """
        ...

    def is_satisfied(self, classes: EquivalenceClasses) -> bool:
        """Return whether the classes jointly satisfy the model."""
        ...

    def global_suppression_lower_bound(self, classes: EquivalenceClasses) -> int:
        """Return a lower bound of the rows that every finer table must suppress."""
        ...


def checks_published(model: PrivacyModel) -> bool:
    """Return whether a model must also be satisfied for the published rows as reference."""
    return model.compares_distributions and model.reference == "both"


def evaluate(model: PrivacyModel, classes: EquivalenceClasses, whole: EquivalenceClasses) -> tuple[bool, float]:
    """Return whether classes satisfy a model, and the achieved parameter of the worst one.

    A model decides twice whether it is satisfied: by the violating classes, and by the achieved parameter. A guarantee
        needs
    both, so that a condition which one of them forgets is never reported as satisfied.
    """
    reached = model.achieved(classes, whole)
    if not len(classes.sizes):
        return True, reached
    fine = model.is_satisfied(classes) if is_global(model) else not model.violating(classes, whole).any()
    gap = model.requested - reached if model.least else reached - model.requested
    return bool(fine) and gap <= EXACT * (1 + abs(model.requested)), reached


def requested_class_size(models: Iterable[PrivacyModel], default: int) -> int:
    """Return the largest class size that models of class sizes alone request: the k of a plan."""
    return max((model.min_class_size for model in models if model.judges == "sizes"), default=default)


def is_global(model: PrivacyModel) -> TypeGuard[GlobalModel]:
    """Return whether a model is global."""
    return model.is_global


class BaseModel(PlanPart, AbstractValue):
    """Base class of privacy models, with defaults."""

    is_global: ClassVar[bool] = False
    compares_distributions: ClassVar[bool] = False
    least: ClassVar[bool] = False
    parameter: ClassVar[str]
    judges: ClassVar[Judges] = "values"
    needs: ClassVar[Needs] = ""
    supported_by: ClassVar[frozenset[Support]] = frozenset()
    counts_persons: ClassVar[bool] = True
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    ignores_spelling: ClassVar[bool] = False
    lists_all_values: ClassVar[bool] = False

    @property
    def published_subset(self) -> Any:
        return None

    @property
    def population_table(self) -> DataPlan | None:
        return None

    @property
    def value_hierarchy(self) -> Any:
        return None

    @property
    def listed_values(self) -> tuple[str, ...]:
        return ()

    def with_listed_values(self, values: tuple[str, ...]) -> Any:  # noqa: ARG002
        return self

    @property
    def states_population(self) -> bool:
        return any(getattr(self, name, None) is not None for name in ("sampling_fraction", "population_size"))

    @property
    def reference(self) -> Against:
        return "raw"

    @property
    def monotone_generalization(self) -> bool:
        return True

    @property
    def monotone_suppression(self) -> bool:
        return False

    @property
    def subject(self) -> str | None:
        """The column that the model refers to, even if classes do not count its values."""
        column: str | None = getattr(self, "column", None)
        return column

    @property
    def requested(self) -> float:
        asked: float = getattr(self, self.parameter)
        return asked

    @property
    def min_class_size(self) -> int:
        return 1

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:  # noqa: ARG002
        """Return None, because no property of the original table excludes the model."""
        return None

    @abstractmethod
    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:
        """Return which classes violate the model."""

    def violating_among(self, classes: EquivalenceClasses, whole: EquivalenceClasses, asked: BoolArray) -> BoolArray:
        """Like `violating`, for some classes."""
        found: BoolArray = self.violating(classes, whole) & asked
        return found

    def suppression_lower_bound(
        self,
        classes: EquivalenceClasses,
        whole: EquivalenceClasses,  # noqa: ARG002
        failing: BoolArray,
        enough: int,  # noqa: ARG002
    ) -> Counts:
        """Return all rows of a violating class that no change can fix, one if a finer class must violate, else none."""
        if self.monotone_suppression:
            return np.where(failing, classes.sizes, 0)
        return failing.astype(np.int64) if self.monotone_generalization else np.zeros(len(failing), np.int64)

    def global_suppression_lower_bound(self, classes: EquivalenceClasses) -> int:  # noqa: ARG002
        """Return 0, because the table gives no bound for finer tables."""
        return 0


class RiskModel(BaseModel):
    """Base class of models with a maximum risk and no sensitive column."""

    parameter: ClassVar[str] = "threshold"
    judges: ClassVar[Judges] = "weights"
    column: ClassVar[None] = None


class GlobalRiskModel(RiskModel):
    """Base class of models with a maximum risk of all classes jointly."""

    is_global: ClassVar[bool] = True
    judges: ClassVar[Judges] = "release"


class DistributionModel(BaseModel):
    """Base class of models that compare proportions in a class with those in a reference table."""

    compares_distributions: ClassVar[bool] = True


def rows_beyond(sizes: Counts, kept: Counts) -> Counts:
    """Return the rows of each class beyond the part that may be kept."""
    missing: Counts = sizes - np.minimum(kept, sizes)
    return missing


# Suppression changes the shares of sensitive values: a class similar to the original table may differ from the
# published rows. Classes that differ too much from the remaining rows are therefore suppressed as well, and the
# remaining ones are compared again, until none differs. The set of suppressed classes is not unique; another set may
# suppress fewer rows.
def suppress_skewed_classes(
    classes: EquivalenceClasses, whole: EquivalenceClasses, models: Sequence[PrivacyModel], suppressed: BoolArray
) -> BoolArray:
    """Return the classes that are suppressed once the remaining ones satisfy every model for the remaining rows.

    Args:
        whole: The original table as the reference.
        suppressed: The classes that are suppressed for other reasons.
    """
    comparing = [model for model in models if checks_published(model)]
    while comparing:
        left = np.flatnonzero(~suppressed)
        kept = classes.kept(~suppressed)
        if not len(left) or kept.rows == whole.rows:
            break
        seen = reference_of(kept, whole)
        skewed = np.any([model.violating(kept, seen) for model in comparing], axis=0)
        if not skewed.any():
            break
        suppressed = suppressed.copy()
        suppressed[left[skewed]] = True
    return suppressed
