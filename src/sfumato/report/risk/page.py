"""The risk report as an HTML page in the requested language, and as a fragment for notebooks."""

from html import escape

from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.measures.population import Estimate
from sfumato.microdata.measures.risk import AttackerRisk
from sfumato.microdata.measures.risk_overview import RiskSurvey
from sfumato.report.page.html_page import listing, page, paragraph, section, table
from sfumato.report.risk.report import SHOWN, attackers_of, best_sets, estimates_of, sample_rows


def page_of(report: RiskSurvey, language: str = "en") -> str:
    """The report as one page."""
    words = words_in(language)
    title = words["surveyed.title"]
    return page(f"Sfumato: {title}", [f"<h1>{escape(title)}</h1>", html_part(report, language)], words.language)


def html_part(report: RiskSurvey, language: str = "en") -> str:
    """Return the metrics as sections of a page."""
    words = words_in(language)
    parts = [
        paragraph(_summary(words, report)),
        _attackers(words, report),
        *_population(words, report),
        *_sample(words, report),
        _sizes(words, report),
        _contributions(words, report),
        section(words["measure.outliers"], paragraph(_outliers(words, report))),
        *_special(words, report),
        _sets(words, report),
    ]
    return "\n".join(parts)


def _summary(words: Messages, report: RiskSurvey) -> str:
    figures = report.figures
    counts = {
        "rows": figures.rows,
        "classes": figures.classes,
        "uniques": figures.uniques,
        "dropped": report.dropped_rows,
    }
    told = {name: words.count(count) for name, count in counts.items()}
    return words["surveyed.summary"].format(missing=words[f"surveyed.missing.{report.on_missing}"], **told)


def _attackers(words: Messages, report: RiskSurvey) -> str:
    head = ["", *(words[f"surveyed.{key}"] for key in ("highest", "average", "above", "share"))]
    rows = [(words[f"risk.attacker.{name}"], *_attack(words, one)) for name, one in attackers_of(report)]
    names = [name for name, _ in attackers_of(report)]
    says = [f"{words[f'risk.attacker.{name}']}: {words[f'risk.attacker.{name}.says']}" for name in names]
    same = [words["risk.same"]] if report.uniqueness is None else []
    return section(words["risk.attackers"], table(head, rows, words), listing([*says, *same]))


def _attack(words: Messages, one: AttackerRisk) -> tuple[object, ...]:
    shares = [words.percent(share) for share in (one.highest, one.average, one.share_above)]
    return shares[0], shares[1], one.rows_above, shares[2]


def _population(words: Messages, report: RiskSurvey) -> list[str]:
    if report.uniqueness is None:
        return []
    head = [words[f"surveyed.{key}"] for key in ("estimator", "persons", "share", "note")]
    rows = [(words[f"risk.estimator.{name}"], *_estimate(words, one)) for name, one in estimates_of(report)]
    return [section(words["risk.population_uniques"], table(head, rows, words))]


def _estimate(words: Messages, one: Estimate) -> tuple[object, ...]:
    share = None if one.share is None else words.percent(one.share)
    return one.uniques, share, words.text(one.reason)


def _sample(words: Messages, report: RiskSurvey) -> list[str]:
    if report.sample is None:
        return []
    head = ["", *(words[f"sample.{key}"] for key in ("highest", "average", "expected"))]
    names = {"rows": "rows", "households": "households", "rows, missing matches": "matching"}
    rows = [
        (words[f"sample.{names[name]}"], words.percent(one.highest), words.percent(one.average), one.expected)
        for name, one in sample_rows(report)
    ]
    return [section(words["sample.title"], table(head, rows, words))]


def _sizes(words: Messages, report: RiskSurvey) -> str:
    head = [words[f"surveyed.{key}"] for key in ("size", "classes", "rows")]
    rows = [(entry.size, entry.classes, entry.rows) for entry in report.sizes[:SHOWN]]
    return section(words["surveyed.smallest"], table(head, rows, words))


def _contributions(words: Messages, report: RiskSurvey) -> str:
    head = [words[f"surveyed.{key}"] for key in ("column", "level", "uniques_then", "average_then")]
    entries = (*report.columns, *report.steps)
    rows = [(entry.column, entry.level, entry.uniques, words.percent(entry.average)) for entry in entries]
    return section(words["measure.origins"], table(head, rows, words))


def _outliers(words: Messages, report: RiskSurvey) -> str:
    outliers = report.outliers
    parts = [
        words["surveyed.singled"].format(rows=words.count(rows), columns=place)
        for place, rows in enumerate(outliers.by_columns, start=1)
    ]
    return "; ".join([*parts, words["surveyed.singled_more"].format(rows=words.count(outliers.more))]) + "."


def _special(words: Messages, report: RiskSurvey) -> list[str]:
    special = report.special_uniques
    if special is None:
        return []
    sentences = [words["risk.special.says"].format(rows=words.count(special.rows))]
    shares = {"dis": words.percent(special.dis), "highest": words.percent(special.highest_dis)}
    sentences.append(words["surveyed.dis"].format(fraction=words.figure(f"{special.fraction:.4g}"), **shares))
    sentences += [words["surveyed.up_to"].format(columns=special.largest)] * (not special.complete)
    sentences += [words["surveyed.certain"]] * special.certain
    rows = [(name, words.percent(share)) for name, share in special.columns.items() if share]
    head = [words["surveyed.column"], words["risk.special.part"]]
    return [
        section(words["risk.special"], paragraph(" ".join(sentences)), *([table(head, rows, words)] if rows else []))
    ]


def _sets(words: Messages, report: RiskSurvey) -> str:
    head = [words[f"surveyed.{key}"] for key in ("columns", "distinct", "apart")]
    rows = [
        (", ".join(one.columns), words.percent(one.distinction), words.percent(one.separation))
        for one in best_sets(report)
    ]
    return section(words["surveyed.sets"], table(head, rows, words))
