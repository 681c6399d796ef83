"""The layout of a published table, and the additional office formats it is written in."""

from typing import Annotated, Literal

from sfumato.dataclass import dataclass
from sfumato.schema.dataclass_schema import KeyInfo

OfficeFile = Literal["px", "sdmx", "xlsx", "code-value", "pivot", "sbs", "jj", "hst", "tab"]
# Files with suppression patterns and protection levels, for the next run.
MASKED_FILES = ("jj", "hst", "tab")


@dataclass(frozen=True, slots=True)
class Output:
    """The layout of the published table."""

    columns: Annotated[Literal["plain", "original"], KeyInfo("names of the new columns")] = "plain"
    prefix: Annotated[str | None, KeyInfo("of the new columns; the value column unless given")] = None
    language: Annotated[Literal["en", "de"], KeyInfo("of reasons and reports")] = "en"
    files: Annotated[tuple[OfficeFile, ...], KeyInfo("files of offices that are written besides")] = ()
