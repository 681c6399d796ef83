"""Content of the report to be signed for rows: document data, residual risk in plain words, decisions."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, cast, get_args

from sfumato.localization.lists import enumeration, names_told
from sfumato.localization.messages import Messages
from sfumato.microdata.measures.columns import Fate
from sfumato.microdata.plan.methods import FullDomain
from sfumato.microdata.plan.model import ROLES, Plan
from sfumato.microdata.release_report import Report
from sfumato.report import html_page as approval
from sfumato.report.annex import Annex, Chapter, checksums, necessity, processing, signatures
from sfumato.report.checks import HEAD, attack_words, reached, verdict, why_words
from sfumato.report.html_page import listing, section
from sfumato.report.release import findings, measures, sentences
from sfumato.report.release.column_evidence import ReportData


def document_rows(dossier: ReportData) -> list[tuple[str, str]]:
    """Return the data of the document, each with its label; missing entries of the plan are stated as such."""
    source = dossier.plan.data.source if dossier.plan else None
    return approval.document_rows(dossier.words, dossier.day, dossier.report.version, source, dossier.about())


def residual_risk(dossier: ReportData) -> str:
    """Return what an attacker can still do, in plain words, and the assumed attackers."""
    words = dossier.words
    head = f"<h3>{escape(words['sign.attackers'])}</h3>"
    attacked = reached(dossier.report.details.get("attack"), words)
    told = listing(residual_sentences(dossier))
    return section(words["sign.residual"], attacked, told, head, listing(attacker_sentences(words)))


def attacker_sentences(words: Messages) -> list[str]:
    """Return which attackers were assumed, and which not."""
    return [words[f"sign.attacker.{name}"] for name in ("prosecutor", "marketer", "not")]


def residual_sentences(dossier: ReportData) -> list[str]:
    """Return the residual risk, sentence by sentence."""
    words, report = dossier.words, dossier.report
    before, after = report.risk["before"], report.risk["after"]
    shares = {"highest": words.percent(after["highest"]), "average": words.percent(after["average"])}
    uniques = {
        "uniques": words.count(before["uniques"]),
        "share": words.percent(before["uniques"] / max(report.rows, 1)),
    }
    return [
        words["sign.residual_known"].format(alike=words.count(_alike(report)), **shares),
        words["sign.residual_before"].format(**uniques),
        *_published_columns(dossier),
    ]


def _alike(report: Report) -> int:
    """Return the minimum class size: in rows, or persons if these are counted."""
    return int(report.risk["after"]["smallest"]) if report.counts_persons else report.classes.smallest


def _published_columns(dossier: ReportData) -> Iterator[str]:
    """Yield what can be learned from columns that are no quasi-identifiers."""
    words, plan = dossier.words, dossier.plan
    if plan is None:
        return
    columns: dict[tuple[str, str], list[str]] = {}
    for name in plan.named("sensitive"):
        key = "sign.residual_learned" if dossier.under_promise(name) else "sign.residual_open"
        how = "sign.as_it_is" if plan.columns[name].publish is None else "sign.changed"
        columns.setdefault((key, how), []).append(name)
    for (key, how), names in columns.items():
        several = "_several" if len(names) > 1 else ""
        yield enumeration(words, words[key + several], names, how=words[how + several])
    others = [name for name in plan.named("insensitive") if plan.columns[name].publish is None]
    if others:
        yield enumeration(words, words["sign.residual_other"], others)


def decision_rows(dossier: ReportData) -> list[approval.Decision]:
    """Return the rows of decision, choice and reason."""
    words, plan = dossier.words, dossier.plan
    if plan is None:
        return []
    roles = [
        (words[f"sign.roles.{kind}"], names_told(words, names), words[f"sign.roles.{kind}.why"])
        for kind, names in columns_by_decision(plan).items()
        if names
    ]
    missing, order = plan.data.on_missing, plan.output.order
    return [
        *roles,
        *_promises(dossier, plan),
        *_coding(dossier.words, plan),
        (words["report.method"], dossier.report.method, _why_method(dossier)),
        *_levels(dossier, words),
        *_budget(dossier, words),
        (words["sign.missing"], words[f"sign.missing.{missing}"], words["sign.missing.why"]),
        (words["sign.order"], words[f"sign.order.{order}"], words[f"sign.order.{order}.why"]),
    ]


def _promises(dossier: ReportData, plan: Plan) -> Iterator[approval.Decision]:
    """Yield the requested models, and who requested them."""
    words, why = dossier.words, dossier.words["sign.promises.why"]
    if plan.policy is not None:
        why = words["sign.promises.why.policy"].format(policy=plan.policy.name)
    asked = sentences.requested(words, dossier.report.models)
    told = [f"{model} {number} ({columns})" if columns else f"{model} {number}" for model, number, columns in asked]
    if told:
        yield words["sign.promises"], "; ".join(told), why


def _coding(words: Messages, plan: Plan) -> Iterator[approval.Decision]:
    ways = [f"{names_told(words, names)}: {way}" for way, names in sentences.coded(words, plan).items()]
    if ways:
        yield words["sign.coding"], "; ".join(ways), words["sign.coding.why"]


def _why_method(dossier: ReportData) -> str:
    """Return why the method was chosen: it loses least, or its loss."""
    words, report, mean = dossier.words, dossier.report, dossier.report.mean_loss
    if report.levels_chosen:
        return words["sign.method.why.chosen"]
    if report.proved_optimal or mean is None:
        key = "sign.method.why.optimal" if report.levels else "sign.method.why.best"
        return measures.proved(words, report, key) or words["sign.method.why.unmeasured"]
    return words["sign.method.why.other"].format(loss=words.percent(mean))


def columns_by_decision(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the columns of a plan by the decision about them.

    Columns with `*` in every row are removed, whatever their role; what models count (persons, households, weights) is
    listed nevertheless.
    """
    hidden = tuple(name for name, column in plan.columns.items() if column.is_pseudonymous)
    removed = tuple(name for name in plan.removed_columns if plan.columns[name].role != "undecided")
    named = {role: plan.named(role) for role in ROLES if role != "identifier"}
    shown = {
        role: tuple(name for name in named[role] if name not in plan.removed_columns)
        for role in ("sensitive", "insensitive")
    }
    plain = tuple(name for name in shown["insensitive"] if plan.columns[name].publish is None)
    changed = tuple(name for name in shown["insensitive"] if name not in plain)
    return {"identifier": removed, "pseudonym": hidden} | named | shown | {"insensitive": plain, "changed": changed}


