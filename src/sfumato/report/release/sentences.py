"""Sentences of reports about guarantees, their limits, and what happened to a column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from sfumato.hierarchies.dates import LEVELS, Dates
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.lists import CharacterMasking
from sfumato.hierarchies.types import plain
from sfumato.localization.lists import ListMessage, enumeration, names_told
from sfumato.localization.messages import Messages
from sfumato.localization.plurals import filled
from sfumato.microdata.perturbation.plan import Perturbation
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.publish_plan import OPERATIONS, Limit, PublishPlan, number_of
from sfumato.microdata.release_report import Report
from sfumato.microdata.verdict import Guarantee
from sfumato.report.release.findings import MOST_SINGLE
from sfumato.values import fields

_PLACE = "\0"


def promises(
    words: Messages, models: Iterable[Guarantee], plan: Plan | None, star_rows: bool = False, outside: bool = False
) -> list[str]:
    """Return all models, a sentence each; the same model of several columns in one sentence."""
    columns: dict[str, list[str]] = {}
    for one in models:
        text = promised(words, one, plan, star_rows, outside, _PLACE if one.column else None)
        columns.setdefault(text, []).append(one.column or "")
    return [told for text, names in columns.items() for told in _of_columns(words, text, names)]


def requested(words: Messages, models: Iterable[Guarantee]) -> list[tuple[str, str, str]]:
    """Return the requested models: their names, parameters, and columns."""
    columns: dict[tuple[str, str], list[str]] = {}
    for one in models:
        key = (words[f"model.{one.model}"].partition(":")[0], words.figure(f"{one.requested:g}"))
        columns.setdefault(key, []).append(one.column or "")
    return [(model, number, names_told(words, names)) for (model, number), names in columns.items()]


def coded(words: Messages, plan: Plan) -> dict[str, list[str]]:
    """Return how numbers are coded, each operation with its columns."""
    ways: dict[str, list[str]] = {}
    for name, column in plan.columns.items():
        if column.operations is not None and name not in plan.removed_columns:
            ways.setdefault(", ".join(_coding(words, column.operations, "brief")), []).append(name)
    return ways


def _of_columns(words: Messages, text: str, names: Sequence[str]) -> list[str]:
    if _PLACE not in text:
        return [text] * len(names)
    if len(names) <= MOST_SINGLE:
        return [text.replace(_PLACE, name) for name in names]
    plain = text.replace("{", "{{").replace("}", "}}")
    return [
        enumeration(
            words, plain.replace(_PLACE, words["promise.each"], 1).replace(_PLACE, words["promise.that_column"]), names
        )
    ]


def promised(
    words: Messages,
    promise: Guarantee,
    plan: Plan | None = None,
    star_rows: bool = False,
    outside: bool = False,
    shown: str | None = None,
) -> str:
    """Return a model in a sentence, with a note if it is violated.

    Args:
        plan: The plan, if known.
        star_rows: Whether suppressed rows are published, too.
        outside: Whether the sentence is for publication: then it omits the achieved parameter.
        shown: Replacement for the column's name.
    """
    name = shown or promise.column or words["promise.that_column"]
    kind = promise.model if f"promise.{promise.model}.says" in words else "other"
    says = words[f"promise.{kind}.says"]
    if star_rows:
        says = says.replace(words["promise.published"], words["promise.published_save_stars"])
    reached = "" if outside else words[f"promise.{kind}.reached"]
    figures = {
        name: words.figure(str(promise.parameters.get(name, f"{promise.requested:g}"))) for name in ("k", "lower")
    }
    figures |= {"asked": words.figure(f"{promise.requested:g}"), "reached": words.figure(_figure(promise.achieved))}
    named_in = {
        "by": str(promise.parameters.get("by", "")),
        "model": promise.model,
        "column": name,
        "limited": _limited(words, promise, plan, name, outside),
    }
    sentence = filled(says.replace("{found}", reached), figures | named_in)
    subsets = promise.parameters.get("subsets")
    for columns, rows in subsets.items() if isinstance(subsets, Mapping) else ():
        sentence += " " + words["promise.subsets"].format(columns=columns, rows=words.count(rows))
    if "reference" in promise.parameters and not outside:
        sentence += " " + words[f"promise.reference.{promise.parameters['reference']}"]
    return sentence if promise.satisfied else sentence + words["promise.broken"]


def _limited(words: Messages, promise: Guarantee, plan: Plan | None, name: str, outside: bool) -> str:
    """Return which values of its column a model limits: all of them, or those listed in the plan (internal only)."""
    asked = (promise.model, promise.column, promise.requested)
    alike = [] if plan is None else [one for one in plan.privacy if (one.name, one.column, one.requested) == asked]
    values = [str(value) for model in alike for value in model.listed_values]
    kind = "by_plan" if plan is None else "all" if not values else "named" if outside else "values"
    return words[f"promise.limited_{kind}"].format(column=name, values=", ".join(dict.fromkeys(values)))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.4g}"


def limits(words: Messages, models: tuple[str, ...], plan: Plan | None = None) -> list[str]:
    """Return what the models and perturbation do not protect against, and what no model does."""
    own = [f"promise.{model}.limit" for model in dict.fromkeys(models)]
    return [*(words[key] for key in own if key in words), *_unpromised(words, plan), *general_limits(words)]


def _unpromised(words: Messages, plan: Plan | None) -> list[str]:
    """Return that no guarantee covers perturbed columns, if there are some; pseudonyms have a separate sentence."""
    names = [] if plan is None else [name for name in plan.perturbations if name not in plan.pseudonyms]
    return [words["limits.perturbed"].format(names=", ".join(names))] if names else []


def general_limits(words: Messages) -> list[str]:
    """Return what no model protects against."""
    return [words[key] for key in ("limits.roles", "limits.release", "limits.law")]


def told(words: Messages, operation: Perturbation, publish: PublishPlan | None = None) -> str:
    """Return what a perturbation does to a column, in a sentence, including later rounding."""
    step = None if publish is None else publish.round
    rounded = "" if step is None else words["perturbed.rounded"].format(step=words.figure(f"{step:g}"))
    return " ".join(filter(None, (_told(words, operation), rounded)))


def _told(words: Messages, operation: Perturbation) -> str:
    # A share of the households is swapped; their k defines which are risky.
    names = ("share", "retention", "days", "k")
    number = next((value for key in names if (value := getattr(operation, key, None)) is not None), None)
    if number is None:
        return words.get(f"perturbed.{operation.name}_matrix") or words[f"perturbed.{operation.name}"]
    return words[f"perturbed.{operation.name}"].format(number=words.figure(f"{number:g}"))


def unchanged_columns(report: Report) -> Sequence[str]:
    """Return perturbed columns in which no row changed."""
    columns: Sequence[str] = (report.details.get("perturbation") or {}).get("unchanged", ())
    return columns


def untouched(words: Messages, plan: Plan, name: str, report: Report, under_promise: bool) -> str | None:
    """Return what happens to a column that is no quasi-identifier; None for a quasi-identifier."""
    column = plan.columns[name]
    if name in unchanged_columns(report):
        return words["perturbed.unchanged"]
    if name in plan.removed_columns:
        return words["fate.undecided" if column.role == "undecided" else "fate.identifier"]
    if column.operations is not None:
        return words["fate.changed"].format(steps=", ".join(_coding(words, column.operations)))
    if column.perturbation is not None and column.role != "quasi-identifier":
        return told(words, column.perturbation, column.published)
    role = column.role
    return words["fate.promised"] if under_promise else words.get(f"fate.{role}")


def coded_together(words: Messages, plan: Plan) -> dict[str, ListMessage]:
    """Return common texts of columns whose numbers are coded in the same ways, with different parameters."""
    alike: dict[tuple[str, ...], dict[str, str]] = {}
    for name, column in plan.columns.items():
        if column.operations is not None and name not in plan.removed_columns:
            ways = (column.role, *(part for part in OPERATIONS if getattr(column.operations, part) is not None))
            alike.setdefault(ways, {})[name] = ", ".join(_coding(words, column.operations, "brief"))
    told: dict[str, ListMessage] = {}
    for steps in alike.values():
        if len({*steps.values()}) > MOST_SINGLE:
            each = [words["fate.changed_each"].format(column=name, steps=said) for name, said in steps.items()]
            told |= dict.fromkeys(steps, enumeration(words, words["fate.changed_many"], each))
    return told


def _coding(words: Messages, publish: PublishPlan, kind: str = "step") -> Iterator[str]:
    """Yield the operations on single numbers; a limit given as a share is shown as a share.

    Args:
        kind: Which messages: `step`, or `brief` if columns are combined.
    """
    for name in fields(publish):
        asked = getattr(publish, name)
        if isinstance(asked, Limit) and asked.share is not None:
            share = 1 - asked.share if name == "top" else asked.share
            yield words[f"fate.share_{name}"].format(share=words.percent(round(share, 12)))
        elif isinstance(asked, int | float | Limit) and (number := number_of(asked)) is not None:
            label = plain(Decimal(str(number)))
            yield words[f"fate.{kind}_{name}"].format(number=words.figure(label), label=label)


def by_class(words: Messages, report: Report, plan: Plan | None, name: str) -> str:
    """Return what happens to a quasi-identifier without a level of its own."""
    column = None if plan is None else plan.columns[name]
    if name in unchanged_columns(report):
        return words["perturbed.unchanged"]
    if column is not None and column.perturbation is not None:
        return told(words, column.perturbation, column.published)
    if alike := fate_of_all(words, report, name):
        return alike
    if report.method != "local-suppression":
        return words["report.by_class"]
    if name in report.details.get("local_suppression", {}).get("blank", ()):
        return words["report.by_cells_blank"]
    return words["report.by_cells_never" if column is not None and column.importance == "never" else "report.by_cells"]


def fate_of_all(words: Messages, report: Report, name: str) -> str:
    """Return what happens to a quasi-identifier that is unchanged or removed in all rows; empty for others."""
    by_cells = report.method == "local-suppression"
    kept, withheld = ("report.by_cells_never", "report.by_cells_blank") if by_cells else ("fate.raw", "fate.withheld")
    fate = fates(report).get(name)
    return words[kept] if fate == "kept" else words[withheld] if fate == "fully_generalized" else ""


def fates(report: Report) -> Mapping[str, str]:
    """Return the outcome of each column, from the published labels; empty for reports of earlier versions."""
    told: Mapping[str, str] = report.details.get("column_outcomes") or {}
    return told


def fate(words: Messages, hierarchy: HierarchyBuilder | None, level: int, top: int) -> str:
    """Return the effect of a level on a column."""
    if level in (0, top):
        return words["fate.withheld" if level else "fate.raw"]
    kind, rung = "groups", ""
    if isinstance(hierarchy, Dates):
        kind, rung = "dates", words[f"rung.{rung_of(hierarchy, level)}"]
    elif isinstance(hierarchy, CharacterMasking):
        kind = f"digit{'s' if level > 1 else ''}_{'last' if hierarchy.side == 'right' else 'first'}"
    return words[f"fate.{kind}"].format(level=level, top=top, rung=rung)


def rung_of(hierarchy: Dates, level: int) -> str:
    """Return the period of dates at a level."""
    rungs = [name for name in hierarchy.levels or LEVELS if name not in ("day", "any")]
    return rungs[level - 1] if level <= len(rungs) else "coarser"


def analysis(words: Messages, plan: Plan) -> list[str]:
    """Return how to analyze the published file; it depends on the method and the columns of the plan alone."""
    told: dict[str, dict[str, str]] = {"labels": {}, "stars": {}, "small": {}}
    told |= {"dropped": {}} if plan.output.suppressed == "drop" else {}
    if plan.weight is not None and plan.weight not in plan.removed_columns:
        told["weight"] = {"column": plan.weight}
    if plan.perturbations:
        told["perturbed"] = {"columns": ", ".join(plan.perturbations)}
    return [words.rendered(f"analysis.{name}", values) for name, values in told.items()]
