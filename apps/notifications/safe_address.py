"""Which addresses a webhook may go to.

A notification is sent from inside the lab's network, so whoever can type an address could otherwise speak to what only
the server reaches (server-side request forgery).

A name is resolved once, every address it has must be allowed, and the connection goes to just that address: a name
that resolves to something else a moment later changes nothing.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

SCHEMES = {"http": 80, "https": 443}
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(map(ipaddress.ip_network, text.split()))


# Python's own `is_global` depends on its version; these are IANA's registries of special-purpose addresses (RFC 6890, as of 2025).
NOT_PUBLIC = _networks(
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 "
    "192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 "
    # Of IPv6 nothing is public but 2000::/3, and of that not these. 6to4 (2002::/16) and Teredo (in 2001::/23) lead to IPv4 addresses.
    "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20"
)
PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
# What the administrator may allow. Not fec0::/10, which was private once, nor 64:ff9b:1::/48 and other ways through a translator.
IN_THE_LAB = _networks("10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7")
NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Where clouds' machines ask for their keys: Amazon, Google, Azure, Oracle, Alibaba, Scaleway.
METADATA = _networks(
    "169.254.0.0/16 192.0.0.0/24 100.100.100.200/32 168.63.129.16/32 fd00:ec2::/32 fd20:ce::/32 fd00:c1::/32 fd00:42::/32"
)
IP = ipaddress.IPv4Address | ipaddress.IPv6Address


class RefusedAddressError(ValueError):
    """A webhook may not go there: what was found and what was expected."""


@dataclass(frozen=True)
class CheckedAddress:
    """Where to connect: `ip` is the checked address, `host` the name for TLS and the Host header."""

    scheme: str
    host: str
    port: int
    path: str
    ip: str


def place_of(url: str, *, private: bool) -> CheckedAddress:
    """Resolve and check. Raises `RefusedAddressError`, and OSError where the name has no address."""
    scheme, host, port, path = parts_of(url)
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    for address in addresses:
        check(address, host, private=private)
    return CheckedAddress(scheme, host, port, path, addresses[0])


def parts_of(url: str) -> tuple[str, str, int, str]:
    """Split a URL into (scheme, host, port, path with query).

    Raises:
        RefusedAddressError: It is no address of an HTTP server, or has a name or password in it.
    """
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port or SCHEMES.get(parts.scheme, 0)
        host.encode("idna")  # as every look-up does; it refuses labels of more than 63 letters
    except ValueError as error:  # UnicodeError is one
        raise RefusedAddressError(
            f"found {url!r}, expected an address like https://example.org/hook ({error})"
        ) from None
    if scheme not in SCHEMES or not host or any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        raise RefusedAddressError(f"found {url!r}, expected an address like https://example.org/hook")
    try:
        host.encode("idna")
    except UnicodeError:
        raise RefusedAddressError(f"found the host {host[:80]!r}, expected the name of a machine") from None
    if parts.username is not None or parts.password is not None:
        raise RefusedAddressError("found a name or password in the address, expected none: the signature is the proof")
    path = parts.path or "/"
    return scheme, host, port, f"{path}?{parts.query}" if parts.query else path


def check_literal(url: str, *, private: bool) -> None:
    """Check an address without asking a name server: only an IP address in any spelling is checked.

    Raises:
        RefusedAddressError: A webhook may not go there.
    """
    _, host, port, _ = parts_of(url)
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except OSError:
        return
    for entry in entries:
        check(str(entry[4][0]), host, private=private)


def check(address: str, host: str, *, private: bool) -> None:
    """Check an IP address that a webhook would connect to.

    Raises:
        RefusedAddressError: A webhook may not go there.
    """
    inner = _innermost(ipaddress.ip_address(address.partition("%")[0]))
    if _is_public(inner) or (private and _is_in_the_lab(inner)):
        return
    text = f"{host} is {address}" if address != host else address
    if private or not _is_in_the_lab(inner):
        raise RefusedAddressError(f"{text}: link-local and special addresses get no webhooks")
    raise RefusedAddressError(
        f"{text}: that is an address inside a network; the administrator may allow them with SPINDLE_WEBHOOK_PRIVATE"
    )


def _innermost(address: IP) -> IP:
    """Return the IPv4 address that an IPv6 address stands for, else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: IP) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in PUBLIC_IPV6:
        return False
    return not _is_in(address, NOT_PUBLIC) and not _is_in(address, METADATA)


def _is_in_the_lab(address: IP) -> bool:
    """Return whether an address is private or loopback, and no cloud's metadata server."""
    return _is_in(address, IN_THE_LAB) and not _is_in(address, METADATA)


def _is_in(address: IP, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)
