"""Detect columns of tables that are not linked although codes of one look like sums of codes of the other."""

import math
from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from sfumato.tables.cells.dimensions import Code
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places
from sfumato.tables.linear_programs import solve
from sfumato.tables.linked.codes import BETWEEN, columns_of, path_of
from sfumato.tables.linked.from_plan import LinkedTable
from sfumato.tables.linked.records import Chain
from sfumato.tables.linked.view import TableView
from sfumato.values import Value

# The codes of a cell in the dimensions that two tables share.
Shared = frozenset[object]
# Bits by which the numbers must carry more information than chance would.
MARGIN = 8.0
# Limits of the integer program (variables, seconds), and number of start positions kept in a run search.
MOST_CHOICES, SECONDS, MOST_STARTS = 4_000, 10.0, 200


# Among very many ways to combine codes some fit any numbers. So a match counts only if the numbers contain far more
# information than is needed to name the combination.
class CodeCells(Value):
    """Codes of a table, with the bounds of their cells, by the common codes of the tables."""

    texts: Sequence[str]
    low: Numbers
    high: Numbers

    def rows(self, places: Places) -> "CodeCells":
        """Return some of the codes."""
        return CodeCells([self.texts[place] for place in places.tolist()], self.low[places], self.high[places])

    @property
    def known(self) -> BoolArray:
        """Which cells are published."""
        return np.asarray(self.low == self.high)


def likely_parts(fine: CodeCells, coarse: CodeCells, finest: BoolArray, step: float) -> Places | None:
    """Return for each code the one of another table that it appears to be a part of; None without evidence.

    Args:
        fine: The codes.
        coarse: The codes of the other table.
        finest: Which of the common codes are not sums of others.

    >>> cells = np.array([[170.0, 901, 3], [2310, 67, 88], [4119, 333, 90], [58, 7207, 1], [94, 31, 5], [7, 75, 613]])
    >>> sums = np.array([cells[[0, 2, 5]].sum(axis=0), cells[[1, 3, 4]].sum(axis=0)])
    >>> fine, coarse = CodeCells(list("abcdef"), cells, cells), CodeCells(list("xy"), sums, sums)
    >>> likely_parts(fine, coarse, np.ones(3, bool), 1.0).tolist()
    [0, 1, 0, 1, 1, 0]
    """
    filled = np.flatnonzero((coarse.high != 0).any(axis=1))
    some = coarse.rows(filled)
    if not 2 <= len(some.texts) <= len(fine.texts):
        return None
    evidence = _bits(fine, some, finest, step) - MARGIN
    match = _Match(*_capped(fine, some), step / 2)
    for parts in match.ways(evidence):
        if match.fits(parts):
            return np.asarray(filled[parts])
    return None


def _bits(fine: CodeCells, coarse: CodeCells, finest: BoolArray, step: float) -> float:
    """Return the approximate information, in bits, that the cells carry about which code contains which."""
    size = len(coarse.texts)
    values = np.where(fine.known, fine.low, 0.0)
    evidence, seen = np.zeros(values.shape[1]), set[bytes]()
    for place, column in enumerate(values.T):
        # Repeated numbers, or a multiple of them, carry no information.
        shape = np.round(column / max(float(np.abs(column).max()), step), 6).tobytes()
        ends = min(size - 1, int(coarse.known[:, place].sum())) - int((~fine.known[:, place]).sum())
        if ends <= 0 or not column.any() or shape in seen:
            continue
        seen.add(shape)
        whole = np.round(column / step).astype(np.int64)
        spread = math.sqrt(float((whole / np.gcd.reduce(whole)) ** 2 @ np.ones(len(whole))) * (size - 1)) / size
        most = np.count_nonzero(column) * math.log2(size)
        evidence[place] = min(ends * math.log2(max(1.0, math.sqrt(2 * math.pi) * spread)), most)
    return max(float(evidence[finest].sum()), float(evidence.max(initial=0.0)))


def _capped(fine: CodeCells, coarse: CodeCells) -> tuple[CodeCells, CodeCells]:
    """Return the cells with infinite ends replaced by values beyond all possible sums."""
    ends = np.concatenate([part.ravel() for one in (fine, coarse) for part in (one.low, one.high)])
    most = float(np.abs(ends[np.isfinite(ends)]).sum()) + 1.0
    first, second = (
        CodeCells(one.texts, np.maximum(one.low, -most), np.minimum(one.high, most)) for one in (fine, coarse)
    )
    return first, second


