"""Run a suppression method on one table: pattern, reasons, and the publication that is audited."""

from collections.abc import Callable

import numpy as np

from sfumato.errors import PlanError, UnattainableError
from sfumato.tables import cell_labels
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.audit_evidence import AuditEvidence, crossed_witnesses
from sfumato.tables.attack.findings import AttackerView, Audit, DisclosureStatus, false_cells, reduced_levels
from sfumato.tables.attack.inherent_disclosure import without_inherent_disclosure
from sfumato.tables.cells.system import AlternativeTable, BoolArray, Bounds, Table, no_bounds
from sfumato.tables.cells.table_part import TablePart, in_part
from sfumato.tables.deadline import Deadline, within
from sfumato.tables.noise import legacy_intervals as legacy_stages
from sfumato.tables.noise.interval_grid import class_ranges, clusters
from sfumato.tables.noise.legacy_intervals import attack
from sfumato.tables.plan.sections import MethodChoice
from sfumato.tables.protection_levels.inference import as_shown, with_zeros_published
from sfumato.tables.suppression.optimal import optimal
from sfumato.tables.suppression.patterns import InitialPattern, ProgressCallback, SuppressionResult, fast
from sfumato.tables.suppression.problem import make_problem
from sfumato.values import Value, replace

REPAIRED = "D"
# The searches that handle implicit cells.
SEARCHES = {"optimal": optimal, "fast": fast, "ranges": optimal}
# The proportion of the time for the search; the rest is for the audit.
SEARCH = 0.8
# The proportion of the time for a pattern that is searched without implicit cells and audited with them.
FIRST = 0.6


class SuppressedCells(Value):
    """The result for one table.

    Attributes:
        part: The table, with its guaranteed protection levels.
        suppressed: Which cells are suppressed.
        ranges: The intervals of the method itself; NaN where those of the audit apply.
        case: A short code for each suppressed cell.
        reason: The reason in words.
        texts: Whether suppressed cells show their interval or only a mark.
        without_audit: Whether the method's own intervals are published, as in the legacy method, instead of the
            audit's.
        ends: The published intervals: what a data user computes from the table alone.
        cost: The cost of secondary suppression, without cells that an earlier release suppressed.
        bound: A lower bound of the cost, if known.
    """

    part: TablePart
    suppressed: BoolArray
    ranges: Bounds
    case: tuple[str, ...]
    reason: tuple[str, ...]
    texts: bool
    without_audit: bool
    ends: Bounds
    cost: float
    bound: float | None
    audit: Audit


class _Request(Value):
    """The method, the language of reasons, and the callback for progress."""

    method: MethodChoice
    language: cell_labels.Language
    progress: ProgressCallback | None


class _Draft(Value):
    """A suppression pattern before its audit."""

    suppressed: BoolArray
    ranges: Bounds
    case: tuple[str, ...]
    reason: tuple[str, ...]
    texts: bool
    bound: float | None = None
    witnesses: tuple[AlternativeTable, ...] = ()


def mask_part(
    part: TablePart,
    method: MethodChoice,
    language: cell_labels.Language,
    deadline: Deadline,
    progress: ProgressCallback | None = None,
) -> SuppressedCells:
    """Suppress one table and audit the result.

    Raises:
        UnattainableError: A sensitive cell cannot be protected.
        PlanError: The method does not fit the table.
    """
    request = _Request(method, language, progress)
    try:
        masked = _mask(part, request, deadline)
    except UnattainableError as error:
        if error.code != f"{error.kind}.unprotectable":
            raise
        known = without_inherent_disclosure(part, deadline.share(SEARCH))
        if known is part:
            raise
        masked = _mask(known, request, deadline)
    return replace(masked, audit=replace(masked.audit, inherently_disclosed=reduced_levels(part, masked.part)))


def _mask(part: TablePart, request: _Request, deadline: Deadline) -> SuppressedCells:
    """Suppress one table, and audit it again if it suppresses no zero although it could, because this is visible.

    If the second audit fails, suppress the table again with all zeros published, except in the legacy method.
    """
    masked = _mask_once(part, request, deadline)
    shown = as_shown(part, masked.suppressed)
    if shown is part:
        return masked
    draft = _Draft(masked.suppressed, masked.ranges, masked.case, masked.reason, masked.texts, masked.bound)
    again = _audited(shown, draft, request.method.faithful, deadline)
    if request.method.faithful or (again.audit.passed and as_shown(shown, again.suppressed) is shown):
        return again
    return _mask_once(with_zeros_published(shown), request, deadline)


