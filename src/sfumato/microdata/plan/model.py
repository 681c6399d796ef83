"""The plan of a microdata release, as frozen values."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args

from sfumato.dataclass import dataclass
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ladder import Hierarchy
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.types import NUMBER_TYPES, ColumnType
from sfumato.microdata.column_codes import codes_of
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.kinds import is_delta_presence
from sfumato.microdata.models.model import ClassModel, Model
from sfumato.microdata.models.protection import PROTECT, Protection
from sfumato.microdata.plan.files import FilePlan
from sfumato.microdata.plan.methods import Method, Optimal
from sfumato.microdata.plan.policy_plan import PolicyPlan
from sfumato.microdata.publishing.perturbation import Microaggregate, Perturbation, Pseudonym, ShiftDays, SwapHouseholds
from sfumato.microdata.publishing.plan import PublishPlan
from sfumato.shapes.frozen import FrozenDict
from sfumato.shapes.parts import plan_part
from sfumato.shapes.paths import PlanPath
from sfumato.shapes.records import Note, TextOrNumber, record_of
from sfumato.shapes.release_plan import ReleasePlan
from sfumato.shapes.shapes import Choice, Either, Number

if TYPE_CHECKING:
    from sfumato.microdata.models.delta_presence import Subset

SECRET_BYTES = 16
PUBLISH = Either(
    (((str,), Choice(("key", "withheld"))), ((Mapping,), record_of(PublishPlan))),
    "what a column that is no quasi-identifier is published as: its numbers, a person as a random key, a weight not",
)
IMPORTANCE = Either(
    (((int, float), Number(minimum=0)), ((str,), Choice(("never",)))),
    "what publishing a cell of this column as missing costs, for the method cells; never: none may be",
)
Role = Literal["identifier", "person", "quasi-identifier", "sensitive", "insensitive", "weight", "household"]
OtherRole = Literal["identifier", "sensitive", "insensitive"]
Language = Literal["en", "de"]
OnInference = Literal["refuse", "warn"]
ROLES: tuple[Role, ...] = get_args(Role)


@plan_part
@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """What a column is, and how it may be generalized."""

    role: Annotated[Role, Note("what the column is")]
    type: Annotated[ColumnType, Note("what its values are; text unless given, so that 007 stays 007")] = "text"
    hierarchy: Annotated[Hierarchy | None, HIERARCHY] = None
    weight: Annotated[float, Note("of this column in the loss", minimum=0)] = 1.0
    min_level: Annotated[int, Note("the finest level that may be published", minimum=0)] = 0
    max_level: Annotated[int | None, Note("the coarsest level that may be published", minimum=0)] = None
    importance: Annotated[float | Literal["never"], IMPORTANCE] = 1.0
    publish: Annotated[PublishPlan | Literal["key", "withheld"] | None, PUBLISH] = None
    missing: Annotated[
        tuple[TextOrNumber, ...],
        Note("texts that mean missing in this column; they are published as blanks", at_least=1),
    ] = ()
    protect: Annotated[ClassModel | None, PROTECT] = None

    def __post_init__(self) -> None:
        if self.publish == "key" and self.role != "person":
            raise ValueError(f"publish: key belongs to the role person, this column is {self.role}.")
        if self.publish == "withheld" and self.role != "weight":
            raise ValueError(f"publish: withheld belongs to the role weight, this column is {self.role}.")
        if self.role != "quasi-identifier" and self.hierarchy is not None:
            raise ValueError(f"a hierarchy belongs to a quasi-identifier, this column is {self.role}.")
        of_ladders = (self.weight, self.min_level, self.max_level, self.importance)
        if self.role != "quasi-identifier" and of_ladders != (1.0, 0, None, 1.0):
            raise ValueError(
                f"weight, min_level, max_level and importance belong to a quasi-identifier, this column is {self.role}."
            )
        aggregated = self.role == "quasi-identifier" and isinstance(self.perturbation, Microaggregate)
        if self.is_pseudonymous and self.role not in ("identifier", "person"):
            raise ValueError(f"a pseudonym belongs to an identifier or person, this column is {self.role}.")
        fitting = aggregated or self.is_pseudonymous or (self.role == "weight" and self.published == self._rounded)
        if self.published is not None and self.role not in ("sensitive", "insensitive") and not fitting:
            do = " A weight is withheld or rounded." if self.role == "weight" else ""
            raise ValueError(f"publish belongs to a sensitive or insensitive column, this column is {self.role}.{do}")
        if self.protect is not None and self.role != "quasi-identifier":
            raise ValueError(f"protect belongs to a quasi-identifier, this column is {self.role}.")
        if self.max_level is not None and self.max_level < self.min_level:
            raise ValueError("max_level is below min_level.")

    @property
    def blanks_codes(self) -> bool:
        """Whether its codes that mean missing are published as blanks, and everything else as it is."""
        return bool(self.missing) and self.role in ("sensitive", "insensitive") and self.publish is None

    @property
    def _rounded(self) -> PublishPlan | None:
        """What is done to the column where it is rounded and nothing besides."""
        step = None if self.published is None else self.published.round
        return None if step is None else PublishPlan(round=step)

    @property
    def operations(self) -> PublishPlan | None:
        """What is done to the column's numbers one by one, where something is."""
        return None if self.perturbation is not None else self.published

    @property
    def published(self) -> PublishPlan | None:
        """What is done to the column's values, where something is."""
        return None if isinstance(self.publish, str) else self.publish

    @property
    def holds_numbers(self) -> bool:
        """Whether its values are numbers and no codes: the plan says so, or does to them what is done to numbers."""
        changed = self.perturbation.numbers if self.perturbation is not None else self.operations is not None
        return self.type in NUMBER_TYPES or changed

    @property
    def shift_days(self) -> int | None:
        """Up to how many days the dates of a person are shifted, where they are."""
        return self.perturbation.days if isinstance(self.perturbation, ShiftDays) else None

    @property
    def is_pseudonymous(self) -> bool:
        """Whether its values are replaced by pseudonyms."""
        return isinstance(self.perturbation, Pseudonym)

    @property
    def perturbation(self) -> Perturbation | None:
        """What changes the column by chance or by its neighbors, where something does."""
        return None if self.published is None else self.published.perturbation


