"""The risk of a file without protection, as text for the terminal and as a page in the requested language."""

from html import escape

from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.measures.column_risk import ColumnSetRisk
from sfumato.microdata.measures.overview import RiskSurvey
from sfumato.microdata.measures.population import Estimate
from sfumato.microdata.measures.risk import AttackerRisk, GlobalFigures
from sfumato.report.html_page import listing, page, paragraph, section, table

SHOWN = 10
SAME = (
    "All three are taken to face these rows as the whole population, so their figures agree; "
    "--population-size or --sampling-fraction tells them apart."
)


def text(report: RiskSurvey) -> str:
    """Return a summary in plain text."""
    figures = report.figures
    lines = [
        f"{figures.rows:,} rows in {figures.classes:,} classes by {', '.join(report.quasi_identifiers)}",
        f"  missing       {_missing(report)}: {report.rows_with_missing:,} rows have one, "
        f"{report.dropped_rows:,} dropped",
        f"  classes       {figures.smallest:,} to {figures.largest:,} rows",
        *_matching_lines(report),
        f"  uniques       {figures.uniques:,} rows ({_percent(figures.uniques / max(figures.rows, 1))})",
        *(f"  {name:<13} {_attacker(attacker, figures.threshold)}" for name, attacker in attackers_of(report)),
        *_attacker_lines(report),
        *_sample_lines(report),
        *_population_lines(report),
        *(f"  spellings     {line}" for line in _spellings(report)),
        *(f"  column        {entry}" for entry in report.columns),
        *(f"  step          {entry}" for entry in report.steps),
        f"  outliers      {_outliers(report)}",
        *_special_lines(report),
        *_subset_lines(report),
    ]
    return "\n".join(lines) + "\n"


def _missing(report: RiskSurvey) -> str:
    return words_in()[f"surveyed.missing.{report.on_missing}"]


def _spellings(report: RiskSurvey) -> list[str]:
    return [
        f"{name}: {more:,} of its values are likely other spellings of one, which makes rows look rarer than they are"
        for name, more in report.spellings.items()
    ]


def _attacker_lines(report: RiskSurvey) -> list[str]:
    """Return the three attackers, and why their metrics may be equal."""
    lines = [f"    {name}: {words_in()[f'risk.attacker.{name}.says']}" for name, _ in attackers_of(report)]
    if report.uniqueness is None:
        lines.append(f"    {SAME}")
    return lines


def _matching_lines(report: RiskSurvey) -> list[str]:
    """Return the risk if a missing value matches anything, after the higher one with it as a value of its own."""
    matching = report.matching
    if matching is None:
        return []
    return [
        f"  matching      {matching.smallest:,} to {matching.largest:,} rows, "
        f"highest risk {_percent(matching.highest)}, {matching.uniques:,} uniques if a missing value matches anything; "
        "elsewhere it is a value of its own"
    ]


def attackers_of(report: RiskSurvey) -> list[tuple[str, AttackerRisk]]:
    return [("prosecutor", report.prosecutor), ("journalist", report.journalist), ("marketer", report.marketer)]


def _attacker(attacker: AttackerRisk, threshold: float) -> str:
    estimated = " (estimated)" if attacker.estimated else ""
    return (
        f"highest {_percent(attacker.highest)}, average {_percent(attacker.average)}, "
        f"{attacker.rows_above:,} rows above {_percent(threshold)}{estimated}"
    )


def sample_rows(report: RiskSurvey) -> list[tuple[str, GlobalFigures]]:
    """Return the risks of a sample, each with its subject."""
    sample = report.sample
    if sample is None:
        return []
    named = [("rows", sample.rows), ("households", sample.households), ("rows, missing matches", sample.matching)]
    return [(name, figures) for name, figures in named if figures is not None]