def _mask_once(part: TablePart, request: _Request, deadline: Deadline) -> SuppressedCells:
    """Suppress one table by its protection levels, and audit the result."""
    method, language, progress = request.method, request.language, request.progress
    first = deadline.share(FIRST)
    crossless = _without_cross(part, request, first)
    if crossless is not None and (masked := _withstanding(part, crossless, method, first)) is not None:
        return masked
    start = None if crossless is None else InitialPattern(crossless.suppressed, crossless.witnesses)
    problem = make_problem(part.table, part.suppressed_before, part.knowledge.attackers, part.where)
    search = deadline.share(SEARCH)
    methods: dict[str, Callable[[], _Draft]] = {
        "optimal": lambda: _suppressed(part, language, optimal(problem, search, progress, start)),
        "fast": lambda: replace(_suppressed(part, language, fast(problem, search, progress, start)), bound=None),
        "ranges": lambda: _ranged(
            part, _suppressed(part, language, optimal(problem, deadline.share(0.5), progress, start)), search
        ),
        "intervals": lambda: _original(part, method, language, search),
    }
    try:
        if not method.faithful:
            _refuse_chains(part.table)
        draft = methods[method.name]()
    except UnattainableError as error:
        raise in_part(error, part.rows, part.table.names) from None
    if crossless is not None and crossless.bound is not None:
        # A bound without implicit cells is also valid with them.
        draft = replace(draft, bound=max(draft.bound or 0.0, crossless.bound))
    return _audited(part, draft, method.faithful, deadline)


def _without_cross(part: TablePart, request: _Request, deadline: Deadline) -> _Draft | None:
    """Search a pattern without implicit cells, with alternative tables extended to these; None if there are
    none.

    This takes a fraction of the work and mostly suffices.
    """
    if part.hidden is None or request.method.name not in SEARCHES:
        return None
    shown = part.shown
    problem = make_problem(shown.table, shown.suppressed_before, shown.knowledge.attackers, shown.where)
    try:
        suppression = SEARCHES[request.method.name](problem, deadline.share(SEARCH), request.progress)
    except UnattainableError as error:
        raise in_part(error, shown.rows, shown.table.names) from None
    draft = _suppressed(shown, request.language, suppression)
    more = len(part.table) - len(draft.suppressed)
    return replace(
        draft,
        suppressed=np.append(draft.suppressed, np.ones(more, bool)),
        ranges=no_bounds(len(part.table)),
        case=(*draft.case, *([""] * more)),
        reason=(*draft.reason, *([""] * more)),
        texts=request.method.name == "ranges",
        bound=None if request.method.name == "fast" else draft.bound,
        witnesses=crossed_witnesses(part, draft.witnesses, deadline.share(0.5)),
    )


def _withstanding(part: TablePart, draft: _Draft, method: MethodChoice, deadline: Deadline) -> SuppressedCells | None:
    """Return the result of a pattern found without implicit cells if it passes the audit with them; None if it does
    not, or the time is too short.
    """
    try:
        masked = _audited(part, draft, method.faithful, deadline, deadline)
    except UnattainableError:
        return None
    return masked if masked.audit.passed else None


def _suppressed(part: TablePart, language: cell_labels.Language, suppression: SuppressionResult) -> _Draft:
    mask, unsafe = suppression.over(part.table), part.table.sensitive
    primary, secondary = cell_labels.SuppressionReason.SENSITIVE, cell_labels.SuppressionReason.COMPLEMENT
    case = tuple("" if not hit else primary if own else secondary for hit, own in zip(mask, unsafe, strict=True))
    texts = {
        "": "",
        primary: cell_labels.primary(part.terms.small, language),
        secondary: cell_labels.complement(language),
    }
    reasons = tuple(texts[name] for name in case)
    return _Draft(
        mask,
        no_bounds(len(mask)),
        case,
        reasons,
        texts=False,
        bound=suppression.bound,
        witnesses=suppression.witnesses,
    )