class _Match(Value):
    """Codes, the codes that may contain them, and the tolerance of sums."""

    fine: CodeCells
    coarse: CodeCells
    slack: float

    def ways(self, evidence: float) -> Iterator[Places]:
        """Yield assignments of codes that may fit, as long as the information exceeds their number."""
        many, few = len(self.fine.texts), len(self.coarse.texts)
        if evidence > 0 and (found := self._by_beginning()) is not None:
            yield found
        if evidence > math.log2(math.comb(many + few - 1, few - 1)) + 1:
            for one, two in ((range(many), range(few)), (_sorted(self.fine), _sorted(self.coarse))):
                if (found := self._by_runs(np.array(one), np.array(two))) is not None:
                    yield found
        if (
            evidence > many * math.log2(few)
            and many * few <= MOST_CHOICES
            and (found := self._by_program()) is not None
        ):
            yield found

    def fits(self, parts: Places) -> bool:
        """Return whether each coarse code can be the sum of the codes assigned to it."""
        low, high = np.zeros_like(self.coarse.low), np.zeros_like(self.coarse.high)
        np.add.at(low, parts, self.fine.low)
        np.add.at(high, parts, self.fine.high)
        return bool(((low <= self.coarse.high + self.slack) & (high >= self.coarse.low - self.slack)).all())

    def _by_beginning(self) -> Places | None:
        """Return the assignment by longest common prefix, as for municipalities and their districts."""
        places = {text: place for place, text in enumerate(self.coarse.texts)}
        found = [
            next((places[text[:end]] for end in range(len(text) - 1, 0, -1) if text[:end] in places), -1)
            for text in self.fine.texts
        ]
        return np.array(found) if min(found) >= 0 else None

    def _by_runs(self, order: Places, units: Places) -> Places | None:
        """Return an assignment of consecutive codes to units, in the order of the units."""
        low, high = (
            np.vstack([np.zeros(part.shape[1]), part[order].cumsum(axis=0)]) for part in (self.fine.low, self.fine.high)
        )
        before: list[dict[int, int]] = [{0: 0}]
        for unit in units.tolist():
            ends = dict[int, int]()
            for start in sorted(before[-1])[:MOST_STARTS]:
                inside = (low[start:] - low[start] <= self.coarse.high[unit] + self.slack).all(axis=1)
                inside &= (high[start:] - high[start] >= self.coarse.low[unit] - self.slack).all(axis=1)
                ends.update({start + int(more): start for more in np.flatnonzero(inside)})
            before.append(ends)
        end, parts = len(order), np.zeros(len(order), np.int64)
        if end not in before[-1]:
            return None
        for unit, ends in zip(units[::-1].tolist(), before[:0:-1], strict=True):
            parts[order[ends[end] : end]] = unit
            end = ends[end]
        return parts

    def _by_program(self) -> Places | None:
        """Return any assignment of codes to units, by an integer program."""
        from scipy.sparse import csr_matrix, eye, kron, vstack

        many, few = len(self.fine.texts), len(self.coarse.texts)
        units = eye(few)
        once = kron(csr_matrix(np.ones((1, few))), eye(many))
        matrix = vstack([once, kron(units, csr_matrix(self.fine.low.T)), kron(units, csr_matrix(self.fine.high.T))])
        most, least = self.coarse.high.ravel() + self.slack, self.coarse.low.ravel() - self.slack
        endless = np.full(len(most), np.inf)
        sides = Bounds(np.concatenate([np.ones(many), -endless, least]), np.concatenate([np.ones(many), most, endless]))
        size = many * few
        bounds = Bounds(np.zeros(size), np.ones(size))
        answer = solve(matrix.tocsr(), np.zeros(size), bounds, sides, np.ones(size, bool), SECONDS)
        if answer.outcome not in ("proved", "feasible"):
            return None
        return np.asarray(answer.point.reshape(few, many).argmax(axis=0))


def _sorted(codes: CodeCells) -> list[int]:
    return sorted(range(len(codes.texts)), key=lambda place: codes.texts[place])


class LikelyLink(Value):
    """Columns whose codes look like parts of those of other columns, the tables that have them, and the codes."""

    fine: tuple[str, ...]
    coarse: tuple[str, ...]
    tables: tuple[str, str]
    rows: frozenset[Code]

    @property
    def chain(self) -> Chain:
        """The columns as a chain, as records would give it."""
        return Chain((*self.coarse, *self.fine), self.rows)

    @property
    def what(self) -> str:
        """The message about them."""
        fine, coarse = "/".join(self.fine), "/".join(self.coarse)
        return (
            f"what {coarse} in {self.tables[1]} tells of {fine} in {self.tables[0]}, and the other way round: the "
            f"codes of {coarse} look like sums of those of {fine}, so both may be of the same records. Name both as "
            "levels of one dimension, or in one hierarchy, or protect the tables by one plan with the records."
        )


