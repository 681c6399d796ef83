"""The columns of a release in words: the meaning of each published label, information loss, numeric coding."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from sfumato.hierarchies.dates import Dates
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy, present_codes
from sfumato.hierarchies.lists import CharacterMasking, HierarchyFile, Tree
from sfumato.localization.messages import Messages
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import Recoding
from sfumato.patterns import regex
from sfumato.report.html_page import long_table, paragraph
from sfumato.report.release.sentences import rung_of

# Maximum number of explained labels per column; beyond it, rules are given for labels that follow one.
MOST_LABELS, MOST_MEMBERS = 400, 60
_RANGE = regex(r"(-?\d+)-(-?\d+)")
_OF_CLASS = regex(r"\[(.+)–(.+)\]")
_HALF_OPEN, _LAST = regex(r"\[(.+), (.+)\)"), regex(r"\[(.+), (.+)\]")
_NEIGHBORS = regex(r"(.+)\.\.(.+)")
CLOSED = tuple(("from_to", pattern) for pattern in (_RANGE, _OF_CLASS, _LAST, _NEIGHBORS))
KINDS = (*CLOSED, ("half_open", _HALF_OPEN))
# Labels of limits, two-character operators first.
LIMITS = (("at_most", ("<=", "≤")), ("at_least", (">=", "≥")), ("below", ("<",)), ("above", (">",)))


class LabelMeaning(NamedTuple):
    """The meaning of a label, and its rule: labels of one rule are combined, others are listed one by one."""

    label: str
    stands_for: str
    rule: str = ""


def meanings(words: Messages, plan: Plan, recoding: Recoding) -> dict[str, tuple[LabelMeaning, ...]]:
    """Return for each quasi-identifier its published labels with their meaning; labels that are values are left out."""
    kept = ~recoding.suppressed
    entries: dict[str, tuple[LabelMeaning, ...]] = {}
    for place, name in enumerate(recoding.columns):
        codes = present_codes(recoding.classes[kept, place])
        labels = [recoding.labels[place][code] for code in codes]
        entries[name] = tuple(_column(words, plan, name, recoding.codings[place].ladder, labels))
    return entries


def _column(
    words: Messages, plan: Plan, name: str, ladder: Hierarchy, labels: list[str | None]
) -> Iterator[LabelMeaning]:
    """Yield every label with its meaning, in the order of the values; of very many, the first ones."""
    if None in labels:
        yield LabelMeaning("", words["external.missing"])
    hierarchy, rungs = plan.columns[name].hierarchy, _rungs(ladder)
    groups = _members(ladder) if isinstance(hierarchy, Tree | HierarchyFile) else {}
    # A value that is also a group is explained: it may mean any of its members.
    values = {value for value in ladder.values if groups.get(value or "", value) == value}
    coarse = sorted(
        (label for label in labels if label is not None and label not in values),
        key=lambda label: (not label.strip(ROOT), rungs.get(label, (0, 0))[::-1]),
    )
    for label in coarse[:MOST_LABELS]:
        rule, stands_for = _meaning(words, hierarchy, rungs[label][0] if label in rungs else None, label, groups)
        yield LabelMeaning(label, stands_for, rule)
    if len(coarse) > MOST_LABELS:
        yield LabelMeaning("…", words["external.more_labels"].format(count=words.count(len(coarse) - MOST_LABELS)))


def _rungs(ladder: Hierarchy) -> dict[str, tuple[int, int]]:
    """Return the labels of a hierarchy, each with its lowest level, and the index of the first value it covers."""
    rungs: dict[str, tuple[int, int]] = {}
    for level in range(1, ladder.height):
        codes, first = np.unique(ladder.codes[level], return_index=True)
        for code, place in zip(codes.tolist(), first.tolist(), strict=True):
            rungs.setdefault(ladder.labels[level][code] or "", (level, place))
    return rungs


def _meaning(
    words: Messages, hierarchy: object, level: int | None, label: str, groups: dict[str, str]
) -> tuple[str, str]:
    """Return the rule that made a label, and its meaning."""
    if not label.strip(ROOT):
        return "star", words["external.star"]
    if label in groups:
        return "", groups[label]
    if isinstance(hierarchy, CharacterMasking):
        return _digits(words, hierarchy, label)
    if isinstance(hierarchy, Dates) and level is not None:
        rung = rung_of(hierarchy, level)
        return f"period {rung}", words["external.period"].format(rung=words[f"rung.{rung}"])
    return _span(words, label)


def _digits(words: Messages, hierarchy: CharacterMasking, label: str) -> tuple[str, str]:
    """Return which characters of a code remain after character masking."""
    side = "start" if hierarchy.side == "right" else "end"
    shown = label.strip(hierarchy.character)
    told = words[f"external.digits_{side}"].format(shown=shown, count=len(label), mask=hierarchy.character)
    return f"digits {len(shown)} of {len(label)}", told


def _span(words: Messages, label: str) -> tuple[str, str]:
    """Return the rule and meaning of a label that shows its own ends, or of other labels.

    >>> from sfumato.localization.messages import words_in
    >>> _span(words_in(), "[1.35–2.04]")
    ('from_to', 'all values from 1.35 to 2.04 (inclusive)')
    >>> _span(words_in(), "[1.75, 1.95]")
    ('from_to', 'all values from 1.75 to 1.95 (inclusive)')
    >>> _span(words_in("de"), "[1.35–2.04]")
    ('from_to', 'alle Werte von 1,35 bis 2,04 (einschließlich)')
    >>> _span(words_in(), ">=90"), _span(words_in(), "<1000")
    (('at_least', 'all values from 90 (inclusive)'), ('below', 'all values below 1000'))
    """
    for kind, pattern in KINDS:
        match = pattern.fullmatch(label)
        if match:
            return kind, words[f"external.{kind}"].format(low=words.value(match[1]), high=words.value(match[2]))
    for kind, signs in LIMITS:
        for sign in signs:
            if label.startswith(sign):
                return kind, words[f"external.{kind}"].format(limit=words.value(label.removeprefix(sign).strip()))
    return ("set", words["external.one_of_set"]) if label.startswith("{") else ("", words["external.group"])


def _members(ladder: Hierarchy) -> dict[str, str]:
    """Return the values of each group of a hierarchy that lists its values, whatever the data contain."""
    groups: dict[str, str] = {}
    for level in range(1, ladder.height - 1):
        for code, label in enumerate(ladder.labels[level]):
            places = np.flatnonzero(ladder.codes[level] == code)[: MOST_MEMBERS + 1].tolist()
            members = [value for place in places if (value := ladder.values[place]) is not None]
            more = ["…"] if len(members) > MOST_MEMBERS else []
            groups.setdefault(label or "", ", ".join(members[:MOST_MEMBERS] + more))
    return groups


def lost_shares(
    losses: Mapping[str, float], published: int, hidden: int, lost_columns: Iterable[Mapping[str, Any]]
) -> dict[str, float]:
    """Return the mean loss of each column over published rows.

    Args:
        losses: The same over all rows, with 1 for a suppressed row.
        published: Number of published rows.
        hidden: Number of suppressed rows.
        lost_columns: Heavily generalized columns, whose loss is the largest of three measures.

    >>> lost_shares({"age": 0.55, "sex": 0.1}, 90, 10, [{"column": "age", "share_lost": 0.6}])
    {'age': 0.6, 'sex': 0.0}
    """
    shares = {name: (loss * (published + hidden) - hidden) / max(published, 1) for name, loss in losses.items()}
    said = {entry["column"]: entry["share_lost"] for entry in lost_columns}
    return {name: said.get(name, share) for name, share in shares.items()} | said


HEAD = ("report.column", "report.values_before", "report.values_after", "coded.change", "coded.labeled")


def coded_columns(words: Messages, figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of coded columns, if there are some, and how to read it."""
    columns = figures.get("coded_columns") or ()
    if columns:
        rows = [
            (one["column"], one["values"], one["left"], change(words, one), words.percent(one["labeled"]))
            for one in columns
        ]
        yield paragraph(words["coded.about"]) + long_table([words[key] for key in HEAD], rows, words)


def change(words: Messages, column: Mapping[str, Any]) -> str:
    """Return the mean change of a number, relative to the standard deviation."""
    if column["mean_change"] is None:
        return words["coded.no_number"]
    share = column["mean_change"] / column["deviation"] if column["deviation"] else 0.0
    return words["coded.mean"].format(change=words.amount(column["mean_change"]), share=words.percent(share))
