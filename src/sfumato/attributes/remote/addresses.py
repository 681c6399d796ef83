"""Which hosts and addresses a caller may make the service fetch from: public ones, in canonical spelling."""

import ipaddress
import re

from sfumato.errors import PlanError

NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# IPv6 prefixes whose last 32 bits are an IPv4 address that is reached through them.
TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))
# Networks that are not public, although not every version of the standard library knows: site-local, protocol
# assignments, documentation.
CLOSED = tuple(map(ipaddress.ip_network, ("fec0::/10", "192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))


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
        raise PlanError("the address's host is neither a name nor a plainly written address.", code="url-host")
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
