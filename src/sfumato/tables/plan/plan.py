"""The plan of a table: where its cells are, which are unsafe, how they are masked and what is promised."""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import DecimalMark, Dialect, encoding_of
from sfumato.errors import PlanError
from sfumato.shapes.files import load
from sfumato.shapes.records import Note, record_of
from sfumato.shapes.release_plan import RELEASE, ReleasePlan
from sfumato.shapes.shapes import (
    Choice,
    Conversion,
    Either,
    Integer,
    Key,
    ListOf,
    MapOf,
    Record,
    Scalar,
    Schema,
    Tagged,
    Text,
    read,
)
from sfumato.tables.plan import rules
from sfumato.tables.plan.group_disclosure import GroupDisclosure
from sfumato.tables.plan.output import MASKED_FILES, Output
from sfumato.tables.plan.perturbation import PERTURBATIONS, UNRULED, Perturbation, Rounding, check_design

Method = Literal["intervals", "optimal", "fast", "ranges"]
Texts = tuple[str, ...]
Positive = Annotated[float | None, Note(minimum=0)]


# Names that lead out of no folder.
_PLAIN = re.compile(r"(?!\.)[\w .()+×-]{1,100}(?<![ .])")
# The column with how many records were counted, weighted where they have weights.
COUNT = "count"
_STEP = "smallest difference of two values; the last decimal by default"
_DECIMAL = "the decimal mark of its files, a point unless given; to be given where counts may have it between thousands"
_ENCODING = "of its files, hierarchies too; UTF-8 unless given, for office files and hierarchies else Windows-1252"
_HOLDING = "column of the microdata: which holding, or whoever attacks as one, a record belongs to"


@dataclass(frozen=True, slots=True)
class TableSource:
    """Where the cells are and what their columns mean."""

    source: Annotated[str | None, Note("file with one row for each cell")] = None
    value: Annotated[str, Note("column with the values")] = "value"
    group_by: Annotated[Texts, Note("columns whose values each make a table of their own")] = ()
    separator: Annotated[str | None, Note("of its files; found out unless given")] = None
    decimal: Annotated[DecimalMark | None, Note(_DECIMAL)] = None
    encoding: Annotated[str | None, Note(_ENCODING)] = None
    frequency: Annotated[str | None, Note("column with the number of respondents")] = None
    contributions: Annotated[Texts, Note("columns with the largest contributions, largest first")] = ()
    respondents: Annotated[Texts, Note("the same of single respondents, where contributions are of holdings")] = ()
    shadow: Annotated[str | None, Note("column with what the contributions add up to, where not to the value")] = None
    contributors: Annotated[Texts, Note("columns with who they are of: the same holding everywhere")] = ()
    holdings: Annotated[str | None, Note("column with the number of holdings")] = None
    tolerance: Annotated[float, Note("largest difference of a total that is rounding", minimum=0)] = 0.0
    step: Annotated[float | None, Note(_STEP, minimum=1e-9)] = None
    microdata: Annotated[str | None, Note("file with one row for each record, instead of source")] = None
    weight: Annotated[str | None, Note("column of the microdata: how many respondents a record stands for")] = None
    holding: Annotated[str | None, Note(_HOLDING)] = None
    metadata: Annotated[str | None, Note("metadata (.rda) of a .tab file; those of its name by default")] = None
    cells: Annotated[str | None, Note("file: id, value, status, cost, lb, ub, lpl, upl")] = None
    relations: Annotated[str | None, Note("file: relation, cell_id, coef")] = None

    def __post_init__(self) -> None:
        if (self.cells is None) != (self.relations is None):
            raise ValueError("cells and relations go together.")
        if self.contributors and len(self.contributors) != len(self.contributions):
            raise ValueError("contributors are who the contributions are of: give one column for each.")
        if self.cells is not None and (self.source is not None or self.group_by):
            raise ValueError("a table given by cells and relations has no source and no group_by.")

    @property
    def dialect(self) -> Dialect:
        """How its files are written."""
        return Dialect(self.separator, decimal=self.decimal or ".", encoding=self.encoding or Dialect().encoding)

    @property
    def counts(self) -> bool:
        """Whether the values are counts of respondents: nothing else says how many there are."""
        return self.frequency is None and not self.contributions


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension: level columns from the top down, or one column, flat or with a hierarchy file."""

    levels: Annotated[Texts, Note("level columns from the top down", at_least=1)] = ()
    column: Annotated[str | None, Note("the column with the codes, instead of levels")] = None
    hierarchy: Annotated[str | None, Note("file: .hrc, or child,parent")] = None
    total: Annotated[str, Scalar("the code of the total")] = "Total"
    encoding: Annotated[str | None, Note("of the hierarchy's file; the table's unless given")] = None
    series: Annotated[bool, Note("whether later releases add codes, so that each has a total of its own")] = False

    def __post_init__(self) -> None:
        if bool(self.levels) == (self.column is not None):
            raise ValueError("give either levels or column.")
        if self.hierarchy is not None and self.column is None:
            raise ValueError("a hierarchy goes with a column.")

    def placed(self, folder: Path) -> "Dimension":
        """The same dimension, its hierarchy found from a folder; placed twice it is found from the first."""
        return self if self.hierarchy is None else replace(self, hierarchy=str(folder.absolute() / self.hierarchy))


DIMENSION = record_of(Dimension)


@dataclass(frozen=True, slots=True)
class Crossing:
    """One of several tables that are protected together; microdata need no source."""

    name: Annotated[str, Note("of the table, and of its folder")]
    dimensions: Annotated[Mapping[str, Dimension], MapOf(DIMENSION, 1, "its dimensions by their names")]
    source: Annotated[str | None, Note("file with the cells")] = None
    base: Annotated[float | None, Note("base of rounding, instead of the method's", minimum=1e-9)] = None

    def __post_init__(self) -> None:
        if not _PLAIN.fullmatch(self.name):
            raise ValueError("the name of a table must do for a folder: letters, digits, dots, hyphens, spaces.")


def _named_twice(dimensions: Mapping[str, Dimension]) -> str | None:
    """The first column that stands in two dimensions of a table."""
    names = [name for own in dimensions.values() for name in (own.levels or (own.column or "",))]
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """How cells are masked.

    Attributes:
        name: The method.
        cost: What masking a cell costs: a known measure, or the name of a column.
        level_factor: A cell is dearer by this factor for each level above the finest.
        time_limit: Seconds for the search.
        prefer: Which candidate `intervals` prefers.
        repair: Whether `intervals` mends what its audit finds.
        insiders: Whether anyone but the outsider attacks; short for all of `attackers`.
        zeros: Whether cells of value 0 may be masked.
    """

    name: Method = "optimal"
    cost: Annotated[str, Note("unit, value, frequency, log, or the name of a column")] = "value"
    level_factor: Annotated[float, Note(minimum=1)] = 1.0
    time_limit: Annotated[float, Note("seconds", minimum=0.1)] = 60.0
    prefer: Literal["min", "max"] = "max"
    repair: bool = True
    insiders: bool | None = None
    zeros: Annotated[bool, Note("whether cells of value 0 may be masked")] = False

    @property
    def faithful(self) -> bool:
        """Whether the original's answer is wanted as it is, faults included."""
        return self.name == "intervals" and not self.repair