def _sample_lines(report: RiskSurvey) -> list[str]:
    """Return the risk by weights and households."""
    sample = report.sample
    if sample is None:
        return []
    head = f"  sample        {sample.persons:,.0f} persons by the weights; risk in the population:"
    return [
        head,
        *(
            f"    {name:<22} highest {figures.highest:.4%}, average {figures.average:.4%}, "
            f"{figures.expected:,.2f} expected to be found, {figures.rows_above:,} above {_percent(sample.threshold)}"
            for name, figures in sample_rows(report)
        ),
    ]


def _population_lines(report: RiskSurvey) -> list[str]:
    if report.uniqueness is None:
        return []
    head = f"  population    {report.uniqueness.population_size:,} persons; unique among them, estimated:"
    return [head, *(f"    {name:<11} {_estimate(estimate)}" for name, estimate in estimates_of(report))]


def estimates_of(report: RiskSurvey) -> list[tuple[str, Estimate]]:
    uniqueness = report.uniqueness
    if uniqueness is None:
        return []
    return [(name, getattr(uniqueness, name)) for name in ("pitman", "zayatz", "snb", "dankar")]


def _estimate(estimate: Estimate) -> str:
    if estimate.uniques is None or estimate.share is None:
        return f"none: {estimate.reason}"
    return f"{estimate.uniques:,.0f} ({_percent(estimate.share)})" + (f", {estimate.reason}" if estimate.reason else "")


def _special_lines(report: RiskSurvey) -> list[str]:
    """Return the rows that few columns make unique, and the contribution of the columns."""
    special = report.special_uniques
    if special is None:
        return []
    sizes = ", ".join(f"{count:,} of {size}" for size, count in enumerate(special.sizes, start=1) if count)
    scope = "" if special.complete else f" (sets of up to {special.largest} columns)"
    certain = "; no two rows are alike, so that every match counts as right" if special.certain else ""
    columns = ", ".join(f"{name} {share:.1%}" for name, share in special.columns.items() if share)
    return [
        f"  special       {special.rows:,} rows have minimal uniques{scope}: {sizes or 'none'} columns",
        f"    DIS         {special.dis:.4%} for a sampling fraction of {special.fraction:.4g}, "
        f"highest of a row {special.highest_dis:.4%}{certain}",
        *([f"    columns     {columns}"] if columns else []),
    ]


def _outliers(report: RiskSurvey) -> str:
    counts = enumerate(report.outliers.by_columns, start=1)
    parts = [f"{rows:,} rows by {place} column{'s' if place > 1 else ''}" for place, rows in counts]
    return "singled out: " + ", ".join([*parts, f"{report.outliers.more:,} by more"])


def _subset_lines(report: RiskSurvey) -> list[str]:
    subsets = report.subsets
    scope = "all" if subsets.complete else f"{len(subsets.sets):,} of {subsets.total:,}, best first,"
    lines = [f"  column sets   {scope} measured; the most telling of each size:"]
    return lines + [
        f"    {subset.distinction:7.2%} distinct, {subset.separation:8.3%} of pairs apart: {', '.join(subset.columns)}"
        for subset in best_sets(report)
    ]


def best_sets(report: RiskSurvey) -> list[ColumnSetRisk]:
    """Return the most distinguishing set of each number of columns."""
    best: dict[int, ColumnSetRisk] = {}
    for subset in report.subsets.sets:
        best.setdefault(len(subset.columns), subset)
    return list(best.values())[:SHOWN]


def _percent(share: float) -> str:
    return f"{share:.3%}" if 0 < share < 0.01 else f"{share:.1%}"


def page_of(report: RiskSurvey, language: str = "en") -> str:
    """Return the report as one page."""
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
        section(words["measure.outliers"], paragraph(_outlier_words(words, report))),
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
    rows = [(words[f"risk.estimator.{name}"], *_estimate_cells(words, one)) for name, one in estimates_of(report)]
    return [section(words["risk.population_uniques"], table(head, rows, words))]


def _estimate_cells(words: Messages, one: Estimate) -> tuple[object, ...]:
    share = None if one.share is None else words.percent(one.share)
    return one.uniques, share, words.text(one.reason or "")


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


def _outlier_words(words: Messages, report: RiskSurvey) -> str:
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
