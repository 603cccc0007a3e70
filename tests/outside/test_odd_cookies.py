"""Cookies of other programs on the same host name, which arrive with every request, are nobody's trouble."""

import pytest

from tests.outside.product import Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]
COOKIES = (
    "a/b=c",
    "x@y=1",
    "a(b)=1",
    'pref={"x": 1}',
    "a b",
    "x=\xfc",
    "=",
    ";;;",
    "sessionid",
    "a=" + "x" * 4000,
    '"',
    "=;=;sessionid",
)
ADDRESSES = ("/events/runs/1/", "/", "/healthz", "/api/v1/runs/", "/accounts/login/")


@pytest.fixture(scope="module")
def session(owner: Client) -> str:
    return next(f"{cookie.name}={cookie.value}" for cookie in owner.cookies if cookie.name == "sessionid")


@pytest.mark.parametrize("odd", COOKIES)
def test_a_strangers_odd_cookies_are_no_error_of_the_server(product: Product, odd: str) -> None:
    statuses = {address: product.client().get(address, follow=False, Cookie=odd).status for address in ADDRESSES}
    assert statuses == {
        "/events/runs/1/": 404,
        "/": 302,
        "/healthz": 200,
        "/api/v1/runs/": 401,
        "/accounts/login/": 200,
    }
    assert "Traceback" not in product.log("web")


@pytest.mark.parametrize("odd", [odd for odd in COOKIES if not odd.endswith("sessionid")])
def test_a_member_with_odd_cookies_beside_the_session_is_known_everywhere(
    product: Product, session: str, odd: str
) -> None:
    """By pages, by streams of events, and by the limits of large bodies, which look before a body is read."""
    cookies = f"{odd}; {session}"
    client = product.client()
    runs = product.client(Cookie=cookies).get("/api/v1/runs/?limit=1").json()["results"]
    assert client.get(f"/events/runs/{runs[0]['id']}/", Cookie=cookies).status == 200
    large = client.request("POST", "/uploads/", b"x" * 1_500_000, {"Cookie": cookies, "Content-Type": "text/plain"})
    assert large.status == 403, "the missing CSRF token, not a missing sign-in"