@plan_part
@dataclass(frozen=True, slots=True)
class OutputPlan:
    """How the release is written.

    Attributes:
        suppressed: Whether suppressed rows are dropped or published as `*`.
        intervals: Whether columns of intervals have their ends in further columns, too.
        class_column: Name of a further column with the number of each row's class, when wanted.
        partition: Columns by whose published values Parquet files are laid in folders; data.parquet is a folder then.
        formulas: Whether cells of a CSV file that a spreadsheet would compute are quoted by an apostrophe.
    """

    format: Annotated[Literal["csv", "parquet"], Note("of the published rows")] = "csv"
    order: Annotated[Literal["keep", "shuffle"], Note("of the rows; keep tells where each stood")] = "shuffle"
    suppressed: Annotated[Literal["drop", "star"], Note("rows that are withheld are left out, or published as *")] = (
        "drop"
    )
    intervals: Annotated[
        Literal["labels", "bounds"], Note("bounds: further columns NAME_min and NAME_max with the ends of intervals")
    ] = "labels"
    class_column: Annotated[str | None, Note("name of a further column with the number of each row's class")] = None
    partition: Annotated[
        tuple[str, ...], Note("columns by whose published values Parquet files are laid in folders")
    ] = ()
    formulas: Annotated[
        Literal["keep", "quote"], Note("quote: cells of a CSV file that a spreadsheet would compute get an apostrophe")
    ] = "keep"

    @property
    def quotes_formulas(self) -> bool:
        """Whether the file has quoted cells."""
        return self.formulas == "quote" and self.format == "csv"

    def __post_init__(self) -> None:
        if self.partition and self.format != "parquet":
            raise ValueError("partition goes with format: parquet.")
        if self.partition and self.intervals == "bounds":
            raise ValueError("partition goes without intervals: bounds.")


