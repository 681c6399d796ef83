"""Hierarchy builders for texts: a tree, neighbors in order, codes with stars, a value or `*`, and a file of labels."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from functools import partial
from itertools import filterfalse, pairwise
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from sfumato.delimited.dialect import DecimalMark, Dialect
from sfumato.delimited.records import read_lines
from sfumato.errors import DataError, EngineError, Hint, PlanError
from sfumato.hierarchies.hierarchy import (
    ROOT,
    BoundHierarchy,
    Hierarchy,
    Level,
    Numbers,
    assemble,
    level_above,
    level_of_keys,
    level_of_labels,
    make_hierarchy,
    root_level,
)
from sfumato.hierarchies.types import numerals, ranks_of
from sfumato.localization.messages import Message
from sfumato.schema.composite import MapSchema, Scalar
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber
from sfumato.schema.paths import PlanPath
from sfumato.values import Value, replace


class PathFree(Value):
    """Base class of hierarchies that read no file; its name is the `type` in plans, empty if no plan can name it."""

    name: ClassVar[str] = ""

    @property
    def is_rule_based(self) -> bool:
        """Whether a value's labels depend on that value alone, so that new values get labels as well."""
        return True

    def resolve_paths(self, folder: Path) -> Self:  # noqa: ARG002
        """Return the hierarchy itself, because it has no path."""
        return self


def check_distinct(values: Sequence[str]) -> None:
    """Refuse a list with duplicate values."""
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError(Message("error.value.duplicate_values", names=", ".join(twice)))


def outside(values: Sequence[str], domain: Container[str | None]) -> tuple[str, ...]:
    """Return the values that are not in a domain.

    >>> outside(["a", "x"], {"a", "b"})
    ('x',)
    """
    return tuple(value for value in values if value not in domain)


def check_nesting(sizes: Sequence[int]) -> None:
    """Refuse group sizes that would split at one level what a lower level merged.

    Raises:
        ValueError: If a size is no multiple of the one before it.
    """
    for small, large in pairwise(sizes):
        if large % small or large == small:
            raise ValueError(Message("error.value.no_nesting", large=large, small=small))


class Tree(PathFree):
    """A map from child to parent, of any depth; a node without a parent is below `*`.

    Levels are counted from the root: at each level all labels have at most that depth. A leaf that is higher than the
    deepest repeats its own label until its depth is reached. The domain is all leaves, and those inner labels that
    occur as values in the data (a coarse code among finer ones).

    Attributes:
        parents: The parent of each child.

    >>> tree = Tree({"Bonn": "NRW", "Köln": "NRW", "Ulm": "BW"})
    >>> tree.fit(["Ulm"]).hierarchy.rows()
    [('Bonn', 'NRW', '*'), ('Köln', 'NRW', '*'), ('Ulm', 'BW', '*')]
    """

    name: ClassVar[str] = "tree"
    parents: Annotated[Mapping[str, str], MapSchema(Scalar(), at_least=1, about="The parent of each child.")]

    def __post_init__(self) -> None:
        if not self.parents:
            raise ValueError(Message("error.value.no_child"))
        if ROOT in self.parents:
            raise ValueError(Message("error.value.root"))
        cyclic = [child for child in self.parents if self._line(child) is None]
        if cyclic:
            raise ValueError(Message("error.value.cycle", names=", ".join(cyclic[:5])))

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of all leaves, and of the inner labels among the values."""
        inner = {*self.parents.values()} - {ROOT}
        names = dict.fromkeys((*self.parents, *self.parents.values()))
        names.pop(ROOT, None)
        present = set(values)
        domain = [name for name in names if name in present or name not in inner]
        return BoundHierarchy(make_hierarchy(domain, self._levels(domain)), outside(values, names))

    def _levels(self, domain: Sequence[str]) -> list[list[str]]:
        """Return for each depth from the one above the deepest up to the root each value's ancestor there or itself."""
        lines = [self._line(name) or () for name in domain]
        deepest = max(len(line) for line in lines)
        return [[line[min(depth, len(line) - 1)] for line in lines] for depth in range(deepest - 2, -1, -1)]

    def _line(self, name: str) -> tuple[str, ...] | None:
        """Return a name's ancestors from the root down to itself, or None if they contain a cycle."""
        line = [name]
        while (above := self.parents.get(line[-1])) is not None:
            line.append(above)
            if len(line) > len(self.parents) + 1:
                return None
        return tuple(reversed(line if line[-1] == ROOT else [*line, ROOT]))


