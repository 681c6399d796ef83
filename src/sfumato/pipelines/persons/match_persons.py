"""Match the persons of new data with earlier releases, and verify that comparing the releases singles out no person."""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.engines.engine import Engine, MissingRules, PublishedRows
from sfumato.engines.join_keys import PERSON, person_hash, record_key, recorded
from sfumato.engines.person_rows import without
from sfumato.errors import PlanError, UnattainableError
from sfumato.hierarchies.types import canonical
from sfumato.microdata.counts.persons import by_plain_keys
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.plan.methods import Optimal, Suppression
from sfumato.microdata.plan.model import Plan, hierarchy_of
from sfumato.microdata.plan.read import released_plan
from sfumato.microdata.sequential_releases import PersonMatching, SharedHistories, judge_histories, match_persons
from sfumato.microdata.verdict import Verdict
from sfumato.pipelines.persons.applied_rows import check_beside_applied
from sfumato.pipelines.persons.earlier_releases import (
    Contents,
    EarlierRelease,
    Values,
    check_drift,
    classes_of_persons,
    histories_by_person,
    joint_k,
    opened_release,
    read_chain,
    seal_of,
    whole_chain,
    with_repeated_draws,
)
from sfumato.pipelines.verify import verify
from sfumato.values import Value, replace


class MatchedRelease(Value):
    """A plan and its rows after matching with earlier releases.

    The plan keeps the generalization levels of the last release; the rows exclude persons who cannot be matched.
    """

    plan: Plan
    source: Engine
    releases: tuple[EarlierRelease, ...]
    figures: dict[str, Any]


def match_with_earlier(plan: Plan, source: Engine) -> MatchedRelease:
    """Return the plan with the levels of the last release, and the rows of the persons who can be matched.

    Raises:
        PlanError: An earlier folder cannot be used.
        UnattainableError: No person can be matched.
    """
    folders = whole_chain([entry.within(plan.folder) for entry in plan.previous])
    releases = read_chain(folders, plan.quasi_identifiers, plan.promise_columns)
    kept = _with_levels(plan, releases[-1])
    secret = releases[0].secret
    contents = _now(kept, source)
    keys = {text: record_key(text, f"{secret}:person:") for text in contents}
    placement = _placement(plan, releases, {keys[text]: rows for text, rows in contents.items()})
    withheld = sorted(text for text in contents if keys[text] in placement.suppressed_persons)
    chosen = with_repeated_draws(replace(kept, person_secret=secret), [release.folder for release in releases])
    # In the order of the plan's entries.
    seals = [seal_of(entry.within(plan.folder)) for entry in plan.previous]
    figures = {"releases": len(releases), "suppressed_persons": len(placement.suppressed_persons), "seals": seals}
    return MatchedRelease(chosen, without(source, plan.person or "", withheld), tuple(releases), figures)


def _placement(plan: Plan, releases: Sequence[EarlierRelease], now: dict[str, Contents]) -> PersonMatching:
    """Match persons with all earlier releases, before any row is written."""
    k = _joint_k(plan, releases)
    _check_earlier(releases, k)
    classes = classes_of_persons(now)
    rule = _Rule(plan, plan.promise_columns, k, now, _last_contents(releases))
    placement = match_persons(
        histories_by_person(releases), classes, lambda person: person_hash(person, plan.secret), rule.keeps
    )
    if not placement.matched:
        raise UnattainableError("previous.nobody_can_be_placed_beside")
    _judged(plan, releases, {person: classes[person] for person in placement.matched})
    return placement


def _joint_k(plan: Plan, releases: Sequence[EarlierRelease]) -> int:
    return joint_k([plan, *(release.plan for release in releases)])


def _check_earlier(releases: Sequence[EarlierRelease], k: int) -> None:
    """Refuse earlier releases that already violate the requested k together."""
    if not judge_histories([entry.classes for entry in releases], [entry.erased for entry in releases], k).hold:
        raise UnattainableError("previous-earlier", k=k)


def _judged(plan: Plan, releases: Sequence[EarlierRelease], now: Mapping[str, Hashable]) -> SharedHistories:
    """Evaluate a release together with all earlier ones, as `verify` does with their folders.

    Raises:
        UnattainableError: Comparing them would single out persons.
    """
    k = _joint_k(plan, releases)
    classes, erased = [release.classes for release in releases], [release.erased for release in releases]
    together = judge_histories([*classes, now], [*erased, {}], k)
    if together.hold:
        return together
    raise UnattainableError("previous.small_groups", k=k, count=together.smallest)


