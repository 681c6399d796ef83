"""Measures that are not guaranteed, in words: utility, and the origins of the risk."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.microdata.measures.attribute_disclosure import AttributeDisclosureMetrics, Disclosure
from sfumato.microdata.methods.full_domain.search import NEAR, TradeOffPoint
from sfumato.microdata.release_report import Report
from sfumato.report.html_page import listing, long_table, paragraph, section, table
from sfumato.report.release.column_evidence import ReportData, shown_as

MOST_PAIRS = 10


def _head(words: Messages, key: str) -> str:
    return f"<h3>{escape(words[key])}</h3>"


def utility(words: Messages, measures: Mapping[str, Any]) -> Iterator[str]:
    """Yield losses, changes of distributions and associations, and the error of counts, as far as measured."""
    yield from _distances(words, measures.get("distributions") or {})
    yield from _association(words, measures.get("association") or {}, measures.get("association_pairs") or ())
    yield from _queries(words, measures.get("range_counts") or {})
    yield from _classification(words, measures.get("classification") or {})
    yield from _losses(words, measures.get("losses") or {})


def _distances(words: Messages, distances: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if not distances:
        return
    yield _head(words, "measure.moved") + paragraph(words["measure.moved_hint"], True)
    rows = [(name, entry.get("total_variation"), entry.get("earth_mover")) for name, entry in distances.items()]
    head = [words["report.column"], words["measure.total_variation"], words["measure.earth_mover"]]
    yield long_table(head, rows, words)


def _association(words: Messages, summary: Mapping[str, Any], pairs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not pairs:
        return
    yield _head(words, "measure.drift")
    mean = summary.get("mean_drift")
    if mean is not None:
        yield paragraph(words["measure.drift_text"].format(mean=words.figure(f"{mean:.2f}")))
    order = sorted(pairs, key=lambda pair: -abs((pair.get("cramers_v_before") or 0) - (pair.get("cramers_v") or 0)))
    rows = [
        (f"{pair['first']} × {pair['second']}", pair.get("cramers_v_before"), pair.get("cramers_v"))
        for pair in order[:MOST_PAIRS]
    ]
    yield long_table([words["measure.columns"], words["measure.cramers_v_before"], words["report.after"]], rows, words)


def _queries(words: Messages, errors: Mapping[str, Any]) -> Iterator[str]:
    if errors:
        shares = {"mean": words.percent(errors["mean_error"]), "median": words.percent(errors["median_error"])}
        text = words["measure.counts_text"].format(queries=words.count(errors["queries"]), **shares)
        yield _head(words, "measure.counts") + paragraph(text)


def _classification(words: Messages, figures: Mapping[str, Any]) -> Iterator[str]:
    plain = [(name.replace("_", " "), value) for name, value in figures.items() if isinstance(value, int | float | str)]
    if plain:
        yield _head(words, "measure.learned") + table([words["measure.figure"], words["measure.value"]], plain, words)


def _losses(words: Messages, losses: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if losses:
        rows = [(words.get(f"loss.{name}", name), _mean(loss), loss["value"]) for name, loss in losses.items()]
        head = [words[key] for key in ("measure.loss_name", "measure.loss_mean", "measure.loss_total")]
        about = paragraph(words["measure.all_losses.says"], True)
        yield _head(words, "measure.all_losses") + about + table(head, rows, words)


def _mean(loss: Mapping[str, Any]) -> float | None:
    """Return the mean loss over columns, if the loss is defined by columns and between 0 and 1."""
    shares = list((loss.get("per_column") or {}).values())
    return sum(shares) / len(shares) if shares and all(0 <= share <= 1 for share in shares) else None


def sample(words: Messages, sides: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the risk by weights and households, before and after; the higher reading of missing values first."""
    if not sides:
        return
    persons = words.count(round(sides["before"]["persons"]))
    yield _head(words, "sample.title") + paragraph(words["sample.text"].format(persons=persons))
    rows = [
        (
            words[f"sample.{part}"],
            words[f"sample.{figure}"],
            *(_sample_figure(words, side, part, figure) for side in both),
        )
        for both in [(sides["before"], sides.get("after") or {})]
        for part in ("rows", "households", "matching")
        if any(part in side for side in both)
        for figure in ("highest", "average", "expected")
    ]
    yield table(
        [words["sample.unit"], words["measure.figure"], words["report.before"], words["report.after"]], rows, words
    )


def _sample_figure(words: Messages, side: Mapping[str, Any], part: str, figure: str) -> object:
    value = side.get(part, {}).get(figure)
    return value if value is None or figure == "expected" else words.percent(value)


