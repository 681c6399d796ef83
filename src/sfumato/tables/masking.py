"""One table through one method: the pattern, its cases and reasons, and the publication that the attacker sees."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sfumato.errors import PlanError, UnattainableError
from sfumato.tables import words
from sfumato.tables.attack.audit import Audit, Verdict, audit_publication
from sfumato.tables.attack.method_known import attack
from sfumato.tables.attack.publication import Knowledge, Promise, Publication, false_cells
from sfumato.tables.cells.cells import Mask, Numbers, Status, Table
from sfumato.tables.cells.parts import Part
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.plan.rules import Range
from sfumato.tables.ranges import intervals
from sfumato.tables.ranges.drawing import drawn
from sfumato.tables.ranges.ranges import clusters
from sfumato.tables.suppression.fast import fast
from sfumato.tables.suppression.optimal import Progress, Suppression, optimal
from sfumato.tables.suppression.problem import make_problem

REPAIRED = "D"


@dataclass(frozen=True, slots=True)
class Masked:
    """The answer for one table.

    Attributes:
        part: The table.
        mask: Which cells are masked.
        range_low: Lower ends of the ranges that the method publishes of its own; not a number where the audit's stand.
        range_high: Upper ends.
        case: A short code for each masked cell.
        reason: The reason in words.
        texts: Whether masked cells show their range or a mere mark.
        bare: Whether the method's own ranges are published, as the original does, instead of the audit's.
        low: Lower ends as published: what a reader computes from the table alone.
        high: Upper ends as published.
        cost: The cost of the secondary cells.
        bound: The least possible cost, where it is known.
        audit: What the attacker finds.
    """

    part: Part
    mask: Mask
    range_low: Numbers
    range_high: Numbers
    case: tuple[str, ...]
    reason: tuple[str, ...]
    texts: bool
    bare: bool
    low: Numbers
    high: Numbers
    cost: float
    bound: float | None
    audit: Audit


@dataclass(frozen=True, slots=True)
class _Draft:
    """A pattern before its audit."""

    mask: Mask
    range_low: Numbers
    range_high: Numbers
    case: tuple[str, ...]
    reason: tuple[str, ...]
    texts: bool
    bound: float | None = None


def mask_part(part: Part, plan: TablePlan, seconds: float, progress: Progress | None = None) -> Masked:
    """Mask one table and attack the answer.

    Raises:
        UnattainableError: An unsafe cell cannot be protected.
        PlanError: The method does not fit the table.
    """
    method = plan.method
    methods: dict[str, Callable[[], _Draft]] = {
        "optimal": lambda: _suppressed(part, plan, _optimal(part.table, plan, seconds, progress)),
        "fast": lambda: _suppressed(part, plan, fast(make_problem(part.table, None, insiders(plan)))),
        "ranges": lambda: _ranged(part, plan, _optimal(part.table, plan, seconds, progress)),
        "intervals": lambda: _original(part, plan, seconds),
    }
    faithful = method.name == "intervals" and not method.repair
    try:
        if not faithful:
            _refuse_chains(part.table)
        draft = methods[method.name]()
    except UnattainableError as error:
        raise _named(error, part) from None
    return _audited(part, plan, draft, faithful)


def _named(error: UnattainableError, part: Part) -> UnattainableError:
    """The same error with the names of the cells, and their rows in the source."""
    cells = [row - 1 for row in error.rows]
    names = ", ".join(part.table.names[cell] for cell in cells)
    what = f"{names}: {error.what}" if names else error.what
    return UnattainableError(
        what, error.do, error.code.partition(".")[2], rows=[int(part.rows[cell]) + 1 for cell in cells]
    )


def insiders(plan: TablePlan) -> bool:
    """Whether single respondents attack: as the plan says, else wherever it tells who stands behind a value."""
    if plan.method.insiders is not None:
        return plan.method.insiders
    return bool(plan.table.holdings or plan.table.frequency or plan.table.contributions)


def promise_of(table: Table) -> Promise:
    """What the ranges of the unsafe cells must contain."""
    low = np.where(table.unsafe, table.values - table.need_down, np.nan)
    return Promise(low, np.where(table.unsafe, table.values + table.need_up, np.nan))


def _optimal(table: Table, plan: TablePlan, seconds: float, progress: Progress | None) -> Suppression:
    return optimal(make_problem(table, None, insiders(plan)), seconds, progress)


def _whole(part: Part, found: Suppression, forced: Mask | None = None) -> Mask:
    """A pattern of the problem's cells as one of the table's."""
    fixed = part.table.unsafe if forced is None else part.table.unsafe | forced
    mask = np.zeros(len(part.table), bool)
    mask[(part.table.status != Status.PUBLISH) | fixed] = found.masked
    return mask


def _suppressed(part: Part, plan: TablePlan, found: Suppression) -> _Draft:
    mask = _whole(part, found)
    unsafe, language = part.table.unsafe, plan.output.language
    primary = words.small(language) if _by_range(plan) else words.unsafe(language)
    case = tuple("" if not hit else "primary" if own else "secondary" for hit, own in zip(mask, unsafe, strict=True))
    texts = {"": "", "primary": primary, "secondary": words.complement(language)}
    none = np.full(len(mask), np.nan)
    bound = found.bound if plan.method.name != "fast" else None
    return _Draft(mask, none, none, case, tuple(texts[name] for name in case), texts=False, bound=bound)


def _by_range(plan: TablePlan) -> bool:
    return bool(plan.primary) and all(isinstance(rule, Range) for rule in plan.primary)


def _ranged(part: Part, plan: TablePlan, found: Suppression) -> _Draft:
    """The pattern with ranges; where those would break a promise all the same, the reader is left with his own."""
    draft = replace(_suppressed(part, plan, found), texts=True)
    low, high = drawn(part, plan, draft.mask)
    ranged = replace(draft, range_low=low, range_high=high)
    cluster = clusters(part.table.relations, draft.mask)
    kept = ~np.isin(cluster, cluster[_broken(part, plan, ranged)])
    return replace(ranged, range_low=np.where(kept, low, np.nan), range_high=np.where(kept, high, np.nan))


def _broken(part: Part, plan: TablePlan, draft: _Draft) -> Mask:
    """The unsafe cells whose promise the ranges break; in a network, as flat and two-way tables are, there are none."""
    broken = np.zeros(len(part.table), bool)
    for finding in _attack(part, plan, draft, draft.mask).findings:
        broken[finding.cell] = finding.verdict is not Verdict.SAFE and part.table.unsafe[finding.cell]
    return broken


def _original(part: Part, plan: TablePlan, seconds: float) -> _Draft:
    """The original's answer, mended unless the plan wants it bare."""
    if len(plan.primary) != 1 or not isinstance(plan.primary[0], Range) or plan.protection is not None:
        raise PlanError(
            "method intervals needs exactly one primary rule, range, and promises that range.",
            "Leave protection out, or use another method.",
            "intervals-rule",
        )
    rule, language = plan.primary[0], plan.output.language
    steps = intervals.steps_of(part)
    ranges = intervals.mask(steps, rule.min, rule.max, plan.method.prefer)
    reasons = tuple(_reason(case, about, language) for case, about in zip(ranges.case, ranges.about, strict=True))
    draft = _Draft(ranges.masked, ranges.low, ranges.high, ranges.case, reasons, texts=True)
    return _mended(part, steps, draft, plan, seconds) if plan.method.repair else draft


