"""Authenticate a request by API key, by the header of a trusted proxy, or by a session cookie."""

import ipaddress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

from starlette.requests import HTTPConnection

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.service.access.audit_log import AuditLog
from sfumato.service.access.keys import KeyFile
from sfumato.service.access.openid import OpenId, Provider
from sfumato.service.access.sessions import Sessions, SignedIn, session_secret
from sfumato.service.access.users import ANYONE, Scope, User
from sfumato.service.http.problems import RefusedError
from sfumato.service.settings import Settings

LONGEST_NAME = 255
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class TrustedProxy:
    """A proxy that identifies signed-in users: its header, and the addresses from which it is accepted."""

    header: str
    networks: tuple[Network, ...]

    def user(self, connection: HTTPConnection) -> User | None:
        """Return the user of a request, if a trusted proxy names one, else None."""
        names = connection.headers.getlist(self.header)
        if len(names) != 1 or not 0 < len(names[0]) <= LONGEST_NAME or not names[0].isprintable():
            return None
        if not is_inside(connection.client.host if connection.client else "", self.networks):
            return None
        return User(names[0], "proxy", label=names[0])


def is_inside(address: str, networks: tuple[Network, ...]) -> bool:
    """Return whether an address is in one of some networks."""
    try:
        place = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(place.version == network.version and place in network for network in networks)


@dataclass(frozen=True, slots=True)
class Authenticator:
    """The sign-in methods that an operator has configured; without any, the service is open."""

    sessions: Sessions
    audit: AuditLog
    keys: KeyFile | None = None
    proxy: TrustedProxy | None = None
    openid: OpenId | None = None
    admins: frozenset[str] = frozenset()

    @property
    def open(self) -> bool:
        """Whether no sign-in is needed."""
        return self.keys is None and self.proxy is None and self.openid is None

    def user(self, connection: HTTPConnection) -> User | None:
        """Return the user of a connection, or None if nobody has signed in."""
        if self.open:
            return ANYONE
        key = sent_key(connection)
        if key:
            return self.keys.find(key) if self.keys is not None else None
        if self.proxy is not None and (user := self.proxy.user(connection)) is not None:
            return self._with_role(user)
        signed_in = self.sessions.signed_in(connection.cookies)
        return None if signed_in is None else self.still(signed_in)

    def fault(self) -> str | None:
        """Return why nobody can sign in or be served, or None."""
        return (self.keys.fault if self.keys is not None else None) or self.audit.fault

    def signed_in(self, user: User) -> SignedIn:
        """Return the cookie content for a user who has just signed in."""
        return SignedIn(user.way, user.name, user.label, self._voucher(user.way, user.name))

    def still(self, signed_in: SignedIn) -> User | None:
        """Return the user of an earlier sign-in by the current configuration, or None if it is no longer valid."""
        way, name = signed_in.way, signed_in.name
        if not signed_in.by or signed_in.by != self._voucher(way, name):
            return None
        if way == "key":
            return self.keys.named(name) if self.keys is not None else None
        return self._with_role(User(name, "openid", label=signed_in.label))

    def _voucher(self, way: str, name: str) -> str:
        """Return what authorizes a user now: the hash of the key, or the provider; empty if nothing does."""
        if way == "key" and self.keys is not None:
            return self.keys.hash_of(name)
        return self.openid.identity if way == "openid" and self.openid is not None else ""

    def _with_role(self, user: User) -> User:
        return replace(user, role="admin" if user.name in self.admins else "user")

    def admit(self, connection: HTTPConnection, scope: Scope) -> User:
        """Return the user of a connection.

        Raises:
            RefusedError: Nobody has signed in, or this part of the service is not permitted.
        """
        try:
            user = self.user(connection)
        except RefusedError:
            connection.state.kept_out = True  # the audit log records a refusal, whoever sent the request
            raise
        if user is None:
            what = (
                "A valid API key is needed (header X-API-Key)." if self.keys else "You must sign in first (/sign-in)."
            )
            raise RefusedError(HTTPStatus.UNAUTHORIZED, "access.key", what, {"www-authenticate": "Bearer"})
        connection.state.user = user
        if scope not in user.scopes:
            what = f"This key is not for {scope}; ask for one whose scopes name it."
            raise RefusedError(HTTPStatus.FORBIDDEN, "access.scope", what)
        return user


def sent_key(connection: HTTPConnection) -> str:
    """Return the key that a request sends, or an empty text."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    return connection.headers.get("x-api-key") or (token if scheme.lower() == "bearer" else "")


def make_door(settings: Settings, folder: Path | None) -> Authenticator:
    """Return the authentication that the settings describe.

    Raises:
        PlanError: The settings are contradictory, or a file that they name cannot be read.
    """
    return Authenticator(
        Sessions(session_secret(folder), settings.sign_in_seconds, folder),
        AuditLog(settings.audit_log),
        KeyFile(settings.api_keys) if settings.api_keys else None,
        _proxy(settings),
        OpenId(_provider(settings)) if settings.openid else None,
        settings.admins,
    )


def _proxy(settings: Settings) -> TrustedProxy | None:
    networks = networks_of(settings.trusted_proxies)
    if settings.proxy_header is None:
        return None
    if not networks:
        raise PlanError("trusted-proxy.header_names_users_believed")
    return TrustedProxy(settings.proxy_header, networks)


def networks_of(texts: frozenset[str]) -> tuple[Network, ...]:
    """Parse addresses and networks.

    Raises:
        PlanError: A text is neither.
    """
    try:
        return tuple(ipaddress.ip_network(text) for text in sorted(texts))
    except ValueError:
        raise PlanError("trusted-proxy.trusted_proxy_neither_address") from None


def _provider(settings: Settings) -> Provider:
    if not settings.openid or not settings.openid_client:
        raise PlanError("openid.sign_in_by_openid_connect_needs")
    secret = None
    if settings.openid_secret is not None:
        try:
            secret = settings.openid_secret.read_text(encoding="utf-8").strip()
        except OSError:
            raise PlanError("openid.the_file_of_the_openid_secret") from None
    return Provider(settings.openid, settings.openid_client, secret, settings.openid_claim)