def disclosure(words: Messages, tells: Disclosure) -> Iterator[str]:
    """Yield the attribute disclosure of each sensitive column, as a table."""
    if tells.sensitive:
        head = [words[f"risk.disclosure.{key}"] for key in ("column", "alone", "rows", "blank", "part_blank", "l", "t")]
        rows = [(name, *_column_tells(words, figures)) for name, figures in tells.sensitive.items()]
        yield _head(words, "risk.disclosure") + paragraph(words["risk.disclosure.says"], True)
        yield long_table(head, rows, words)


def _column_tells(words: Messages, figures: AttributeDisclosureMetrics) -> tuple[object, ...]:
    alone = words["report.of"].format(part=words.count(figures.homogeneous_classes), whole=words.count(figures.classes))
    blanks = figures.blank_classes, figures.part_blank_classes
    return alone, figures.homogeneous_rows, *blanks, figures.l, figures.t


def origins(words: Messages, risk: Mapping[str, Any], levels: Mapping[str, int]) -> Iterator[str]:
    """Yield the origins of the risk: columns, levels of generalization, and unique rows."""
    contribution = risk.get("contribution") or {}
    lines = [*_without(words, contribution), *_steps(words, contribution, levels)]
    if lines:
        yield _head(words, "measure.origins") + listing(lines)
    special = _special(words, risk.get("special_uniques") or {}, risk.get("special_uniques_after") or {})
    outliers = [*_outliers(words, risk.get("outliers") or {}), *special, *forcing_sentences(words, risk, levels)]
    if outliers:
        yield _head(words, "measure.outliers") + listing(outliers)


def _without(words: Messages, contribution: Mapping[str, Any]) -> Iterator[str]:
    uniques = contribution.get("uniques")
    for name, left in (contribution.get("without") or {}).items():
        if uniques is not None and left != uniques:
            yield words["measure.without"].format(column=name, before=words.count(uniques), after=words.count(left))


def _steps(words: Messages, contribution: Mapping[str, Any], levels: Mapping[str, int]) -> Iterator[str]:
    """Yield the effect of each chosen level by itself."""
    for step in contribution.get("steps") or ():
        if levels.get(step["column"]) == step["level"] and step["uniques"] != step["uniques_before"]:
            counts = {"before": words.count(step["uniques_before"]), "after": words.count(step["uniques"])}
            yield words["measure.step"].format(column=step["column"], level=step["level"], **counts)


def _outliers(words: Messages, outliers: Mapping[str, Any]) -> Iterator[str]:
    for name, rows in (outliers.get("singled_out_alone_by") or {}).items():
        if rows:
            yield words["measure.alone"].format(column=name, rows=words.count(rows))


