"""How jobs are set up: where their files lie and what they may cost; carried to worker processes in the environment."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "SFUMATO_JOBS"


@dataclass(frozen=True, slots=True)
class JobSettings:
    """Where jobs lie and what they may cost.

    Attributes:
        folder: For the store, uploads and results; only the server's user may look into it.
        sources: Folder of files that jobs may name instead of uploading them.
        slots: Jobs that run at the same time in one server process.
        waiting: Jobs that may wait; more are turned away.
        upload_bytes: Size of a request with all its files.
        seconds: Time that a job may take.
        memory_bytes: Memory that a job may use.
        keep_seconds: How long a result is kept after the job ended.
        session_seconds: How long the pages keep the data of a visitor who does nothing.
        pages: Whether the pages in the browser are served.
    """

    folder: Path
    sources: Path | None = None
    slots: int = 1
    waiting: int = 32
    upload_bytes: int = 1_000_000_000
    seconds: float = 3600.0
    memory_bytes: int = 8_000_000_000
    keep_seconds: float = 24 * 3600.0
    session_seconds: float = 2 * 3600.0
    pages: bool = True

    def __post_init__(self) -> None:
        numbers = (self.slots, self.waiting, self.upload_bytes, self.seconds, self.memory_bytes, self.keep_seconds)
        if min(*numbers, self.session_seconds) <= 0:
            raise ValueError("limits are greater than zero")

    def to_environment(self) -> dict[str, str]:
        """The settings as a variable of the environment."""
        return {VARIABLE: json.dumps(asdict(self), default=str)}


def jobs_from_environment(environment: Mapping[str, str] = os.environ) -> JobSettings | None:
    """The settings that a variable of the environment carries; None where there is none: no jobs then.

    >>> jobs_from_environment(JobSettings(Path("jobs")).to_environment()).slots
    1
    """
    if VARIABLE not in environment:
        return None
    content = json.loads(environment[VARIABLE])
    sources = content.pop("sources")
    return JobSettings(Path(content.pop("folder")), Path(sources) if sources else None, **content)
