"""Findings about columns, in sentences: lost information, attribute disclosure, and inference between columns.

A few columns get a sentence each; findings about more are combined into one sentence that lists the columns.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from sfumato.localization.lists import enumeration, names_told
from sfumato.localization.messages import Messages
from sfumato.microdata.release_report import Report

# Number of columns with a sentence of their own.
MOST_SINGLE = 2
Figures = Mapping[str, str]
Said = TypeVar("Said", bound=Hashable)


def told_of_columns(words: Messages, key: str, figures: Iterable[Figures], **shared: str) -> list[str]:
    """Return a finding about columns: one sentence each, or one for all with their values.

    Args:
        key: The sentence of one column; that of several and its parts have the same key with `_many` and `_each`.
        figures: The values for each column, including its name.
        shared: Values common to all of them.
    """
    entries = list(figures)
    if len(entries) <= MOST_SINGLE:
        return [words[key].format(**entry, **shared) for entry in entries]
    names = [words[f"{key}_each"].format(**entry, **shared) for entry in entries]
    return [enumeration(words, words[f"{key}_many"], names, **shared)]


def columns_alike(words: Messages, told: Iterable[tuple[str, Said]]) -> list[tuple[str, Said]]:
    """Return columns with their texts; if more than a few have the same text, they are combined at the first one."""
    alike: dict[Said, list[str]] = {}
    for name, said in told:
        alike.setdefault(said, []).append(name)
    rows = [
        (said, [names] if len(names) > MOST_SINGLE else [[name] for name in names]) for said, names in alike.items()
    ]
    return [(names_told(words, group), said) for said, groups in rows for group in groups]


def undecided(words: Messages, report: Report) -> list[str]:
    """Return how many columns are removed only because their role is undecided."""
    names: Sequence[str] = report.details.get("undecided_columns", ())
    counts = {"undecided": words.count(len(names)), "columns": words.count(report.details.get("column_count", 0))}
    return [words["report.undecided"].format(**counts)] if names else []


def warnings(words: Messages, report: Report) -> list[str]:
    """Return the warnings of the head line: answers that are not the same, and suppression that depends on outcomes."""
    return [words.rendered(f"warning.{entry['code']}", entry["values"]) for entry in report.details.get("warnings", ())]


def persons_uncounted(words: Messages, report: Report) -> list[str]:
    """Return the removed columns that identify persons although models count their rows, with a hint."""
    entries: Sequence[Mapping[str, Any]] = report.details.get("persons_uncounted", ())
    k = next((f"{one.requested:g}" for one in report.models if one.model == "k-anonymity"), "k")
    return [
        words["disclosure.uncounted"].format(
            column=entry["column"], rows=words.figure(f"{entry['rows_each']:.1f}"), k=words.figure(k)
        )
        for entry in entries
    ]


def shared_identifiers(words: Messages, report: Report, outside: bool = False) -> list[str]:
    """Return the removed columns whose values several rows share; without numbers for publication."""
    entries: Sequence[Mapping[str, Any]] = report.details.get("shared_identifiers", ())
    return [
        words["disclosure.shared_outside" if outside else "disclosure.shared"].format(
            column=entry["column"], rows=words.count(entry["rows"]), looked_at=words.count(entry["looked_at"])
        )
        for entry in entries
    ]


def rare_values(words: Messages, report: Report, outside: bool = False) -> list[str]:
    """Return the columns whose labels or means reveal rare values; without numbers for publication."""
    entries: Sequence[Mapping[str, Any]] = report.details.get("rare_values", ())
    told = []
    for entry in entries:
        kind = "labels" if "labels" in entry else "means"
        figures = {"number": words.count(entry[kind]), "k": words.count(entry.get("fewer_than", 0))}
        key = f"disclosure.rare_{kind}{'_outside' if outside else ''}"
        told.append(words[key].format(column=entry["column"], **figures))
    return told


def inferred(words: Messages, report: Report) -> list[str]:
    """Return which quasi-identifiers an attacker infers from other columns, and the resulting guarantees."""
    check: Mapping[str, Any] = report.details.get("release_check", {})
    return [words.text(sentence) for sentence in check.get("sentences", ())]


def heavily_generalized_columns(words: Messages, report: Report) -> list[str]:
    """Return the heavily generalized columns, and the columns whose operations leave few values."""
    entries: Sequence[Mapping[str, Any]] = report.details.get("heavily_generalized_columns", ())
    return [*_mostly_withheld(words, report), *_lost(words, entries), *_few_left(words, report)]


def _lost(words: Messages, entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that lost much; more than a few are combined."""
    if len(entries) <= MOST_SINGLE:
        return [lost_column(words, entry) for entry in entries]
    names = [words["lost.column_each"].format(column=entry["column"], **_left(words, entry)) for entry in entries]
    return [enumeration(words, words["lost.column_many"], names)]


