"""Compare the answers of raw and published rows: same, weaker, different, or not possible."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.questions.answers import Answer, Estimate, answer
from sfumato.microdata.questions.question import Question
from sfumato.microdata.questions.rows import Floats, Rows, Unanswerable
from sfumato.values import Value, replace

Verdict = Literal["same", "weaker", "different", "impossible"]
# From best to worst.
VERDICTS: tuple[Verdict, ...] = ("same", "weaker", "different", "impossible")
# An estimate is the same within so many standard errors of the raw one, or within this proportion of it.
ERRORS, PROPORTION = 2, 0.25
# Smaller groups of a table are not compared; of its clear differences, so many may change or turn by chance.
SMALLEST_GROUP, MAY_CHANGE, MAY_TURN = 30, 0.1, 0.02
# Reports show so many estimates of a question.
MOST_SHOWN = 60


class ComparedAnswer(Value):
    """A question, answered from the raw and from the published rows.

    Attributes:
        reasons: Why the verdict is not `same`.
        raw: The raw answer, if there is one.
        published: The answer of a data user, if there is one.
    """

    question: Question
    verdict: Verdict
    reasons: tuple[Message, ...] = ()
    raw: Answer | None = None
    published: Answer | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as report.json has it."""
        sides = {"raw": self.raw, "published": self.published}
        return {
            "question": self.question.entry(),
            "verdict": self.verdict,
            "reasons": [{"code": one.code, "values": dict(one.values), "text": str(one)} for one in self.reasons],
            **{name: _shown(one) for name, one in sides.items() if one is not None},
        }


def _shown(one: Answer) -> dict[str, Any]:
    estimates = dict([*one.estimates.items()][:MOST_SHOWN])
    return {
        "rows": one.rows,
        "family": one.family,
        "estimates": {name: estimate.to_dict() for name, estimate in estimates.items()},
    }


def compare_answers(question: Question, raw: Rows, published: Rows) -> ComparedAnswer:
    """Return a question answered from both, with the verdict.

    The same: every key term that is significant raw keeps its sign, and lies within two standard errors or a quarter.
    Weaker: the signs are kept. Different: a significant term or a clear order of groups turns. Categories that the
    release merged are compared with raw ones merged alike, and are weaker at best.
    """
    before, uses = None, question.columns()
    try:
        before = answer(question, raw)
        if gone := [name for name, parts in uses.items() if parts != ("cluster",) and not raw.columns[name].labels]:
            raise Unanswerable("removed", columns=", ".join(gone))
        after = answer(question, published, before.references)
        merged = {name for name in before.categorical if raw.columns[name].is_merged}
        alike = before
        if merged:
            alike = answer(question, replace(raw, side="merged"), before.references)
        of_table = question.parsed.kind in ("means", "counts")
        compare = _compare_groups if of_table else _compare_terms
        verdict, reasons = compare(question, before, alike, after, merged)
    except Unanswerable as error:
        return ComparedAnswer(question, "impossible", (error.args[0],), before)
    return ComparedAnswer(question, verdict, reasons, before, after)


def _compare_terms(
    question: Question, raw: Answer, alike: Answer, published: Answer, merged: set[str]
) -> tuple[Verdict, tuple[Message, ...]]:
    """Return the verdict on a regression.

    Raises:
        Unanswerable: No term that matters is left.
    """
    base = {name: one for name, one in raw.estimates.items() if not merged & {*one.columns}}
    base |= {name: one for name, one in alike.estimates.items() if merged & {*one.columns}}
    keys = {name: one for name, one in base.items() if _matters(question, name, one)}
    verdict: Verdict = "same"
    reasons = []
    for name, one in keys.items():
        other = published.estimates.get(name)
        if other is None or merged & {*one.columns}:
            verdict = _worse(verdict, "weaker")
            reasons.append(Message("question.why.lost" if other is None else "question.why.merged", term=name))
        if other is None:
            continue
        if np.sign(other.value) != np.sign(one.value) and (one.is_significant or other.is_significant):
            verdict = _worse(verdict, "different")
            reasons.append(Message("question.why.turned", term=name))
        elif one.is_significant and not _near(one, other):
            verdict = _worse(verdict, "weaker")
            reasons.append(Message("question.why.off", term=name))
    if not any(name in published.estimates for name in keys):
        raise Unanswerable("all_lost")
    return verdict, tuple(dict.fromkeys(reasons))


def _matters(question: Question, name: str, one: Estimate) -> bool:
    return name != "Intercept" and (not question.focus or bool({*question.focus} & {*one.columns}))


def _worse(one: Verdict, other: Verdict) -> Verdict:
    return max(one, other, key=VERDICTS.index)


def _near(one: Estimate, other: Estimate) -> bool:
    return abs(other.value - one.value) <= max(ERRORS * one.error, PROPORTION * abs(one.value))


def _compare_groups(
    _question: Question, raw: Answer, alike: Answer, published: Answer, _merged: set[str]
) -> tuple[Verdict, tuple[Message, ...]]:
    """Return the verdict on a table.

    Raises:
        Unanswerable: Fewer than two groups are left.
    """
    large = [name for name, one in raw.estimates.items() if one.rows >= SMALLEST_GROUP]
    keys = [name for name, one in alike.estimates.items() if one.rows >= SMALLEST_GROUP and name in published.estimates]
    if len(keys) < 2 <= len(large):
        raise Unanswerable("groups_gone")
    reasons: list[Message] = []
    lost = max(len(large) - len(keys), 0)
    if lost > MAY_CHANGE * len(large):
        reasons.append(Message("question.why.groups_lost", lost=lost, groups=len(large)))
    off = [name for name in keys if not _near(alike.estimates[name], published.estimates[name])]
    reasons += [Message("question.why.off", term=name) for name in off[:3]]
    before, after = _values(alike.estimates, keys), _values(published.estimates, keys)
    clear, kept, turned = _differences(before, after)
    if kept < (1 - MAY_CHANGE) * clear:
        reasons.append(Message("question.why.differences", kept=kept, clear=clear))
    if turned > MAY_TURN * clear:
        return "different", (Message("question.why.order", turned=turned, clear=clear), *reasons)
    return "weaker" if reasons else "same", tuple(reasons)


def _values(estimates: Mapping[str, Estimate], names: list[str]) -> tuple[Floats, Floats]:
    found = [estimates[name] for name in names]
    return np.array([one.value for one in found], float), np.array([one.error for one in found], float)


def _differences(before: tuple[Floats, Floats], after: tuple[Floats, Floats]) -> tuple[int, int, int]:
    """Return the number of clear differences between two groups, those that are kept, and those that turn clearly."""
    rows, columns = np.triu_indices(len(before[0]), 1)
    (old, old_error), (new, new_error) = (
        (values[rows] - values[columns], np.hypot(errors[rows], errors[columns])) for values, errors in (before, after)
    )
    clear = np.abs(old) > ERRORS * old_error
    same_sign = np.sign(new) == np.sign(old)
    kept = same_sign & (np.abs(new - old) <= np.maximum(ERRORS * old_error, PROPORTION * np.abs(old)))
    turned = ~same_sign & (np.abs(new) > ERRORS * new_error)
    return int(clear.sum()), int((clear & kept).sum()), int((clear & turned).sum())