def _ranged(part: TablePart, draft: _Draft, deadline: Deadline) -> _Draft:
    """Add intervals to a pattern; where they would violate a protection level, or time is too short to check, the
    feasibility intervals are used instead.
    """
    if part.hidden is not None:
        # Intervals are computed for connected cells, which include implicit ones that are never published.
        return replace(draft, texts=True)
    before = deadline.left
    ranged = replace(draft, texts=True, ranges=class_ranges(part, draft.suppressed, deadline.share(0.5)))
    if deadline.left < before - deadline.left:
        return replace(draft, texts=True)
    cluster = clusters(part.table.constraints, draft.suppressed)
    # In a network, such as flat and two-way tables, no protection level is violated.
    broken = _broken(part, ranged, deadline.share(0.5))
    if broken is None:
        return replace(draft, texts=True)
    return replace(ranged, ranges=ranged.ranges.only(~np.isin(cluster, cluster[broken])))


def _broken(part: TablePart, ranged: _Draft, limit: Deadline) -> list[int] | None:
    """Return the sensitive cells whose protection level the intervals violate; None if the time is too short.

    The same time must be left afterwards: the publication is audited once more.
    """
    evidence = AuditEvidence(ranged.witnesses, within(0.0), limit, promised=True)
    try:
        audit, _ = _attack(part, ranged, ranged.suppressed, evidence)
    except UnattainableError as error:
        if error.code != f"{error.kind}.time-limit":
            raise
        return None
    return [finding.cell for finding in audit.leaks if part.table.sensitive[finding.cell]]


def _original(part: TablePart, method: MethodChoice, language: cell_labels.Language, deadline: Deadline) -> _Draft:
    """Run the legacy method, with repairs unless the plan disables them."""
    if part.terms.span is None:
        raise PlanError("intervals-rule")
    steps = legacy_stages.steps_of(part)
    answer = legacy_stages.mask(steps, *part.terms.span, method.tie_break)
    reasons = tuple(_reason(case, about, language) for case, about in zip(answer.case, answer.about, strict=True))
    draft = _Draft(answer.masked, answer.ranges, answer.case, reasons, texts=True)
    return _mended(part, steps, draft, language, deadline) if method.repair else draft


def _reason(case: str, about: cell_labels.Unit | None, language: cell_labels.Language) -> str:
    if not case:
        return ""
    return (
        cell_labels.primary(small=True, language=language) if about is None else cell_labels.inference(about, language)
    )


def _mended(
    part: TablePart,
    steps: legacy_stages.LegacyStages,
    draft: _Draft,
    language: cell_labels.Language,
    deadline: Deadline,
) -> _Draft:
    """Add the cells to the legacy pattern that protection requires; all intervals are left to the audit."""
    mask = optimal(make_problem(part.table, draft.suppressed, part.knowledge.attackers), deadline).over(part.table)
    case, reason = list(draft.case), list(draft.reason)
    for cell in np.flatnonzero(mask & ~draft.suppressed):
        case[cell] = f"{REPAIRED}{steps.level[cell]}"
        reason[cell] = cell_labels.inference(_upper_unit(steps, int(cell)), language)
    return _Draft(mask, no_bounds(len(mask)), tuple(case), tuple(reason), texts=True)


def _upper_unit(steps: legacy_stages.LegacyStages, cell: int) -> cell_labels.Unit:
    """Return the unit above a cell; for the grand total its own."""
    step = int(steps.level[cell]) - 1
    if step >= len(steps.parts):
        return steps.units[cell]
    return next(steps.units[upper] for upper, lower in steps.parts[step] if cell in lower)