def lost_column(words: Messages, column: Mapping[str, Any]) -> str:
    """Return one heavily generalized column."""
    several = "lost.column_more" if column["labels"] >= column["values"] else "lost.column"
    key = {0: "lost.column_none", 1: "lost.column_one"}.get(column["labels"], several)
    return words[key].format(column=column["column"], **_left(words, column))


def _left(words: Messages, column: Mapping[str, Any]) -> dict[str, str]:
    counts = {key: words.count(column[key]) for key in ("labels", "values")}
    return {"share": words.percent(column["share_lost"]), **counts}


def remedies(words: Messages, report: Report) -> list[str]:
    """Return the tested changes of the plan that lose less, and the cost of each model, if they were requested."""
    advice: Mapping[str, Any] | None = report.details.get("advice")
    return [] if advice is None else advice_sentences(words, advice)


def advice_sentences(words: Messages, advice: Mapping[str, Any]) -> list[str]:
    """Return tested changes of a plan and the cost of its models in sentences."""
    changes = [
        f"{number}. {remedy_sentence(words, one)} {words['remedy.apply'].format(number=str(number))}"
        for number, one in enumerate(advice["remedies"], 1)
    ]
    return [*(changes or [words["remedy.none"]]), *(cost_sentence(words, one) for one in advice["costs"])]


def remedy_sentence(words: Messages, remedy: Mapping[str, Any]) -> str:
    """Return a tested change of a plan, with what it changes in the outcome."""
    figures = {"change": "; ".join(remedy["change"])}
    figures |= _outcome(words, "after", remedy["after"])
    if remedy["before"] is None:
        return words["remedy.attainable"].format(**figures)
    told = words["remedy.change"].format(**figures, **_outcome(words, "before", remedy["before"]))
    before, after = (remedy[when].get("same_answers") for when in ("before", "after"))
    if before is None or after is None:
        return told
    return f"{told} {words['remedy.answers'].format(before=words.count(before), after=words.count(after))}"


def cost_sentence(words: Messages, cost: Mapping[str, Any]) -> str:
    """Return what a privacy model costs."""
    names = {"model": words.get(f"glossary.{cost['model']}", cost["model"]), "column": cost["column"]}
    if cost["without"] is None or cost["before"] is None:
        return words["remedy.cost_unknown" if cost["without"] is None else "remedy.cost_all"].format(**names)
    points = 100 * (cost["before"] - cost["without"])
    return words["remedy.cost"].format(**names, points=words.figure(f"{points:.1f}"))


def _outcome(words: Messages, when: str, outcome: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"loss_{when}": words.percent(outcome["loss"]),
        f"rows_{when}": words.count(outcome["suppressed_rows"]),
        f"risk_{when}": words.percent(outcome["highest_risk"]),
    }


def _few_left(words: Messages, report: Report) -> list[str]:
    """Return the columns whose operations leave only one or two values."""
    entries: Sequence[Mapping[str, Any]] = report.details.get("columns_with_few_values", ())
    counted = ({key: words.count(entry[key]) for key in ("left", "values")} for entry in entries)
    figures = ({"column": entry["column"], **counts} for entry, counts in zip(entries, counted, strict=True))
    return told_of_columns(words, "lost.published", figures)


def _mostly_withheld(words: Messages, report: Report) -> list[str]:
    """Return the note that most columns are removed, because a loss covers the remaining ones only."""
    columns, withheld = report.details.get("column_count", 0), len(report.removed_columns)
    if 2 * withheld <= columns:
        return []
    return [words["lost.withheld"].format(withheld=words.count(withheld), columns=words.count(columns))]


def disclosure(words: Messages, report: Report) -> list[str]:
    """Return the disclosure outside the guarantees: values that classes disclose, and rows unique by other columns."""
    figures = report.disclosure.sensitive
    lines = [line for kind in ("homogeneous", "blank", "part_blank") for line in _given_away(words, report, kind)]
    diverse = [name for name, one in figures.items() if one.diverse]
    if diverse:
        lines.append(enumeration(words, words["disclosure.diverse"], diverse))
    spelled = (
        {"column": name, "more": words.count(one.spellings), "l": str(one.l_without_spelling_variants)}
        for name, one in figures.items()
        if one.spellings
    )
    lines += told_of_columns(words, "disclosure.spellings", spelled)
    lines += [*_in_classes(words, report), *_households(words, report), *_one_persons_rows(words, report)]
    worst = report.disclosure.most_telling
    if worst is not None:
        lines.append(unique_rows(words, worst.columns, worst.rows, report.published_rows))
    lines += _several_known(words, report)
    check: Mapping[str, Any] = report.details.get("release_check", {})
    return [*lines, *map(words.text, (*report.disclosure.unmeasured, *check.get("unchecked", ())))]


