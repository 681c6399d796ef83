"""Authenticate a request by API key, trusted proxy or session cookie, check its scope, and note it in the audit log."""

import ipaddress
import json
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.service.access.keys import KeyFile
from sfumato.service.access.openid import OpenId, Provider
from sfumato.service.access.sessions import ANYONE, Scope, Sessions, SignedIn, User, session_secret
from sfumato.service.problems import RefusedError
from sfumato.service.settings import Settings
from sfumato.values import Value, replace

LOG = logging.getLogger("sfumato.service")


class AuditLog:
    """The audit log file of one or several servers; without a file nothing is written.

    Lines are only appended. Each line opens the file again, so that it can be rotated at any time. The log contains no
    data values, addresses or keys.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.fault: str | None = None

    @property
    def kept(self) -> bool:
        return self._path is not None

    def note(self, who: str, what: str, **more: str | int | None) -> None:
        """Write a line and flush it to disk; errors are reported by `fault` and in the log."""
        if self._path is None:
            return
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"at": moment, "who": who, "what": what} | {k: v for k, v in more.items() if v not in (None, "")}
        try:
            self._append((json.dumps(entry) + "\n").encode())
            self.fault = None
        except OSError as error:
            self.fault = "the audit log cannot be written"
            LOG.error(json.dumps({"audit": type(error).__name__}))

    def _append(self, line: bytes) -> None:
        assert self._path is not None
        with self._lock:
            begun_by_root = os.geteuid() == 0 and not self._path.exists()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if begun_by_root:  # created by a command of the operator; the service must be able to append to it
                    folder = self._path.parent.stat()
                    os.fchown(descriptor, folder.st_uid, folder.st_gid)
                if os.write(descriptor, line) != len(line):
                    raise OSError("half a line was written")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


LONGEST_NAME = 255
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class TrustedProxy(Value):
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


class Authenticator(Value):
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
        """Return the user of a connection, or None if no user has signed in."""
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
        """Return the reason why no user can sign in or be served, or None."""
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
            RefusedError: No user has signed in, or this part of the service is not permitted.
        """
        try:
            user = self.user(connection)
        except RefusedError:
            connection.state.kept_out = True  # the audit log records every refusal
            raise
        if user is None:
            what = Message("request.key_needed" if self.keys else "request.sign_in_needed")
            raise RefusedError("access.key", what, {"www-authenticate": "Bearer"})
        connection.state.user = user
        if scope not in user.scopes:
            raise RefusedError("access.scope", Message("request.scope", scope=scope))
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


_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key, where the service asks for one.")
_bearer = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


def check_key(request: Request, scope: Scope) -> None:
    """Refuse a request of a user without access to a part of the service."""
    door: Authenticator = request.app.state.door
    door.admit(request, scope)


def needs_key(scope: Scope) -> Callable[..., Awaitable[None]]:
    """Return a dependency that checks access and appears in the documentation."""

    async def needed(
        request: Request,
        _key: Annotated[str | None, Depends(_header)],
        _token: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> None:
        check_key(request, scope)

    return needed


def user_of(request: Request) -> User:
    """Return the admitted user of a request."""
    user: User = getattr(request.state, "user", ANYONE)
    return user