@plan_part
@dataclass(frozen=True, slots=True)
class UtilityPlan:
    """What is measured besides what every release is.

    Attributes:
        target: The column that a model is to predict from the quasi-identifiers.
    """

    target: Annotated[str | None, Note("column to predict from the quasi-identifiers (needs scikit-learn)")] = None


@dataclass(frozen=True, slots=True)
class RequestedPlan:
    """A plan as it is written: columns may be left to `other`, columns and promises to a policy.

    Attributes:
        other: What columns of the data are that the plan does not mention; without it they are refused.
        release: Who releases for what; language: the language of the reports.
        folder: Where relative paths start.
        text: The plan as it was given, for the record.
        secret: What everything is drawn from that nobody may foretell; it is no part of what is written of a plan.
        reasons: Why columns are what they are, where somebody proposed it; notes: what is to be known before using it.
        policy: What the release is held against; what the plan leaves open is chosen by it.
        previous: Folders of earlier releases of the same persons, the first one first.
        files: Several files that are joined by keys, in place of one source.
        person_secret: What keys of persons are drawn from, where earlier releases have drawn theirs.
        on_inference: What happens where a guarantee does not hold for an attacker who reads the published columns
            against each other: the release is refused, or published with a warning.
    """

    columns: Mapping[str, ColumnPlan] = field(default_factory=dict)
    privacy: tuple[Model, ...] = ()
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
    notes: tuple[str, ...] = field(default=(), compare=False)
    on_inference: OnInference = "refuse"

    def __post_init__(self) -> None:
        for name in ("columns", "files", "text", "reasons"):
            if not isinstance(getattr(self, name), FrozenDict):
                object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def with_secret(self) -> Self:
        """The plan with what a release is drawn from: its seed, or else 128 bits of the operating system."""
        from secrets import token_hex

        return replace(self, secret=token_hex(SECRET_BYTES) if self.seed is None else f"seed {self.seed}")

    @property
    def minimum_class_size(self) -> int:
        """The least size that a class needs to satisfy all privacy models."""
        return max((model.least_rows for model in self.privacy), default=1)

    @property
    def chain_secret(self) -> str:
        """What is drawn from that stays the same in all releases of the same persons."""
        return self.person_secret or self.secret

    @property
    def drawing_seed(self) -> int:
        """What generators of random numbers start from: the seed, or a number of 63 bits from the secret."""
        if self.seed is not None:
            return self.seed
        from hashlib import sha256

        return int.from_bytes(sha256(f"{self.secret}:drawing".encode()).digest()[:8]) >> 1

    def named(self, role: Role) -> tuple[str, ...]:
        """The columns of a role, in the plan's order."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    @property
    def person(self) -> str | None:
        """The column that names the person of a row, where there is one."""
        return next(iter(self.named("person")), None)

    @property
    def weight(self) -> str | None:
        """The column that holds the sampling weight of a row, where there is one."""
        return next(iter(self.named("weight")), None)

    @property
    def household(self) -> str | None:
        """The column that names the household of a row, where there is one."""
        return next(iter(self.named("household")), None)

    @property
    def publishes_keys(self) -> bool:
        """Whether persons are published under keys or pseudonyms, so that a reader sees which rows are one's."""
        column = None if self.person is None else self.columns[self.person]
        return column is not None and (column.publish == "key" or column.is_pseudonymous)

    @property
    def source_data(self) -> DataPlan:
        """How the rows of the source are read: with the codes that mean missing in one column.

        Published rows are read by `data`: they hold no such codes.
        """
        codes = codes_of(self.columns)
        return replace(self.data, codes=codes) if codes else self.data

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self.named("quasi-identifier")

    @property
    def bound_columns(self) -> dict[str, tuple[str, str]]:
        """The columns whose intervals have their ends in further columns, and what these are called."""
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
        """The columns that are changed by chance or by their neighbors after the rows are recoded, and how."""
        return {
            name: column.perturbation
            for name, column in self.columns.items()
            if column.perturbation is not None and column.role != "quasi-identifier"
        }

    @property
    def protections(self) -> tuple[Protection, ...]:
        """What protects quasi-identifiers against disclosure by the others."""
        return tuple(Protection.of(one.protect, name) for name, one in self.columns.items() if one.protect is not None)

    @property
    def guarantees(self) -> tuple[Model, ...]:
        """The privacy models, and what protects quasi-identifiers: all that a release must satisfy."""
        return (*self.privacy, *self.protections)

    @property
    def microaggregated(self) -> Microaggregate | None:
        """How all quasi-identifiers are microaggregated together, where they are."""
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
        """Whether households change their region."""
        return any(isinstance(operation, SwapHouseholds) for operation in self.perturbations.values())

    @property
    def subset(self) -> "Subset | None":
        """The rows that alone are published, where a promise hides who is among them."""
        return next((model.subset for model in self.privacy if is_delta_presence(model)), None)

    @property
    def withheld_columns(self) -> tuple[str, ...]:
        """The columns that are `*` in every row: identifiers, persons, households, weights that are not published, and
        what marks the rows that are published."""
        marked = None if self.subset is None else self.subset.column
        return tuple(
            name
            for name, column in self.columns.items()
            if not column.is_pseudonymous
            and (
                column.role in ("identifier", "household")
                or name == marked
                or column.publish == "withheld"
                or (column.role == "person" and column.publish != "key")
            )
        )

    @property
    def shown_sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that are published."""
        return tuple(name for name in self.named("sensitive") if name not in self.withheld_columns)

    @property
    def promise_columns(self) -> tuple[str, ...]:
        """The columns that some model judges and that the loss looks at, in the plan's order."""
        names = {model.column for model in self.privacy} | {getattr(self.method, "class_column", None)}
        return tuple(name for name in self.columns if name in names)

    @property
    def spelled_columns(self) -> tuple[str, ...]:
        """Columns of promises in which spellings of one value are one, by its type or, of texts, by what is likely.

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
        """The columns whose published values are foretold and counted again: those of promises, and changed ones."""
        names = {
            *self.promise_columns,
            *(name for name, column in self.columns.items() if column.operations is not None),
        }
        return tuple(name for name in self.columns if name in names)

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The columns that are checked, and the one that utility is measured by, in the plan's order."""
        names = {*self.checked_columns, self.utility.target}
        return tuple(name for name in self.columns if name in names)

    def at(self, folder: Path) -> Self:
        """The same plan with its relative paths starting in a folder."""
        return replace(self, folder=folder)

    def with_others(self, columns: Iterable[str]) -> Self:
        """The plan with the columns of the data that it does not mention, where it says what these are.

        It says so no longer of columns that come later: those are refused.
        """
        if self.other is None:
            return self
        others = {name: ColumnPlan(self.other) for name in columns if name not in self.columns}
        return replace(self, columns={**self.columns, **others}, other=None)


class Plan(RequestedPlan):
    """A resolved plan: each column of the data has its role, nothing is left open, and all checks have passed.

    `resolve` alone makes one, and everything that counts, searches, publishes or judges takes no other.
    """

    __slots__ = ()


AnyPlan = TypeVar("AnyPlan", bound=RequestedPlan)


def located(plan: AnyPlan) -> AnyPlan:
    """The plan with the files of its hierarchies found from its folder."""
    columns = {
        name: replace(column, hierarchy=hierarchy_of(plan, name)) if column.hierarchy else column
        for name, column in plan.columns.items()
    }
    return replace(plan, columns=columns)


def hierarchy_of(plan: RequestedPlan, name: str) -> Hierarchy | None:
    """Return the hierarchy of a column, its file found from the plan's folder."""
    hierarchy = plan.columns[name].hierarchy
    return hierarchy.located(plan.folder) if hierarchy else None