_SIZE = "Instead of groups: neighbors per group at the first level, then its powers."
Neighbors = Annotated[int, KeyInfo(minimum=2)]


class Order(PathFree):
    """Groups of neighbors, published as `first..last`.

    Attributes:
        groups: The group size at each level, a multiple of that of the level below.
        size: Instead of groups: the group size at the first level, its square at the second, until one group is left.
        values: The domain in its order; without it, the data's values by number or, if not all are numbers, by text.

    >>> Order(size=2, values=("low", "medium", "high", "top")).fit([]).hierarchy.labels[1:]
    (('low..medium', 'high..top'), ('*',))
    """

    name: ClassVar[str] = "order"
    groups: Annotated[tuple[Neighbors, ...], KeyInfo("How many neighbors a group has at each level.", at_least=1)] = ()
    size: Annotated[int | None, KeyInfo(_SIZE, minimum=2)] = None
    values: Annotated[tuple[TextOrNumber, ...] | None, KeyInfo("The domain in its order.", at_least=1)] = None

    def __post_init__(self) -> None:
        if bool(self.groups) == bool(self.size):
            raise ValueError(Message("error.value.groups_or_size"))
        check_nesting(self.groups)
        if self.values is not None:
            check_distinct(self.values)

    @property
    def is_rule_based(self) -> bool:
        return False

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the data's values or of the fixed domain, in order."""
        if self.values is None:
            ordered, numbers = in_order(values)
            return BoundHierarchy(assemble(ordered, self._levels(ordered), numbers))
        ladder = assemble(self.values, self._levels(self.values), _ascending(self.values))
        return BoundHierarchy(ladder, outside(values, set(self.values)))

    def _levels(self, ordered: Sequence[str]) -> list[Level]:
        places = np.arange(len(ordered), dtype=np.int64)
        return [level_of_keys(places // size, partial(_label, ordered, size)) for size in self._sizes(len(ordered))]

    def _sizes(self, count: int) -> list[int]:
        if self.size is None:
            return list(self.groups)
        sizes = [self.size]
        while sizes[-1] * self.size < count:
            sizes.append(sizes[-1] * self.size)
        return sizes if sizes[0] < count else []


def _label(ordered: Sequence[str], size: int, group: int) -> str:
    first, last = ordered[group * size], ordered[min((group + 1) * size, len(ordered)) - 1]
    return first if first == last else f"{first}..{last}"


def in_order(values: Sequence[str]) -> tuple[list[str], Numbers | None]:
    """Return the values by number, with their numbers, if all are numbers; else by text.

    >>> in_order(["10", "9"])[0], in_order(["10", "9", "x"])[0]
    (['9', '10'], ['10', '9', 'x'])
    """
    texts = sorted(values)
    numbers = numerals(texts)
    if np.isnan(numbers).any() or not texts:
        return texts, None
    order = np.argsort(ranks_of(texts, numbers), kind="stable")
    return [texts[place] for place in order], numbers[order]


def _ascending(values: Sequence[str]) -> Numbers | None:
    """Return the numbers of listed values if these are ascending; any other list is no numeric scale."""
    numbers = numerals(values)
    return numbers if bool((np.diff(ranks_of(values, numbers)) > 0).all()) and not np.isnan(numbers).any() else None


class SuppressAll(PathFree):
    """Two levels: the value itself, and `*`.

    Attributes:
        values: The domain in its order, if it is fixed; else the values of the data, sorted.

    >>> SuppressAll().fit(["male", "female"]).hierarchy.labels
    (('female', 'male'), ('*',))
    """

    name: ClassVar[str] = "any"
    values: Annotated[tuple[TextOrNumber, ...] | None, KeyInfo("The domain, when it is fixed.", at_least=1)] = None

    def __post_init__(self) -> None:
        if self.values is not None:
            check_distinct(self.values)

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the data's values or of the fixed domain."""
        if self.values is None:
            return BoundHierarchy(make_hierarchy(sorted(values), []))
        return BoundHierarchy(make_hierarchy(self.values, []), outside(values, set(self.values)))


_Row = tuple[int, list[str]]


class HierarchyFile(Value):
    """A hierarchy read from a file: values in the order of the file; `*` is added as a last level if missing.

    The file has no header, is UTF-8, and may quote with `"`. Values of the data that it lacks are rejected.

    Attributes:
        path: The file.
        separator: The column separator.
    """

    name: ClassVar[str] = "file"
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
            raise self._fault(_in_lines(error.message, lines), error.hint, "not-monotone", error.values) from None

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
            what = _in_lines(Message("reason.duplicate_value"), [line for line, _ in twice])
            raise self._fault(what, Message("error.part.keep_one"), "duplicate", [value for _, value in twice])

    def _fault(self, what: Message, do: Hint, code: str, values: Sequence[str | None] = ()) -> PlanError:
        name = Path(self.path).name
        message = Message("error.part.hierarchy_file", name=name, message=what)
        return PlanError(f"hierarchy-{code}", message=message, hint=do).about(values=values)


def _in_lines(what: Message, lines: Sequence[int]) -> Message:
    """Return a message with the numbers of the first few lines.

    >>> print(_in_lines(Message("reason.duplicate_value"), [2, 7]))
    It has a duplicate value (lines 2, 7).
    """
    shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    return Message("reason.in_lines", message=what, lines=shown)


# A hierarchy has one level per character: longer texts are no codes.
MAX_LENGTH = 64
Side = Literal["right", "left"]
Shown = Annotated[int, KeyInfo(minimum=1, maximum=MAX_LENGTH)]


class CharacterMasking(PathFree):
    """One character is replaced by a star per level, until `*****` is left.

    Without a length, the longest value sets it, and shorter ones are treated as if they had stars at the missing end:
    `AB1` together with `AB123` is `AB1**` up to the level at which `AB123` becomes that, too.

    With `shown` and without a length, codes are cut to the first of its numbers, and shorter ones are rejected: with
    `shown: [5, 4]` both `27511` and `27511-1234` are `27511` at the first level.

    Attributes:
        length: The number of characters; values of another length are rejected.
        side: The end at which characters are replaced first.
        character: The masking character; the root consists of stars in any case.
        shown: The number of characters shown at each level, in decreasing order; by default one less per level.

    >>> CharacterMasking(length=5).fit(["72021"]).hierarchy.rows()
    [('72021', '7202*', '720**', '72***', '7****', '*****')]
    """

    name: ClassVar[str] = "digits"
    length: Annotated[
        int | None, KeyInfo("Characters of a code; others are rejected.", minimum=1, maximum=MAX_LENGTH)
    ] = None
    side: Annotated[Side, KeyInfo("The end at which characters vanish first.", key="from")] = "right"
    character: Annotated[str, KeyInfo("What masks a character.")] = ROOT
    shown: Annotated[tuple[Shown, ...], KeyInfo("How many characters each level shows, from many to few.")] = ()

    def __post_init__(self) -> None:
        if len(self.character) != 1:
            raise ValueError(Message("error.value.mask_sign"))
        shown = self.shown if self.length is None else (self.length, *self.shown)
        if any(high <= low for high, low in pairwise(shown)) and self.shown:
            raise ValueError(Message("error.value.fewer_signs"))

    @property
    def is_rule_based(self) -> bool:
        return self.length is not None or bool(self.shown)

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the values of the correct length, sorted by text."""
        domain = sorted(filter(self._fits, values))
        length = self.length or max(self.shown or map(len, domain), default=1) or 1
        return BoundHierarchy(assemble(domain, self._levels(domain, length)), tuple(filterfalse(self._fits, values)))

    def _fits(self, value: str) -> bool:
        if self.length is None:
            return (self.shown[0] if self.shown else 0) <= len(value) <= MAX_LENGTH
        return len(value) == self.length

    def _levels(self, values: Sequence[str], length: int) -> list[Level]:
        if length == 1 and not self.shown:
            return [root_level(len(values))]
        first, *others = self.shown or range(length - 1, 0, -1)
        levels = [level_of_labels([self._masked(length, first, value) for value in values])]
        for shown in others:
            levels.append(level_above(levels[-1], partial(self._masked, length, shown)))
        return [*levels, root_level(len(values), ROOT * length)]

    def _masked(self, length: int, shown: int, value: str) -> str:
        if self.side == "right":
            return value[:shown].ljust(length, self.character)
        return value.rjust(length, self.character)[-shown:].rjust(length, self.character)
