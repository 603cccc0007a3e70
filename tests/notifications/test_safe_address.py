"""Webhooks go to public addresses only, in whatever way another one is written or resolved."""

import socket
from typing import Any

import pytest

from apps.notifications.safe_address import RefusedAddressError, check, check_literal, parts_of, place_of
from tests.sampling import for_each

INSIDE = [
    "127.0.0.1", "127.8.9.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fc00::1", "fd12::5",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:192.168.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a00:1",
]  # fmt: skip
NEVER = [
    "169.254.169.254", "169.254.1.1", "::ffff:169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "0.0.0.0", "::",
    "100.100.100.200", "192.0.0.192",  # of two more clouds
    "fec0::1", "feff::1", "64:ff9b:1::a00:1", "100::1", "100:0:0:1::1", "5f00::1", "2001::1", "2001:0:a00:1::1", "2001:2::1", "2001:10::1",
    "2001:db8::1", "3fff::1", "::10.0.0.1", "::ffff:0:10.0.0.1", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "168.63.129.16",
    "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.9", "192.88.99.1", "192.175.48.1", "192.31.196.1", "0.1.2.3",
    "::ffff:0.0.0.0", "64:ff9b::e000:1", "4000::1", "febf::1", "ff0e::1",
    "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::",
]  # fmt: skip
PUBLIC = ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]


@for_each("address", [*INSIDE, *NEVER])
def test_an_address_inside_is_refused(address: str) -> None:
    with pytest.raises(RefusedAddressError, match=r"SPINDLE_WEBHOOK_PRIVATE|link-local"):
        check(address, "name", private=False)


@for_each("address", INSIDE)
def test_the_administrator_may_allow_a_network(address: str) -> None:
    check(address, "name", private=True)


@for_each("address", NEVER)
def test_metadata_and_special_addresses_stay_refused(address: str) -> None:
    with pytest.raises(RefusedAddressError):
        check(address, "name", private=True)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_taken(address: str) -> None:
    check(address, "name", private=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "[::ffff:7f00:1]", "127.0.0.1", "localhost"]
)
def test_any_spelling_of_this_machine_is_refused(host: str) -> None:
    with pytest.raises(RefusedAddressError):
        place_of(f"http://{host}/hook", private=False)


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "[::1]", "169.254.169.254"])
def test_an_address_in_numbers_is_refused_before_anything_is_sent(host: str) -> None:
    with pytest.raises(RefusedAddressError):
        check_literal(f"https://{host}:8443/", private=False)


def test_a_name_is_not_asked_for_when_it_is_typed() -> None:
    check_literal("https://surely.not.there.invalid/hook", private=False)


@pytest.mark.parametrize("answers", [["127.0.0.1"], ["93.184.216.34", "10.0.0.7"], ["::1", "93.184.216.34"]])
def test_a_name_that_resolves_inside_is_refused_even_by_one_of_its_addresses(
    monkeypatch: pytest.MonkeyPatch, answers: list[str]
) -> None:
    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in answers]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(RefusedAddressError, match=r"rebound\.example\.org is "):
        place_of("https://rebound.example.org/hook", private=False)


def test_a_name_is_resolved_once_and_the_checked_address_is_the_one_to_connect_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        address = "93.184.216.34" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    place = place_of("https://example.org:8443/a?b=c", private=False)
    assert (place.ip, place.host, place.port, place.path) == ("93.184.216.34", "example.org", 8443, "/a?b=c")
    assert asked == ["example.org"]


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "file:///etc/passwd", "example.org", "https://", "http://example.org:99999/",
     "https://user:word@example.org/", "https://example.org/a b", "https://example.org/\r\nX: y", "http://[::1"],
)  # fmt: skip
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(RefusedAddressError, match="found"):
        parts_of(url)
