"""Reports on protected tables: metrics, and a text summary."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.localization.messages import Message
from sfumato.report.tables import perturbed
from sfumato.report.tables.limitations import known_figures, known_note, not_audited, tidy
from sfumato.tables.attack.findings import Audit, Finding, known_line
from sfumato.tables.cell_labels import cells_named, span
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import Numbers
from sfumato.tables.plan.rules import GroupDisclosure
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.table_result import SuppressedTable
from sfumato.version import __version__

NO_RANGES = "Ranges of masked cells are not given: there was no time to compute all of them, as any reader can."
BY_CASES = (
    "The attack made use of the column that tells which masked cells are unsafe by themselves, for all others are not. "
    "Hand out table-external.csv, which does not tell it, or protect with attacker: {rule: true}."
)
ALL_UNSAFE = (
    "Every masked cell was taken for unsafe: the format has no mark for cells that are masked only to protect others."
)
UNLISTED = "Taken to be empty, for the file has no row of them and no number shows what they are:"


def metrics(protected: SuppressedTable) -> dict[str, Any]:
    """Return the metrics of report.json."""
    parts = protected.parts
    primary = sum(int(part.part.table.sensitive.sum()) for part in parts)
    masked = sum(int(part.suppressed.sum()) for part in parts)
    cost = sum(part.cost for part in parts)
    bound = None if any(part.bound is None for part in parts) else sum(part.bound or 0.0 for part in parts)
    counts = protected.audit.counts()
    return {
        "version": __version__,
        "method": protected.plan.method.name,
        "cells": len(protected.source),
        "groups": len(parts),
        "primary": primary,
        "secondary": masked - primary,
        "masked": masked,
        "cost": tidy(cost),
        "bound": None if bound is None else tidy(min(bound, cost)),
        "proved_optimal": _gap(cost, bound) == 0.0,
        "gap": _gap(cost, bound),
        "satisfied": protected.passed and (protected.attacked or not primary),
        "attacked": protected.attacked,
        "attackers": _attackers(protected),
        "group_disclosure": [rule.dimension for rule in protected.plan.primary if isinstance(rule, GroupDisclosure)],
        "ranges": not any(_without_ranges(part) for part in parts),
        "sensitive_intervals": _unsafe_ranges(parts),
        "audit": {key: count for key, count in counts.items() if count or key != "inconsistent"},
        "inherent_disclosure": [
            one for part in parts for one in known_figures(part.audit.inherently_disclosed, part.part.group)
        ],
        "seconds": {stage: round(seconds, 4) for stage, seconds in protected.seconds.items()},
        "warnings": [
            *([] if protected.passed else [Message("tabled.disclosing")]),
            *([] if masked else [Message("tabled.nothing_sensitive")]),
            *not_audited(part.part for part in protected.parts),
        ],
        "input_sha256": _digest(protected.source),
    }


def _without_ranges(part: SuppressedCells) -> bool:
    """Return whether there was no time to compute the feasibility intervals."""
    return not part.without_audit and bool(np.isnan(part.ends.low[part.suppressed]).any())


def _unsafe_ranges(parts: Sequence[SuppressedCells]) -> dict[str, float] | None:
    """Return how wide the published intervals of sensitive cells are, if any has two ends."""
    widths = np.concatenate([_widths(part) for part in parts] or [np.zeros(0)])
    return {"narrowest": tidy(widths.min()), "median": tidy(float(np.median(widths)))} if len(widths) else None


def _widths(part: SuppressedCells) -> Numbers:
    width = (part.ends.high - part.ends.low)[part.suppressed & part.part.table.sensitive]
    return np.asarray(width[np.isfinite(width)])


def _gap(cost: float, bound: float | None) -> float | None:
    """Return the share of the cost that may be excessive, given the proven lower bound."""
    if bound is None:
        return None
    return 0.0 if cost - bound <= 1e-6 * max(1.0, cost) else (cost - max(bound, 0.0)) / cost


def _attackers(protected: SuppressedTable) -> dict[str, Any]:
    """Return the attackers and their numbers; the excluded ones; and the assumed rounding."""
    kinds = Counter(str(one.kind) for part in protected.parts for one in part.part.knowledge.attackers)
    asked = protected.plan.attackers
    switches = {"respondents": asked.respondents, "holdings": asked.holdings, "persons": asked.persons}
    off = [name for name, on in switches.items() if not on]
    rounding = {"rounding": protected.audit.rounding} if protected.audit.rounding else {}
    return {"attacked": {"outsider": 1, **kinds}, "did_not_attack": off, **rounding}


def attackers_line(report: Mapping[str, Any]) -> str:
    """Return the attackers, in one sentence, and the excluded ones."""
    who = report["attackers"]
    # Their number would reveal how many cells have a single respondent, and the page is for publication.
    named = list(who["attacked"])
    off = f" Switched off: {', '.join(who['did_not_attack'])}." if who["did_not_attack"] else ""
    rounded = (
        f" Published totals are rounded by up to {who['rounding']:g}, which they know." if "rounding" in who else ""
    )
    return f"Attackers: {', '.join(named)}.{off}{rounded}"


def _digest(columns: TextColumns) -> str:
    lines = json.dumps({name: list(texts) for name, texts in columns.texts.items()}, ensure_ascii=False)
    return hashlib.sha256(lines.encode()).hexdigest()


def summary(report: Mapping[str, Any]) -> str:
    """Return the metrics in a few lines of text."""
    if "noise" in report:
        return perturbed.summary(report)
    masked = (
        f"{report['masked']:,} of {report['cells']:,} cells masked: {report['primary']:,} unsafe by themselves, "
        f"{report['secondary']:,} to protect them."
    )
    if not report["masked"]:
        return "\n".join([masked, *report["warnings"]])
    quality = "proved optimal" if report["proved_optimal"] else "not proved optimal"
    lines = [
        masked,
        f"Cost {report['cost']:,} ({quality}{_saving(report)}).",
        audit_line(report["audit"]),
        attackers_line(report),
        *([] if report["ranges"] else [NO_RANGES]),
        *known_note(report),
    ]
    return "\n".join(lines + report["warnings"])


def _saving(report: Mapping[str, Any]) -> str:
    """Return how much cheaper the optimum may be, in words; empty if proven or unknown."""
    if report["gap"] is None:
        return "; no bound was sought"
    if not report["gap"]:
        return ""
    if not report["bound"]:
        return "; no bound above 0 was found in the time"
    return f"; none costs less than {report['bound']:,}: at most {100 * report['gap']:.2f} % of the cost can be saved"


def audit_line(counts: dict[str, int]) -> str:
    """Return the audit in one sentence."""
    counted = [f"{counts['exact']:,} exactly recovered", f"{counts['too_narrow']:,} too narrow"]
    if counts.get("inconsistent"):
        counted.append(f"{counts['inconsistent']:,} false or contradicted by their own table")
    return f"Audit: {counts['checked']:,} masked cells attacked, " + ", ".join(counted) + "."


def review_lines(review: Audit) -> list[str]:
    """Return the audit of a published table in lines: counts, leaks with certificates, errors, and limitations."""
    return [
        audit_line(review.counts()),
        *(leak_line(finding) for finding in review.leaks),
        *(
            f"{name}: what is published is false, or contradicts the rest of the table"
            for name in review.contradictions
        ),
        *([known_line(review.inherently_disclosed)] if review.inherently_disclosed else []),
        *([ALL_UNSAFE] if review.all_unsafe else []),
        *([BY_CASES] if review.by_cases and review.leaks else []),
        *(f"Not judged: rule {name}, for the table lacks its columns" for name in review.unjudged),
        *([f"{UNLISTED} {cells_named(review.unlisted)}."] if review.unlisted else []),
        *(f"{one.what} ({one.code})" for one in review.unexplained),
        *(Message("note.not_audited", what=what) for what in review.not_audited),
    ]


def leak_line(finding: Finding) -> str:
    """Return one leak in words."""
    if finding.published:
        why = f"masked in one table and published in {', '.join(finding.certificate)}" if finding.certificate else ""
        return f"{finding.name}: exact, {why or 'unsafe and published as it is'}"
    insider = f" to {finding.attacker}" if finding.attacker else ""
    because = f"; given away by: {', '.join(finding.certificate[:8])}" if finding.certificate else ""
    more = f" and {len(finding.certificate) - 8} more" if len(finding.certificate) > 8 else ""
    reach = span(finding.lower, finding.upper)
    return f"{finding.name}: {finding.verdict}{insider}, range {reach}{because}{more}"


def review_figures(review: Audit) -> dict[str, Any]:
    """Return the audit of a published table as JSON."""
    return {
        "passed": review.passed,
        "audit": review.counts(),
        "inconsistent": list(review.contradictions),
        "unjudged": list(review.unjudged),
        "not_audited": list(review.not_audited),
        "unlisted": list(review.unlisted),
        "unexplained": [
            {"code": one.code, "column": one.name, "relation": one.relation, "cells": list(one.cells)}
            for one in review.unexplained
        ],
        "by_cases": review.by_cases,
        "all_sensitive": review.all_unsafe,
        "inherent_disclosure": known_figures(review.inherently_disclosed),
        "cells": [
            {
                "cell": finding.name,
                "row": finding.cell + 1,
                "lower": _finite(finding.lower),
                "upper": _finite(finding.upper),
                "verdict": str(finding.verdict),
                "certificate": list(finding.certificate),
                **({"attacker": finding.attacker} if finding.attacker else {}),
                **({"published": True} if finding.published else {}),
            }
            for finding in review.findings
        ],
    }


def _finite(value: float) -> float | None:
    return None if abs(value) == float("inf") else value
