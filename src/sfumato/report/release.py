"""The report of a release, as text for the terminal and as one HTML page."""

from html import escape

from sfumato.microdata.outcome import Report
from sfumato.plan.model import Plan
from sfumato.report.page import page, paragraph, section, table

CHECKED = "Checked on the written rows themselves: they were read back, counted anew and judged apart from the search."


def text(report: Report) -> str:
    """A summary in plain text."""
    lines = [f"{_promise_text(report)}", ""]
    lines += [f"  method        {report.method}{' (proved optimal)' if report.proved_optimal else ''}"]
    if report.levels:
        lines += ["  levels        " + ", ".join(f"{name} {level}" for name, level in report.levels.items())]
    lines += [
        f"  loss          {report.loss.value:.6g} ({report.loss.name})",
        f"  rows          {report.rows - report.suppressed_rows:,} published, {report.suppressed_rows:,} suppressed"
        + (f", {report.dropped_rows:,} dropped" if report.dropped_rows else ""),
        f"  classes       {report.classes.count:,}, of {report.classes.smallest:,} to {report.classes.largest:,} rows",
        f"  risk          highest {_percent(report.risk['before']['highest'])} before, "
        f"{_percent(report.risk['after']['highest'])} after",
        f"  nodes         {report.nodes['checked']:,} of {report.nodes['total']:,} checked"
        + (
            f", {report.details['satisfying_nodes']:,} keep the promises"
            if "satisfying_nodes" in report.details
            else ""
        ),
        f"  seconds       {report.seconds.total:.2f} (search {report.seconds.search:.3f}, engine {report.engine})",
    ]
    return "\n".join([*lines, *(f"  note          {remark}" for remark in report.remarks)]) + "\n"


def _promise_text(report: Report) -> str:
    said = ", ".join(_promise(promise.model, promise.asked, promise.column) for promise in report.models)
    return f"{said}: {'holds' if report.holds else 'DOES NOT HOLD'} for the rows published."


def _promise(model: str, asked: float, column: str | None) -> str:
    return f"{model} {asked:g}" + (f" of {column}" if column else "")


def _percent(share: float) -> str:
    return f"{share:.3%}" if share < 0.01 else f"{share:.1%}"


def html(report: Report, plan: Plan | None = None) -> str:
    """The report as one page."""
    tone = "verdict" if report.holds else "verdict bad"
    verdict = f'<div class="{tone}"><strong>{escape(_promise_text(report))}</strong>'
    body = [
        "<h1>Release report</h1>",
        paragraph(f"{report.rows - report.suppressed_rows:,} rows published by {report.method}.", soft=True),
        verdict + paragraph(CHECKED) + "</div>",
        section("Promises", table(["model", "column", "asked", "reached", "holds"], _promises(report))),
        section("What was done to each column", table(["column", "level", "loss"], _columns(report, plan))),
        section("Risk", table(["", "before", "after"], _risks(report))),
        section("Figures", table(["", ""], _figures(report))),
    ]
    if report.remarks:
        body.append(section("Notes", *(paragraph(remark) for remark in report.remarks)))
    return page("Sfumato: release report", body)


def _promises(report: Report) -> list[tuple[object, ...]]:
    return [(p.model, p.column or "", p.asked, p.reached, p.holds) for p in report.models]


def _columns(report: Report, plan: Plan | None) -> list[tuple[object, ...]]:
    names = list(plan.columns) if plan else list(report.levels)
    rows: list[tuple[object, ...]] = []
    for name in names:
        role = plan.columns[name].role if plan else "quasi-identifier"
        done = {"identifier": "removed (published as *)", "sensitive": "unchanged", "insensitive": "unchanged"}.get(
            role
        )
        rows.append((name, done or report.levels.get(name, "recoded"), report.loss.per_column.get(name)))
    return rows


def _risks(report: Report) -> list[tuple[object, ...]]:
    before, after = report.risk["before"], report.risk["after"]
    return [
        (name.replace("_", " "), before[name], after.get(name)) for name in before if not isinstance(before[name], dict)
    ]


def _figures(report: Report) -> list[tuple[object, ...]]:
    return [
        ("loss", f"{report.loss.value:.6g} ({report.loss.name})"),
        ("rows suppressed", report.suppressed_rows),
        ("rows dropped (missing or invalid values)", report.dropped_rows),
        ("proved optimal", report.proved_optimal),
        ("combinations of levels", report.nodes["total"]),
        ("of them checked", report.nodes["checked"]),
        ("engine", report.engine),
        ("seed", str(report.seed)),
        ("SHA-256 of the data", report.input_sha256),
        ("Sfumato", report.version),
    ]
