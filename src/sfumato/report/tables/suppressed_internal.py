"""The internal report on a suppressed table: what is suppressed and why, and what the audit excludes."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from sfumato.localization.messages import Messages, words_in
from sfumato.report.page.approval import Decision
from sfumato.report.page.html_page import long_table, paragraph, section
from sfumato.report.tables.inherent_disclosure import known_section, less_promised
from sfumato.report.tables.internal_report import (
    DocumentContext,
    ReportContent,
    ReportWriter,
    all_decisions,
    house_page,
    rule_words,
    said_of,
)
from sfumato.report.tables.limitations import INSIDERS, limits, named
from sfumato.report.tables.page import MOST_ROWS, audit_words, leaks, verdict
from sfumato.tables.build import lines_of
from sfumato.tables.cell_labels import lower_end, upper_end
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.resolve_plan import facts_of
from sfumato.tables.suppress_table import SuppressedCells
from sfumato.tables.suppressed_table import SuppressedTable


def masked_house(protected: SuppressedTable, report: Mapping[str, Any], papers: DocumentContext) -> str:
    """Return the full report as one page; it shows which cells are sensitive, and the rules with their parameters."""
    words = words_in(protected.plan.output.language)
    teller = ReportWriter(words, protected.plan, report)
    more = [*leaks(words, protected), *known_section(words, report), *_masked_cells(words, protected)]
    return house_page(teller, masked_story(teller), verdict(words, protected, report), papers, more)


def masked_story(teller: ReportWriter) -> ReportContent:
    """Return the content for a suppressed table from its plan and its report.json."""
    words, plan, report = teller.words, teller.plan, teller.report
    return ReportContent(
        words["tabled.house_title"],
        [*less_promised(words, report), *limits(words, plan, report["ranges"])],
        [
            (words.count(report["cells"]), words["tabled.cells"]),
            (words.count(report["masked"]), words["tabled.masked"]),
            (words.count(report["primary"]), words["tabled.unsafe"]),
            (words.count(report["secondary"]), words["tabled.secondary"]),
            (words.amount(report["cost"]), words["tabled.cost"]),
        ],
        _lost(words, report),
        list(_residual(words, report)),
        list(_attackers(words, report["attackers"])),
        all_decisions(words, plan, _decisions(words, plan, report)),
    )


def _lost(words: Messages, report: Mapping[str, Any]) -> list[str]:
    counts = {key: words.count(report[key]) for key in ("masked", "cells", "primary", "secondary")}
    share = words.percent(report["masked"] / max(report["cells"], 1))
    if not report["masked"]:
        return [words["masked"].format(**counts)]
    return [
        words["masked"].format(**counts),
        words["tabled.lost_share"].format(share=share, cost=words.amount(report["cost"])),
        _proved(words, report),
    ]


def _proved(words: Messages, report: Mapping[str, Any]) -> str:
    key = "table_proved" if report["proved_optimal"] else "table_unproved" if report["gap"] is None else "table_gap"
    return words[key].format(gap=words.figure(f"{100 * (report['gap'] or 0):.1f}"))


def _residual(words: Messages, report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was at risk, and how closely sensitive cells can be estimated now."""
    counts = {key: words.count(report[key]) for key in ("primary", "cells")}
    yield words["tabled.residual_before"].format(**counts)
    if report["masked"]:
        yield audit_words(words, report["audit"])
    if widths := report.get("sensitive_intervals"):
        yield words["tabled.residual_ranges"].format(**{key: words.amount(width) for key, width in widths.items()})


def _attackers(words: Messages, who: Mapping[str, Any]) -> Iterator[str]:
    """Yield the attackers and what each knows; and the excluded ones, with reasons."""
    for name, count in who["attacked"].items():
        yield words[f"tabled.who.{name}"].format(count=words.count(count))
    if "rounding" in who:
        yield words["tabled.rounding"].format(amount=words.figure(f"{who['rounding']:g}"))
    absent = [name for name in INSIDERS if name not in who["attacked"] and name not in who["did_not_attack"]]
    for key, names in (("off", who["did_not_attack"]), ("absent", absent)):
        if names:
            yield words[f"tabled.who.{key}"].format(name=named(words, names))


def _decisions(words: Messages, plan: TablePlan, report: Mapping[str, Any]) -> Iterator[Decision]:
    method = plan.method
    yield words["noised.method"], method.name, words[f"masking.{method.name}.says"]
    yield (
        words["masking.cost"],
        words.get(f"tabled.decide.cost.{method.cost}", method.cost),
        words["tabled.decide.cost.why"],
    )
    protection = plan.protection
    if protection is not None:
        ends = {key: getattr(protection, key) for key in ("lower", "upper", "percent")}
        told = [f"{words[f'protection.{key}']} {said_of(words, end)}" for key, end in ends.items() if end is not None]
        yield words["tabled.decide.protection"], ", ".join(told), words["tabled.decide.protection.why"]
    known = {key: getattr(plan.attacker, key) for key in ("lower", "upper", "integer", "rule")}
    told = [f"{words[f'attacker.{key}']}: {said_of(words, value)}" for key, value in known.items() if value]
    if told:
        yield words["attacker"], ", ".join(told), words["tabled.decide.attacker.why"]
    off = report["attackers"]["did_not_attack"]
    if off:
        yield words["tabled.decide.off"], named(words, off), words["tabled.decide.off.why"]


def _masked_cells(words: Messages, protected: SuppressedTable) -> list[str]:
    """Return every suppressed cell with its interval, status and reason; of very many the first."""
    rows = list(islice((row for part in protected.parts for row in _rows(words, protected, part)), MOST_ROWS))
    head = [words[f"tabled.{key}"] for key in ("cell", "column.lower", "column.upper", "case", "reason")]
    left = protected.audit.checked - len(rows)
    more = [paragraph(words["tabled.more_masked"].format(count=words.count(left)), soft=True)] if left > 0 else []
    return [section(words["tabled.masked_cells"], long_table(head, rows, words), *more)] if rows else []


def _rows(words: Messages, protected: SuppressedTable, part: SuppressedCells) -> Iterator[tuple[str, ...]]:
    struck = _struck(words, protected, part)
    for cell in np.flatnonzero(part.suppressed):
        low, high = float(part.ends.low[cell]), float(part.ends.high[cell])
        ends = ("", "") if np.isnan(low) or np.isnan(high) else (lower_end(low), upper_end(high))
        case = words.get(f"case.{part.case[cell]}", str(part.case[cell]))
        name = ", ".join([*part.part.group, part.part.table.names[cell]])
        yield name, *map(words.value, ends), case, "; ".join(struck[cell]) or part.reason[cell]


def _struck(words: Messages, protected: SuppressedTable, part: SuppressedCells) -> list[list[str]]:
    """Return the rules that classify each cell as sensitive; empty for linked tables, or cells with constraints."""
    own, rules = part.part, protected.plan.primary
    names: list[list[str]] = [[] for _ in part.suppressed]
    if not own.trees or len(own.trees) != len(protected.plan.dimensions):
        return names
    lines = dict(zip(protected.plan.dimensions, lines_of(own.trees, own.keys), strict=True))
    columns = protected.source.rows(own.rows)
    facts = facts_of(protected.plan.table, columns, own.table.values, own.table.constraints, lines)
    for rule in rules:
        for cell in np.flatnonzero(rule.apply(facts).unsafe & own.table.sensitive):
            names[cell].append(rule_words(words, rule))
    return names
