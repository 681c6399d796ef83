"""Plan parameters of the perturbation operations, which change values at random or by their neighbors."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from sfumato.localization.messages import Message
from sfumato.schema.composite import Choice, Conversion, Integer, MapSchema, Number, UnionSchema
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.paths import PlanPath
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import field

Group = Annotated[str | None, KeyInfo("columns of the same group are changed together")]


class Microaggregate(PlanPart):
    """Groups of at least k similar records; each gets the means of its group."""

    k: Annotated[int, KeyInfo("records in a group, at least", minimum=2)]
    group: Group = None
    refine: Annotated[bool, KeyInfo("whether groups are improved after they are formed; else plain MDAV")] = True
    name: ClassVar[str] = "microaggregate"
    repeats: ClassVar[bool] = False
    numbers: ClassVar[bool] = True


class Noise(PlanPart):
    """Normal noise with a share of the standard deviation; within a group, correlated like its columns.

    Attributes:
        deviation: The standard deviation of the noise in the unit of the column; None computes it from the share.
    """

    share: Annotated[float, KeyInfo("of the standard deviation", minimum=0)]
    group: Group = None
    deviation: Annotated[
        float | None, KeyInfo("of the noise itself, in the unit of the column; computed from the share without it")
    ] = None
    name: ClassVar[str] = "noise"
    numbers: ClassVar[bool] = True

    def check_part(self) -> None:
        if self.share <= 0:
            raise ValueError(Message("error.value.share_of_deviation_positive"))
        if self.deviation is not None and (self.deviation <= 0 or self.group is not None):
            raise ValueError(Message("error.value.noise_deviation"))

    @property
    def repeats(self) -> bool:
        """Whether a value of a person gets the same number in every release."""
        return self.group is None


class RankSwap(PlanPart):
    """Values are exchanged between records whose ranks are at most a share of all ranks apart."""

    share: Annotated[float, KeyInfo("of the ranks", minimum=0, maximum=1)]
    name: ClassVar[str] = "swap"
    repeats: ClassVar[bool] = False
    numbers: ClassVar[bool] = True
    group: ClassVar[None] = None

    def check_part(self) -> None:
        if self.share <= 0:
            raise ValueError(Message("error.value.the_share_of_the_ranks"))


class Pram(PlanPart):
    """Post-randomization: each category stays or changes by a matrix of probabilities.

    Attributes:
        retention: Without a matrix: minimum probability of staying, with all expected numbers of categories preserved.
        matrix: For each category the probabilities of the published categories.
        strata: Columns within whose values expected numbers are preserved.
    """

    retention: Annotated[float | None, KeyInfo("the least probability of staying", minimum=0, maximum=1)] = None
    matrix: Annotated[
        Mapping[str, Mapping[str, float]],
        MapSchema(
            MapSchema(Number(minimum=0, maximum=1)), about="for each category what it is published as, and how likely"
        ),
    ] = field(default_factory=dict)
    strata: Annotated[tuple[str, ...], KeyInfo("columns within which expected numbers are kept")] = ()
    name: ClassVar[str] = "pram"
    numbers: ClassVar[bool] = False
    group: ClassVar[None] = None

    def check_part(self) -> None:
        if (self.retention is None) == (not self.matrix):
            raise ValueError(Message("error.value.pram_needs_the_probability"))
        if any(abs(sum(row.values()) - 1) > 1e-6 for row in self.matrix.values()):
            raise ValueError(Message("error.value.the_probabilities_of_each"))
        if self.matrix and self.strata:
            raise ValueError(Message("error.value.strata_go_with_stay"))

    @property
    def repeats(self) -> bool:
        """Whether a value of a person becomes the same category in every release."""
        return not self.strata


class SwapHouseholds(PlanPart):
    """Households are exchanged between regions with similar households, those most at risk first.

    Attributes:
        share: Minimum share of households that change their region; all risky ones with a partner do.
        k: A household is risky if fewer than k rows of its region have the quasi-identifiers of one of its members.
        similar: Columns in which both households must agree, in addition to their size.
    """

    share: Annotated[float, KeyInfo("of the households", minimum=0, maximum=1)]
    k: Annotated[int, KeyInfo("fewer rows alike in the region make a household risky", minimum=1)] = 3
    similar: Annotated[tuple[str, ...], KeyInfo("columns in which both households agree")] = ()
    group: Group = None
    name: ClassVar[str] = "swap_households"
    repeats: ClassVar[bool] = False
    numbers: ClassVar[bool] = False


class Pseudonym(PlanPart):
    """Identifiers are replaced by pseudonyms that only the holder of the key can reverse.

    Attributes:
        kind: A token (`keyed`), or a text of the same format.
        key_file: The key, relative to the plan; without it a random one is created and stored in the release folder.
        domain: The recipient and purpose of these pseudonyms; equal identifiers have equal pseudonyms only within it.
    """

    kind: Annotated[Literal["keyed", "format"], KeyInfo("a token, or a text of the same format")]
    key_file: Annotated[
        PlanPath | None, KeyInfo("file of the key, relative to the plan; drawn for the release without it")
    ] = None
    domain: Annotated[str, KeyInfo("who works with these pseudonyms, for what")] = "release"
    name: ClassVar[str] = "pseudonym"
    repeats: ClassVar[bool] = True
    numbers: ClassVar[bool] = False
    group: ClassVar[None] = None


class ShiftDays(PlanPart):
    """All dates of a person are shifted by one random number of days; the time between them stays the same."""

    days: Annotated[int, KeyInfo("how far at most, either way", minimum=1)]
    name: ClassVar[str] = "shift_days"
    repeats: ClassVar[bool] = True
    numbers: ClassVar[bool] = False
    group: ClassVar[None] = None


Perturbation = Microaggregate | Noise | RankSwap | Pram | SwapHouseholds | Pseudonym | ShiftDays


def jobs_of(perturbations: Mapping[str, Perturbation]) -> Iterator[tuple[tuple[str, ...], Perturbation]]:
    """Yield columns that are perturbed together, and how."""
    jobs: dict[object, list[str]] = {}
    for name, operation in perturbations.items():
        together = isinstance(operation, Microaggregate | SwapHouseholds) or operation.group
        job = (operation.name, operation.group) if together else (operation.name, name, None)
        jobs.setdefault(job, []).append(name)
    for names in jobs.values():
        yield tuple(names), perturbations[names[0]]


def _short(kind: type[Any], shape: Any, about: str, key: str) -> UnionSchema:
    """Return the schema of an operation given as its one number, or with more keys."""
    return UnionSchema(
        (((int, float), Conversion(shape, lambda value: kind(**{key: value}))), ((dict,), record_of(kind))), about
    )


SHARE = Number(minimum=0, maximum=1)
MICROAGGREGATE = _short(Microaggregate, Integer(minimum=2), "means of groups of at least k records", "k")
NOISE = _short(Noise, Number(minimum=0), "noise with a share of the standard deviation", "share")
SWAP = _short(RankSwap, SHARE, "exchange within a share of the ranks", "share")
PRAM = _short(Pram, SHARE, "categories are changed by chance, staying with at least this probability", "retention")
PSEUDONYM = UnionSchema(
    (
        ((str,), Conversion(Choice(("keyed", "format")), Pseudonym)),
        ((dict,), record_of(Pseudonym)),
    ),
    "identifiers are replaced by pseudonyms, which the holder of the key turns back",
)
SHIFT_DAYS = _short(ShiftDays, Integer(minimum=1), "all dates of a person are shifted by up to so many days", "days")
SWAP_HOUSEHOLDS = _short(SwapHouseholds, SHARE, "a share of the households change their region", "share")
