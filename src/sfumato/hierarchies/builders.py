"""Python functions that build hierarchies, one per type; arguments are checked immediately."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from sfumato.errors import PlanError
from sfumato.hierarchies.dates import LEVELS, Dates
from sfumato.hierarchies.intervals import Intervals, NumberKind
from sfumato.hierarchies.lists import CharacterMasking, HierarchyFile, Order, Side, SuppressAll, Tree
from sfumato.localization.messages import Message, message_of
from sfumato.schema.paths import PlanPath
from sfumato.schema.typed_parts import read_fields

DateLevel = Literal[
    "day", "half-month", "month", "quarter", "half-year", "year", "decade", "century", "millennium", "any"
]
Branch = str | Sequence[str] | Mapping[str, "Branch"]


@contextmanager
def _checked(kind: str) -> Iterator[None]:
    """Within this context, contradictory parameters of a hierarchy become issues of the plan."""
    try:
        yield
    except TypeError:
        raise PlanError("hierarchy.parameter_kind", name=kind, kind=kind) from None
    except ValueError as error:
        raise PlanError(
            "hierarchy",
            message=Message("place_in_plan", path=kind, message=message_of(error)),
            hint=Message("hint.see_docs_hierarchies_md", kind=kind),
        ) from None


def suppress_all(*values: str) -> SuppressAll:
    """Return a hierarchy of two levels: the value itself, and `*`.

    Args:
        values: The domain in its order, if it is fixed; else the values of the data.
    """
    with _checked("suppress_all"):
        return read_fields(SuppressAll(values or None))


def intervals(
    *widths: float,
    start: float | None = None,
    end: float | None = None,
    bounds: Sequence[Sequence[float]] = (),
    bottom: float | None = None,
    top: float | None = None,
    numbers: NumberKind | None = None,
) -> Intervals:
    """Numbers in intervals of growing width.

    Args:
        widths: The width of the intervals at each level.
        start: The lowest value; by default that of the data, lowered to a multiple of the widest width.
        end: The highest value; by default that of the data, raised to a multiple of the widest width.
        bounds: Instead of widths: the starts of intervals, for each level.
        bottom: Bottom coding limit; values below it are published as `<bottom`.
        top: Top coding limit; values above it are published as `>top`.
        numbers: Whether values are integers or decimals; by default inferred from the parameters.

    >>> intervals(5, 10, start=0, end=99).fit(["37"]).hierarchy.published("37", 2)
    '30-39'
    """
    with _checked("intervals"):
        cuts = tuple(tuple(level) for level in bounds)
        return read_fields(Intervals(start, end, widths, cuts, bottom, top, numbers))


def digits(length: int | None = None, *, side: Side = "right", shown: Sequence[int] = ()) -> CharacterMasking:
    """Replace the characters of a code by stars, one per level.

    Args:
        length: The number of characters; values of another length are refused. By default that of the longest value.
        side: The end at which characters are replaced by stars first.
        shown: The number of characters shown at each level, in decreasing order.
    """
    with _checked("digits"):
        return read_fields(CharacterMasking(length, side, shown=tuple(shown)))


def dates(format: str = "%Y-%m-%d", *levels: DateLevel, formats: Sequence[str] = ()) -> Dates:
    """Return a hierarchy of dates: days, months, quarters, years and so on.

    Args:
        format: The format of the dates (strptime).
        levels: The requested levels, from fine to coarse; by default all that the format supports.
        formats: Further formats of some dates.
    """
    unknown = [level for level in levels if level not in LEVELS]
    if unknown:
        raise PlanError(
            "hierarchy.dates_is_no_level", hint=Message("hint.valid", names=", ".join(LEVELS)), name=unknown[0]
        )
    with _checked("dates"):
        return read_fields(Dates(format, tuple(levels), tuple(formats)))


def order(*groups: int, size: int | None = None, values: Sequence[str] | None = None) -> Order:
    """Return groups of neighbors in the order of the values, larger at each level.

    Args:
        groups: The group size at each level.
        size: Instead of groups: the group size at the first level, its square at the second, until one group is left.
        values: The domain in its order; the data's by number or text by default.
    """
    with _checked("order"):
        return read_fields(Order(groups, size, None if values is None else tuple(values)))


def tree(branches: Mapping[str, Branch]) -> Tree:
    """Return a tree that gives each value a parent, up to the root.

    Args:
        branches: The parent of each child, or the children of each parent, nested to any depth.

    >>> tree({"NRW": ["Bonn", "Köln"], "BW": ["Ulm"]}).parents
    {'Bonn': 'NRW', 'Köln': 'NRW', 'Ulm': 'BW'}
    """
    with _checked("tree"):
        return read_fields(Tree(dict(_parents(branches))))


def _parents(branches: Mapping[str, Branch]) -> Iterator[tuple[str, str]]:
    for name, below in branches.items():
        if isinstance(below, str):
            yield name, below
            continue
        yield from ((child, name) for child in below)
        if isinstance(below, Mapping):
            yield from _parents(below)


def hierarchy_file(path: str | Path, separator: str = ";") -> HierarchyFile:
    """Return a hierarchy from a CSV file: value;level 1;level 2;…, no header."""
    with _checked("hierarchy_file"):
        return read_fields(HierarchyFile(PlanPath(path), separator))
