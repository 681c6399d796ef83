"""The `release` part of a plan, for rows and tables: who releases for what purpose, to whom, and the legal basis."""

from dataclasses import asdict
from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.schema.dataclass_schema import Note, record_of
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """Who releases, for what purpose, to whom and on what legal basis: for the report to be signed."""

    by: Annotated[str | None, Note("who releases")] = None
    purpose: Annotated[str | None, Note("what for")] = None
    recipient: Annotated[str | None, Note("to whom")] = None
    basis: Annotated[str | None, Note("the legal basis")] = None

    def stated(self) -> dict[str, str]:
        """Return the given entries, by plan key."""
        return {key: text for key, text in asdict(self).items() if text}


RELEASE = record_of(ReleasePlan, "what a report to be signed says of the release")