def _reason(case: str, about: words.Unit | None, language: words.Language) -> str:
    if not case:
        return ""
    return words.small(language) if about is None else words.inference(about, language)


def _mended(part: Part, steps: intervals.Steps, draft: _Draft, plan: TablePlan, seconds: float) -> _Draft:
    """The original's pattern with the further cells that every promise needs; all ranges are left to the audit."""
    found = optimal(make_problem(part.table, draft.mask), seconds)
    mask = _whole(part, found, draft.mask)
    case, reason = list(draft.case), list(draft.reason)
    for cell in np.flatnonzero(mask & ~draft.mask):
        case[cell] = f"{REPAIRED}{steps.level[cell]}"
        reason[cell] = words.inference(_upper_unit(steps, int(cell)), plan.output.language)
    none = np.full(len(mask), np.nan)
    return _Draft(mask, none, none, tuple(case), tuple(reason), texts=True)


def _upper_unit(steps: intervals.Steps, cell: int) -> words.Unit:
    """The unit above a cell; the cell's own for the grand total."""
    step = int(steps.level[cell]) - 1
    if step >= len(steps.parts):
        return steps.units[cell]
    return next(steps.units[upper] for upper, lower in steps.parts[step] if cell in lower)


def _audited(part: Part, plan: TablePlan, draft: _Draft, bare: bool) -> Masked:
    """The draft with its audit; a cell that needs no protection and can be computed anyway is published."""
    table = part.table
    mask = draft.mask
    audit = _attack(part, plan, draft, mask)
    while not bare and (open_ := _needless(audit, table)):
        mask = mask.copy()
        mask[open_] = False
        audit = _attack(part, plan, draft, mask)
    secondary = mask & ~table.unsafe
    low, high = (draft.range_low, draft.range_high) if bare else _ends(part, plan, draft, mask, audit)
    return Masked(
        part=part,
        mask=mask,
        range_low=np.where(mask, draft.range_low, np.nan),
        range_high=np.where(mask, draft.range_high, np.nan),
        case=tuple(case if hit else "" for case, hit in zip(draft.case, mask, strict=True)),
        reason=tuple(reason if hit else "" for reason, hit in zip(draft.reason, mask, strict=True)),
        texts=draft.texts,
        bare=bare,
        low=low,
        high=high,
        cost=float(table.costs[secondary].sum()),
        bound=draft.bound,
        audit=audit,
    )


