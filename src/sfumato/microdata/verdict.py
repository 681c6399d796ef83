"""Verification: evaluate published rows independently of the code that searched for the release.

A row with `*` in every quasi-identifier is a suppressed row, unless the plan drops those: nothing in it can be used to
find it. The suppressed rows together must still satisfy every model of a sensitive column, unless those columns are `*`
too: a person in no other class must be one of them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import combinations
from typing import Literal

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.counts.combinations import numbers_of
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.counts.persons import PersonCount
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses
from sfumato.microdata.models.k_anonymity import least_sizes
from sfumato.microdata.models.model import PrivacyModel, checks_published, evaluate
from sfumato.microdata.models.protection import Protection, holding_groups
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.published_table import PublishedClasses, classes_of, matched, published_persons, weighted
from sfumato.values import Value, field, fields, replace

# The reference that a model was really compared with, for reports; empty if only the unknown original table would do.
Compared = Literal["both", "raw", "published", "nothing"]


class Guarantee(Value):
    """One privacy model with its result on the published rows."""

    model: str
    requested: float
    achieved: float
    satisfied: bool
    column: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        reached = self.achieved if math.isfinite(self.achieved) else None
        figures = {"model": self.model, "requested": self.requested, "achieved": reached, "satisfied": self.satisfied}
        more = {"column": self.column} if self.column else {}
        return figures | more | ({"parameters": dict(self.parameters)} if self.parameters else {})


class Verdict(Value):
    """The result of verifying published rows against the requested models.

    Attributes:
        faults: Further problems of the release, in sentences.
        unchecked: Notes on what the release check did not examine.
        counts_persons: Whether models count persons, not rows.
    """

    rows: int
    suppressed_rows: int
    classes: int
    smallest: int
    largest: int
    promises: tuple[Guarantee, ...]
    faults: tuple[str, ...] = ()
    counts_persons: bool = False
    unchecked: tuple[Message, ...] = ()

    @property
    def unit(self) -> str:
        """Return what models count: rows or persons."""
        return "persons" if self.counts_persons else "rows, not persons"

    def __repr__(self) -> str:
        holds = _word(self.satisfied)
        sizes = f"{self.smallest:,} to {self.largest:,} rows"
        return f"Verdict({holds} for {self.unit}; {self.rows:,} rows, {self.classes:,} classes of {sizes})"

    def _repr_html_(self) -> str:
        """Return the models, their achieved parameters, and further problems; for a notebook."""
        color = "#1f7a4d" if self.satisfied else "#b3261e"
        head = ("privacy model", "column", "requested", "achieved", "")
        rows = [
            (one.model, one.column or "", f"{one.requested:g}", f"{one.achieved:g}", _word(one.satisfied))
            for one in self.promises
        ]
        lines = "".join(_line(row, "td") for row in rows)
        faults = "".join(f"<li>{escape(sentence)}</li>" for sentence in (*self.faults, *self.unchecked))
        return (
            f'<div style="border-left:.35rem solid {color};padding:.2rem 1rem;margin:.4rem 0">'
            f"<p><b>{escape(repr(self)[8:-1])}</b></p><table>{_line(head, 'th')}{lines}</table><ul>{faults}</ul></div>"
        )

    @property
    def satisfied(self) -> bool:
        """Whether there are rows, every model is satisfied, and there are no further problems."""
        return self.rows > 0 and not self.faults and all(promise.satisfied for promise in self.promises)

    def to_dict(self) -> dict[str, object]:
        sizes = {"count": self.classes, "smallest": self.smallest, "largest": self.largest}
        return {
            "satisfied": self.satisfied,
            "rows": self.rows,
            "suppressed_rows": self.suppressed_rows,
            "classes": sizes,
            "models": [promise.to_dict() for promise in self.promises],
            "faults": list(self.faults),
            "counts_persons": self.counts_persons,
            "unchecked": list(self.unchecked),
        }


def _word(holds: bool) -> str:
    return "holds" if holds else "DOES NOT HOLD"


def _line(cells: Sequence[str], kind: str) -> str:
    style = "text-align:left;padding-right:1.5em"
    return "<tr>" + "".join(f'<{kind} style="{style}">{escape(cell)}</{kind}>' for cell in cells) + "</tr>"


def judge(
    text_counts: ValueCounts,
    quasi_identifiers: Sequence[str],
    models: Sequence[PrivacyModel],
    missing: Sequence[str] = (),
    missing_matches: bool = False,
    reference: EquivalenceClasses | None = None,
    persons: Mapping[tuple[str | None, ...], int] | None = None,
    star_rows: bool = True,
    members: Mapping[str | None, PersonCount] | None = None,
    weights: Mapping[tuple[str | None, ...], int] | None = None,
) -> Verdict:
    """Evaluate the models on published rows.

    Args:
        text_counts: The published combinations of quasi-identifiers and sensitive columns.
        missing: Texts that mean missing.
        missing_matches: Whether a missing value matches anything.
        reference: The original table, if known, for models that compare with it; else the published rows.
        persons: The persons of the population of each published combination, if known.
        star_rows: Whether suppressed rows may be among the published ones, as `*`.
        members: The persons behind the published rows, if models count these: of each published combination, and
            by the name of a sensitive column those with each of its values.
        weights: The weights of the rows of each published combination, in millionths, if known.
    """
    columns = {model.column for model in models if model.column}
    published = classes_of(text_counts, quasi_identifiers, columns, missing, reference, persons, star_rows)
    visible = published.visible
    if missing_matches:
        visible = EquivalenceClasses(matched(text_counts, quasi_identifiers, missing, star_rows), {})
    compared = replace(published, visible=visible)
    if weights is not None:
        compared = replace(compared, visible=weighted(text_counts, quasi_identifiers, compared, weights))
    if members is not None:
        compared = published_persons(text_counts, quasi_identifiers, published, members, missing)
    if any(isinstance(model, Protection) for model in models):
        labels = [text_counts.values[text_counts.columns.index(name)] for name in quasi_identifiers]
        codes = published.combinations[~published.hidden]
        compared = replace(compared, visible=holding_groups(compared.visible, models, quasi_identifiers, codes, labels))
    promises = tuple(_with_sets(model, _promise(model, compared), published) for model in models)
    sizes = published.visible.sizes
    return Verdict(
        published.visible.rows + published.suppressed.rows,
        published.suppressed.rows,
        len(sizes),
        int(sizes.min()) if len(sizes) else 0,
        int(sizes.max(initial=0)),
        promises,
        tuple(_unchecked_promises(models, promises, persons is not None, weights is not None, reference is not None)),
        members is not None,
    )


def _with_sets(model: PrivacyModel, promise: Guarantee, published: PublishedClasses) -> Guarantee:
    """Return the result of a class-size model, evaluated on all sets of fewer columns that it has requirements for."""
    sizes = least_sizes((model,))
    if not sizes:
        return promise
    rows = np.flatnonzero(~published.hidden)
    codes, counts = published.combinations[rows], published.visible.sizes
    holds, reached = promise.satisfied, dict[str, int]()
    for number, least in sizes:
        smallest = min(
            int(np.bincount(numbers_of(codes[:, list(chosen)], most)[0], weights=counts).min())
            for chosen in combinations(range(codes.shape[1]), min(number, codes.shape[1]))
            for most in [[int(codes[:, place].max()) + 1 for place in chosen]]
        )
        holds, reached = holds and smallest >= least, reached | {str(number): smallest}
    asked = {str(number): least for number, least in sizes}
    return replace(
        promise, satisfied=holds, parameters={**promise.parameters, "subsets": asked, "subsets_achieved": reached}
    )


def _unchecked_promises(
    models: Sequence[PrivacyModel],
    promises: Sequence[Guarantee],
    known_list: bool,
    known_weights: bool,
    known_table: bool,
) -> Iterator[str]:
    """Yield the reasons why some models cannot be verified from the rows alone."""
    for model, promise in zip(models, promises, strict=True):
        why = _unchecked(model, promise, known_list, known_weights, known_table)
        if why is not None:
            yield why


def _unchecked(
    model: PrivacyModel, promise: Guarantee, known_list: bool, known_weights: bool, known_table: bool
) -> str | None:
    """Return the reason why a model cannot be verified from the rows alone; None if it can."""
    if promise.parameters.get("reference") == "nothing":
        what = f'of "{promise.column}" is promised against the raw table alone'
    elif model.needs == "list" and not known_list:
        what = "is about a list of persons"
    elif model.needs == "sampling" and not known_table:
        what = "is about how the rows were drawn"
    elif model.needs == "weights" and not (known_weights or model.states_population):
        what = "is about the weights of the rows"
    else:
        return None
    return f"{promise.model} {what}, which these rows do not tell: verify the release folder."


def judge_plan(
    text_counts: ValueCounts,
    plan: Plan,
    reference: EquivalenceClasses | None = None,
    persons: Mapping[tuple[str | None, ...], int] | None = None,
    star_rows: bool | None = None,
    members: Mapping[str | None, PersonCount] | None = None,
    weights: Mapping[tuple[str | None, ...], int] | None = None,
) -> Verdict:
    """Evaluate the models of a plan, which states whether suppressed rows are published as `*`."""
    return judge(
        text_counts,
        plan.quasi_identifiers,
        plan.guarantees,
        plan.data.missing,
        plan.data.on_missing == "any",
        reference,
        persons,
        plan.output.suppressed == "star" if star_rows is None else star_rows,
        members,
        weights,
    )


def _promise(model: PrivacyModel, published: PublishedClasses) -> Guarantee:
    """Evaluate one model against all its known references."""
    wholes = _compared(model, published)
    visible, suppressed = published.visible, published.suppressed
    found = [evaluate(model, visible, whole) for whole in wholes.values()]
    holds = bool(found) and all(satisfied for satisfied, _ in found)
    if model.column is not None and model.column in suppressed.sensitive and len(suppressed.sizes):
        holds &= all(evaluate(model, suppressed, whole)[0] for whole in wholes.values())
    reached = max((figure for _, figure in found), default=math.inf)
    compared: Compared = "both" if len(wholes) > 1 else next(iter(wholes), "nothing")
    parameters = parameters_of(model) | ({"reference": compared} if model.compares_distributions else {})
    return Guarantee(model.name, model.requested, reached, holds, model.subject, parameters)


def _compared(model: PrivacyModel, published: PublishedClasses) -> dict[Compared, EquivalenceClasses]:
    """Return the known references of a model; one that does not compare uses the values of either."""
    wholes: dict[Compared, EquivalenceClasses] = {} if published.raw is None else {"raw": published.raw}
    return (
        wholes | {"published": published.shown}
        if checks_published(model) or not (wholes or model.compares_distributions)
        else wholes
    )


def parameters_of(model: PrivacyModel) -> dict[str, object]:
    """Return the plain parameters of a model, without its column and its threshold."""
    if isinstance(model, Protection):
        return {"by": model.model.name, **parameters_of(model.model)}
    values = {name: getattr(model, name) for name in fields(model)}
    return {
        name: value
        for name, value in values.items()
        if name not in ("column", model.parameter) and isinstance(value, str | int | float)
    }
