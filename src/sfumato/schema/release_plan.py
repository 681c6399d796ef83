"""The `release` part of a plan, for rows and tables: who releases for what purpose, to whom, and the legal basis."""

from typing import Annotated

from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import asdict


class ReleasePlan(PlanPart):
    """Who releases, for what purpose, to whom and on what legal basis: for the report to be signed."""

    by: Annotated[str | None, KeyInfo("who releases")] = None
    purpose: Annotated[str | None, KeyInfo("what for")] = None
    recipient: Annotated[str | None, KeyInfo("to whom")] = None
    basis: Annotated[str | None, KeyInfo("the legal basis")] = None

    def stated(self) -> dict[str, str]:
        """Return the given entries, by plan key."""
        return {key: text for key, text in asdict(self).items() if text}


RELEASE = record_of(ReleasePlan, "what a report to be signed says of the release")
