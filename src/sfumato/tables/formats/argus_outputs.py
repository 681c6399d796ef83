"""Write tables in the output formats of τ-ARGUS: CSV, pivot CSV, code-value, SBS, intermediate, JJ, cell key."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from sfumato.errors import InternalError, PlanError
from sfumato.localization.messages import Message
from sfumato.tables.argus.office_table import ArgusStatus, ArgusTable, flag_of, masked_of
from sfumato.tables.cells.system import Bounds, Numbers
from sfumato.tables.cells.table_part import code_ranks, in_code_order
from sfumato.tables.formats.solver_file import jj_text, plain
from sfumato.values import Value, replace

# Options of WRITETABLE, and their defaults.
OPTIONS = {
    **{"AS": False, "FL": False, "QU": True, "SE": False, "HL": False, "SO": False},
    **{"AR": False, "HI": False, "TR": False, "AO": False, "AD": False, "AC": False},
}
NAMES = {1: "CSV", 2: "pivot CSV", 3: "code-value", 4: "SBS", 5: "intermediate", 6: "JJ", 7: "cell key"}
SBS = 4
# Kinds that contain everything known about cells, for further processing; internal.
HOUSE = (5, 6)
MASK = "x"


class Protected(Value):
    """A table and the result of a method.

    Attributes:
        table: The table, with the statuses that the method assigned.
        method: The kind of method: `masks` (suppression), `rounding`, `adjustment`, `cell-key`, or empty.
        published: The published numbers, if they were perturbed.
        ranges: The feasibility intervals of suppressed cells, lower and upper ends, if computed.
        notes: Notes about the result.
        warnings: Warnings about the result.
        reader: The feasibility interval of each cell of a perturbed table.
        linked: Number of the joint suppression run that the table was part of; 0 if it was protected alone.
        attacked: Whether the audit covered the table together with the other tables; otherwise nothing is guaranteed.
    """

    table: ArgusTable
    method: str = ""
    published: Numbers | None = None
    ranges: tuple[Numbers, Numbers] | None = None
    notes: tuple[Message, ...] = ()
    warnings: tuple[Message, ...] = ()
    reader: Bounds | None = None
    linked: int = 0
    attacked: bool = True

    @property
    def counts(self) -> bool:
        """Whether the values of the table are its numbers of respondents."""
        return self.table.frequency is not None and np.array_equal(self.table.frequency, self.table.values)

    def in_order(self) -> "Protected":
        """Return the same with cells and codes in published order; their original order may follow the values."""
        cells = np.array(_office_order(self.table), np.int64)
        return replace(
            self,
            table=_office_in_order(self.table),
            published=None if self.published is None else self.published[cells],
            ranges=None if self.ranges is None else (self.ranges[0][cells], self.ranges[1][cells]),
            reader=None if self.reader is None else self.reader.rows(cells),
        )


Written = TypeVar("Written")


def written_without_hidden(done: Protected, write: Callable[[Protected], Written]) -> Written:
    """Return what is written of a table for publication, after checking that it does not depend on suppressed
    values.

    Raises:
        InternalError: The text depends on suppressed values.
    """
    hidden = masked_of(done.table.statuses) if done.published is None else np.ones(len(done.table), bool)
    values = done.table.values + hidden
    frequency = values if done.counts else done.table.frequency
    written = write(done)
    if write(replace(done, table=done.table.with_columns(values=values, frequency=frequency))) != written:
        raise InternalError("handed-out.file_hand_out_depends")
    return written


def check_output(kind: int, method: str) -> None:
    """Refuse a kind of file that does not fit the method."""
    if kind not in NAMES:
        raise PlanError("output.there_is_no_output", name=kind)
    changed = method in ("adjustment", "cell-key")
    if (kind in (4, 5) and changed) or (kind == 6 and method == "rounding") or (kind == 7 and method != "cell-key"):
        way = method or Message("phrase.no_protection")
        raise PlanError("output.output_does_not_go", kind=kind, name=NAMES[kind], method=way)


def house_reason(done: Protected, kind: int, options: dict[str, bool]) -> Message | None:
    """Return why a file is internal: it contains true values, or shows which cells are sensitive; None for
    most kinds.

    With the perturbation table and a cell's key, the true count follows from the published one.
    """
    chosen = {**OPTIONS, **options}
    if kind == 6 or (kind == 5 and not chosen["SO"]) or (kind == 7 and (chosen["AO"] or chosen["AD"])):
        return Message("phrase.true_values")
    if kind == 7 and chosen["AC"]:
        return Message("phrase.cell_keys")
    flagged = kind == 4 and not (done.published is not None and done.counts)
    told = flagged or kind == 5 or (kind in (2, 3) and chosen["AS"])
    return Message("phrase.sensitivity") if told else None


def shown_counts(done: Protected, kind: int) -> Protected | None:
    """Return the table of respondents that an SBS file contains in addition; None for other kinds and for counts."""
    table, counts = done.table, done.table.frequency
    if kind != SBS or done.counts or counts is None:
        return None
    statuses = np.where(counts > 0, int(ArgusStatus.SAFE), int(ArgusStatus.EMPTY)).astype(np.int64)
    bare = {"lower": None, "upper": None, "costs": None, "largest": (), "finer": None}
    return Protected(table.with_columns(value="Freq", values=counts, statuses=statuses, **bare))


def output_text(done: Protected, kind: int, options: dict[str, bool]) -> str:
    """Return the text of a file.

    Args:
        kind: 1 to 7.
        options: Which options are on, by their two letters.

    Raises:
        PlanError: The kind does not fit the method.
    """
    check_output(kind, done.method)
    done = done.in_order()
    chosen = {**OPTIONS, "FL": kind == 2, **options}
    writers = {1: _crosstab, 2: _records, 3: _records, 4: _sbs, 5: _intermediate, 7: _cell_key}
    if kind == 6:
        return jj_text(done.table)
    return "".join(line + "\n" for line in writers[kind](done, chosen))


def _cells(done: Protected, options: dict[str, bool]) -> list[int]:
    """Return the cells that are written: all, or without empty ones."""
    empty = done.table.statuses == ArgusStatus.EMPTY
    return [cell for cell in range(len(done.table)) if not (options["SE"] and empty[cell])]


def _quote(text: str, options: dict[str, bool], separator: str = ",") -> str:
    """Return a field, in quotes if requested or needed, with inner quotes doubled."""
    needed = options["QU"] or any(sign in text for sign in (separator, '"', "\r", "\n"))
    return '"' + text.replace('"', '""') + '"' if needed else text


def shown(done: Protected, cell: int) -> str:
    """Return the published text of a cell: its number, or the suppression mark."""
    if done.published is not None:
        return MASK if np.isnan(done.published[cell]) else plain(done.published[cell])
    return MASK if masked_of(done.table.statuses[[cell]])[0] else plain(done.table.values[cell])


def _records(done: Protected, options: dict[str, bool]) -> list[str]:
    table = done.table
    status = options["AS"]
    lines = []
    if options["FL"]:
        suffix = {"rounding": "_Round", "adjustment": "_CTA", "cell-key": "_CKM"}.get(done.method, "")
        names = [*(tree.name for tree in table.trees), table.value + suffix, *(["Status"] if status else [])]
        lines.append(",".join(_quote(name, options) for name in names))
    for cell in _cells(done, options):
        codes = [_quote(code, options) for code in table.codes(cell)]
        more = [str(int(table.statuses[cell]))] if status else []
        lines.append(",".join([*codes, shown(done, cell), *more]))
    return lines


def _crosstab(done: Protected, options: dict[str, bool]) -> list[str]:
    """Return lines with the last variable across, the one before it down; one block per combination of the others."""
    table = done.table
    places = {key: place for place, key in enumerate(table.keys)}
    *rest, across = table.trees
    columns = [across.root, *across.parents]
    down = rest[-1] if rest else None
    rows = [down.root, *down.parents] if down else [None]
    others = list(dict.fromkeys(key[: len(rest) - 1] for key in table.keys)) if len(rest) > 1 else [()]
    lines = []
    for other in others:
        if other:
            lines.append(
                ",".join(_quote(f"{tree.name}: {code[0]}", options) for tree, code in zip(rest, other, strict=False))
            )
        corner = f"{down.name if down else ''} {across.name}".strip()
        lines.append(",".join(_quote(text, options) for text in [corner, *(code[0] for code in columns)]))
        for row in rows:
            keys = [(*other, *([row] if row is not None else []), column) for column in columns]
            texts = [shown(done, places[key]) if key in places else "-" for key in keys]
            lines.append(",".join([_quote(row[0] if row else table.value, options), *texts]))
    return lines


def _sbs(done: Protected, options: dict[str, bool]) -> list[str]:
    """Return codes, value, frequency, flag and dominance, separated by semicolons; levels of the hierarchy with HL."""
    table = done.table
    lines = []
    for cell in _cells(done, {**options, "SE": True}):
        levels = [str(tree.height(code)) for tree, code in zip(table.trees, table.keys[cell], strict=True)]
        flag = flag_of(int(table.statuses[cell])) if done.published is None else "V"
        value = shown(done, cell) if flag == "V" else ""
        # The respondents of a count are the count itself, so both columns hide or perturb it.
        frequency = value if done.counts else "" if table.frequency is None else plain(table.frequency[cell])
        codes = [_quote(code, {"QU": False}, ";") for code in table.codes(cell)]
        lines.append(";".join([*(levels if options["HL"] else []), *codes, value, frequency, flag]))
    return lines


def _intermediate(done: Protected, options: dict[str, bool]) -> list[str]:
    """Return everything that is known of a cell, for further processing; with SO codes and statuses alone."""
    table = done.table
    lines = []
    for cell in _cells(done, options):
        fields = [_quote(code, options, ";") for code in table.codes(cell)]
        if not options["SO"]:
            fields.append(plain(table.values[cell]))
            fields.append("" if table.frequency is None else plain(table.frequency[cell]))
            fields += [plain(one[cell]) for one in table.largest]
            if options["HI"] and table.holdings is not None:
                fields.append(plain(table.holdings[cell]))
        fields.append(str(int(table.statuses[cell])))
        if not options["SO"]:
            fields += [
                plain((np.zeros(len(table)) if one is None else one)[cell]) for one in (table.lower, table.upper)
            ]
        if options["AR"] and done.ranges is not None:
            fields += ["" if np.isnan(end[cell]) else plain(end[cell]) for end in done.ranges]
        lines.append(";".join(fields))
    return lines


def _cell_key(done: Protected, options: dict[str, bool]) -> list[str]:
    """Return codes and published counts; with AO the original, with AD the difference, with AC the cell key."""
    table, published = done.table, done.published if done.published is not None else done.table.values
    lines = []
    for cell in _cells(done, options):
        fields = [_quote(code, options, ";") for code in table.codes(cell)] + [plain(published[cell])]
        fields += [plain(table.values[cell])] if options["AO"] else []
        fields += [plain(published[cell] - table.values[cell])] if options["AD"] else []
        fields += [str(table.cell_keys[cell])] if options["AC"] and table.cell_keys else []
        lines.append(";".join(fields))
    return lines


def _office_order(table: ArgusTable) -> list[int]:
    """Return the order in which the cells of an ArgusTable are published; without dimensions the order is kept."""
    if not table.trees:
        return list(range(len(table)))
    ranks = list(code_ranks(table.trees, table.keys))
    return sorted(range(len(table)), key=ranks.__getitem__)


def _office_in_order(table: ArgusTable) -> ArgusTable:
    """Return an ArgusTable with its cells, and the codes of its trees, in published order.

    Trees built from cells list codes in order of appearance, so they are sorted too.
    """
    if not table.trees:
        return table
    cells = table.rows(np.array(_office_order(table), np.int64))
    return cells.with_columns(trees=tuple(in_code_order(tree) for tree in table.trees))
