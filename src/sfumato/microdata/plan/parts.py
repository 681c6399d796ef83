"""Parts of a plan with keys of their own: output, utility, files joined by keys, and the policy that the plan names."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from sfumato.errors import PlanIssue, did_you_mean, issue
from sfumato.formats import FORMATS
from sfumato.localization.messages import Message
from sfumato.policies.policy import policy_ids
from sfumato.schema.composite import Choice, Conversion, MapSchema, Number, Text, UnionSchema
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.paths import PLAIN_NAME, PlanPath
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import field


class FilePlan(PlanPart):
    """A file: where it is, and how it is joined.

    Attributes:
        key: The column that identifies its rows; a parent needs one, and its children have a column of that name.
        parent: The file that its rows belong to; the one file without a parent is that of the persons.
        key_file: An internal secret from which its keys are made: they are the same in every release made with it.
            Without it they are random in each release.
    """

    source: Annotated[PlanPath | None, KeyInfo("the file, relative to the plan")] = None
    key: Annotated[str | None, KeyInfo("the column that names its rows; its children have one of the same name")] = None
    parent: Annotated[str | None, KeyInfo("the file that its rows belong to; that of the persons has none")] = None
    key_file: Annotated[
        PlanPath | None,
        KeyInfo("an internal key file with which keys are the same in every release; without it, keys are random"),
    ] = None


def key_columns(files: Mapping[str, FilePlan], name: str) -> tuple[str, ...]:
    """Return the columns that join a file to others: the key of the file and the key of its parent.

    >>> key_columns({"patients": FilePlan(key="pid"), "visits": FilePlan(key="vid", parent="patients")}, "visits")
    ('vid', 'pid')
    """
    own, parent = files[name].key, files[name].parent
    above = None if parent is None else files[parent].key
    return tuple(column for column in (own, above) if column is not None)


def parents_first(files: Mapping[str, FilePlan]) -> tuple[str, ...]:
    """Return the names of all files, each after its parent."""
    ordered: list[str] = []
    while len(ordered) < len(files):
        ordered += [
            name
            for name, file in files.items()
            if name not in ordered and (file.parent is None or file.parent in ordered)
        ]
    return tuple(ordered)


def file_faults(files: Mapping[str, FilePlan]) -> list[PlanIssue]:
    """Return issues of files that do not form a tree with the persons at its root."""
    faults = []
    roots = [name for name, file in files.items() if file.parent is None]
    if len(roots) != 1:
        faults.append(issue("files", "person_file_has_no_parent"))
    for name, file in files.items():
        at = f"files.{name}"
        if not PLAIN_NAME.fullmatch(name):
            faults.append(issue("files", "a_name_must_do"))
        if file.parent is not None and file.parent not in files:
            faults.append(
                issue(f"{at}.parent", "there_is_no_file", hint=did_you_mean(file.parent, files), name=file.parent)
            )
        elif file.parent is not None and files[file.parent].key is None:
            faults.append(issue(f"files.{file.parent}.key", "is_missing_other_files"))
        if file.parent is None and file.key is None:
            faults.append(issue(f"{at}.key", "is_missing_it_names"))
        if file.key_file is not None and file.key is None:
            faults.append(issue(f"{at}.key_file", "is_of_no_use"))
        if _in_circle(files, name):
            faults.append(issue(f"{at}.parent", "joined_to_itself"))
    return faults


def _in_circle(files: Mapping[str, FilePlan], name: str) -> bool:
    seen, parent = {name}, files[name].parent
    while parent is not None and parent in files:
        if parent in seen:
            return True
        seen.add(parent)
        parent = files[parent].parent
    return False


class PolicyPlan(PlanPart):
    """A policy with the settings of the user.

    Attributes:
        values: Other values for clauses, by name.
        attested: The persons who attest clauses that cannot be measured.
        zip_population: A file with the columns zip3 and people, relative to the plan.
        code_column: The column with a code for re-identification.
    """

    name: Annotated[str, Choice(policy_ids(), "the policy's id")]
    values: Annotated[Mapping[str, float], MapSchema(Number(), about="other values for clauses")] = field(
        default_factory=dict
    )
    attested: Annotated[Mapping[str, str], MapSchema(Text(), about="who attests clauses that cannot be measured")] = (
        field(default_factory=dict)
    )
    zip_population: Annotated[
        PlanPath | None, KeyInfo("file with the columns zip3 and people, relative to the plan")
    ] = None
    code_column: Annotated[str | None, KeyInfo("column with a code for re-identification")] = None


POLICY_RECORD = record_of(PolicyPlan)


def _policy(value: Any) -> PolicyPlan:
    return PolicyPlan(value) if isinstance(value, str) else value


POLICY = Conversion(
    UnionSchema(
        (((str,), Choice(policy_ids())), ((Mapping,), POLICY_RECORD)),
        "the policy that chooses what the plan leaves open, and that the release is held against",
    ),
    _policy,
)


class OutputPlan(PlanPart):
    """How the release is written.

    Attributes:
        suppressed: Whether suppressed rows are dropped or published as `*`.
        intervals: Whether columns of intervals have their ends in further columns, too.
        class_column: Name of a further column with the number of each row's class, if requested.
        partition: Columns by whose published values Parquet files are split into folders; data.parquet is then a
            folder.
        formulas: Whether CSV fields that a spreadsheet would evaluate get a leading apostrophe.
    """

    format: Annotated[Literal["csv", "parquet", "arrow"], KeyInfo("of the published rows")] = "csv"
    order: Annotated[Literal["keep", "shuffle"], KeyInfo("of the rows; keep discloses the original order")] = "shuffle"
    suppressed: Annotated[Literal["drop", "star"], KeyInfo("suppressed rows are dropped, or published as *")] = "drop"
    intervals: Annotated[
        Literal["labels", "bounds"], KeyInfo("bounds: further columns NAME_min and NAME_max with the ends of intervals")
    ] = "labels"
    class_column: Annotated[str | None, KeyInfo("name of a further column with the number of each row's class")] = None
    partition: Annotated[
        tuple[str, ...], KeyInfo("columns by whose published values Parquet files are laid in folders")
    ] = ()
    formulas: Annotated[
        Literal["keep", "quote"],
        KeyInfo("quote: cells of a CSV file that a spreadsheet would compute get an apostrophe"),
    ] = "keep"

    @property
    def quotes_formulas(self) -> bool:
        """Whether the file has quoted cells."""
        return self.formulas == "quote" and FORMATS[self.format].delimited

    def check_part(self) -> None:
        if self.partition and not FORMATS[self.format].splits:
            raise ValueError(Message("error.value.partition_goes_with_format"))
        if self.partition and self.intervals == "bounds":
            raise ValueError(Message("error.value.partition_goes_without_intervals"))


class UtilityPlan(PlanPart):
    """Optional measures of utility.

    Attributes:
        target: The column that a classifier predicts from the quasi-identifiers.
    """

    target: Annotated[str | None, KeyInfo("column to predict from the quasi-identifiers (needs scikit-learn)")] = None