@dataclass(frozen=True, slots=True)
class Protection:
    """How far the range of an unsafe cell must reach: absolute, or in percent of its value."""

    lower: Annotated[float | None, Note("below the value", minimum=0)] = None
    upper: Annotated[float | None, Note("above the value", minimum=0)] = None
    percent: Annotated[float | None, Note("of the value, to each side", minimum=0)] = None

    def __post_init__(self) -> None:
        if (self.percent is None) == (self.lower is None and self.upper is None):
            raise ValueError("give either percent, or lower and upper.")


@dataclass(frozen=True, slots=True)
class AttackerModel:
    """What anyone is assumed to know besides what is published.

    Attributes:
        lower: The least value that a cell can have.
        upper: The greatest.
        integer: Whether all values are known to be whole.
        rule: Whether it is known which masked cells are primary (the case column is handed out, say), so that the
            rules tell between which values they lie and above which the others do.
    """

    lower: float | None = None
    upper: float | None = None
    integer: bool = False
    rule: bool = False


@dataclass(frozen=True, slots=True)
class Attackers:
    """Who attacks: by default everyone that the table tells of.

    Attributes:
        outsider: Anyone who reads the table; whoever else attacks knows all that he knows.
        respondents: Every single respondent of a cell, where the table tells their number.
        holdings: Every holding, with all cells in which it is alone and its part of the others.
        persons: In tables of counts, the one person of a cell of 1.
        coalition: So many of them who tell each other what they know.
    """

    outsider: Annotated[bool, Note("anyone who reads the table")] = True
    respondents: Annotated[bool, Note("the only respondent of a cell")] = True
    holdings: Annotated[bool, Note("every holding, with all its cells")] = True
    persons: Annotated[bool, Note("the one person of a count of 1")] = True
    coalition: Annotated[int, Note("how many tell each other what they know", minimum=1, maximum=3)] = 1

    def __post_init__(self) -> None:
        if not self.outsider:
            raise ValueError("the outsider cannot be switched off: whoever else attacks knows all that he knows.")


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A whole plan; `folder` is where its relative paths start, `plain` what was read."""

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
    previous: tuple[str, ...] = ()
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
        if twice := next(filter(None, map(_named_twice, crossed)), None):
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
            raise ValueError("primary rules are missing: nothing says which cells are unsafe.")

    def _unfit_files(self) -> list[str]:
        """Files that tell of masks and of their protection, where numbers are changed instead."""
        if self.perturbation is None:
            return []
        rounded = isinstance(self.perturbation, Rounding)
        return [kind for kind in self.output.files if kind in MASKED_FILES or (kind == "sbs" and not rounded)]

    @property
    def alone(self) -> bool:
        """Whether the plan is of one table of cells, and of nothing that was published before."""
        return not self.tables and not self.previous and self.table.microdata is None


def read_table_plan(plan: "str | Path | Mapping[str, Any] | TablePlan", folder: Path | None = None) -> TablePlan:
    """A plan from a file or a mapping; paths in it are relative to the file, or to `folder`.

    Raises:
        PlanError: The plan is not one; all its faults are listed.

    >>> plan = read_table_plan({"version": 1, "table": {"value": "n"}, "dimensions": {"area": {"column": "area"}},
    ...     "primary": [{"rule": "range", "min": 1, "max": 3}]})
    >>> plan.method.name
    'optimal'
    """
    if isinstance(plan, TablePlan):
        return plan
    if isinstance(plan, str | Path):
        path = Path(plan)
        return _read(load(path), path.parent)
    return _read(plan, folder or Path())


def _read(value: Any, folder: Path) -> TablePlan:
    if not isinstance(value, Mapping):
        raise PlanError("the plan must be a mapping.", code="faults")
    if {"data", "privacy"} & value.keys() and not {"table", "tables"} & value.keys():
        raise PlanError(
            "this is the plan of rows, not of a table.",
            "Rows are released by: sfumato anonymize PLAN --out FOLDER, and judged by: sfumato verify.",
            "of-rows",
        )
    check_design(value.get("method"))
    return replace(read(PLAN, value), folder=folder, plain=dict(value))


def table_plan_schema() -> Schema:
    """The JSON Schema of a table plan."""
    schema = PLAN.schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Sfumato table plan"} | schema


def _make_plan(**entries: Any) -> TablePlan:
    """Columns and language may stand at the top, for they are asked for so often."""
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
    """Hierarchies are in the encoding of their table unless it is said otherwise."""

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
# `funktion` is the original's word for `prefer`, `singletons` the field's for `insiders`.
METHOD = Record(
    {
        "funktion": _OPTIONS["prefer"],
        "singletons": _OPTIONS["insiders"],
        **_OPTIONS,
        "name": replace(_OPTIONS["name"], required=True),
    },
    MethodChoice,
)
PROTECTION = record_of(Protection, "how far the range of an unsafe cell must reach")
ATTACKER = record_of(AttackerModel, "what anyone is taken to know")
ATTACKERS = record_of(Attackers, "who attacks")
_OUTPUT = record_of(Output, "what the published table looks like")
_MASKING = replace(METHOD, keys={name: key for name, key in METHOD.keys.items() if name != "name"})
METHODS: dict[str, Record[Any]] = {
    **{name: replace(_MASKING, make=partial(MethodChoice, name=name)) for name in get_args(Method)},
    **PERTURBATIONS,
}
# By its name alone, or with its options.
_BY_NAME = Conversion(Choice((*get_args(Method), "cell-key", "adjustment")), lambda name: METHODS[name].make())
_METHOD = Either((((str,), _BY_NAME), ((Mapping,), Tagged("name", METHODS))), "how the table is made safe")
PLAN = Record(
    {
        "version": Key(Integer(1, 1, "of the language of plans"), True),
        "table": Key(TABLE, True),
        "dimensions": Key(MapOf(DIMENSION, about="the dimensions of the table by their names")),
        "tables": Key(ListOf(CROSSING, 1, "tables that are protected together")),
        "previous": Key(ListOf(Text(), 1, "release folders of what was published before")),
        "primary": Key(ListOf(Tagged("rule", RULES), about="which cells are unsafe by themselves")),
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
