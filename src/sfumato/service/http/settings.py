"""How the service is set up: frozen, and carried to worker processes through one variable of the environment."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

VARIABLE = "SFUMATO_SERVICE"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request, and all of them together, may cost.

    Attributes:
        body_bytes: Size of a request's body.
        records: Records in one request.
        nodes: Objects in a JSON-LD document, which costs far more than a record.
        depth: Nesting of a request's body.
        seconds: Time for receiving a body, and again for answering.
        waiting: Requests that are worked on or wait; more are turned away.
        threads: Requests that are worked on at the same time in one process.
    """

    body_bytes: int = 10_000_000
    records: int = 100_000
    nodes: int = 10_000
    depth: int = 32
    seconds: float = 30.0
    waiting: int = 64
    threads: int = 4

    def __post_init__(self) -> None:
        if min(self.body_bytes, self.records, self.nodes, self.depth, self.seconds, self.waiting, self.threads) <= 0:
            raise ValueError("limits are greater than zero")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the service is set up.

    Attributes:
        ontologies: Folder of ontologies that the service hosts.
        allowed_hosts: Hosts (`name` or `name:port`) inside the network that may be fetched from.
        api_keys: File of hashed keys; when given, requests need a key.
        metrics_folder: Folder in which worker processes put their figures for one another.
        limits: What requests may cost.
    """

    ontologies: Path | None = None
    allowed_hosts: frozenset[str] = frozenset()
    api_keys: Path | None = None
    metrics_folder: Path | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed_hosts", frozenset(host.casefold() for host in self.allowed_hosts))

    def to_environment(self) -> dict[str, str]:
        """The settings as a variable of the environment."""
        content = asdict(self) | {"allowed_hosts": sorted(self.allowed_hosts)}
        return {VARIABLE: json.dumps(content, default=str)}


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that a variable of the environment carries, or the defaults.

    >>> from_environment(Settings(limits=Limits(records=5)).to_environment()).limits.records
    5
    """
    content: dict[str, Any] = json.loads(environment.get(VARIABLE, "{}"))
    paths = {
        name: Path(content[name])
        for name in ("ontologies", "api_keys", "metrics_folder")
        if content.get(name) is not None
    }
    return Settings(
        allowed_hosts=frozenset(content.get("allowed_hosts", ())), limits=Limits(**content.get("limits", {})), **paths
    )