def _given_away(words: Messages, report: Report, kind: str) -> list[str]:
    """Return the columns with classes of one value, of missing values only, or of one value and missing ones."""
    counted = {
        name: {"classes": one.classes, "alone": getattr(one, f"{kind}_classes"), "rows": getattr(one, f"{kind}_rows")}
        for name, one in report.disclosure.sensitive.items()
    }
    told = (
        {"column": name, **{key: words.count(count) for key, count in counts.items()}}
        for name, counts in counted.items()
        if counts["alone"]
    )
    return told_of_columns(words, f"disclosure.{kind}", told)


def _households(words: Messages, report: Report) -> list[str]:
    """Return the note that models do not count households, if there are some, and how many a class holds."""
    figures = report.details.get("households")
    if figures is None:
        return []
    key = "some" if figures.get("classes") else "enough" if figures else "uncounted"
    counts = {name: words.count(count) for name, count in figures.items()}
    return [words[f"disclosure.households_{key}"].format(**counts)]


def _one_persons_rows(words: Messages, report: Report) -> list[str]:
    """Return the note that one person has a larger share of a class's rows than the person-based risk suggests."""
    share, highest = report.disclosure.largest_share, report.risk["after"]["highest"]
    if share is None or share <= highest:
        return []
    return [words["disclosure.one_persons_rows"].format(share=words.percent(share), highest=words.percent(highest))]


def unique_rows(words: Messages, columns: Sequence[str], rows: int, published: int) -> str:
    """Return the rows that further columns make unique, in a sentence."""
    share = words.percent(rows / max(published, 1))
    return words["disclosure.unique"].format(columns=" + ".join(columns), rows=words.count(rows), share=share)


def _several_known(words: Messages, report: Report) -> list[str]:
    """Return what an attacker finds who knows several further columns of a person."""
    several = report.disclosure.several
    if several is None or not max(several.rows, several.all_rows):
        return []
    shares = {
        "share": words.percent(several.rows / max(report.published_rows, 1)),
        "all_share": words.percent(several.all_rows / max(report.published_rows, 1)),
    }
    counts = {"columns": words.count(several.columns), "known": words.count(several.known)}
    return [words["disclosure.several"].format(**shares, **counts)]


def _in_classes(words: Messages, report: Report) -> list[str]:
    """Return the columns that make rows unique together with the quasi-identifiers; of many, the two extremes."""
    rows = {name: count for name, count in report.disclosure.unique_in_classes.items() if count}
    shares = {name: words.percent(count / max(report.published_rows, 1)) for name, count in rows.items()}
    if len(rows) <= MOST_SINGLE:
        told = words["disclosure.in_classes"]
        return [told.format(column=name, rows=words.count(rows[name]), share=shares[name]) for name in rows]
    least, most = min(rows, key=lambda name: rows[name]), max(rows, key=lambda name: rows[name])
    ends = {"least": least, "least_share": shares[least], "most": most, "most_share": shares[most]}
    return [words["disclosure.in_classes_many"].format(count=words.count(len(rows)), **ends)]


def inference_risks(words: Messages, report: Report) -> list[str]:
    """Return the columns that predict a quasi-identifier better than its published label, with a hint."""
    return [*_single_tells(words, report), *_joint_tells(words, report)]


def _joint_tells(words: Messages, report: Report) -> list[str]:
    figures = (
        {
            "column": tell.column,
            "first": tell.quasi_identifiers[0],
            "second": tell.quasi_identifiers[1],
            "share": words.percent(tell.share),
            "rows": words.count(report.disclosure.unique_in_classes.get(tell.column, 0)),
        }
        for tell in report.disclosure.pair_inferences
    )
    return told_of_columns(words, "disclosure.joint_tells", figures)


def _single_tells(words: Messages, report: Report) -> list[str]:
    """Return quasi-identifiers that single columns predict; all these columns share the published label of each."""
    given_away: dict[tuple[str, str], list[Figures]] = {}
    for tell in report.disclosure.inference_risks:
        rows = words.count(report.disclosure.unique_in_classes.get(tell.column, 0))
        figures = {"column": tell.column, "known": words.percent(tell.guessed_with_column), "rows": rows}
        given_away.setdefault((tell.quasi_identifier, words.percent(tell.guessed_by_label)), []).append(figures)
    return [
        line
        for (name, published), group in given_away.items()
        for line in told_of_columns(words, "disclosure.tells", group, quasi_identifier=name, published=published)
    ]
