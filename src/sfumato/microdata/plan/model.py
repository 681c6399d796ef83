"""The plan of a microdata release, as frozen values."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args

from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.types import NUMBER_TYPES, ColumnType
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan, codes_of
from sfumato.microdata.models.model import BaseModel, PrivacyModel
from sfumato.microdata.models.protection import PROTECT, Protection
from sfumato.microdata.perturbation.plan import (
    Microaggregate,
    Perturbation,
    Pseudonym,
    ShiftDays,
    SwapHouseholds,
)
from sfumato.microdata.plan.methods import Method, Optimal
from sfumato.microdata.plan.parts import FilePlan, OutputPlan, PolicyPlan, UtilityPlan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.microdata.questions.question import PurposePlan
from sfumato.schema.composite import Choice, Number, UnionSchema
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber, record_of
from sfumato.schema.frozen_dict import FrozenDict
from sfumato.schema.paths import PlanPath
from sfumato.schema.release_plan import ReleasePlan
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import replace

if TYPE_CHECKING:
    from sfumato.microdata.models.population_lists import Subset

SECRET_BYTES = 16
PUBLISH = UnionSchema(
    (((str,), Choice(("key", "removed"))), ((Mapping,), record_of(PublishPlan))),
    "what a column that is no quasi-identifier is published as: its numbers, a person as a random key, a weight not",
)
IMPORTANCE = UnionSchema(
    (((int, float), Number(minimum=0)), ((str,), Choice(("never",)))),
    "what publishing a cell of this column as missing costs, for the method local-suppression; never: none may be",
)
Role = Literal[
    "identifier", "person", "quasi-identifier", "sensitive", "insensitive", "weight", "household", "undecided"
]
OtherRole = Literal["identifier", "sensitive", "insensitive", "undecided"]
Language = Literal["en", "de"]
OnInference = Literal["refuse", "warn", "remove"]
ROLES: tuple[Role, ...] = get_args(Role)
# Columns of these roles are removed, and nothing but pseudonyms needs their values.
REMOVED_ROLES: tuple[Role, ...] = ("identifier", "undecided")
# Columns of these roles are published as `*`, unless the plan says how else.
HIDDEN_ROLES: tuple[Role, ...] = (*REMOVED_ROLES, "household", "person")


class ColumnPlan(PlanPart):
    """The role of a column, and how it may be generalized."""

    role: Annotated[Role, KeyInfo("what the column is")]
    type: Annotated[ColumnType, KeyInfo("what its values are; text unless given, so that 007 stays 007")] = "text"
    hierarchy: Annotated[HierarchyBuilder | None, HIERARCHY] = None
    weight: Annotated[float, KeyInfo("of this column in the loss", minimum=0)] = 1.0
    min_level: Annotated[int, KeyInfo("the finest level that may be published", minimum=0)] = 0
    max_level: Annotated[int | None, KeyInfo("the coarsest level that may be published", minimum=0)] = None
    importance: Annotated[float | Literal["never"], IMPORTANCE] = 1.0
    publish: Annotated[PublishPlan | Literal["key", "removed"] | None, PUBLISH] = None
    missing: Annotated[
        tuple[TextOrNumber, ...],
        KeyInfo("texts that mean missing in this column; they are published as blanks", at_least=1),
    ] = ()
    protect: Annotated[BaseModel | None, PROTECT] = None

    def check_part(self) -> None:
        if self.publish == "key" and self.role != "person":
            raise ValueError(Message("error.value.key_of_person", name=self.role))
        if self.publish == "removed" and self.role != "weight":
            raise ValueError(Message("error.value.removed_weight", name=self.role))
        if self.role != "quasi-identifier" and self.hierarchy is not None:
            raise ValueError(Message("error.value.ladder_role", name=self.role))
        of_ladders = (self.weight, self.min_level, self.max_level, self.importance)
        if self.role != "quasi-identifier" and of_ladders != (1.0, 0, None, 1.0):
            raise ValueError(Message("error.value.weight_min_level_max", name=self.role))
        aggregated = self.role == "quasi-identifier" and isinstance(self.perturbation, Microaggregate)
        if self.is_pseudonymous and self.role not in ("identifier", "person"):
            raise ValueError(Message("error.value.pseudonym_of_identifier", name=self.role))
        fitting = aggregated or self.is_pseudonymous or (self.role == "weight" and self.published == self._rounded)
        if self.published is not None and self.role not in ("sensitive", "insensitive") and not fitting:
            code = "publish_of_weight" if self.role == "weight" else "publish_of_role"
            raise ValueError(Message(f"error.value.{code}", role=self.role))
        if self.protect is not None and self.role != "quasi-identifier":
            raise ValueError(Message("error.value.protect_role", role=self.role))
        if self.max_level is not None and self.max_level < self.min_level:
            raise ValueError(Message("error.value.levels"))

    @property
    def blanks_codes(self) -> bool:
        """Whether its codes for missing values are published as empty fields, and everything else unchanged."""
        return bool(self.missing) and self.role in ("sensitive", "insensitive") and self.publish is None

    @property
    def _rounded(self) -> PublishPlan | None:
        """The rounding of the column, if that is its only operation."""
        step = None if self.published is None else self.published.round
        return None if step is None else PublishPlan(round=step)

    @property
    def operations(self) -> PublishPlan | None:
        """The operations on the column's single numbers, if any."""
        return None if self.perturbation is not None else self.published

    @property
    def published(self) -> PublishPlan | None:
        """The operations on the column's values, if any."""
        return None if isinstance(self.publish, str) else self.publish

    @property
    def holds_numbers(self) -> bool:
        """Whether its values are numbers and not codes, by its type or its operations."""
        changed = self.perturbation.numbers if self.perturbation is not None else self.operations is not None
        return self.type in NUMBER_TYPES or changed

    @property
    def shift_days(self) -> int | None:
        """Maximum number of days by which a person's dates are shifted, if they are."""
        return self.perturbation.days if isinstance(self.perturbation, ShiftDays) else None

    @property
    def is_pseudonymous(self) -> bool:
        """Whether its values are replaced by pseudonyms."""
        return isinstance(self.perturbation, Pseudonym)

    @property
    def perturbation(self) -> Perturbation | None:
        """The perturbation of the column, if any."""
        return None if self.published is None else self.published.perturbation