def _with_levels(plan: Plan, last: EarlierRelease) -> Plan:
    """Return the plan with the levels of the last release, and without suppression for other reasons."""
    if not last.levels:
        raise PlanError("previous-levels.no_levels", name=last.folder.name, word=last.plan.method.name)
    columns = {
        name: replace(column, min_level=last.levels[name], max_level=last.levels[name])
        if name in last.levels
        else column
        for name, column in plan.columns.items()
    }
    # The lattice has only one node left, so the choice of the method does not matter.
    return replace(plan, columns=columns, method=Optimal(suppression=Suppression(share=0.0)))


def _now(plan: Plan, source: Engine) -> dict[str, Contents]:
    """Return the current rows of each person: their labels at the kept levels, and values of columns with models."""
    assert plan.person is not None
    names = (*plan.quasi_identifiers, *plan.promise_columns, plan.person)
    text_counts = by_plain_keys(source.count(names, MissingRules(plan.data.missing)))
    number = len(plan.quasi_identifiers)
    labels = [_labels(plan, name, text_counts.values[place]) for place, name in enumerate(plan.quasi_identifiers)]
    contents: dict[str, list[tuple[Values, Values]]] = {}
    for codes, count in zip(text_counts.codes.tolist(), text_counts.counts.tolist(), strict=True):
        person = text_counts.values[-1][codes[-1]]
        if person is None:
            continue  # the count of persons refuses such rows
        published = tuple(labels[place][codes[place]] for place in range(number))
        values = tuple(text_counts.values[place][codes[place]] for place in range(number, len(names) - 1))
        contents.setdefault(person, []).extend([(published, values)] * count)
    return {person: tuple(rows) for person, rows in contents.items()}


def _labels(plan: Plan, name: str, texts: Sequence[str | None]) -> list[str | None]:
    """Return the label of each text of a column at its kept level."""
    column = plan.columns[name]
    present = [text for text in texts if text is not None and text not in plan.data.missing]
    forms, _ = canonical(present, column.type)
    values = [form for form in dict.fromkeys(forms) if form is not None]
    if (hierarchy := hierarchy_of(plan, name)) is None:
        raise PlanError("previous-levels.has_no_hierarchy", name=name)
    ladder = hierarchy.fit(values).hierarchy
    if column.min_level >= len(ladder.labels):
        raise PlanError("previous-levels.unknown_level", name=name, level=column.min_level)
    of_form = {form: ladder.published(form, column.min_level) for form in values if form in ladder.places}
    of_text = {text: of_form.get(form or "") for text, form in zip(present, forms, strict=True)}
    return [of_text.get(text or "") for text in texts]


def _last_contents(releases: Sequence[EarlierRelease]) -> dict[str, Contents]:
    """Return what was last published about each person."""
    return {person: rows for release in releases for person, rows in release.contents.items()}


class _Rule(Value):
    """The rule that decides which groups of persons satisfy the models."""

    plan: Plan
    columns: Sequence[str]
    k: int
    now: Mapping[str, Contents]
    before: Mapping[str, Contents]

    def keeps(self, persons: Sequence[str], state: Hashable, present: bool) -> bool:
        """Return whether the rows of a group in a class satisfy the models, using current or last published values."""
        if len(persons) < self.k:
            return False
        rows = state if isinstance(state, tuple) else ()
        source = self.now if present else self.before
        values = [entry for person in persons for labels, entry in source.get(person, ()) if labels in rows]
        return all(
            self._diverse(model, values)
            for model in self.plan.privacy
            if "linked-files" in model.supported_by and model.column in self.columns
        )

    def _diverse(self, model: PrivacyModel, entries: Sequence[Values]) -> bool:
        assert model.column is not None
        at = list(self.columns).index(model.column)
        values = [entry[at] for entry in entries if len(entry) > at]
        if not values:
            return False
        texts = tuple(dict.fromkeys(values))
        codes = np.array([texts.index(value) for value in values], np.int32)
        content = histogram(np.zeros(len(codes), np.int64), codes, np.ones(len(codes), np.int64), 1, len(texts))
        classes = EquivalenceClasses(np.array([len(codes)], np.int64), {model.column: replace(content, texts=texts)})
        return not bool(model.violating(classes, classes).any())


