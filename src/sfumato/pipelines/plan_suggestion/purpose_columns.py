"""Give the columns of analysts' questions what the questions need, and say what the rest would cost."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import is_few_categories, is_unknown
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.types import canonical
from sfumato.localization.messages import Message
from sfumato.microdata.questions.question import Question
from sfumato.pipelines.plan_suggestion.counted_rows import RowCounter
from sfumato.pipelines.plan_suggestion.plan_draft import Draft
from sfumato.values import replace

# Parts of a question without which its estimates are the same.
_SPARE_PARTS = frozenset(("cluster",))
# Nearly all texts of a numeric column are numbers.
_NUMBERS = 0.95


def needed_columns(questions: Iterable[Question]) -> frozenset[str]:
    """Return the columns that some question needs for its estimates.

    >>> sorted(needed_columns([Question("deny ~ pirat", groups="bank")]))
    ['deny', 'pirat']
    """
    used = (question.columns().items() for question in questions)
    return frozenset(name for parts in used for name, part in parts if {*part} - _SPARE_PARTS)


def with_needed(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile], needed: Collection[str]
) -> dict[str, Suggestion]:
    """Return the suggestions with the needed columns kept, unless they are texts, keys or names.

    What others know remains a quasi-identifier, and is selected as such.
    """
    return dict(suggestions) | {
        name: replace(one, needed=True)
        if one.role == "quasi-identifier" and not is_unknown(one)
        else _kept(one, profiles[name])
        for name, one in suggestions.items()
        if name in needed
    }


def _kept(suggestion: Suggestion, profile: Profile) -> Suggestion:
    """Return a column that is no quasi-identifier as sensitive, published with at least k persons for each value."""
    if suggestion.role == "weight":
        return replace(suggestion, needed=True)
    decided = suggestion.role in ("identifier", "person", "household") and not suggestion.undecided
    if decided or not (is_few_categories(profile) or _are_numbers(profile)):
        return suggestion
    reason = suggestion.reason if suggestion.role == "sensitive" else Message("reason.needed")
    return replace(
        suggestion,
        role="sensitive",
        reason=reason,
        hierarchy=None,
        rejected=(),
        undecided=False,
        kept=True,
        needed=True,
    )


def _are_numbers(profile: Profile) -> bool:
    texts = canonical(profile.sample, "decimal")[0]
    return len(texts) - texts.count(None) >= _NUMBERS * len(texts)


def notes_on_questions(source: RowCounter, draft: Draft, questions: Sequence[Question]) -> Iterator[Message]:
    """Yield what questions cannot have, with what it would cost: columns that are removed, and exact predictors."""
    suggestions, profiles, k = draft.suggestions, draft.profiles, draft.k
    if draft.needed_unique:
        yield Message("note.needed_unique", share=draft.needed_unique)
    needed = [name for name in profiles if name in needed_columns(questions)]
    for name in needed:
        if suggestions[name].role in ("identifier", "person", "household"):
            alone = sum(rows for rows in profiles[name].counts.values() if rows < k)
            yield Message("note.question_without", name=name, rows=alone, k=k)
    for question in questions:
        known = [name for name in question.columns() if suggestions[name].role == "quasi-identifier"]
        if known:
            counts = source.count(known, MissingRules()).counts
            least, rows = int(counts.min()), int(counts[counts < k].sum())
            if least < k:
                names = ", ".join(f'"{name}"' for name in known)
                yield Message("note.question_exact", columns=names, least=least, k=k, rows=rows)
