"""Columns whose values have no text, such as lists and records: they are removed."""

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.localization.messages import Message
from sfumato.pipelines.plan_suggestion.counted_rows import CountedRows
from sfumato.pipelines.plan_suggestion.plan_draft import SuggestedPlan
from sfumato.values import replace


def with_textless(rows: CountedRows, proposal: SuggestedPlan) -> SuggestedPlan:
    """Return the proposal with those columns at their positions, and a note that names them."""
    if not rows.textless:
        return proposal
    own = Suggestion("identifier", Message("reason.no_text"))
    known = {profile.name: profile for profile in proposal.profiles}
    number = proposal.profiles[0].rows
    plans = proposal.plan["columns"]
    return replace(
        proposal,
        plan=proposal.plan | {"columns": {name: plans.get(name, own.plan()) for name in rows.all_columns}},
        reasons={name: proposal.reasons.get(name, own.reason) for name in rows.all_columns},
        profiles=tuple(known.get(name, Profile(name, {}, number, number)) for name in rows.all_columns),
        notes=(*proposal.notes, Message("note.textless", columns=", ".join(f'"{name}"' for name in rows.textless))),
    )
