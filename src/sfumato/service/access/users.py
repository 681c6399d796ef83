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
    """The sender of a request.

    Attributes:
        name: The user's name with the sign-in method; empty if no sign-in is needed.
        way: The sign-in method.
        role: Admins see and cancel all jobs; results are accessible to their owner only.
        scopes: The permitted parts of the service.
        label: The name shown on pages.
    """

    name: str = ""
    way: Way = ""
    role: Role = "user"
    scopes: frozenset[Scope] = frozenset(SCOPES)
    label: str = ""

    @property
    def owner(self) -> str:
        """The owner of the user's jobs; a key and a person of the same name are different owners."""
        return f"{self.way}:{self.name}" if self.name else ""


# The user if no sign-in is needed.
ANYONE = User()