def _levels(dossier: ReportData, words: Messages) -> Iterator[tuple[str, str, str]]:
    """Yield the levels that the plan allows, if it restricts them."""
    if not dossier.report.limits_levels:
        return
    ends: Mapping[str, Sequence[int]] = dossier.report.details["levels_allowed"]["columns"]
    told = [f"{name} {low}" if low == high else f"{name} {low}–{high}" for name, (low, high) in ends.items()]
    key = "sign.levels_chosen" if dossier.report.levels_chosen else "sign.levels_allowed"
    yield words[key], names_told(words, told), words[f"{key}.why"]


def _budget(dossier: ReportData, words: Messages) -> Iterator[tuple[str, str, str]]:
    plan, rows = dossier.plan, dossier.report.rows
    if plan is not None and plan.method.recoding in ("levels", "local"):
        limit = words.count(cast("FullDomain", plan.method).suppression.limit(rows))
        choice = words["sign.budget_text"].format(limit=limit, rows=words.count(rows))
        yield words["sign.budget"], choice, words["sign.budget.why"]


def rows_annex(dossier: ReportData) -> Annex:
    """Return the annex for a release of rows."""
    words, report = dossier.words, dossier.report
    models = tuple(promise.model for promise in report.models)
    promises = sentences.promises(words, report.models, dossier.plan, dossier.star_rows)
    chapters = [
        processing(words, document_rows(dossier)),
        necessity(words, [_necessity(dossier)], decision_rows(dossier)),
        Chapter(words["annex.risks"], points=attacker_sentences(words)),
        Chapter(words["annex.measures"], [words["report.checked"]], promises),
        Chapter(
            words["annex.residual"],
            points=[
                *residual_sentences(dossier),
                *findings.disclosure(words, report),
                *sentences.limits(words, models, dossier.plan),
            ],
        ),
        _evidence(dossier),
        signatures(words),
    ]
    return Annex(words, dossier.about().get("by", ""), chapters)


def _evidence(dossier: ReportData) -> Chapter:
    """Return the chapter on attacks, if any were run, and the checksums of the files."""
    words = dossier.words
    shown = checksums(words, list(_seals(dossier)))
    figures: Mapping[str, Any] | None = dossier.report.details.get("attack")
    if figures is None:
        return Chapter(words["annex.evidence"], [words["annex.no_attack"]], tables=[shown])
    attacks = [[words[f"attack.{key}"] for key in HEAD], *(attack_words(one, words) for one in figures["attacks"])]
    absences = [f"{words['attack.not_run']} {why_words(absence, words)}" for absence in figures["not_run"]]
    told = [verdict(figures, words), words["attack.evidence"]]
    return Chapter(words["annex.evidence"], told, absences, [attacks, shown])


def _necessity(dossier: ReportData) -> str:
    """Return what happened to columns and rows."""
    words, report = dossier.words, dossier.report
    fates = [*sentences.fates(report).values()]
    columns = {"columns": len(fates)} | {fate: fates.count(fate) for fate in get_args(Fate)}
    rows = {"suppressed": report.suppressed_rows, "rows": report.rows}
    key = "annex.necessity_text" if fates else "annex.necessity_rows"
    return words[key].format(**{name: words.count(many) for name, many in (columns | rows).items()})


def _seals(dossier: ReportData) -> Iterator[tuple[str, str]]:
    words = dossier.words
    yield words["report.sha_input"], dossier.report.input_sha256
    for key, seal in dossier.checksums.items():
        yield words[f"report.sha_{key.removesuffix('_sha256')}"], seal