def check_together(placed: MatchedRelease, published: PublishedRows, plan: Plan) -> dict[str, Any]:
    """Evaluate the written rows with all earlier releases, and return the metrics of the comparison.

    Raises:
        UnattainableError: Some persons can be singled out.
    """
    labels = [published.texts(name) for name in plan.quasi_identifiers]
    contents: dict[str, Contents] = {}
    for key, *row in zip(recorded(published.texts(PERSON)), *labels, strict=True):
        contents[str(key)] = (*contents.get(str(key), ()), (tuple(row), ()))
    together = _judged(plan, placed.releases, classes_of_persons(contents))
    folders = [release.folder for release in placed.releases]
    check_drift(plan, published, folders)
    check_beside_applied(published, plan, folders)
    return {
        **placed.figures,
        "persons": len(contents),
        "groups": together.groups,
        "smallest_group": together.smallest,
        "promises_of_groups": [model.name for model in plan.privacy if "linked-files" in model.supported_by],
    }


class JointVerdict(Value):
    """The joint verdict on releases of the same persons.

    Attributes:
        verdicts: The verdict on each release, by its folder.
        k: The requested size of history groups: the greatest k of all releases.
        persons: The number of persons in any release.
        groups: The number of groups of persons with the same history.
        smallest: The number of persons in the smallest group.
        below_k: The number of persons in groups smaller than k.
        erased_rows: Published rows of persons erased from the records; groups count them if they fit.
        fault: Why the releases cannot be evaluated together, or an empty text.
    """

    verdicts: dict[str, Verdict]
    k: int
    persons: int = 0
    groups: int = 0
    smallest: int = 0
    below_k: int = 0
    erased_rows: int = 0
    fault: str = ""

    @property
    def satisfied(self) -> bool:
        """Whether each release satisfies its models, and comparing them singles out no person."""
        together = not self.fault and self.smallest >= self.k
        return together and all(verdict.satisfied for verdict in self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "satisfied": self.satisfied,
            "releases": {name: verdict.to_dict() for name, verdict in self.verdicts.items()},
            "together": {
                "k": self.k,
                "persons": self.persons,
                "groups": self.groups,
                "smallest_group": self.smallest,
                "persons_below_k": self.below_k,
                "erased_rows": self.erased_rows,
                "fault": self.fault,
            },
        }

    def text(self) -> str:
        """Return one line for each release, and the result of comparing them."""
        lines = [
            f"{'holds        ' if one.satisfied else 'DOES NOT HOLD'}  {name}" for name, one in self.verdicts.items()
        ]
        mark = "holds        " if not self.fault and self.smallest >= self.k else "DOES NOT HOLD"
        seen = self.fault or (
            f"{self.persons:,} persons in {self.groups:,} groups of one history, the smallest of {self.smallest:,} "
            f"(asked {self.k}); {self.below_k:,} can be told apart by comparing releases"
            + (f"; {self.erased_rows:,} rows of erased persons are published still" if self.erased_rows else "")
        )
        return "\n".join([*lines, f"{mark}  together: {seen}"]) + "\n"


def verify_together(folders: Sequence[str | Path]) -> JointVerdict:
    """Verify release folders of the same persons together, the first one first."""
    paths = [Path(folder) for folder in folders]
    verdicts = {path.name: verify(path) for path in paths}
    plans = [released_plan(path) for path in paths]
    k = joint_k(plans)
    try:
        releases = read_chain(paths, plans[0].quasi_identifiers, plans[0].promise_columns)
        for place, release in enumerate(releases[1:], 1):
            with closing(opened_release(release.folder, release.plan.output.quotes_formulas)) as rows:
                check_drift(release.plan, rows, paths[:place])
    except (PlanError, UnattainableError) as error:
        return JointVerdict(verdicts, k, fault=error.text)
    left = [release.erased for release in releases]
    shared = judge_histories([release.classes for release in releases], left, k)
    erased = sum(release.erased_rows for release in releases)
    return JointVerdict(verdicts, k, shared.persons, shared.groups, shared.smallest, shared.below, erased)
