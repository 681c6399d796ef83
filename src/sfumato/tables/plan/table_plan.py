"""The plan of a table: source, sensitivity rules, method and attackers."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from sfumato.delimited.dialect import encoding_of
from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.schema.composite import (
    Choice,
    Conversion,
    Integer,
    JsonSchema,
    KeySchema,
    ListSchema,
    MapSchema,
    RecordSchema,
    TaggedUnionSchema,
    UnionSchema,
    kind_of,
    read,
)
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.files import load_plan
from sfumato.schema.paths import FilePath, PlanPath, with_moved_paths
from sfumato.schema.release_plan import RELEASE, ReleasePlan
from sfumato.tables.formats import BY_NAME
from sfumato.tables.plan import rules
from sfumato.tables.plan.rules import GroupDisclosure
from sfumato.tables.plan.sections import (
    COUNT,
    DIMENSION,
    PERTURBATIONS,
    UNRULED,
    AttackerModel,
    AttackerOptions,
    Dimension,
    Method,
    MethodChoice,
    Perturbation,
    Protection,
    Rounding,
    TableSource,
    TableSpec,
    check_design,
    named_twice,
)
from sfumato.values import Value, asdict, field, replace

OfficeFile = Literal["px", "sdmx", "xlsx", "code-value", "pivot", "sbs", "jj", "hst", "tab"]
WHAT_A_PLAN_IS = (
    "A plan of a table is a YAML or JSON file that names the table, its dimensions and its "
    "sensitivity rules; examples are shown by: sfumato docs tables"
)


class Output(Value):
    """The layout of the published table."""

    columns: Annotated[Literal["plain", "original"], KeyInfo("names of the new columns")] = "plain"
    prefix: Annotated[str | None, KeyInfo("of the new columns; the value column unless given")] = None
    language: Annotated[Literal["en", "de"], KeyInfo("of reasons and reports")] = "en"
    files: Annotated[tuple[OfficeFile, ...], KeyInfo("files of offices that are written besides")] = ()


class TablePlan(Value):
    """A whole plan; `folder` is the base of relative paths, `plain` the values as read."""

    table: TableSource
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    primary: tuple[rules.SensitivityRule, ...] = ()
    method: MethodChoice = field(default_factory=MethodChoice)
    perturbation: Perturbation | None = None
    protection: Protection | None = None
    attacker: AttackerModel = field(default_factory=AttackerModel)
    attackers: AttackerOptions = field(default_factory=AttackerOptions)
    output: Output = field(default_factory=Output)
    tables: tuple[TableSpec, ...] = ()
    previous: tuple[PlanPath, ...] = ()
    release: ReleasePlan = field(default_factory=ReleasePlan)
    version: int = 1
    folder: Path = field(default_factory=Path)
    plain: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by_cells = self.table.cells is not None
        if by_cells and self.dimensions:
            raise ValueError(Message("error.value.a_table_given_by_cells"))
        if not by_cells and not self.dimensions and not self.tables:
            raise ValueError(Message("error.value.dimensions"))
        if self.tables and (by_cells or self.dimensions or self.table.source or self.table.group_by):
            raise ValueError(Message("error.value.several_tables_have_their"))
        if len({crossing.name for crossing in self.tables}) < len(self.tables):
            raise ValueError(Message("error.value.repeated_table_name"))
        if (self.previous or self.table.microdata) and (by_cells or self.table.group_by):
            raise ValueError(Message("error.value.previous_and_microdata_go"))
        crossed = [self.dimensions, *(crossing.dimensions for crossing in self.tables)]
        if twice := next(filter(None, map(named_twice, crossed)), None):
            raise ValueError(Message("error.value.two_dimensions_of_one", twice=twice))
        for rule in self.primary:
            if isinstance(rule, GroupDisclosure) and not any(rule.dimension in own for own in crossed):
                raise ValueError(Message("error.value.unknown_dimension", dimension=rule.dimension))
        if self.previous and self.perturbation is not None:
            raise ValueError(Message("error.value.previous_goes_with_masks"))
        unfit = self._unfit_files()
        if unfit:
            raise ValueError(Message("error.value.cannot_be_written_where", names=", ".join(unfit)))
        if not by_cells and not self.primary and not isinstance(self.perturbation, UNRULED):
            raise ValueError(Message("error.value.no_rules"))

    def _unfit_files(self) -> list[str]:
        """Return files that describe suppression although the numbers are perturbed."""
        if self.perturbation is None:
            return []
        rounded = isinstance(self.perturbation, Rounding)
        return [kind for kind in self.output.files if BY_NAME[kind].patterns or (kind == "sbs" and not rounded)]

    @property
    def counts_rows(self) -> bool:
        """Whether the tables are counted from rows: from microdata, or from a frame if no table has a source."""
        rows = self.table.microdata or (self.tables and not any(crossing.source for crossing in self.tables))
        return bool(rows) and self.table.value == COUNT

    @property
    def ungrouped(self) -> list[str]:
        """The dimensions that no rule protects from group disclosure."""
        named = dict.fromkeys(
            name for own in (self.dimensions, *(one.dimensions for one in self.tables)) for name in own
        )
        ruled = {rule.dimension for rule in self.primary if isinstance(rule, GroupDisclosure)}
        return [name for name in named if name not in ruled]

    @property
    def alone(self) -> bool:
        """Whether the plan describes a single table of cells without earlier releases."""
        return not self.tables and not self.previous and self.table.microdata is None


def read_table_plan(plan: "str | Path | Mapping[str, Any] | TablePlan", folder: Path | None = None) -> TablePlan:
    """Read a plan from a file or a mapping; paths in it are relative to the file, or to `folder`.

    Raises:
        PlanError: The plan is invalid; all issues are listed.

    >>> plan = read_table_plan({"version": 1, "table": {"value": "n"}, "dimensions": {"area": {"column": "area"}},
    ...     "primary": [{"rule": "range", "min": 1, "max": 3}]})
    >>> plan.method.name
    'optimal'
    """
    if isinstance(plan, TablePlan):
        return plan
    if isinstance(plan, str | Path):
        path = Path(plan)
        return _read(load_plan(path, Message("error.part.what_a_table_plan_is")), path.parent)
    return _read(plan, folder or Path())


def _read(value: Any, folder: Path) -> TablePlan:
    if not isinstance(value, Mapping):
        raise PlanError("no-plan.is_no_table_plan", kind=kind_of(value))
    if ("privacy" in value and "dimensions" not in value) or (
        "data" in value and not {"table", "tables"} & value.keys()
    ):
        raise PlanError("of-rows")
    check_design(value.get("method"))
    return _with_group_disclosure(replace(read(PLAN, value), folder=folder, plain=dict(value)))


def _with_group_disclosure(plan: TablePlan) -> TablePlan:
    """Add the rule group-disclosure for each dimension without one, if rows are counted or the plan requests
    it.

    Anyone who knows that a person is in a group would learn what all of the group have in common. Empty cells may then
    be suppressed unless the plan forbids it: one empty cell often needs another one for protection.
    """
    wanted = plan.counts_rows if plan.table.group_disclosure is None else plan.table.group_disclosure
    if plan.perturbation is not None or not (plan.counts_rows or wanted):
        return plan
    added = [GroupDisclosure(name) for name in plan.ungrouped if wanted]
    plain = dict(plan.plain) | {"table": {**plan.plain["table"], "group_disclosure": wanted}}
    if added:
        rules = [{"rule": GroupDisclosure.name, "dimension": rule.dimension} for rule in added]
        plain["primary"] = [*plain.get("primary", ()), *rules]
    said = plain.get("method")
    zeros = plan.method.zeros or (wanted and not (isinstance(said, Mapping) and "zeros" in said))
    return replace(
        plan,
        table=replace(plan.table, group_disclosure=wanted),
        primary=(*plan.primary, *added),
        method=replace(plan.method, zeros=zeros),
        plain=plain,
    )


def table_plan_schema() -> JsonSchema:
    """Return the JSON Schema of a table plan."""
    schema = PLAN.schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Sfumato table plan"} | schema


def _make_plan(**entries: Any) -> TablePlan:
    """Build a plan; columns and language may be given at its top level for convenience."""
    short = {key: entries.pop(key) for key in ("columns", "language") if key in entries}
    if short:
        entries["output"] = replace(entries.get("output", Output()), **short)
    encoding = entries["table"].encoding
    if encoding is not None:
        _encode(entries, encoding_of(encoding))
    if isinstance(entries.get("method"), Perturbation):
        entries["perturbation"] = entries.pop("method")
    insiders = entries["method"].insiders if "method" in entries else None
    if insiders is not None and "attackers" not in entries:
        entries["attackers"] = AttackerOptions(respondents=insiders, holdings=insiders, persons=insiders)
    return TablePlan(**entries)


def _encode(entries: dict[str, Any], encoding: str) -> None:
    """Use the encoding of the table for hierarchies without their own."""

    def encoded(dimensions: Mapping[str, Dimension]) -> dict[str, Dimension]:
        return {name: replace(one, encoding=one.encoding or encoding) for name, one in dimensions.items()}

    entries["dimensions"] = encoded(entries.get("dimensions", {}))
    crossings = entries.get("tables", ())
    entries["tables"] = tuple(replace(one, dimensions=encoded(one.dimensions)) for one in crossings)


_PQ = record_of(rules.PriorPosterior)
RULES: dict[str, RecordSchema[Any]] = {
    **{kind.name: record_of(kind) for kind in (rules.RangeRule, rules.Frequency, rules.ZeroUnsafe, rules.Dominance)},
    "p-percent": replace(_PQ, keys={name: key for name, key in _PQ.keys.items() if name != "q"}),
    "pq": replace(_PQ, keys={**_PQ.keys, "q": replace(_PQ.keys["q"], required=True)}),
    GroupDisclosure.name: record_of(GroupDisclosure),
    **{kind.name: record_of(kind) for kind in (rules.Holdings, rules.Request, rules.StatusColumn, rules.Waiver)},
}
TABLE = record_of(TableSource, "where the cells are")
# Keys of a table that name files, or columns of the microdata.
FILE_KEYS = ("source", "metadata", "microdata", "weight", "holding", "cells", "relations")
CROSSING = record_of(TableSpec)
_OPTIONS = record_of(MethodChoice).keys
# `funktion` is the legacy name of `tie_break`, `singletons` the handbook's word for `insiders`.
METHOD = RecordSchema(
    {
        "funktion": _OPTIONS["tie_break"],
        "singletons": _OPTIONS["insiders"],
        **_OPTIONS,
        "name": replace(_OPTIONS["name"], required=True),
    },
    MethodChoice,
)
PROTECTION = record_of(Protection, "the protection levels of sensitive cells")
ATTACKER = record_of(AttackerModel, "what anyone is taken to know")
ATTACKERS = record_of(AttackerOptions, "who attacks")
_OUTPUT = record_of(Output, "what the published table looks like")
_MASKING = replace(METHOD, keys={name: key for name, key in METHOD.keys.items() if name != "name"})
METHODS: dict[str, RecordSchema[Any]] = {
    **{name: replace(_MASKING, make=partial(MethodChoice, name=name)) for name in get_args(Method)},
    **PERTURBATIONS,
}
# Either the name alone, or a mapping with options.
_BY_NAME = Conversion(Choice((*get_args(Method), "cell-key", "adjustment")), lambda name: METHODS[name].make())
_METHOD = UnionSchema(
    (((str,), _BY_NAME), ((Mapping,), TaggedUnionSchema("name", METHODS))), "how the table is made safe"
)
PLAN = RecordSchema(
    {
        "version": KeySchema(Integer(1, 1, "of the language of plans"), True),
        "table": KeySchema(TABLE, True),
        "dimensions": KeySchema(MapSchema(DIMENSION, about="the dimensions of the table by their names")),
        "tables": KeySchema(ListSchema(CROSSING, 1, "tables that are protected together")),
        "previous": KeySchema(ListSchema(FilePath(), 1, "release folders of what was published before")),
        "primary": KeySchema(ListSchema(TaggedUnionSchema("rule", RULES), about="the sensitivity rules")),
        "method": KeySchema(_METHOD),
        "protection": KeySchema(PROTECTION),
        "attacker": KeySchema(ATTACKER),
        "attackers": KeySchema(ATTACKERS),
        "output": KeySchema(_OUTPUT),
        "release": KeySchema(RELEASE),
        "columns": _OUTPUT.keys["columns"],
        "language": _OUTPUT.keys["language"],
    },
    _make_plan,
)


def table_plan_dict(plan: TablePlan, folder: Path) -> dict[str, Any]:
    """Return the plan as plain values, with paths relative to a folder, and defaults filled in.

    >>> from sfumato.tables.plan.table_plan import read_table_plan
    >>> plan = read_table_plan({"version": 1, "table": {"value": "n", "source": "n.csv"},
    ...     "dimensions": {"area": {"column": "area"}}, "primary": [{"rule": "range", "min": 1, "max": 3}]})
    >>> table_plan_dict(plan, Path("out"))["table"]["source"]
    '../n.csv'
    """
    # The method with all defaults.
    written: dict[str, Any] = with_moved_paths(PLAN, {**plan.plain, "method": _method_dict(plan)}, plan.folder, folder)
    return written


def _method_dict(plan: TablePlan) -> dict[str, Any]:
    chosen = plan.perturbation or plan.method
    record = METHOD if plan.perturbation is None else PERTURBATIONS[chosen.name]
    # Of several keys of one option, the primary one.
    keys = {record.attribute(key): key for key in sorted(record.keys, key=lambda key: record.attribute(key) == key)}
    options = {keys[name]: value for name, value in asdict(chosen).items() if value is not None and name != "secret"}
    return {"name": chosen.name} | options
