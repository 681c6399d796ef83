"""Fetch addresses supplied by callers without exposing the internal network (server-side request forgery).

The host is resolved first, and each of its addresses must be public. The connection goes to the checked address, even
if the name resolves differently a moment later; every redirect is checked again. Time and size are limited.
"""

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager, suppress
from urllib.parse import SplitResult, urljoin, urlsplit

from sfumato.errors import PlanError
from sfumato.values import State, Value, field

NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# IPv6 prefixes for translated IPv4 addresses: a connection reaches the IPv4 address in the last 32 bits.
TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
# Networks that are not public, but that some versions of the standard library consider public: site-local addresses,
# protocol assignments, documentation.
CLOSED = tuple(map(ipaddress.ip_network, ("fec0::/10", "192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
Resolver = Callable[[str, int], Sequence[str]]
REDIRECTS = frozenset({301, 302, 303, 307, 308})
ACCEPT = "application/ld+json, text/turtle;q=0.9, application/json;q=0.8"


class Document(Value):
    """The document at an address."""

    address: str
    media_type: str
    text: str


class FetchLimits(Value):
    """Limits for fetching."""

    seconds: float = 5.0
    bytes: int = 1_000_000
    redirects: int = 3
    cache_seconds: float = 300.0
    cache_entries: int = 128


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the network addresses of a host."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


# Name resolution cannot be interrupted; it runs in separate threads so that waiting for it can end.
_RESOLVING = ThreadPoolExecutor(max_workers=8, thread_name_prefix="resolve")


class Fetcher(State):
    """Fetches documents and caches them.

    Attributes:
        allowed_hosts: Hosts (`name` or `name:port`) inside the network that are allowed.
        limits: Limits for fetching.
        resolver: Resolves names to addresses.
    """

    allowed_hosts: frozenset[str] = frozenset()
    limits: FetchLimits = field(default_factory=FetchLimits)
    resolver: Resolver = resolve
    _kept: OrderedDict[str, tuple[float, Document]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fetch(self, address: str) -> Document:
        """Return the document at an address.

        Raises:
            PlanError: The address is invalid, may not be reached, or did not return a document in time.
        """
        document = self._cached(address)
        if document:
            return document
        document = self._follow(address, time.monotonic() + self.limits.seconds)
        self._keep(address, document)
        return document

    def kept(self, address: str) -> Document | None:
        """Return the cached document at an address, or None."""
        return self._cached(address)

    def check(self, address: str) -> None:
        """Refuse an address that may not be reached.

        Raises:
            PlanError: The address is invalid, its host is unknown, or the host is inside the network.
        """
        self._pinned(_split(address), time.monotonic() + self.limits.seconds).close()

    def post(self, address: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Post a body to an address, checked as in `fetch`, and return the status; redirects are not followed.

        Raises:
            PlanError: The address may not be reached, or did not respond in time.
        """
        parts, deadline = _split(address), time.monotonic() + self.limits.seconds
        with self._connected(parts, deadline) as connection:
            connection.request("POST", _target(parts), body, dict(headers))
            return connection.getresponse().status

    def allows(self, address: str) -> bool:
        """Return whether the host of an address is one of `allowed_hosts`."""
        try:
            parts = _split(address)
        except PlanError:
            return False
        return self._is_allowed(str(parts.hostname), _port(parts))

    def _follow(self, address: str, deadline: float) -> Document:
        for _ in range(self.limits.redirects + 1):
            answer = self._get(address, deadline)
            if isinstance(answer, Document):
                return answer
            address = urljoin(address, answer)
        raise PlanError("url-redirects")

    def _get(self, address: str, deadline: float) -> Document | str:
        """Send one request; return a document, or the address that it redirects to."""
        parts = _split(address)
        with self._connected(parts, deadline) as connection:
            return self._read(connection, parts, address)

    def _pinned(self, parts: SplitResult, deadline: float) -> "_Pinned":
        host, port = plain_host(str(parts.hostname)), _port(parts)
        return _Pinned(host, port, self._address(host, port, deadline), parts.scheme == "https", deadline)

    @contextmanager
    def _connected(self, parts: SplitResult, deadline: float) -> Iterator["_Pinned"]:
        """Open a connection to the checked address, and end it at the deadline."""
        connection = self._pinned(parts, deadline)
        try:
            with _cut_at(deadline, connection):
                yield connection
        except (OSError, http.client.HTTPException, ValueError):
            raise PlanError("url-unreachable.the_address_cannot_be_reached") from None
        finally:
            connection.close()

    def _read(self, connection: "_Pinned", parts: SplitResult, address: str) -> Document | str:
        connection.request("GET", _target(parts), headers={"Accept": ACCEPT, "Accept-Encoding": "identity"})
        answer = connection.getresponse()
        if answer.status in REDIRECTS and answer.getheader("Location"):
            return str(answer.getheader("Location"))
        if answer.status != 200:
            raise PlanError("url-status", number=answer.status)
        body = answer.read(self.limits.bytes + 1)
        if len(body) > self.limits.bytes:
            raise PlanError("url-too-large", count=self.limits.bytes)
        if answer.length:
            raise http.client.IncompleteRead(body, answer.length)
        return Document(address, answer.headers.get_content_type(), _text(body))

    def _address(self, host: str, port: int, deadline: float) -> str:
        """Return the network address to connect to, after checking all addresses of the host."""
        try:
            addresses = _RESOLVING.submit(self.resolver, host, port).result(max(0.0, deadline - time.monotonic()))
        except (OSError, UnicodeError, FutureTimeout):
            addresses = ()
        if not addresses:
            raise PlanError("url-unreachable.no_such_host")
        if not self._is_allowed(host, port) and not all(map(is_public, addresses)):
            raise PlanError("url-refused")
        return addresses[0]

    def _is_allowed(self, host: str, port: int) -> bool:
        name = host.casefold()
        shown = f"[{name}]" if ":" in name else name
        return name in self.allowed_hosts or f"{shown}:{port}" in self.allowed_hosts

    def _cached(self, address: str) -> Document | None:
        with self._lock:
            expires, document = self._kept.get(address, (0.0, None))
            return document if expires > time.monotonic() else None

    def _keep(self, address: str, document: Document) -> None:
        with self._lock:
            self._kept[address] = (time.monotonic() + self.limits.cache_seconds, document)
            self._kept.move_to_end(address)
            while len(self._kept) > self.limits.cache_entries:
                self._kept.popitem(last=False)


def _split(address: str) -> SplitResult:
    """Split an http or https address that has a host and no password."""
    try:
        parts = urlsplit(address)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or any(ord(letter) <= 32 or ord(letter) == 127 for letter in address):
        raise PlanError("url.not_http")
    if parts.username is not None or "\\" in address:
        raise PlanError("url.user_or_backslash")
    return parts


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlanError("url-encoding") from None


class _Pinned(http.client.HTTPConnection):
    """A connection to a checked address; the host's name is used only for the header and the certificate."""

    def __init__(self, host: str, port: int, address: str, secure: bool, deadline: float) -> None:
        super().__init__(host, port)
        self.default_port = 443 if secure else 80
        self._address = address
        self._context = ssl.create_default_context() if secure else None
        self._deadline = deadline
        self._used: socket.socket | None = None

    def connect(self) -> None:
        remaining = max(0.001, self._deadline - time.monotonic())
        self.sock = self._used = socket.create_connection((self._address, self.port), timeout=remaining)
        if self._context:
            secured = self._context.wrap_socket(self._used, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = self._used = secured
            secured.do_handshake()

    def end(self) -> None:
        """End the connection, even if only the response still refers to it."""
        if self._used:
            with suppress(OSError):
                self._used.shutdown(socket.SHUT_RDWR)


@contextmanager
def _cut_at(deadline: float, connection: _Pinned) -> Iterator[None]:
    """End a connection at the deadline, however slowly the other side responds."""
    timer = threading.Timer(max(0.0, deadline - time.monotonic()), connection.end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def plain_host(host: str) -> str:
    """Return a host in canonical spelling: a name or an address.

    >>> plain_host("Example.ORG")
    'example.org'

    Raises:
        PlanError: The host is spelled as a decimal, octal or hexadecimal number, or is not a host.
    """
    plain = host.casefold().removesuffix(".")
    if _address(plain) is not None and "%" not in plain:
        return plain
    try:
        plain = plain.encode("idna").decode("ascii").casefold()
    except UnicodeError:
        plain = ""
    if not NAME.fullmatch(plain) or NUMBER.fullmatch(plain.rsplit(".", 1)[-1]):
        raise PlanError("url-host")
    return plain


def is_public(text: str) -> bool:
    """Return whether a network address may be fetched from: not loopback, private, link-local, multicast or reserved.

    >>> is_public("8.8.8.8"), is_public("::ffff:127.0.0.1"), is_public("169.254.169.254")
    (True, False, False)
    """
    address = _address(text.partition("%")[0])
    if address is None or "%" in text:
        return False
    return all(_is_plainly_public(one) for one in (address, *_embedded(address)))


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_plainly_public(address: Address) -> bool:
    closed = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_link_local
    closed |= any(address.version == network.version and address in network for network in CLOSED)
    return address.is_global and not closed and not address.is_loopback


def _embedded(address: Address) -> list[Address]:
    """Return the IPv4 addresses embedded in an IPv6 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    inner: list[Address | None] = [address.ipv4_mapped, address.sixtofour]
    inner += address.teredo or ()
    inner += [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) for network in TRANSLATED if address in network]
    return [one for one in inner if one is not None]
