"""Users: their name, how they were authenticated, and what they may do."""

from typing import Literal

from sfumato.dataclass import dataclass

Role = Literal["user", "admin"]
Scope = Literal["attributes", "jobs", "pages"]
Way = Literal["", "key", "proxy", "openid"]
ROLES: tuple[Role, ...] = ("user", "admin")
SCOPES: tuple[Scope, ...] = ("attributes", "jobs", "pages")


@dataclass(frozen=True, slots=True)
class User:
    """Who asks.

    Attributes:
        name: Under which the way of signing in knows them; empty where nobody needs to sign in.
        way: How they signed in.
        role: Admins see and cancel everybody's jobs; results are their owner's alone.
        scopes: The parts of the service that are open to them.
        label: What pages call them.
    """

    name: str = ""
    way: Way = ""
    role: Role = "user"
    scopes: frozenset[Scope] = frozenset(SCOPES)
    label: str = ""

    @property
    def owner(self) -> str:
        """Under which their jobs are kept: a key and a person of the same name are two."""
        return f"{self.way}:{self.name}" if self.name else ""


# Who asks where nobody needs to sign in.
ANYONE = User()
