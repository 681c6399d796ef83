"""The sections of a release report: each has a heading and content, or is left out if nothing is known."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import cast

from sfumato.localization.messages import Messages
from sfumato.microdata.plan.methods import FullDomain
from sfumato.microdata.release_report import COMPARED, Report
from sfumato.report import html_page as approval
from sfumato.report.checks import reached, verdict_head
from sfumato.report.html_page import listing, long_table, paragraph, raw_table, section, sentence_html, table, tiles
from sfumato.report.plots import Pair, histogram, legend, meters
from sfumato.report.release import findings, measures, sentences
from sfumato.report.release.column_evidence import ColumnEvidence, ReportData, distribution_cards
from sfumato.report.release.columns import coded_columns, lost_shares
from sfumato.report.release.measures import trade_off_sentences

# Losses between 0 and 1 per column, which can be shown as a share.
RATES = ("highest", "average", "threshold", "share_above")
SHARES = ("loss-metric", "precision", "non-uniform-entropy")


def subtitle(dossier: ReportData) -> str:
    """Return what was released, in a line."""
    words, plan = dossier.words, dossier.plan
    name = Path(plan.data.source).name if plan and plan.data.source else ""
    source = words["report.subtitle_source"].format(name=name) if name else ""
    rows = words.count(dossier.report.published_rows)
    return words["report.subtitle"].format(rows=rows, source=source, version=dossier.report.version)


def verdict(dossier: ReportData, outside: bool = False) -> str:
    """Return the guarantees, whether they are satisfied, and how that was verified."""
    words, report = dossier.words, dossier.report
    lines = sentences.promises(words, report.models, dossier.plan, dossier.star_rows, outside)
    lines = lines if outside else [*findings.undecided(words, report), *findings.warnings(words, report), *lines]
    checks = "".join(paragraph(words[key]) for key in ["report.star_rows"] * dossier.star_rows + ["report.checked"])
    broken = words["report.broken_outside" if outside else "report.broken"]
    bad = f'<div class="verdict bad"><strong>{escape(broken)}</strong>'
    succeeded = bool((report.details.get("attack") or {}).get("found"))
    if report.inferred:
        lines = [*findings.inferred(words, report), *lines]
        bad = f'<div class="verdict bad"><strong>{escape(words["report.inferred"])}</strong>'
    if report.satisfied and report.uncounted:
        return _uncounted_verdict(dossier, lines) + f"{checks}</div>"
    return f"{verdict_head(words, succeeded, outside) if report.satisfied else bad}{listing(lines)}{checks}</div>"


def _uncounted_verdict(dossier: ReportData, promised: list[str]) -> str:
    """Return the beginning of a verdict if models hold for rows only, though a column identifies persons."""
    words, report = dossier.words, dossier.report
    head = words["report.uncounted"].format(column=report.uncounted[0])
    lines = listing([*findings.persons_uncounted(words, report), *promised])
    return f'<div class="verdict bad"><strong>{escape(head)}</strong>{lines}'


def inference_risks(dossier: ReportData) -> str:
    """Return the columns that predict a quasi-identifier, as prominent as a violated model."""
    return _warning(dossier.words["disclosure.tells_head"], findings.inference_risks(dossier.words, dossier.report))


def lost(dossier: ReportData) -> str:
    """Return the heavily generalized columns, as prominent as a violated model, because useless data are no release."""
    return _warning(dossier.words["lost.head"], findings.heavily_generalized_columns(dossier.words, dossier.report))


def remedies(dossier: ReportData) -> str:
    """Return the tested changes of the plan, if they were requested."""
    told = findings.remedies(dossier.words, dossier.report)
    return section(dossier.words["remedy.head"], listing(told)) if told else ""


def _warning(head: str, lines: list[str]) -> str:
    return f'<div class="verdict bad"><strong>{escape(head)}</strong>{listing(lines)}</div>' if lines else ""


def limits(dossier: ReportData, outside: bool = False) -> str:
    """Return what is not guaranteed, as prominent as the guarantees; internally also the disclosure by these rows."""
    words = dossier.words
    told = findings.persons_uncounted(words, dossier.report)
    told += findings.shared_identifiers(words, dossier.report, outside)
    told += findings.rare_values(words, dossier.report, outside)
    told += [] if outside else findings.disclosure(words, dossier.report)
    general = sentences.general_limits(words)
    models = tuple(promise.model for promise in dossier.report.models)
    own = sentences.limits(words, models, dossier.plan)[: -len(general)]
    title = f"<strong>{escape(words['report.not_promised'])}</strong>"
    attacked = reached(dossier.report.details.get("attack"), words, outside)
    return f'<div class="verdict not">{title}{attacked}{listing([*told, *own])}{paragraph(" ".join(general))}</div>'


def metrics(dossier: ReportData) -> list[tuple[str, str]]:
    """Return the highlighted metrics, each with its label."""
    words, report = dossier.words, dossier.report
    before, after = report.risk["before"], report.risk["after"]
    lost = words.percent(report.suppressed_rows / max(report.rows, 1))
    suppressed = words[f"report.figures.{'starred' if report.star_rows else 'suppressed'}"].format(share=lost)
    highest = f"{words.percent(before['highest'])} → {words.percent(after['highest'])}"
    return [
        (words.count(report.published_rows), words["report.figures.published"]),
        (words.count(report.suppressed_rows), suppressed),
        (highest, words["report.figures.highest"]),
        (f"{words.count(before['uniques'])} → {words.count(after['uniques'])}", words["report.figures.uniques"]),
        _loss_figure(words, report),
    ]


def _loss_figure(words: Messages, report: Report) -> tuple[str, str]:
    """Return the mean loss of a value; if no column was measured, the loss that the method minimized."""
    proved = measures.proved(words, report, "report.figures.proved")
    if report.mean_loss is None:
        return words.amount(report.loss.value), words["report.figures.objective"].format(name=report.loss.name) + proved
    least = report.mean_of(report.loss.value) is not None  # a proof for another metric proves nothing here
    return words.percent(report.mean_loss), words["report.figures.loss"] + (proved if least else "")


def key_figures(dossier: ReportData) -> str:
    """Return the highlighted metrics as tiles."""
    return tiles(metrics(dossier))


def columns(dossier: ReportData) -> str:
    """Return what was done to each column."""
    words, report, plan = dossier.words, dossier.report, dossier.plan
    title = words["report.columns"]
    if plan is None:
        levels = [(name, level, report.loss.per_column.get(name)) for name, level in report.levels.items()]
        head = [words[f"report.{key}"] for key in ("column", "level", "loss")]
        return section(title, table(head, levels, words)) if levels else ""
    examples = [words["report.examples"]] if dossier.evidence else []
    joint = sentences.coded_together(words, plan)
    told = ((name, tuple(_column(dossier, name, joint.get(name)))) for name in plan.columns)
    rows = [_named_column(dossier, names, *cells) for names, cells in findings.columns_alike(words, told)]
    return section(title, raw_table([words["report.column"], words["report.what"], *examples], rows))


def _named_column(dossier: ReportData, names: str, role: str, *cells: str) -> list[str]:
    """Return a table line of columns: names, role, and what was done to them."""
    called = dossier.words.get(f"glossary.{role}", dossier.words[role].partition(":")[0])
    chip = f'<span class="chip {role}">{escape(called)}</span>'
    return [f"<td><b>{sentence_html(names)}</b><br>{chip}</td>", *cells]


def _column(dossier: ReportData, name: str, joint: str | None) -> list[str]:
    """Return the role of a column, and the cells on what was done to it, or to several (`joint`)."""
    assert dossier.plan is not None
    words, column = dossier.words, dossier.plan.columns[name]
    evidence = dossier.evidence.columns.get(name) if dossier.evidence else None
    labels = measures.published(dossier.report).get(name, ())
    what = joint or fate(dossier, name)
    cells = [column.role, f"<td>{sentence_html(what)}{measures.chips(words, labels)}</td>"]
    if not dossier.evidence:
        return cells
    return [*cells, f"<td>{''.join(_pair(*example) for example in evidence.examples) if evidence else ''}</td>"]


def fate(dossier: ReportData, name: str) -> str:
    """Return what happened to a column, in a sentence."""
    assert dossier.plan is not None
    evidence = dossier.evidence.columns.get(name) if dossier.evidence else None
    told = sentences.untouched(dossier.words, dossier.plan, name, dossier.report, dossier.under_promise(name))
    return told or _fate(dossier, name, evidence)


def _pair(before: str, after: str) -> str:
    arrow = '<span class="arrow">→</span>'
    return f'<span class="pair">{escape(_cut(before))}{arrow}<b><code>{escape(_cut(after))}</code></b></span>'


def _cut(value: str, length: int = 40) -> str:
    return value if len(value) <= length else value[: length - 1] + "…"


def _fate(dossier: ReportData, name: str, evidence: ColumnEvidence | None) -> str:
    assert dossier.plan is not None
    words, report = dossier.words, dossier.report
    became = ""
    if evidence is not None and evidence.before != evidence.after:
        counts = {"before": words.count(evidence.before), "after": words.count(evidence.after)}
        became = words["report.became"].format(**counts)
    if name in report.levels and (alike := sentences.fate_of_all(words, report, name)):
        return alike + became
    if name in report.levels and evidence is not None:
        return sentences.fate(words, dossier.plan.columns[name].hierarchy, report.levels[name], evidence.top) + became
    if name in report.levels:
        return words["report.at_level"].format(level=report.levels[name])
    if name in measures.published(report):
        return measures.fate(words, measures.published(report)[name], evidence.before if evidence else None)
    return sentences.by_class(words, report, dossier.plan, name) + became


def risk(dossier: ReportData) -> str:
    """Return the risk before and after, and the rows by class size."""
    words, report = dossier.words, dossier.report
    before, after = report.risk["before"], report.risk["after"]
    rows = max(int(before.get("rows", report.rows)), 1), max(int(after.get("rows", report.rows)), 1)
    pairs = [
        Pair(words["risk.highest"], before["highest"], after["highest"]),
        Pair(words["risk.average"], before["average"], after["average"]),
        Pair(words["risk.uniques"], before["uniques"] / rows[0], after["uniques"] / rows[1]),
    ]
    parts = [paragraph(words["report.risk_why"]), legend(words), meters(words, pairs)]
    sample = measures.sample(words, report.risk.get("sample") or {})
    more = [*_sizes(dossier), risk_table(dossier), *sample, *measures.disclosure(words, report.disclosure)]
    more += measures.origins(words, report.risk, report.levels)
    return section(words["report.risk"], *parts, *more)


def _sizes(dossier: ReportData) -> Iterator[str]:
    words = dossier.words
    if dossier.evidence is None:
        return
    small = sum(pair.before or 0.0 for pair in dossier.evidence.sizes[:2])
    about = words["report.sizes"].format(share=words.percent(small))
    drawn = histogram(words, dossier.evidence.sizes, words["report.sizes_axis"], about)
    yield f"<figure>{drawn}{legend(words)}<figcaption>{escape(about)}</figcaption></figure>"


def risk_table(dossier: ReportData) -> str:
    """Return all single risk metrics as a table; measures that one side lacks are empty."""
    words, sides = dossier.words, (dossier.report.risk["before"], dossier.report.risk["after"])
    rows = [
        (words.get(f"risk.{name}", name.replace("_", " ")), *(_risk(words, name, side.get(name)) for side in sides))
        for name, figure in sides[0].items()
        if isinstance(figure, int | float) and not isinstance(figure, bool)
    ]
    return long_table([words[f"report.{key}"] for key in ("figure", "before", "after")], rows, words)


def _risk(words: Messages, name: str, figure: object) -> object:
    """Return a risk metric, with probabilities and shares in percent."""
    return words.percent(figure) if name in RATES and isinstance(figure, int | float) else figure


def utility(dossier: ReportData) -> str:
    """Return the information loss: per column, of distributions, and further measures."""
    words = dossier.words
    measured = measures.utility(words, dossier.report.utility)
    parts = [*_losses(dossier), *coded_columns(words, dossier.report.details), *distribution_cards(dossier), *measured]
    return section(words["report.utility"], *parts) if parts else ""


def _shares(report: Report) -> tuple[str, dict[str, float]]:
    """Return the introduction to the losses of the columns, and these, consistent with the verdict."""
    losses = report.loss.per_column
    if report.loss.name != COMPARED:
        return "report.losses", dict(losses)
    hidden, lost = report.suppressed_rows, report.details.get("heavily_generalized_columns") or ()
    return "report.losses_published", lost_shares(losses, report.rows - hidden, hidden, lost)


def _losses(dossier: ReportData) -> Iterator[str]:
    words, loss = dossier.words, dossier.report.loss
    if not loss.per_column:
        return
    left = dossier.report.utility.get("values_left", {})
    called = words.get(f"loss.{loss.name}", loss.name).partition(":")[0]
    if left:
        head = [words[f"report.{key}"] for key in ("column", "values_before", "values_after", "share")]
        rows = [(name, entry["before"], entry["after"], words.percent(entry["share"])) for name, entry in left.items()]
        yield paragraph(words["report.values_left"]) + long_table(head, rows, words)
    if loss.name in SHARES and all(0 <= share <= 1 for share in loss.per_column.values()):
        key, shares = _shares(dossier.report)
        yield paragraph(words[key].format(name=called))
        yield meters(words, [Pair(name, None, max(share, 0.0)) for name, share in shares.items()])
    else:
        head = [words["report.column"], words["report.loss_of"].format(name=called)]
        yield table(head, loss.per_column.items(), words)


def trade_off(dossier: ReportData) -> str:
    """Return the loss with other suppression limits and neighboring levels."""
    words, report, plan = dossier.words, dossier.report, dossier.plan
    if not dossier.others or plan is None:
        return ""
    limit = cast("FullDomain", plan.method).suppression.limit(report.rows)
    lines = trade_off_sentences(words, dossier.others, report, limit)
    intro = paragraph(words["report.trade_off_intro"])
    return section(words["report.trade_off"], intro, listing(lines)) if lines else ""


def notes(dossier: ReportData) -> str:
    """Return further notes for the reader."""
    words, remarks = dossier.words, dossier.report.notes
    return section(words["report.notes"], listing(map(words.text, remarks))) if remarks else ""


def origin(dossier: ReportData) -> str:
    """Return how the release was made, for repetition: metrics, checksums, and the full plan."""
    words, plan = dossier.words, dossier.plan
    shuffled = plan is not None and plan.output.order == "shuffle"
    stays = words["report.house"].format(files=", ".join(name for name in dossier.house if name != "report.html"))
    told = [stays, *([words["report.shuffled"]] if shuffled else [])]
    parts = [*map(paragraph, told), table(["", ""], _origin_rows(dossier), words)]
    return section(words["report.made"], *parts, *(_plan(dossier) if plan else ()))


def _origin_rows(dossier: ReportData) -> list[tuple[str, str]]:
    words, report = dossier.words, dossier.report
    classes, seconds = report.classes, report.seconds
    method = measures.proved(words, report, "report.proved_optimal").format(method=report.method) or report.method
    sizes = {"smallest": words.count(classes.smallest), "largest": words.count(classes.largest)}
    return [
        (words["report.method"], method),
        (words["report.nodes"], _of(words, report.nodes["checked"], report.nodes["total"])),
        (words["report.classes"], words["report.classes_text"].format(count=words.count(classes.count), **sizes)),
        (words["report.dropped"], words.count(report.dropped_rows)),
        (words["report.engine"], report.engine),
        (words["report.seed"], words["report.secret"] if report.seed is None else str(report.seed)),
        (
            words["report.seconds"],
            words["report.seconds_text"].format(
                total=words.figure(f"{seconds.total:.2f}"), search=words.figure(f"{seconds.search:.2f}")
            ),
        ),
        (words["report.sha_input"], report.input_sha256),
        *((words[f"report.sha_{key.removesuffix('_sha256')}"], seal) for key, seal in dossier.checksums.items()),
        ("Sfumato", report.version),
    ]


def _of(words: Messages, part: int, whole: int) -> str:
    return words["report.of"].format(part=words.count(part), whole=words.count(whole))


def _plan(dossier: ReportData) -> Iterator[str]:
    """Yield the plan as in plan.yaml."""
    from sfumato.microdata.plan.write import plan_text

    assert dossier.plan is not None
    yield approval.plan_listing(dossier.words, plan_text(dossier.plan, dossier.home))
