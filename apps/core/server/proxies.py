"""Whose address a request comes from when proxies stand in front of the server.

`X-Forwarded-For` and `X-Forwarded-Proto` are words of the client unless a known proxy has sent the request, so they are believed from known
proxies alone (SPINDLE_PROXIES) and ignored from everybody else.
"""

import ipaddress
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
MOST_PROXIES = 9
IPV6_PREFIX = 64  # one household or office has at least so much, and may take any address of it


@dataclass(frozen=True)
class Proxies:
    """The proxies in front: by number, where nobody else reaches the port, or by address."""

    count: int = 0
    networks: tuple[Network, ...] = ()

    def knows(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self.networks)


def parse_proxies(text: str) -> Proxies:
    """Read SPINDLE_PROXIES: a number of proxies, or addresses and networks with commas between them; empty is none.

    Raises:
        ValueError: with what was found and what was expected.
    """
    text = text.strip()
    if text.isdecimal() and text.isascii():
        if int(text) > MOST_PROXIES:
            raise ValueError(f"Unexpected value SPINDLE_PROXIES={text}, use at most {MOST_PROXIES} proxies")
        return Proxies(count=int(text))
    if text == "*":  # uvicorn's word for "whoever connects"
        return Proxies(count=1)
    try:
        networks = [ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise ValueError(
            f"Unexpected value SPINDLE_PROXIES={text}, use a number or addresses like 127.0.0.1,10.0.0.0/8 ({error})"
        ) from None
    return Proxies(networks=tuple(networks))


def through_proxies(scope: Scope, proxies: Proxies) -> Scope:
    """Return the scope with the client's own address and scheme, as far as known proxies tell them."""
    peer = parse_address((scope.get("client") or ("",))[0])
    if not proxies.count and not proxies.knows(peer):
        return scope
    changed = dict(scope)
    client = _client(_values(scope, b"x-forwarded-for"), proxies)
    if client is not None:
        changed["client"] = (str(client), 0)
    scheme = (_values(scope, b"x-forwarded-proto") or [""])[-1].lower()
    if scheme in ("http", "https"):
        changed["scheme"] = scheme
    return changed


def _client(chain: list[str], proxies: Proxies) -> Address | None:
    """Return the last address of the chain that no known proxy has; None where the chain tells none.

    Each proxy appends whom it heard from, so what a client sends itself stands on the left and is never reached.
    """
    if proxies.count:
        place = max(len(chain) - proxies.count, 0)
        return parse_address(chain[place]) if chain else None
    known: Address | None = None
    for text in reversed(chain):
        address = parse_address(text)
        if address is None:
            return known
        known = address
        if not proxies.knows(address):
            return known
    return known


def _values(scope: Scope, name: bytes) -> list[str]:
    """Return what all headers of this name list, in order."""
    texts: Iterable[str] = (value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name)
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def parse_address(text: str) -> Address | None:
    """Read an IP address as proxies write it, with or without a port; None where it is none."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def network_of(text: str | None) -> str:
    """Return the network that counts as one sender: an IPv4 address by itself, an IPv6 address by its /64."""
    address = parse_address(text or "")
    if address is None:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((address, IPV6_PREFIX), strict=False))
    return str(address)
