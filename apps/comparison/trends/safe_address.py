"""Which addresses a webhook may go to. A notification is sent from inside the lab's network, so whoever can type an
address could otherwise speak to what only the server reaches (server-side request forgery).

A name is resolved once, every address it has must be allowed, and the connection goes to just that address: a name
that resolves to something else a moment later changes nothing.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

SCHEMES = {"http": 80, "https": 443}
NAT64 = ipaddress.ip_network("64:ff9b::/96")
SHARED = ipaddress.ip_network("100.64.0.0/10")  # between a provider and its customers; neither public nor private
# of clouds' machines
METADATA = tuple(map(ipaddress.ip_network, ("169.254.0.0/16", "fd00:ec2::/32", "100.100.100.200/32", "192.0.0.0/24")))
IP = ipaddress.IPv4Address | ipaddress.IPv6Address


class RefusedAddressError(ValueError):
    """A webhook may not go there: what was found and what was expected."""


@dataclass(frozen=True)
class Place:
    """Where to connect: `ip` is the checked address, `host` the name for TLS and the Host header."""

    scheme: str
    host: str
    port: int
    path: str
    ip: str


def place_of(url: str, *, private: bool) -> Place:
    """Resolve and check. Raises `RefusedAddressError`, and OSError where the name has no address."""
    scheme, host, port, path = parts_of(url)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    for address in addresses:
        check(address, host, private=private)
    return Place(scheme, host, port, path, addresses[0])


def parts_of(url: str) -> tuple[str, str, int, str]:
    """(scheme, host, port, path with query). Raises `RefusedAddressError`."""
    try:
        found = urlsplit(url)
        scheme, host, port = found.scheme, found.hostname or "", found.port or SCHEMES.get(found.scheme, 0)
    except ValueError as error:
        raise RefusedAddressError(
            f"found {url!r}, expected an address like https://example.org/hook ({error})"
        ) from None
    if scheme not in SCHEMES or not host or any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        raise RefusedAddressError(f"found {url!r}, expected an address like https://example.org/hook")
    if found.username is not None or found.password is not None:
        raise RefusedAddressError("found a name or password in the address, expected none: the signature is the proof")
    path = found.path or "/"
    return scheme, host, port, f"{path}?{found.query}" if found.query else path


def check_literal(url: str, *, private: bool) -> None:
    """What can be said without asking a name server: an address that is a number in any spelling is checked now."""
    _, host, port, _ = parts_of(url)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except OSError:
        return
    for one in found:
        check(str(one[4][0]), host, private=private)


def check(address: str, host: str, *, private: bool) -> None:
    """Raises `RefusedAddressError` for an address that a webhook may not go to."""
    inner = _innermost(ipaddress.ip_address(address.partition("%")[0]))
    if _is_public(inner) or (private and _is_in_the_lab(inner)):
        return
    said = f"{host} is {address}" if address != host else address
    if private or inner.is_link_local:
        raise RefusedAddressError(f"{said}: link-local and special addresses get no webhooks")
    raise RefusedAddressError(
        f"{said}: that is an address inside a network; the administrator may allow them with SPINDLE_WEBHOOK_PRIVATE"
    )


def _innermost(address: IP) -> IP:
    """The IPv4 address that an IPv6 one stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address


def _is_public(address: IP) -> bool:
    return address.is_global and not _is_metadata(address) and not address.is_multicast and not address.is_reserved


def _is_in_the_lab(address: IP) -> bool:
    """Private and loopback, never a cloud's metadata."""
    if _is_metadata(address):
        return False
    if address.is_loopback or address in SHARED:
        return True
    is_special = address.is_multicast or address.is_unspecified or address.is_reserved or address.is_link_local
    return address.is_private and not is_special


def _is_metadata(address: IP) -> bool:
    return any(address in network for network in METADATA)