def _needless(audit: Audit, table: Table) -> list[int]:
    found = [finding.cell for finding in audit.findings if finding.verdict is Verdict.EXACT]
    return [cell for cell in found if not table.unsafe[cell]]


def _attack(part: Part, plan: TablePlan, draft: _Draft, mask: Mask) -> Audit:
    """The strongest attacker that the plan assumes tries the draft."""
    table = part.table
    publication = _publication(part, draft, mask, (table.lower, table.upper))
    alone = table.alone if insiders(plan) else None
    knowledge = Knowledge(plan.attacker.integer, alone, table.values, plan.table.tolerance)
    found = attack(publication, promise_of(table), knowledge, part, draft.case)
    return found.with_contradictions(false_cells(publication, table.values))


def _publication(part: Part, draft: _Draft, mask: Mask, bounds: tuple[Numbers, Numbers]) -> Publication:
    return Publication(
        exact=np.where(mask, np.nan, part.table.values),
        range_low=np.where(mask, draft.range_low, np.nan),
        range_high=np.where(mask, draft.range_high, np.nan),
        floor=bounds[0],
        ceiling=bounds[1],
        relations=part.table.relations,
        names=part.table.names,
    )


def _ends(part: Part, plan: TablePlan, draft: _Draft, mask: Mask, audit: Audit) -> tuple[Numbers, Numbers]:
    """The ends of the ranges as any reader computes them, who is not told which cells are primary.

    Ends that made use of it would tell him.
    """
    table = part.table
    floor, ceiling = part.public
    if not (np.array_equal(floor, table.lower) and np.array_equal(ceiling, table.upper)):
        nothing = np.full(len(mask), np.nan)
        publication = _publication(part, draft, mask, (floor, ceiling))
        knowledge = Knowledge(plan.attacker.integer, rounding=plan.table.tolerance)
        audit = audit_publication(publication, Promise(nothing, nothing), knowledge)
    low, high = np.full(len(mask), np.nan), np.full(len(mask), np.nan)
    for finding in audit.findings:
        low[finding.cell], high[finding.cell] = finding.lower, finding.upper
    return low, high


def _refuse_chains(table: Table) -> None:
    """Refuse an unsafe cell that, through totals of a single part, is the grand total itself."""
    relations = table.relations
    above = {}
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if len(cells) == 2 and coefs.sum() == 0:
            above[int(cells[coefs > 0][0])] = int(cells[coefs < 0][0])
    parts = set(relations.cells[relations.coefs > 0].tolist())
    for cell in np.flatnonzero(table.unsafe & (table.need_down + table.need_up > 0)):
        top, passed = int(cell), set[int]()
        # An identity given in both directions leads back.
        while top in above and top not in passed:
            passed.add(top)
            top = above[top]
        if top != cell and top not in parts:
            raise UnattainableError(
                "this unsafe cell is the grand total: every total above it has a single part.",
                "A table with one unsafe entry cannot be published; join it with others.",
                "single-part",
                rows=[int(cell) + 1],
            )
