"""The report on risk, as text for the terminal, as a part of a page, and as a page of its own."""

from sfumato.microdata.measures.population import Estimate
from sfumato.microdata.measures.risk import Attacker
from sfumato.microdata.measures.subsets import Telling
from sfumato.microdata.measures.survey import RiskSurvey
from sfumato.report.html_parts import page, paragraph, section, table

SHOWN = 10
MISSING = {
    "category": "a missing value is a value of its own",
    "any": "a missing value matches anything",
    "drop": "rows with a missing value are left out",
}


def text(report: RiskSurvey) -> str:
    """A summary in plain text."""
    figures = report.figures
    lines = [
        f"{figures.rows:,} rows in {figures.classes:,} classes by {', '.join(report.quasi_identifiers)}",
        f"  missing       {MISSING[report.on_missing]}: {report.rows_with_missing:,} rows have one, "
        f"{report.dropped_rows:,} dropped",
        f"  classes       {figures.smallest:,} to {figures.largest:,} rows",
        f"  uniques       {figures.uniques:,} rows ({_percent(figures.uniques / max(figures.rows, 1))})",
        *(f"  {name:<13} {_attacker(found, figures.threshold)}" for name, found in _attackers(report)),
        *_population_lines(report),
        *(f"  column        {entry}" for entry in report.columns),
        *(f"  step          {entry}" for entry in report.steps),
        f"  outliers      {_outliers(report)}",
        *_subset_lines(report),
    ]
    return "\n".join(lines) + "\n"


def _attackers(report: RiskSurvey) -> list[tuple[str, Attacker]]:
    return [("prosecutor", report.prosecutor), ("journalist", report.journalist), ("marketer", report.marketer)]


def _attacker(found: Attacker, threshold: float) -> str:
    estimated = " (estimated)" if found.estimated else ""
    return (
        f"highest {_percent(found.highest)}, average {_percent(found.average)}, "
        f"{found.rows_above:,} rows above {_percent(threshold)}{estimated}"
    )


def _population_lines(report: RiskSurvey) -> list[str]:
    if report.uniqueness is None:
        return []
    head = f"  population    {report.uniqueness.population_size:,} persons; unique among them, estimated:"
    return [head, *(f"    {name:<11} {_estimate(found)}" for name, found in _estimates(report))]


def _estimates(report: RiskSurvey) -> list[tuple[str, Estimate]]:
    found = report.uniqueness
    if found is None:
        return []
    return [("pitman", found.pitman), ("zayatz", found.zayatz), ("snb", found.snb), ("dankar", found.dankar)]


def _estimate(found: Estimate) -> str:
    if found.uniques is None or found.share is None:
        return f"none: {found.reason}"
    return f"{found.uniques:,.0f} ({_percent(found.share)})" + (f", {found.reason}" if found.reason else "")


def _outliers(report: RiskSurvey) -> str:
    parts = [f"{rows:,} rows by {place} column{'s' if place > 1 else ''}" for place, rows in _singled(report)]
    return "singled out: " + ", ".join([*parts, f"{report.outliers.more:,} by more"])


def _singled(report: RiskSurvey) -> list[tuple[int, int]]:
    return list(enumerate(report.outliers.by_columns, start=1))


def _subset_lines(report: RiskSurvey) -> list[str]:
    found = report.subsets
    said = "all" if found.complete else f"{len(found.sets):,} of {found.total:,}, best first,"
    lines = [f"  column sets   {said} measured; the most telling of each size:"]
    return lines + [
        f"    {told.distinction:7.2%} distinct, {told.separation:8.3%} of pairs apart: {', '.join(told.columns)}"
        for told in _best(report)
    ]


def _best(report: RiskSurvey) -> list[Telling]:
    """The most telling set of each number of columns."""
    best: dict[int, Telling] = {}
    for told in report.subsets.sets:
        best.setdefault(len(told.columns), told)
    return list(best.values())[:SHOWN]


def _percent(share: float) -> str:
    return f"{share:.3%}" if 0 < share < 0.01 else f"{share:.1%}"


def html_part(report: RiskSurvey) -> str:
    """The figures as sections of a page."""
    figures = report.figures
    attackers = [
        (name, found.highest, found.average, found.rows_above, found.share_above) for name, found in _attackers(report)
    ]
    sizes = [(entry.size, entry.classes, entry.rows) for entry in report.sizes[:SHOWN]]
    contributions = [
        (entry.column, entry.level, entry.uniques, entry.average) for entry in (*report.columns, *report.steps)
    ]
    parts = [
        paragraph(
            f"{figures.rows:,} rows in {figures.classes:,} classes, {figures.uniques:,} of them unique; "
            f"{MISSING[report.on_missing]} ({report.dropped_rows:,} rows dropped)."
        ),
        section("Attackers", table(["", "highest", "average", "rows above the threshold", "share"], attackers)),
        section("Smallest classes", table(["size", "classes", "rows"], sizes)),
        section(
            "What each column contributes", table(["column", "level", "uniques then", "average then"], contributions)
        ),
        section("Outliers", paragraph(_outliers(report).capitalize() + ".")),
        section("Sets of columns", table(["columns", "distinct", "pairs apart"], _subset_rows(report))),
    ]
    if report.uniqueness is not None:
        rows = [(name, found.uniques, found.share, found.reason) for name, found in _estimates(report)]
        parts.insert(2, section("Unique in the population", table(["estimator", "persons", "share", "note"], rows)))
    return "\n".join(parts)


def _subset_rows(report: RiskSurvey) -> list[tuple[object, ...]]:
    return [(", ".join(told.columns), told.distinction, told.separation) for told in _best(report)]


def page_of(report: RiskSurvey) -> str:
    """The report as one page."""
    return page("Sfumato: risk", ["<h1>Risk of re-identification</h1>", html_part(report)])
