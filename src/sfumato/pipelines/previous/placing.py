"""Placing the rows of a plan beside earlier releases: kept levels, and who must be withheld."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.engines.engine import Engine, Reading
from sfumato.engines.order import person_hash
from sfumato.engines.selection import without
from sfumato.errors import InternalError, PlanError, UnattainableError
from sfumato.hierarchies.types import canonical
from sfumato.microdata.counts.persons import by_plain_keys
from sfumato.microdata.histories import Placement, place
from sfumato.microdata.models.classes import Classes, histogram
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.l_diversity import LDiversity
from sfumato.microdata.plan.methods import Optimal, Suppression
from sfumato.microdata.plan.model import Plan, located
from sfumato.pipelines.previous.folders import EarlierRelease, Values, histories_by_person, read_chain

# Promises that groups of one history keep, too; others are kept by the classes of each release.
KEPT_BY_GROUPS = (KAnonymity, LDiversity)


@dataclass(frozen=True)
class Placed:
    """A plan and its rows, as they go beside earlier releases."""

    plan: Plan
    source: Engine
    releases: tuple[EarlierRelease, ...]
    figures: dict[str, Any]


def placed_beside(plan: Plan, source: Engine) -> Placed:
    """The plan with the levels of the last release and the rows of those who can be placed.

    Raises:
        PlanError: An earlier folder cannot be used.
        UnattainableError: Nobody can be placed.
    """
    promised = plan.promise_columns
    releases = read_chain([plan.folder / entry for entry in plan.previous], plan.quasi_identifiers, promised)
    kept = _with_levels(plan, releases[-1])
    secret = releases[0].secret
    key = f"{secret}:person:"
    texts, classes, values = _now(kept, source)
    keys = {text: person_hash(text, key) for text in texts}
    now = {keys[text]: labels for text, labels in classes.items()}
    contents = {keys[text]: entries for text, entries in values.items()}
    rule = _Rule(plan, promised, contents, _last_values(releases))
    placement = place(histories_by_person(releases), now, lambda person: person_hash(person, plan.secret), rule.keeps)
    if not placement.placed:
        raise UnattainableError(
            "nobody can be placed beside the earlier releases.",
            "Too few came, went and stayed alike: wait until more have, or release with coarser levels.",
            "previous",
        )
    withheld = sorted(text for text in texts if keys[text] in placement.withheld)
    chosen = replace(kept, person_secret=secret)
    figures = _figures(placement, releases, plan)
    return Placed(chosen, without(source, plan.person or "", withheld), tuple(releases), figures)


def _figures(placement: Placement, releases: Sequence[EarlierRelease], plan: Plan) -> dict[str, Any]:
    return {
        "releases": len(releases),
        "persons": len(placement.placed),
        "withheld_persons": len(placement.withheld),
        "groups": placement.groups,
        "smallest_group": placement.smallest,
        "promises_of_groups": [model.name for model in plan.privacy if isinstance(model, KEPT_BY_GROUPS)],
    }


def _with_levels(plan: Plan, last: EarlierRelease) -> Plan:
    """The plan with the levels of the last release, and no row to be suppressed for any other reason."""
    if not last.levels:
        raise PlanError(
            f"previous: {last.folder.name} chose no levels (its method is {last.plan.method.name}).",
            "The recoding of the earlier release is kept: make it with optimal, samarati, greedy or exhaustive.",
            "previous-levels",
        )
    columns = {
        name: replace(column, min_level=last.levels[name], max_level=last.levels[name])
        if name in last.levels
        else column
        for name, column in plan.columns.items()
    }
    # One node is left to choose: whatever method is asked for finds it.
    return replace(plan, columns=columns, method=Optimal(suppression=Suppression(share=0.0)))


Now = tuple[list[str], dict[str, Hashable], dict[str, tuple[Values, ...]]]


def _now(plan: Plan, source: Engine) -> Now:
    """Who is there, the class of each by the kept levels, and what promises are about."""
    assert plan.person is not None
    names = (*plan.quasi_identifiers, *plan.promise_columns, plan.person)
    text_counts = by_plain_keys(source.count(names, Reading(plan.data.missing)))
    number = len(plan.quasi_identifiers)
    labels = [_labels(plan, name, text_counts.values[place]) for place, name in enumerate(plan.quasi_identifiers)]
    rows: dict[str, list[Values]] = {}
    contents: dict[str, list[Values]] = {}
    for codes, count in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True):
        person = text_counts.values[-1][codes[-1]]
        if person is None:
            continue  # the count of persons refuses such rows
        published = tuple(labels[place][codes[place]] for place in range(number))
        told = tuple(text_counts.values[place][codes[place]] for place in range(number, len(names) - 1))
        rows.setdefault(person, []).extend([published] * count)
        contents.setdefault(person, []).extend([told] * count)
    classes: dict[str, Hashable] = {person: tuple(sorted(entries, key=repr)) for person, entries in rows.items()}
    return list(rows), classes, {person: tuple(entries) for person, entries in contents.items()}


def _labels(plan: Plan, name: str, texts: Sequence[str | None]) -> list[str | None]:
    """What each text of a column is published as at its kept level."""
    column = located(plan).columns[name]
    present = [text for text in texts if text is not None and text not in plan.data.missing]
    forms, _ = canonical(present, column.type)
    values = [form for form in dict.fromkeys(forms) if form is not None]
    if column.hierarchy is None:
        raise PlanError(f"previous: {name} has no hierarchy.", "At least {type: any}.", "previous-levels")
    ladder = column.hierarchy.bind(values).ladder
    of_form = {form: ladder.published(form, column.min_level) for form in values if form in ladder.places}
    of_text = {text: of_form.get(form or "") for text, form in zip(present, forms, strict=True)}
    return [of_text.get(text or "") for text in texts]


def _last_values(releases: Sequence[EarlierRelease]) -> dict[str, tuple[Values, ...]]:
    """What was last published about each person."""
    return {person: entries for release in releases for person, entries in release.values.items()}


@dataclass(frozen=True)
class _Rule:
    """Which groups of persons keep the promises."""

    plan: Plan
    columns: Sequence[str]
    now: dict[str, tuple[Values, ...]]
    before: dict[str, tuple[Values, ...]]

    def keeps(self, persons: Sequence[str], present: bool) -> bool:
        """Whether a group does: by what is published of them now, or by what was last."""
        contents = [(self.now if present else self.before).get(person, ()) for person in persons]
        for model in self.plan.privacy:
            if isinstance(model, KAnonymity) and len(persons) < model.k:
                return False
            if isinstance(model, LDiversity) and model.column in self.columns and not self._diverse(model, contents):
                return False
        return True

    def _diverse(self, model: LDiversity, contents: Sequence[tuple[Values, ...]]) -> bool:
        at = list(self.columns).index(model.column)
        values = [entry[at] for entries in contents for entry in entries if len(entry) > at]
        if not values:
            return False
        texts = tuple(dict.fromkeys(values))
        codes = np.array([texts.index(value) for value in values], np.int32)
        content = histogram(np.zeros(len(codes), np.int64), codes, np.ones(len(codes), np.int64), 1, len(texts))
        classes = Classes(np.array([len(codes)], np.int64), {model.column: replace(content, texts=texts)})
        return not bool(model.failing(classes, classes).any())


def check_together(placed: Placed, published: Any, plan: Plan) -> dict[str, Any]:
    """Recount the histories with what was written.

    Raises:
        InternalError: Somebody can be told apart by comparing the releases.
    """
    from collections import Counter

    from sfumato.engines.order import PERSON

    keys = published.texts(PERSON)
    labels = [published.texts(name) for name in plan.quasi_identifiers]
    rows: dict[str, list[Values]] = {}
    for at, key in enumerate(keys):
        rows.setdefault(str(key), []).append(tuple(column[at] for column in labels))
    now: dict[str, Hashable] = {key: tuple(sorted(entries, key=repr)) for key, entries in rows.items()}
    before = histories_by_person(placed.releases)
    sizes = Counter((before.get(person, ()), now.get(person)) for person in {**before, **now})
    k = max((model.k for model in plan.privacy if isinstance(model, KAnonymity)), default=1)
    worst = min((size for (_, state), size in sizes.items() if state is not None), default=k)
    if worst < k:
        raise InternalError("comparing the releases would tell persons apart.", code="previous")
    return placed.figures
