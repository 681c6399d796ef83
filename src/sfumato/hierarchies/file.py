"""The hierarchy `file`: a CSV file with one row per value and one column per level (the layout of ARX)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self

from sfumato.dataclass import dataclass
from sfumato.delimited.dialect import DecimalMark, Dialect
from sfumato.delimited.records import read_lines
from sfumato.errors import DataError, EngineError, PlanError
from sfumato.hierarchies.explicit_domains import outside
from sfumato.hierarchies.hierarchy import BoundHierarchy, Hierarchy, make_hierarchy
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.schema.paths import PlanPath

_Row = tuple[int, list[str]]


@dataclass(frozen=True, slots=True)
class HierarchyFile:
    """A hierarchy read from a file: values in the order of the file; `*` is added as a last level if missing.

    The file has no header, is UTF-8, and may quote with `"`. Values of the data that it lacks are rejected.

    Attributes:
        path: The file.
        separator: The column separator.
    """

    path: Annotated[PlanPath, KeyInfo("The file, relative to the plan: value;level 1;level 2;…, no header.")]
    separator: Annotated[str, KeyInfo("Separator of the columns, ; unless given.")] = ";"
    decimal: Annotated[DecimalMark, KeyInfo("The decimal mark of its numbers, a point unless given.")] = "."

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or self.separator in '"\r\n':
            raise ValueError(Message("error.value.one_sign"))

    @property
    def is_rule_based(self) -> bool:
        return True

    def resolve_paths(self, folder: Path) -> Self:
        """Return the hierarchy with its path resolved from a folder."""
        return replace(self, path=self.path.located(folder))

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy in the file.

        Raises:
            PlanError: The file cannot be read, is empty, ragged, has a duplicate value or splits what it had merged.
        """
        ladder = self._ladder(self._rows())
        return BoundHierarchy(ladder, outside(values, {*ladder.values}))

    def _ladder(self, rows: list[_Row]) -> Hierarchy:
        columns = list(zip(*(row for _, row in rows), strict=True))
        try:
            return make_hierarchy(columns[0], columns[1:])
        except PlanError as error:
            parted = set(error.values)
            lines = [line for line, row in rows if row[0] in parted]
            raise self._fault(f"{error.message} {_lines(lines)}", error.hint, "not-monotone", error.values) from None

    def _rows(self) -> list[_Row]:
        try:
            lines = read_lines(self.path.within(Path()), Dialect(self.separator, decimal=self.decimal))
        except (DataError, EngineError) as error:
            raise self._fault(error.message, error.hint, error.code.partition(".")[2]) from None
        rows = [(line.number, line.fields) for line in lines]
        if not rows:
            raise self._fault(Message("reason.empty"), Message("error.part.row_value"), "empty")
        self._check_twice(rows)
        return rows

    def _check_twice(self, rows: list[_Row]) -> None:
        seen: set[str] = set()
        twice = [(line, row[0]) for line, row in rows if row[0] in seen or seen.add(row[0])]  # type: ignore[func-returns-value]
        if twice:
            what = f"duplicate value: {_lines([line for line, _ in twice])}"
            raise self._fault(what, Message("error.part.keep_one"), "duplicate", [value for _, value in twice])

    def _fault(self, what: str, do: str, code: str, values: Sequence[str | None] = ()) -> PlanError:
        name = Path(self.path).name
        message = Message("error.part.hierarchy_file", name=name, message=what)
        return PlanError(f"hierarchy-{code}", message=message, hint=do).about(values=values)


def _lines(lines: Sequence[int]) -> str:
    """Return the numbers of the first few lines as text.

    >>> _lines([2, 7])
    '(lines 2, 7).'
    """
    more = ", …" if len(lines) > 5 else ""
    return f"({'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines[:5]))}{more})."
