"""How to read the values of a release: what each published label stands for, without levels and without raw values."""

import re
from collections.abc import Iterator

import numpy as np

from sfumato.hierarchies.dates import Dates
from sfumato.hierarchies.digits import Digits
from sfumato.hierarchies.file import HierarchyFile
from sfumato.hierarchies.ladder import ROOT, Ladder
from sfumato.hierarchies.tree import Tree
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import LevelRecoding, Recoding
from sfumato.report.release.sentences import rung_of
from sfumato.texts.words import Words

# Labels shown for a column whose labels follow one rule, and members told of a group.
MOST_EXAMPLES, MOST_GROUPS, MOST_MEMBERS = 2, 40, 40
_RANGE = re.compile(r"(-?\d+)-(-?\d+)")
_HALF_OPEN = re.compile(r"\[(.+), (.+)\)")
_NEIGHBORS = re.compile(r"(.+)\.\.(.+)")
Meaning = tuple[str, str]


def meanings(words: Words, plan: Plan, recoding: Recoding) -> dict[str, tuple[Meaning, ...]]:
    """For each quasi-identifier, published labels and what they stand for; labels that are values are left out."""
    kept = ~recoding.suppressed
    entries: dict[str, tuple[Meaning, ...]] = {}
    for place, name in enumerate(recoding.columns):
        codes = np.unique(recoding.classes[kept, place])
        labels = [recoding.labels[place][code] for code in codes.tolist()]
        ladder, level = recoding.codings[place].ladder, _level(recoding, place)
        entries[name] = tuple(_column(words, plan, name, ladder, level, labels))
    return entries


def _level(recoding: Recoding, place: int) -> int | None:
    return recoding.node[place] if isinstance(recoding, LevelRecoding) else None


def _column(
    words: Words, plan: Plan, name: str, ladder: Ladder, level: int | None, labels: list[str | None]
) -> Iterator[Meaning]:
    if None in labels:
        yield "", words["external.missing"]
    coarse = [label for label in labels if label is not None and label not in ladder.values]
    hierarchy = plan.columns[name].hierarchy
    groups = _members(ladder, level) if isinstance(hierarchy, Tree | HierarchyFile) else {}
    shown: dict[str, int] = {}
    for label in coarse[:MOST_GROUPS]:
        kind, meaning = _meaning(words, hierarchy, level, label, groups)
        shown[kind] = shown.get(kind, 0) + 1
        if kind == "group" or shown[kind] <= MOST_EXAMPLES:
            yield label, meaning


def _meaning(words: Words, hierarchy: object, level: int | None, label: str, groups: dict[str, str]) -> Meaning:
    """By which kind of rule a label is made, and what it stands for."""
    if not label.strip(ROOT):
        return "star", words["external.star"]
    if label in groups:
        return "group", groups[label]
    if isinstance(hierarchy, Digits):
        return "digits", words["external.digits"].format(mask=hierarchy.character)
    if isinstance(hierarchy, Dates) and level is not None:
        return "period", words["external.period"].format(rung=words[f"rung.{rung_of(hierarchy, level)}"])
    return _span(words, label)


def _span(words: Words, label: str) -> Meaning:
    """A label that tells its own ends, or the values that it stands for."""
    for kind, pattern in (("from_to", _RANGE), ("half_open", _HALF_OPEN), ("from_to", _NEIGHBORS)):
        match = pattern.fullmatch(label)
        if match:
            return kind, words[f"external.{kind}"].format(low=match[1], high=match[2])
    for kind, sign in (("below", "<"), ("above", ">")):
        if label.startswith(sign):
            return kind, words[f"external.{kind}"].format(limit=label.removeprefix(sign))
    kind = "one_of_set" if label.startswith("{") else "group"
    return kind, words[f"external.{kind}"]


def _members(ladder: Ladder, level: int | None) -> dict[str, str]:
    """The values of each group of a hierarchy that lists its values itself, whatever the data hold."""
    levels = range(1, ladder.height - 1) if level is None else [level] if level else []
    groups: dict[str, str] = {}
    for here in levels:
        for code, label in enumerate(ladder.labels[here]):
            places = np.flatnonzero(ladder.codes[here] == code)[: MOST_MEMBERS + 1].tolist()
            members = [value for place in places if (value := ladder.values[place]) is not None]
            more = ["…"] if len(members) > MOST_MEMBERS else []
            groups.setdefault(label or "", ", ".join(members[:MOST_MEMBERS] + more))
    return groups
