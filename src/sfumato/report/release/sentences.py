"""What reports say in sentences: about promises, their limits, and what is done to a column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

from sfumato.hierarchies.dates import LEVELS, Dates
from sfumato.hierarchies.digits import Digits
from sfumato.hierarchies.ladder import Hierarchy
from sfumato.microdata.measures.disclosure import AttributeFigures
from sfumato.microdata.models.named_values import named
from sfumato.microdata.outcome import Report
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.publishing.operation import written
from sfumato.microdata.publishing.perturbation import Perturbation
from sfumato.microdata.publishing.plan import Limit, PublishPlan, number_of
from sfumato.microdata.verdict import Promise
from sfumato.texts.words import Words

# Promises alike for so many columns, and columns that single rows out, are told in one sentence.
MOST_SINGLE = 2
_PLACE = "\0"


def promises(
    words: Words, models: Iterable[Promise], plan: Plan | None, star_rows: bool = False, outside: bool = False
) -> list[str]:
    """All promises, a sentence each; the same one for several columns in one sentence."""
    columns: dict[str, list[str]] = {}
    for one in models:
        text = promised(words, one, plan, star_rows, outside, _PLACE if one.column else None)
        columns.setdefault(text, []).append(one.column or "")
    return [told for text, names in columns.items() for told in _of_columns(words, text, names)]


def _of_columns(words: Words, text: str, names: Sequence[str]) -> list[str]:
    if _PLACE not in text:
        return [text] * len(names)
    shown = [words["promise.each"].format(columns=", ".join(names))] if len(names) > MOST_SINGLE else names
    return [text.replace(_PLACE, name) for name in shown]


def promised(
    words: Words,
    promise: Promise,
    plan: Plan | None = None,
    star_rows: bool = False,
    outside: bool = False,
    shown: str | None = None,
) -> str:
    """A promise in a sentence, and that it does not hold where it does not.

    Args:
        plan: What was asked, where it is known.
        star_rows: Whether suppressed rows are published, too.
        outside: Whether the sentence is handed out: then it does not tell what was reached.
        shown: What stands for the column, instead of its name.
    """
    name = shown or promise.column or words["promise.that_column"]
    kind = promise.model if f"promise.{promise.model}.says" in words else "other"
    says = words[f"promise.{kind}.says"]
    if star_rows:
        says = says.replace(words["promise.published"], words["promise.published_save_stars"])
    reached = "" if outside else words[f"promise.{kind}.reached"]
    sentence = says.replace("{found}", reached).format(
        model=promise.model,
        asked=words.figure(f"{promise.asked:g}"),
        reached=words.figure(_figure(promise.reached)),
        column=name,
        limited=_limited(words, promise, plan, name, outside),
        **{name: words.figure(str(promise.parameters.get(name, f"{promise.asked:g}"))) for name in ("k", "lower")},
    )
    subsets = promise.parameters.get("subsets")
    for columns, rows in subsets.items() if isinstance(subsets, Mapping) else ():
        sentence += " " + words["promise.subsets"].format(columns=columns, rows=words.count(rows))
    if "against" in promise.parameters and not outside:
        sentence += " " + words[f"promise.against.{promise.parameters['against']}"]
    return sentence if promise.holds else sentence + words["promise.broken"]


def lost_columns(words: Words, report: Report) -> list[str]:
    """The columns of which little is left, each with the cheapest way to keep it where one is known."""
    lost = (lost_column(words, entry) for entry in _lost_entries(report))
    return [*_mostly_withheld(words, report), *lost, *_few_left(words, report)]


def _few_left(words: Words, report: Report) -> list[str]:
    """The columns whose operations leave one or two of more values."""
    return [
        words["lost.published_one" if entry["left"] == 1 else "lost.published"].format(
            column=entry["column"], left=words.count(entry["left"]), values=words.count(entry["values"])
        )
        for entry in report.details.get("few_values_left", ())
    ]


def _lost_entries(report: Report) -> Sequence[Mapping[str, Any]]:
    entries: Sequence[Mapping[str, Any]] = report.details.get("lost_columns", ())
    return entries


def _mostly_withheld(words: Words, report: Report) -> list[str]:
    """That most columns are withheld, where they are: a loss tells of those alone that are left."""
    columns, withheld = report.details.get("column_count", 0), len(report.withheld_columns)
    if 2 * withheld <= columns:
        return []
    return [words["lost.withheld"].format(withheld=words.count(withheld), columns=words.count(columns))]


def lost_column(words: Words, column: Mapping[str, Any]) -> str:
    """One column of which little is left, with the cheapest way to keep it where one is known."""
    return " ".join(filter(None, (_loss_of(words, column), _remedy(words, column))))


def _loss_of(words: Words, column: Mapping[str, Any]) -> str:
    several = "lost.column_more" if column["labels"] >= column["values"] else "lost.column"
    key = {0: "lost.column_none", 1: "lost.column_one"}.get(column["labels"], several)
    return words[key].format(
        column=column["column"],
        share=words.percent(column["share_lost"]),
        labels=words.count(column["labels"]),
        values=words.count(column["values"]),
    )


def _remedy(words: Words, column: Mapping[str, Any]) -> str:
    """What would keep a column, as it was tried; or that nothing does, or that the time did not allow to try."""
    rows, other, method = (column.get(key) for key in ("rows_to_withhold", "column_to_withhold", "method_to_use"))
    if rows is not None:
        return words["lost.one" if rows == 1 else "lost.more"].format(rows=words.count(rows), column=column["column"])
    if other is not None:
        return words["lost.other"].format(other=other, column=column["column"])
    if method is not None:
        return words["lost.method"].format(method=method, column=column["column"])
    if column.get("remedies_untried"):
        return words["lost.untried"]
    return words["lost.cut_short" if column.get("remedies_cut_short") else "lost.no_remedy"]


def disclosure(words: Words, report: Report) -> list[str]:
    """What the rows tell besides what was promised: columns that classes give away, and rows others single out."""
    figures = report.disclosure.sensitive
    lines = [line for name, one in figures.items() for line in _given_away(words, name, one)]
    diverse = [name for name, one in figures.items() if one.diverse]
    if diverse:
        lines.append(words["disclosure.diverse"].format(columns=", ".join(diverse)))
    for name, one in figures.items():
        if one.spellings:
            more = {"more": words.count(one.spellings), "l": one.meant_l}
            lines.append(words["disclosure.spellings"].format(column=name, **more))
    lines += [*_in_classes(words, report), *_households(words, report)]
    worst = report.disclosure.most_telling
    if worst is not None:
        lines.append(unique_rows(words, worst.columns, worst.rows, report.published_rows))
    return [*lines, *(words.sentence(left_out) for left_out in report.disclosure.unmeasured)]


def _given_away(words: Words, name: str, figures: AttributeFigures) -> list[str]:
    """The classes that tell one value, nothing but blanks, or one value beside blanks: each kind in a sentence."""
    kinds = {
        "one_value": (figures.one_value_classes, figures.one_value_rows),
        "blank": (figures.blank_classes, figures.blank_rows),
        "part_blank": (figures.part_blank_classes, figures.part_blank_rows),
    }
    whole = words.count(figures.classes)
    return [
        words[f"disclosure.{kind}"].format(column=name, alone=words.count(alone), classes=whole, rows=words.count(rows))
        for kind, (alone, rows) in kinds.items()
        if alone
    ]


def _households(words: Words, report: Report) -> list[str]:
    """That promises do not count households, where rows name some, and how many stand in a class all the same."""
    figures = report.details.get("households")
    if figures is None:
        return []
    key = "some" if figures.get("classes") else "enough" if figures else "uncounted"
    counts = {name: words.count(count) for name, count in figures.items()}
    return [words[f"disclosure.households_{key}"].format(**counts)]


def unique_rows(words: Words, columns: Sequence[str], rows: int, published: int) -> str:
    """Rows that some columns besides the quasi-identifiers single out, in a sentence."""
    share = words.percent(rows / max(published, 1))
    return words["disclosure.unique"].format(columns=" + ".join(columns), rows=words.count(rows), share=share)


def _in_classes(words: Words, report: Report) -> list[str]:
    """The columns that single rows out together with the quasi-identifiers; of many, the least and the most telling."""
    rows = {name: count for name, count in report.disclosure.unique_in_classes.items() if count}
    shares = {name: words.percent(count / max(report.published_rows, 1)) for name, count in rows.items()}
    if len(rows) <= MOST_SINGLE:
        told = words["disclosure.in_classes"]
        return [told.format(column=name, rows=words.count(rows[name]), share=shares[name]) for name in rows]
    least, most = min(rows, key=lambda name: rows[name]), max(rows, key=lambda name: rows[name])
    ends = {"least": least, "least_share": shares[least], "most": most, "most_share": shares[most]}
    return [words["disclosure.in_classes_many"].format(count=words.count(len(rows)), **ends)]


def tells(words: Words, report: Report) -> list[str]:
    """The columns that give a quasi-identifier away more finely than it is published, and what to do."""
    return [*_single_tells(words, report), *_joint_tells(words, report)]


def _joint_tells(words: Words, report: Report) -> list[str]:
    return [
        words["disclosure.joint_tells"].format(
            column=tell.column,
            first=tell.quasi_identifiers[0],
            second=tell.quasi_identifiers[1],
            share=words.percent(tell.share),
            rows=words.count(report.disclosure.unique_in_classes.get(tell.column, 0)),
        )
        for tell in report.disclosure.joint_tells
    ]


def _single_tells(words: Words, report: Report) -> list[str]:
    return [
        words["disclosure.tells"].format(
            column=tell.column,
            quasi_identifier=tell.quasi_identifier,
            known=words.percent(tell.with_column),
            published=words.percent(tell.by_label),
            rows=words.count(report.disclosure.unique_in_classes.get(tell.column, 0)),
        )
        for tell in report.disclosure.tells
    ]


def _limited(words: Words, promise: Promise, plan: Plan | None, name: str, outside: bool) -> str:
    """Which values of its column a promise limits: all of them, unless the plan names some, said in the house alone."""
    asked = (promise.model, promise.column, promise.asked)
    alike = [] if plan is None else [one for one in plan.privacy if (one.name, one.column, one.asked) == asked]
    values = [str(value) for model in alike for value in named(model)]
    kind = "by_plan" if plan is None else "all" if not values else "named" if outside else "values"
    return words[f"promise.limited_{kind}"].format(column=name, values=", ".join(dict.fromkeys(values)))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.4g}"


def limits(words: Words, models: tuple[str, ...], plan: Plan | None = None) -> list[str]:
    """What the promises do not protect against, that perturbation promises nothing, and what no promise does."""
    own = [f"promise.{model}.limit" for model in dict.fromkeys(models)]
    return [*(words[key] for key in own if key in words), *_unpromised(words, plan), *general_limits(words)]


def _unpromised(words: Words, plan: Plan | None) -> list[str]:
    """That nothing is promised of perturbed columns, where there are some; pseudonyms have a sentence of their own."""
    names = [] if plan is None else [name for name in plan.perturbations if name not in plan.pseudonyms]
    return [words["limits.perturbed"].format(names=", ".join(names))] if names else []


def general_limits(words: Words) -> list[str]:
    """What no promise protects against."""
    return [words[key] for key in ("limits.roles", "limits.release", "limits.law")]


def told(words: Words, operation: Perturbation, publish: PublishPlan | None = None) -> str:
    """What a perturbation does to a column, in a sentence, and that its numbers are rounded after it."""
    step = None if publish is None else publish.round
    rounded = "" if step is None else words["perturbed.rounded"].format(step=words.figure(f"{step:g}"))
    return " ".join(filter(None, (_told(words, operation), rounded)))


def _told(words: Words, operation: Perturbation) -> str:
    # Of households a share is swapped; their k says which are risky.
    names = ("share", "stay", "days", "k")
    number = next((value for key in names if (value := getattr(operation, key, None)) is not None), None)
    if number is None:
        return words.get(f"perturbed.{operation.name}_matrix") or words[f"perturbed.{operation.name}"]
    return words[f"perturbed.{operation.name}"].format(number=words.figure(f"{number:g}"))


def unchanged_columns(report: Report) -> Sequence[str]:
    """Perturbed columns in which every row has what it had."""
    columns: Sequence[str] = (report.details.get("perturbation") or {}).get("unchanged", ())
    return columns


def untouched(words: Words, plan: Plan, name: str, report: Report, under_promise: bool) -> str | None:
    """What happens to a column that is no quasi-identifier; None for one that is."""
    column = plan.columns[name]
    if name in unchanged_columns(report):
        return words["perturbed.unchanged"]
    if name in plan.withheld_columns:
        return words["fate.identifier"]
    if column.operations is not None:
        return words["fate.changed"].format(steps=", ".join(_coding(words, column.operations)))
    if column.perturbation is not None and column.role != "quasi-identifier":
        return told(words, column.perturbation, column.published)
    role = column.role
    return words["fate.promised"] if under_promise else words.get(f"fate.{role}")


def _coding(words: Words, publish: PublishPlan) -> Iterator[str]:
    """What is done to single numbers. Of a limit that was a share the share is told: the rows made the number."""
    for part in fields(publish):
        asked = getattr(publish, part.name)
        if isinstance(asked, Limit) and asked.share is not None:
            share = 1 - asked.share if part.name == "top" else asked.share
            yield words[f"fate.share_{part.name}"].format(share=words.percent(round(share, 12)))
        elif isinstance(asked, int | float | Limit) and (number := number_of(asked)) is not None:
            yield words[f"fate.step_{part.name}"].format(number=words.figure(written(Decimal(str(number)))))


def by_class(words: Words, report: Report, plan: Plan | None, name: str) -> str:
    """What happens to a quasi-identifier that has no level of its own."""
    column = None if plan is None else plan.columns[name]
    if name in unchanged_columns(report):
        return words["perturbed.unchanged"]
    if column is not None and column.perturbation is not None:
        return told(words, column.perturbation, column.published)
    if report.method != "cells":
        return words["report.by_class"]
    if name in report.details.get("cells", {}).get("blank", ()):
        return words["report.by_cells_blank"]
    return words["report.by_cells_never" if column is not None and column.importance == "never" else "report.by_cells"]


def fate(words: Words, hierarchy: Hierarchy | None, level: int, top: int) -> str:
    """What a level does to a column."""
    if level in (0, top):
        return words["fate.withheld" if level else "fate.raw"]
    kind, rung = "groups", ""
    if isinstance(hierarchy, Dates):
        kind, rung = "dates", words[f"rung.{rung_of(hierarchy, level)}"]
    elif isinstance(hierarchy, Digits):
        kind = f"digit{'s' if level > 1 else ''}_{'last' if hierarchy.side == 'right' else 'first'}"
    return words[f"fate.{kind}"].format(level=level, top=top, rung=rung)


def rung_of(hierarchy: Dates, level: int) -> str:
    """The period by which dates are told at a level."""
    rungs = [name for name in hierarchy.levels or LEVELS if name not in ("day", "any")]
    return rungs[level - 1] if level <= len(rungs) else "coarser"