@dataclass(frozen=True, slots=True)
class RequestedPlan:
    """A plan as written: columns may be left to `other`, columns and models to a policy.

    It is a dataclass, because the Python API's `Plan` needs a separate constructor, which Values lack.

    Attributes:
        other: The role of columns that the plan does not mention; without it they are refused.
        release: The releasing organization and the purpose.
        language: The language of the reports.
        folder: Base of relative paths.
        text: The original text of the plan, for the record.
        secret: Key of all random numbers that must be unpredictable; it is never written with the plan.
        reasons: Reasons of suggested column roles; `notes` must be read before using the plan.
        policy: The policy that the release is evaluated by, and that fills in what the plan leaves open.
        previous: Folders of earlier releases of the same persons, the first one first.
        files: Several files that are joined by keys, instead of one source.
        person_secret: Key from which earlier releases made their person keys.
        on_inference: Whether to refuse, to warn, or to remove columns if combining the published columns breaks a
            guarantee.
        purpose: The questions that the release has to answer.
    """

    columns: Mapping[str, ColumnPlan] = field(default_factory=dict)
    privacy: tuple[PrivacyModel, ...] = ()
    version: int = 1
    data: DataPlan = field(default_factory=DataPlan)
    method: Method = field(default_factory=Optimal)
    seed: int | None = None
    output: OutputPlan = field(default_factory=OutputPlan)
    utility: UtilityPlan = field(default_factory=UtilityPlan)
    release: ReleasePlan = field(default_factory=ReleasePlan)
    language: Language = "en"
    folder: Path = field(default_factory=Path)
    text: Mapping[str, Any] = field(default_factory=dict, compare=False)
    secret: str = field(default="", repr=False)
    other: OtherRole | None = None
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False)
    policy: PolicyPlan | None = None
    previous: tuple[PlanPath, ...] = ()
    person_secret: str = field(default="", repr=False)
    files: Mapping[str, FilePlan] = field(default_factory=dict)
    notes: tuple[Message, ...] = field(default=(), compare=False)
    on_inference: OnInference = "refuse"
    purpose: PurposePlan = field(default_factory=PurposePlan)

    def __post_init__(self) -> None:
        for name in ("columns", "files", "text", "reasons"):
            if not isinstance(getattr(self, name), FrozenDict):
                object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def __replace__(self, **changes: Any) -> Self:
        return dataclasses.replace(self, **changes)

    def with_secret(self) -> Self:
        """Return the plan with the secret of a release: its seed, or 128 random bits from the operating system."""
        from secrets import token_hex

        return replace(self, secret=token_hex(SECRET_BYTES) if self.seed is None else f"seed {self.seed}")

    @property
    def minimum_class_size(self) -> int:
        """The smallest class size that satisfies all privacy models."""
        return max((model.min_class_size for model in self.privacy), default=1)

    @property
    def chain_secret(self) -> str:
        """The secret that stays the same in all releases of the same persons."""
        return self.person_secret or self.secret

    @property
    def drawing_seed(self) -> int:
        """The seed of random generators: that of the plan, or 63 bits of the secret."""
        if self.seed is not None:
            return self.seed
        from hashlib import sha256

        return int.from_bytes(sha256(f"{self.secret}:drawing".encode()).digest()[:8]) >> 1

    def named(self, *roles: Role) -> tuple[str, ...]:
        """Return the columns of some roles, in the plan's order."""
        return tuple(name for name, column in self.columns.items() if column.role in roles)

    @property
    def person(self) -> str | None:
        """The person column, if there is one."""
        return next(iter(self.named("person")), None)

    @property
    def weight(self) -> str | None:
        """The column with the sampling weight of a row, if there is one."""
        return next(iter(self.named("weight")), None)

    @property
    def household(self) -> str | None:
        """The household column, if there is one."""
        return next(iter(self.named("household")), None)

    @property
    def publishes_keys(self) -> bool:
        """Whether persons are published under keys or pseudonyms, so that the rows of one person are recognizable."""
        column = None if self.person is None else self.columns[self.person]
        return column is not None and (column.publish == "key" or column.is_pseudonymous)

    @property
    def source_data(self) -> DataPlan:
        """How the source is read: with the codes for missing values of single columns.

        Published rows are read by `data`: they hold no such codes.
        """
        codes = codes_of(self.columns)
        return replace(self.data, codes=codes) if codes else self.data

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self.named("quasi-identifier")

    @property
    def bound_columns(self) -> dict[str, tuple[str, str]]:
        """The columns whose interval ends are published in further columns, and the names of these."""
        if self.output.intervals != "bounds":
            return {}
        numeric = [
            name
            for name in self.quasi_identifiers
            if isinstance(self.columns[name].hierarchy, Intervals) or self.columns[name].type in NUMBER_TYPES
        ]
        return {name: (f"{name}_min", f"{name}_max") for name in numeric}

    @property
    def perturbations(self) -> dict[str, Perturbation]:
        """The columns that are perturbed after the rows are recoded, and how."""
        return {
            name: column.perturbation
            for name, column in self.columns.items()
            if column.perturbation is not None and column.role != "quasi-identifier"
        }

    @property
    def protections(self) -> tuple[Protection, ...]:
        """The protections of quasi-identifiers against disclosure by the others."""
        return tuple(Protection.of(one.protect, name) for name, one in self.columns.items() if one.protect is not None)

    @property
    def guarantees(self) -> tuple[PrivacyModel, ...]:
        """The privacy models, and what protects quasi-identifiers: all that a release must satisfy."""
        return (*self.privacy, *self.protections)

    @property
    def microaggregated(self) -> Microaggregate | None:
        """How all quasi-identifiers are microaggregated together, if they are."""
        asked = [self.columns[name].perturbation for name in self.quasi_identifiers]
        first = asked[0] if asked else None
        same = isinstance(first, Microaggregate) and all(operation == first for operation in asked)
        return first if same and isinstance(first, Microaggregate) else None

    @property
    def pseudonyms(self) -> dict[str, Pseudonym]:
        """The columns whose values are replaced by pseudonyms, and how."""
        return {name: part for name, part in self.perturbations.items() if isinstance(part, Pseudonym)}

    @property
    def swaps_households(self) -> bool:
        """Whether households exchange their regions."""
        return any(isinstance(operation, SwapHouseholds) for operation in self.perturbations.values())

    @property
    def subset(self) -> "Subset | None":
        """The published subset of the rows, if a model hides membership in it."""
        return next((model.published_subset for model in self.privacy if model.published_subset is not None), None)

    @property
    def removed_columns(self) -> tuple[str, ...]:
        """The columns that are `*` in every row.

        These are identifiers, undecided columns, persons, households, weights that are not published, and what marks
        the rows that are published.
        """
        marked = None if self.subset is None else self.subset.column
        return tuple(
            name
            for name, column in self.columns.items()
            if not column.is_pseudonymous
            and column.publish != "key"
            and (column.role in HIDDEN_ROLES or name == marked or column.publish == "removed")
        )

    @property
    def shown_sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that are published."""
        return tuple(name for name in self.named("sensitive") if name not in self.removed_columns)

    @property
    def promise_columns(self) -> tuple[str, ...]:
        """The columns of models and of the loss, in the plan's order."""
        names = {model.column for model in self.privacy} | {getattr(self.method, "class_column", None)}
        return tuple(name for name in self.columns if name in names)

    @property
    def spelled_columns(self) -> tuple[str, ...]:
        """Columns of models that merge spelling variants of a value, by type or, for texts, by likelihood.

        Not where a model names all values.
        """
        if self.data.spellings == "keep":
            return ()
        named = {
            model.column for model in self.privacy if getattr(model, "order", ()) or getattr(model, "hierarchy", 0)
        }
        kept = named | {None if self.subset is None else self.subset.column}
        return tuple(name for name in self.promise_columns if name not in kept and self.columns[name].publish is None)

    @property
    def checked_columns(self) -> tuple[str, ...]:
        """The columns whose published values are compared with expected counts: those of models, and changed ones."""
        names = {
            *self.promise_columns,
            *(name for name, column in self.columns.items() if column.operations is not None),
        }
        return tuple(name for name in self.columns if name in names)

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The checked columns and the target column of utility, in the plan's order."""
        names = {*self.checked_columns, self.utility.target}
        return tuple(name for name in self.columns if name in names)

    def at(self, folder: Path) -> Self:
        """Return the plan with its relative paths based on a folder."""
        return replace(self, folder=folder)

    def with_others(self, columns: Iterable[str]) -> Self:
        """Return the plan with the columns of the data that it leaves to `other`.

        The result has no `other`: columns that appear later are refused.
        """
        if self.other is None:
            return self
        others = {name: ColumnPlan(self.other) for name in columns if name not in self.columns}
        return replace(self, columns={**self.columns, **others}, other=None)


class Plan(RequestedPlan):
    """A resolved plan: each column of the data has a role, and all checks have passed.

    Only `resolve` makes one, and everything that counts, searches, publishes or evaluates accepts no other.
    """

    __slots__ = ()


AnyPlan = TypeVar("AnyPlan", bound=RequestedPlan)


def located(plan: AnyPlan) -> AnyPlan:
    """Return the plan with the paths of its hierarchy files resolved from its folder."""
    columns = {
        name: replace(column, hierarchy=hierarchy_of(plan, name)) if column.hierarchy else column
        for name, column in plan.columns.items()
    }
    return replace(plan, columns=columns)


def hierarchy_of(plan: RequestedPlan, name: str) -> HierarchyBuilder | None:
    """Return the hierarchy of a column, with its file resolved from the plan's folder."""
    hierarchy = plan.columns[name].hierarchy
    return hierarchy.resolve_paths(plan.folder) if hierarchy else None
