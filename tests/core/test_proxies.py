"""Whose address a request comes from: only known proxies are believed, and only what they added."""

from typing import Any

import pytest

from apps.core.server.proxies import network_of, parse_proxies, through_proxies
from tests.sampling import for_each


def scope(peer: str, *chains: str, proto: str = "") -> dict[str, Any]:
    headers = [(b"x-forwarded-for", chain.encode()) for chain in chains]
    return {
        "client": (peer, 5) if peer else None,
        "scheme": "http",
        "headers": [*headers, *([(b"x-forwarded-proto", proto.encode())] if proto else [])],
    }


@for_each(
    "proxies, peer, chains, client",
    [
        ("", "127.0.0.1", ["203.0.113.1"], "127.0.0.1"),  # nobody was named, so nobody is believed
        ("127.0.0.1", "203.0.113.9", ["203.0.113.1"], "203.0.113.9"),  # no proxy
        ("127.0.0.1", "127.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        (
            "127.0.0.1",
            "127.0.0.1",
            ["198.51.100.1, 203.0.113.1"],
            "203.0.113.1",
        ),  # the left one is the client's own word
        ("127.0.0.1", "127.0.0.1", ["198.51.100.1", "203.0.113.1"], "203.0.113.1"),  # in two headers
        ("127.0.0.1,10.0.0.0/8", "127.0.0.1", ["198.51.100.1, 203.0.113.1, 10.1.1.1"], "203.0.113.1"),
        ("127.0.0.1", "127.0.0.1", ["203.0.113.1, 127.0.0.1"], "203.0.113.1"),
        ("127.0.0.1", "127.0.0.1", ["127.0.0.1"], "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", ["203.0.113.1, nonsense"], "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", ["203.0.113.1:4711"], "203.0.113.1"),
        ("127.0.0.1", "127.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("::1", "::1", ["2001:db8::1"], "2001:db8::1"),
        ("127.0.0.1", "::ffff:127.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        ("1", "172.18.0.1", ["198.51.100.1, 203.0.113.1"], "203.0.113.1"),
        ("2", "172.18.0.1", ["198.51.100.1, 203.0.113.1, 10.1.1.1"], "203.0.113.1"),
        ("2", "172.18.0.1", ["203.0.113.1"], "203.0.113.1"),
        ("1", "172.18.0.1", [], "172.18.0.1"),
        ("*", "172.18.0.1", ["198.51.100.1, 203.0.113.1"], "203.0.113.1"),
    ],
)
def test_the_client_is_the_last_that_no_known_proxy_is(proxies: str, peer: str, chains: list[str], client: str) -> None:
    assert through_proxies(scope(peer, *chains), parse_proxies(proxies))["client"][0] == client


def test_the_scheme_is_believed_from_a_proxy_only() -> None:
    proxies = parse_proxies("127.0.0.1")
    assert through_proxies(scope("127.0.0.1", proto="https"), proxies)["scheme"] == "https"
    assert through_proxies(scope("203.0.113.1", proto="https"), proxies)["scheme"] == "http"
    assert through_proxies(scope("127.0.0.1", proto="gopher"), proxies)["scheme"] == "http"


def test_a_server_on_a_socket_has_no_peer() -> None:
    assert through_proxies(scope(""), parse_proxies("127.0.0.1"))["client"] is None
    assert through_proxies(scope("", "203.0.113.1"), parse_proxies("1"))["client"][0] == "203.0.113.1"


@pytest.mark.parametrize("text", ["localhost", "10.0.0.0/99", "10", "1.2.3"])
def test_what_is_no_proxy_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="SPINDLE_PROXIES"):
        parse_proxies(text)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.1", "203.0.113.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.1", "203.0.113.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)
def test_one_sender_is_an_address_or_an_ipv6_network(address: str | None, network: str) -> None:
    assert network_of(address) == network
