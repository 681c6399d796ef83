"""The plan of a table: source, sensitivity rules, method and attackers."""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import encoding_of
from sfumato.errors import PlanError
from sfumato.schema.composite import (
    Choice,
    Conversion,
    Either,
    Integer,
    Key,
    ListOf,
    MapOf,
    Record,
    Schema,
    Tagged,
    kind_of,
    read,
)
from sfumato.schema.dataclass_schema import record_of
from sfumato.schema.files import load_plan
from sfumato.schema.paths import FilePath, PlanPath
from sfumato.schema.release_plan import RELEASE, ReleasePlan
from sfumato.tables.plan import rules
from sfumato.tables.plan.attackers import AttackerModel, Attackers
from sfumato.tables.plan.crossing import DIMENSION, Crossing, Dimension, named_twice
from sfumato.tables.plan.group_disclosure import GroupDisclosure
from sfumato.tables.plan.method import Method, MethodChoice, Protection
from sfumato.tables.plan.output import MASKED_FILES, Output
from sfumato.tables.plan.perturbation import PERTURBATIONS, UNRULED, Perturbation, Rounding, check_design
from sfumato.tables.plan.source import COUNT, TableSource

WHAT_A_PLAN_IS = (
    "A plan of a table is a YAML or JSON file that names the table, its dimensions and its "
    "sensitivity rules; examples are shown by: sfumato docs tables"
)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A whole plan; `folder` is the base of relative paths, `plain` the values as read."""

    table: TableSource
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    primary: tuple[rules.Rule, ...] = ()
    method: MethodChoice = field(default_factory=MethodChoice)
    perturbation: Perturbation | None = None
    protection: Protection | None = None
    attacker: AttackerModel = field(default_factory=AttackerModel)
    attackers: Attackers = field(default_factory=Attackers)
    output: Output = field(default_factory=Output)
    tables: tuple[Crossing, ...] = ()
    previous: tuple[PlanPath, ...] = ()
    release: ReleasePlan = field(default_factory=ReleasePlan)
    version: int = 1
    folder: Path = field(default_factory=Path)
    plain: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by_cells = self.table.cells is not None
        if by_cells and self.dimensions:
            raise ValueError("a table given by cells and relations has no dimensions.")
        if not by_cells and not self.dimensions and not self.tables:
            raise ValueError("dimensions are missing.")
        if self.tables and (by_cells or self.dimensions or self.table.source or self.table.group_by):
            raise ValueError("several tables have their sources and dimensions in tables, and no group_by.")
        if len({crossing.name for crossing in self.tables}) < len(self.tables):
            raise ValueError("two tables have the same name.")
        if (self.previous or self.table.microdata) and (by_cells or self.table.group_by):
            raise ValueError("previous and microdata go with dimensions, not with group_by or cells and relations.")
        crossed = [self.dimensions, *(crossing.dimensions for crossing in self.tables)]
        if twice := next(filter(None, map(named_twice, crossed)), None):
            raise ValueError(f"two dimensions of one table have the column {twice}: name each column once in a table.")
        for rule in self.primary:
            if isinstance(rule, GroupDisclosure) and not any(rule.dimension in own for own in crossed):
                raise ValueError(f'rule group-disclosure: there is no dimension "{rule.dimension}".')
        if self.previous and self.perturbation is not None:
            raise ValueError("previous goes with masks: changed numbers are the same again by their keys or secret.")
        unfit = self._unfit_files()
        if unfit:
            raise ValueError(f"output.files: {', '.join(unfit)} cannot be written where method changes numbers so.")
        if not by_cells and not self.primary and not isinstance(self.perturbation, UNRULED):
            raise ValueError("primary rules are missing: nothing classifies cells as sensitive.")

    def _unfit_files(self) -> list[str]:
        """Return files that describe suppression although the numbers are perturbed."""
        if self.perturbation is None:
            return []
        rounded = isinstance(self.perturbation, Rounding)
        return [kind for kind in self.output.files if kind in MASKED_FILES or (kind == "sbs" and not rounded)]

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
        return _read(load_plan(path, WHAT_A_PLAN_IS), path.parent)
    return _read(plan, folder or Path())


def _read(value: Any, folder: Path) -> TablePlan:
    if not isinstance(value, Mapping):
        what = f"a plan is a file, a mapping or a TablePlan, and this is {kind_of(value)}."
        raise PlanError(what, WHAT_A_PLAN_IS, "no-plan")
    if ("privacy" in value and "dimensions" not in value) or (
        "data" in value and not {"table", "tables"} & value.keys()
    ):
        raise PlanError(
            "this is the plan of rows, not of a table.",
            "Rows are released by: sfumato anonymize PLAN --out FOLDER, and judged by: sfumato verify.",
            "of-rows",
        )
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


def table_plan_schema() -> Schema:
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
        entries["attackers"] = Attackers(respondents=insiders, holdings=insiders, persons=insiders)
    return TablePlan(**entries)


def _encode(entries: dict[str, Any], encoding: str) -> None:
    """Use the encoding of the table for hierarchies without their own."""

    def encoded(dimensions: Mapping[str, Dimension]) -> dict[str, Dimension]:
        return {name: replace(one, encoding=one.encoding or encoding) for name, one in dimensions.items()}

    entries["dimensions"] = encoded(entries.get("dimensions", {}))
    crossings = entries.get("tables", ())
    entries["tables"] = tuple(replace(one, dimensions=encoded(one.dimensions)) for one in crossings)


_PQ = record_of(rules.PriorPosterior)
RULES: dict[str, Record[Any]] = {
    **{kind.name: record_of(kind) for kind in (rules.Range, rules.Frequency, rules.ZeroUnsafe, rules.Dominance)},
    "p-percent": replace(_PQ, keys={name: key for name, key in _PQ.keys.items() if name != "q"}),
    "pq": replace(_PQ, keys={**_PQ.keys, "q": replace(_PQ.keys["q"], required=True)}),
    GroupDisclosure.name: record_of(GroupDisclosure),
    **{kind.name: record_of(kind) for kind in (rules.Holdings, rules.Request, rules.StatusColumn, rules.Waiver)},
}
TABLE = record_of(TableSource, "where the cells are")
# Keys of a table that name files, or columns of the microdata.
FILE_KEYS = ("source", "metadata", "microdata", "weight", "holding", "cells", "relations")
CROSSING = record_of(Crossing)
_OPTIONS = record_of(MethodChoice).keys
# `funktion` is the legacy name of `tie_break`, `singletons` the handbook's word for `insiders`.
METHOD = Record(
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
ATTACKERS = record_of(Attackers, "who attacks")
_OUTPUT = record_of(Output, "what the published table looks like")
_MASKING = replace(METHOD, keys={name: key for name, key in METHOD.keys.items() if name != "name"})
METHODS: dict[str, Record[Any]] = {
    **{name: replace(_MASKING, make=partial(MethodChoice, name=name)) for name in get_args(Method)},
    **PERTURBATIONS,
}
# Either the name alone, or a mapping with options.
_BY_NAME = Conversion(Choice((*get_args(Method), "cell-key", "adjustment")), lambda name: METHODS[name].make())
_METHOD = Either((((str,), _BY_NAME), ((Mapping,), Tagged("name", METHODS))), "how the table is made safe")
PLAN = Record(
    {
        "version": Key(Integer(1, 1, "of the language of plans"), True),
        "table": Key(TABLE, True),
        "dimensions": Key(MapOf(DIMENSION, about="the dimensions of the table by their names")),
        "tables": Key(ListOf(CROSSING, 1, "tables that are protected together")),
        "previous": Key(ListOf(FilePath(), 1, "release folders of what was published before")),
        "primary": Key(ListOf(Tagged("rule", RULES), about="the sensitivity rules")),
        "method": Key(_METHOD),
        "protection": Key(PROTECTION),
        "attacker": Key(ATTACKER),
        "attackers": Key(ATTACKERS),
        "output": Key(_OUTPUT),
        "release": Key(RELEASE),
        "columns": _OUTPUT.keys["columns"],
        "language": _OUTPUT.keys["language"],
    },
    _make_plan,
)