def likely_links(
    joint: LinkedTable, cells: Sequence[Bounds], step: float, known: frozenset[str] = frozenset()
) -> list[LikelyLink]:
    """Return columns that no declared hierarchy or record links, although their cells suggest a link.

    Args:
        cells: The bounds that data users know for the rows of each table.
        known: Columns of records, which determine whether two of them are linked.
    """
    found: dict[frozenset[tuple[str, ...]], LikelyLink] = {}
    crossed = [one.variables for one in joint.sections]
    for (one, low), (two, high) in permutations(zip(joint.sections, cells, strict=True), 2):
        for place, other in _pairs(one, two, crossed):
            fine, coarse = columns_of(one.trees[place]), columns_of(two.trees[other])
            if frozenset((fine, coarse)) in found or known.issuperset((*fine, *coarse)):
                continue
            rows = _rows(_Side(one, low, place), _Side(two, high, other), step)
            if rows:
                found[frozenset((fine, coarse))] = LikelyLink(fine, coarse, (one.name, two.name), rows)
    return list(found.values())


def _pairs(one: TableView, two: TableView, crossed: Sequence[Sequence[str]]) -> Iterator[tuple[int, int]]:
    """Yield dimensions of two tables that the other lacks and that no table crosses; a crossing would show both."""
    first, second = one.variables, two.variables
    for place, name in enumerate(first):
        for other, more in enumerate(second):
            apart = name not in second and more not in first
            series = one.trees[place].series or two.trees[other].series
            if apart and not series and not any({name, more} <= set(own) for own in crossed):
                yield place, other


class _Side(Value):
    """A table, the known bounds of its rows, and one of its dimensions."""

    section: TableView
    cells: Bounds
    place: int

    def sums(self) -> Shared:
        """Return the codes of all dimensions that are sums of others."""
        own = zip(self.section.trees, self.section.axes, strict=True)
        return frozenset(axis.names[code] for tree, axis in own for code in set(tree.parents.values()) - {tree.root})

    def rows_by(self, shared: frozenset[str]) -> dict[tuple[Code, Shared], int]:
        """Return the rows by the code of the dimension and of the shared variables, with totals in all others."""
        own = self.section
        kept = [place for place, name in enumerate(own.variables) if name in shared]
        others = [place for place in range(len(own.trees)) if place not in kept and place != self.place]
        roots = [tree.root for tree in own.trees]
        return {
            (key[self.place], frozenset(own.axes[one].names[key[one]] for one in kept if key[one] != roots[one])): row
            for row, key in enumerate(own.keys)
            if all(key[place] == roots[place] for place in others)
        }

    def cells_of(self, rows: dict[tuple[Code, Shared], int], positions: Sequence[Shared]) -> CodeCells:
        """Return the cells of each code; missing cells are 0."""
        codes, tree = self.section.finest(self.place), self.section.trees[self.place]
        places = np.array([[rows.get((code, one), -1) for one in positions] for code in codes], np.int64)
        low, high = (np.where(places < 0, 0.0, end[places]) for end in (self.cells.low, self.cells.high))
        return CodeCells([BETWEEN.join(path_of(tree, code)) for code in codes], low, high)


def _rows(one: _Side, two: _Side, step: float) -> frozenset[Code]:
    """Return which codes of a table appear to be children of which codes of another; empty if nothing indicates it."""
    masked = any((side.cells.low != side.cells.high).any() for side in (one, two))
    if not masked or not len(two.section.finest(two.place)) <= len(one.section.finest(one.place)):
        return frozenset()
    shared = frozenset(one.section.variables) & frozenset(two.section.variables)
    first, second = one.rows_by(shared), two.rows_by(shared)
    positions = sorted({own for _, own in first} & {own for _, own in second}, key=repr)
    if not positions:
        return frozenset()
    deepest, sums = max(map(len, positions)), one.sums() | two.sums()
    finest = np.array([len(own) == deepest and not own & sums for own in positions])
    fine, coarse = one.cells_of(first, positions), two.cells_of(second, positions)
    parts = likely_parts(fine, coarse, finest, step)
    if parts is None:
        return frozenset()
    trees = (one.section.trees[one.place], two.section.trees[two.place])
    inside, above = one.section.finest(one.place), two.section.finest(two.place)
    return frozenset(
        (*path_of(trees[1], above[part]), *path_of(trees[0], code))
        for code, part in zip(inside, parts.tolist(), strict=True)
    )