def _special(words: Messages, special: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield how few columns make rows unique, which contribute most, and what remains after the release."""
    if not special.get("rows"):
        return
    fewest = next(size for size, count in enumerate(special["sizes"], start=1) if count)
    column = max(special["columns"], key=special["columns"].__getitem__)
    counts = {"rows": words.count(special["rows"]), "fewest": fewest}
    share = words.percent(special["columns"][column])
    yield words["measure.special"].format(column=column, share=share, **counts)
    if after:  # folders of earlier versions lack it
        dis = {"before": words.percent(special["highest_dis"]), "after": words.percent(after["highest_dis"])}
        yield words["measure.special_after"].format(rows=words.count(after["rows"]), **dis)


def forcing_sentences(words: Messages, risk: Mapping[str, Any], levels: Mapping[str, int]) -> Iterator[str]:
    """Yield which rows prevent each column from being a level finer."""
    for name, entry in (risk.get("forcing") or {}).items():
        if name in levels:
            counts = {"rows": words.count(entry["rows"]), "level": levels[name], "finer": entry["level"]}
            yield words["report.forcing"].format(column=name, **counts)


def trade_off_sentences(
    words: Messages, alternatives: tuple[TradeOffPoint, ...], report: Report, limit: int
) -> list[str]:
    """Return the alternatives in words."""
    lines = [_budget(words, entry, report) for entry in alternatives if entry.suppression_limit is not None]
    return [line for line in lines if line] + [
        _neighbor(words, entry, report, limit) for entry in alternatives if entry.changed is not None
    ]


def _loss_words(words: Messages, entry: TradeOffPoint, report: Report) -> dict[str, str]:
    """Return the losses of the release and of an alternative, as a mean if the objective is a sum of it."""
    means = [report.mean_of(entry.loss), report.mean_of(report.loss.value)]
    kind = words["report.figures.objective"].format(name=report.loss.name)
    if None in means:
        other, own, what = f"{entry.loss:.4g}", f"{report.loss.value:.4g}", kind
    else:
        # Finer than other percentages, because neighbors may differ by little.
        (other, own), what = (f"{100 * (mean or 0.0):.4g} %" for mean in means), words["loss"]
    return {"other": words.figure(other), "loss": words.figure(own), "what": what}


def _budget(words: Messages, entry: TradeOffPoint, report: Report) -> str:
    rows, loss = report.rows, report.loss.value
    if abs(entry.loss - loss) <= NEAR:
        return ""
    return words["report.budget_less" if entry.loss < loss else "report.budget_more"].format(
        share=f"{100 * (entry.suppression_limit or 0.0):.0f} %",
        **_loss_words(words, entry, report),
        suppressed=words.count(entry.suppressed_rows),
        rows=words.count(rows),
    )


def _neighbor(words: Messages, entry: TradeOffPoint, report: Report, limit: int) -> str:
    within = words["report.within" if entry.suppressed_rows <= limit else "report.beyond"]
    return words["report.neighbor"].format(
        column=entry.changed,
        level=entry.levels[entry.changed or ""],
        suppressed=words.count(entry.suppressed_rows),
        share=words.figure(f"{100 * entry.suppressed_rows / max(report.rows, 1):.1f}"),
        within=within.format(limit=words.count(limit)),
        **_loss_words(words, entry, report),
    )


MOST_LABELS = 30
Labels = Sequence[str | None]


def published(report: Report) -> Mapping[str, Labels]:
    """Return the labels of each column, for a method that chooses them for all rows together."""
    labels: Mapping[str, Labels] = report.details.get("published") or {}
    return labels


def fate(words: Messages, labels: Labels, values: int | None) -> str:
    """Return the effect of labels for all rows on a column with a number of distinct values."""
    if list(labels) == ["*"]:
        return words["fate.withheld"]
    if len(labels) == values:
        return words["report.as_it_is"]
    return words["report.one_of"].format(count=words.count(len(labels)))


def chips(words: Messages, labels: Labels) -> str:
    """Return labels in sequence; of many the first ones."""
    if list(labels) == ["*"]:
        return ""
    shown = [f'<span class="chip">{escape(shown_as(words, label))}</span>' for label in labels[:MOST_LABELS]]
    rest = len(labels) - MOST_LABELS
    more = [words["report.more_labels"].format(count=words.count(rest))] if rest > 0 else []
    return f'<div class="labels">{" ".join([*shown, *more])}</div>' if labels else ""


def proved(words: Messages, report: Report, key: str) -> str:
    """Return that a release is proven optimal: among all, or among those that the plan's levels allow."""
    if not report.proved_optimal or report.levels_chosen:
        return ""
    return words[f"{key}_allowed" if report.limits_levels else key]


def quality(dossier: ReportData) -> str:
    """Return the quality of the result of a search with a bound; empty for others."""
    bound = dossier.report.details.get("bound")
    if bound is None or dossier.report.levels_chosen:
        return ""
    gap = _gap(dossier.report.loss.value, float(bound))
    text = paragraph(_quality_text(dossier, gap))
    return section(dossier.words["report.quality"], text, *_figures(dossier, float(bound), gap))


def _quality_text(dossier: ReportData, gap: float) -> str:
    words, report = dossier.words, dossier.report
    if report.proved_optimal:
        return proved(words, report, "report.proved")
    if report.method == "local":
        return words["report.bounded"].format(gap=words.percent(gap))
    why = words["report.interrupted" if report.details.get("interrupted") else "report.time_over"]
    return words["report.unproved"].format(why=why, gap=words.percent(gap))


def _gap(loss: float, bound: float) -> float:
    """Return by which share of the loss the optimum may be lower."""
    return 0.0 if loss <= 0 else min(max(0.0, 1.0 - bound / loss), 1.0)


def _figures(dossier: ReportData, bound: float, gap: float) -> list[str]:
    words, loss = dossier.words, dossier.report.loss
    if dossier.report.proved_optimal:
        return []
    rows = [
        (words["report.loss_here"], words.figure(f"{loss.value:,.6g}")),
        (words["report.loss_bound"], words.figure(f"{bound:,.6g}")),
        (words["report.loss_gap"], words.percent(gap)),
    ]
    return [table(["", loss.name], rows, words)]
