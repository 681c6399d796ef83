"""The report to hand out with a release: it holds nothing that weakens the protection.

Left out on purpose: raw values and their counts, sizes of single classes beyond what is promised, exact numbers of
suppressed rows, the seed (it would undo a shuffled order), the hash of the raw data (it would confirm a guess), the
exact loss and whether it is the least (who knows that a release is minimal can rule out what it might have come from:
Wong, R. et al. (2007). Minimality attack in privacy preserving data publishing, VLDB), and the plan's hierarchies.
"""

from html import escape
from typing import Any

from sfumato.microdata.outcome import Report
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.verdict import Promise
from sfumato.report import optimality, sentences
from sfumato.report.html_parts import listing, page, paragraph, raw_table, section, table
from sfumato.texts.words import Words, words_in


def html(report: Report, plan: Plan) -> str:
    """The report to hand out, as one page."""
    words = words_in()
    word = "The promises hold." if report.holds else "A promise does not hold."
    tone = "verdict" if report.holds else "verdict bad"
    star_rows = _has_star_rows(report)
    promises = [sentences.promised(words, promise, plan, star_rows, outside=True) for promise in report.models]
    checks = "".join(paragraph(words[key]) for key in ["report.star_rows"] * star_rows + ["report.checked"])
    body = [
        "<h1>About these data</h1>",
        paragraph(
            f"Rows about persons, released with Sfumato {report.version} so that nobody can be singled out.", True
        ),
        f'<div class="{tone}"><strong>{escape(word)}</strong>{listing(promises)}{checks}</div>',
        section("What was done to each column", _columns(words, report, plan)),
        section("Rows", paragraph(_suppressed(report))),
        section("Promises", table(["model", "column", "asked"], _promises(report))),
        section("Limits", listing(sentences.limits(words, tuple(promise.model for promise in report.models)))),
    ]
    return page("Sfumato: about these data", body)


def figures(report: Report, plan: Plan) -> dict[str, Any]:
    """The same in plain values: what report-external.json holds."""
    words = words_in()
    return {
        "version": report.version,
        "edition": "external",
        "holds": report.holds,
        "checked": words["report.checked"],
        "models": [_model(words, promise, plan, _has_star_rows(report)) for promise in report.models],
        "columns": {name: _column(words, report, plan, name) for name in plan.columns},
        "suppressed_at_most": _bound(report),
        "limits": sentences.limits(words, tuple(promise.model for promise in report.models)),
    }


def _has_star_rows(report: Report) -> bool:
    """Whether there are rows with `*` in every quasi-identifier because they were suppressed."""
    return report.star_rows and report.suppressed_rows > 0


def _model(words: Words, promise: Promise, plan: Plan, star_rows: bool) -> dict[str, Any]:
    column = {"column": promise.column} if promise.column else {}
    says = {"says": sentences.promised(words, promise, plan, star_rows, outside=True)}
    return {"model": promise.model, "asked": promise.asked, "holds": promise.holds} | column | says


def _column(words: Words, report: Report, plan: Plan, name: str) -> dict[str, Any]:
    return {"role": plan.columns[name].role, "level": report.levels.get(name), "what": _what(words, report, plan, name)}


def _columns(words: Words, report: Report, plan: Plan) -> str:
    rows = []
    for name, column in plan.columns.items():
        what = _what(words, report, plan, name)
        rows.append((f"<td><b>{escape(name)}</b></td>", f"<td>{escape(column.role)}</td>", f"<td>{escape(what)}</td>"))
    return raw_table(["column", "role", "what"], rows)


def _what(words: Words, report: Report, plan: Plan, name: str) -> str:
    """What was done to a column, in words."""
    under_promise = any(promise.column == name for promise in report.models)
    return sentences.untouched(words, plan, name, under_promise) or _fate(report, name)


def _fate(report: Report, name: str) -> str:
    if name in optimality.published(report):
        return optimality.ALIKE
    if name not in report.levels:
        return "Generalized class by class, only as far as each class needs."
    level = report.levels[name]
    return "Published as it is." if level == 0 else f"Generalized to level {level} of its hierarchy."


def _suppressed(report: Report) -> str:
    if not report.suppressed_rows:
        return "No row was left out because of the promises."
    fate = "have * in every quasi-identifier" if report.star_rows else "were left out"
    return f"At most {100 * _bound(report):.0f} % of the rows {fate}, because they could not be protected otherwise."


def _bound(report: Report) -> float:
    """A round share that the suppressed rows do not exceed: their number itself would tell of them."""
    share = report.suppressed_rows / max(report.rows, 1)
    return next((bound for bound in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if share <= bound), 1.0)


def _promises(report: Report) -> list[tuple[object, ...]]:
    return [(promise.model, promise.column or "", f"{promise.asked:g}") for promise in report.models]
