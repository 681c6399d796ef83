"""Postcodes that a frame stores as numbers: 01067 has become 1067, whose first digits mean another place."""

import re
from collections.abc import Iterator
from typing import Any

from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.values import replace

# The number of digits of the postcodes most often read as numbers: Germany, France, Italy, Spain, the US.
USUAL = 5
NUMBER = re.compile(r"([0-9]+)(?:\.0)?", re.ASCII)
READ_AS_TEXT = 'Read the column as text: pd.read_csv(…, dtype={{"{name}": str}}).'
SEVERAL = " It holds numbers of several lengths: leading zeros (01067) are lost. " + READ_AS_TEXT
SHORT = (
    " It holds numbers of {digits} digits: where codes have {usual}, leading zeros (01067) are lost. "
    + READ_AS_TEXT
    + " Where they have {digits}: plan.quasi({name}=sf.digits({digits}))."
)
NOTE = 'leading zeros of "{name}" may be lost: its codes are published whole or not at all. ' + READ_AS_TEXT


def without_lost_zeros(proposal: SuggestedPlan, frame: Any) -> SuggestedPlan:
    """Return the proposal for a frame without publishing first digits of codes that may have lost leading zeros."""
    plan, reasons, notes = dict(proposal.plan), dict(proposal.reasons), [*proposal.notes]
    columns, profiles = dict(plan["columns"]), {profile.name: profile for profile in proposal.profiles}
    for name in _number_columns(frame):
        said = _said(profiles[name]) if name in profiles else ""
        if said and columns[name].get("hierarchy", {}).get("type") == "digits":
            columns[name] = {**columns[name], "hierarchy": {"type": "any"}}
            reasons[name] = reasons[name] + said
            notes.append(NOTE.format(name=name))
    return replace(proposal, plan=plan | {"columns": columns}, reasons=reasons, notes=tuple(notes))


def _number_columns(frame: Any) -> Iterator[str]:
    """Yield the numeric columns of a frame."""
    import narwhals as nw

    try:
        schema = nw.from_native(frame).collect_schema()
    except TypeError:  # the object hands over rows and has no columns of its own
        return
    yield from (name for name, kind in schema.items() if kind.is_numeric())


def _said(profile: Profile) -> str:
    """Return a note on postcodes stored as numbers that look as if leading zeros were lost.

    >>> _said(Profile("plz", {"1067": 3, "53113": 3}, rows=6))[:36]
    ' It holds numbers of several lengths'
    >>> _said(Profile("plz", {"53111": 3, "53113": 3}, rows=6)), _said(Profile("pay", {"900": 3, "1200": 3}, rows=6))
    ('', '')
    """
    if not {*words_of(profile.name)} & WORDS["postal"]:
        return ""
    lengths = {len(found[1]) for value in profile.values if (found := NUMBER.fullmatch(value))}
    if len(lengths) > 1:
        return SEVERAL.format(name=profile.name)
    if lengths == {USUAL - 1}:
        return SHORT.format(name=profile.name, digits=USUAL - 1, usual=USUAL)
    return ""