def _audited(
    part: TablePart, draft: _Draft, bare: bool, deadline: Deadline, limit: Deadline | None = None
) -> SuppressedCells:
    """Audit a draft; suppressed cells that need no protection and can be computed are published."""
    table, mask = part.table, draft.suppressed
    evidence = AuditEvidence(draft.witnesses, deadline, limit=limit or Deadline())
    audit, part = _attack(part, draft, mask, evidence)
    while not bare and (needless := _needless(audit, table)):
        mask = _without(mask, needless)
        audit, part = _attack(part, draft, mask, evidence)
    thin = [] if bare else _near_exact_safe_cells(audit, part)
    if thin:
        # An independent audit would report them as disclosed: they are published unless this discloses others.
        opened, promised = _attack(part, draft, _without(mask, thin), evidence)
        if opened.passed and audit.passed:
            mask, audit, part = _without(mask, thin), opened, promised
    earlier = np.zeros(len(table), bool) if part.suppressed_before is None else part.suppressed_before
    return SuppressedCells(
        part=part,
        suppressed=mask,
        ranges=draft.ranges.only(mask),
        case=tuple(case if hit else "" for case, hit in zip(draft.case, mask, strict=True)),
        reason=tuple(reason if hit else "" for reason, hit in zip(draft.reason, mask, strict=True)),
        texts=draft.texts,
        without_audit=bare,
        ends=draft.ranges if bare else _ends(part, draft, mask, audit, deadline),
        cost=float(table.costs[mask & ~table.sensitive & ~earlier].sum()),
        bound=draft.bound,
        audit=audit,
    )


def _without(mask: BoolArray, cells: list[int]) -> BoolArray:
    opened = mask.copy()
    opened[cells] = False
    return opened


def _near_exact_safe_cells(audit: Audit, part: TablePart) -> list[int]:
    """Return the safe cells whose interval is narrower than the precision."""
    step, unsafe = part.knowledge.precision, part.table.sensitive
    return [one.cell for one in audit.findings if one.upper - one.lower < step * (1 - 1e-6) and not unsafe[one.cell]]


def _needless(audit: Audit, table: Table) -> list[int]:
    """Return the safe cells that can be computed although they are suppressed."""
    exact = (finding.cell for finding in audit.findings if finding.verdict is DisclosureStatus.EXACT)
    return [cell for cell in exact if not table.sensitive[cell]]


def _attack(
    part: TablePart, draft: _Draft, mask: BoolArray, evidence: AuditEvidence | None = None
) -> tuple[Audit, TablePart]:
    """Audit a draft, and return the table with the protection levels that can be guaranteed."""
    publication = _publication(part, draft, mask, part.table.bounds)
    audit, promised = attack(publication, part, draft.case, evidence=evidence)
    return audit.with_contradictions(false_cells(publication, part.table.values, part.knowledge.precision)), promised


def _publication(part: TablePart, draft: _Draft, mask: BoolArray, bounds: Bounds) -> AttackerView:
    exact = np.where(mask, np.nan, part.table.values)
    relations, names = part.table.constraints, part.table.names
    return AttackerView(exact, draft.ranges.only(mask), bounds, relations, names, hidden=part.hidden)


def _ends(part: TablePart, draft: _Draft, mask: BoolArray, audit: Audit, deadline: Deadline) -> Bounds:
    """Return the interval ends that a data user computes who does not know which cells are primary.

    Ends based on that knowledge would disclose it, as would ends of some cells only. If the time is too short for all
    of them, there are none.
    """
    ends = no_bounds(len(mask))
    if not part.public.equals(part.table.bounds):
        publication = _publication(part, draft, mask, part.public)
        evidence = AuditEvidence(draft.witnesses, deadline)
        audit = audit_publication(publication, ends, replace(part.knowledge, attackers=()), part.table.values, evidence)
    if any(np.isnan(finding.lower) for finding in audit.findings):
        return ends
    for finding in audit.findings:
        ends.low[finding.cell], ends.high[finding.cell] = finding.lower, finding.upper
    return ends


def _refuse_chains(table: Table) -> None:
    """Refuse a sensitive cell that equals the grand total through totals of a single part."""
    relations = table.constraints
    above = {}
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        if len(cells) == 2 and coefs.sum() == 0:
            above[int(cells[coefs > 0][0])] = int(cells[coefs < 0][0])
    parts = set(relations.cells[relations.coefs > 0].tolist())
    for cell in np.flatnonzero(table.sensitive & (table.protection_levels.lower + table.protection_levels.upper > 0)):
        top, passed = int(cell), set[int]()
        # An equality given in both directions leads back.
        while top in above and top not in passed:
            passed.add(top)
            top = above[top]
        if top != cell and top not in parts:
            raise UnattainableError("single-part").about(rows=[int(cell) + 1])
