"""Every address of the product, asked with values that nobody should send: no error of the server, and words for scripts.

The addresses come from the schema and from following links; the values are a seeded sample in the short form, all in the long one.
"""

import base64
import http.client
import json
import os
import random
import re
import socket
import urllib.parse
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.outside.product import Client, Product

pytestmark = [pytest.mark.outside, pytest.mark.long]
IS_LONG = os.environ.get("SPINDLE_LONG") == "1"
rough = random.Random(None if IS_LONG else 25)
PAGES, VALUES_EACH, FORMS = (1000, 14, 1000) if IS_LONG else (36, 2, 14)

# As they stand in an address, percent-encoded.
IN_ADDRESS = [
    "", "%C2%B2", "%D9%A1%D9%A2", "9" * 5000, "9" * 20, "9" * 19, str(2**63), str(2**31), "-1", "0", "1e999", "nan", "Infinity", "a%00b",
    "%00", "%FF%FE", "%ED%A0%80", "x" * 3000, "%27%22%3C%3E%26", "%", "%zz", "%5B%5D", "%7B%22a%22%3A1%7D", "a%0D%0Ab", ",,,", "..%2F..%2Fetc",
    "%E2%80%AE%F3%A0%80%81", "9999-99-99", "0000-01-01T00:00", "99999-01-01", "1_000", "%2B1", "0x10", "%3D%3D%3D", "(((((%5B", "%20", "%C2%BD",
    "%E4%B8%89", "cD0l", "bz0tMQ%3D%3D", "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk%3D", "cD3CsgA%3D", "cj0xJnA9", "True", "json", "csv", "xml",
]  # fmt: skip
# As a person or a program types them into a form.
IN_FORM = [
    "", "²", "١٢", "9" * 5000, "9" * 20, str(2**63), "-5", "nan", "1e999", "Infinity", "a\0b", "x" * 5000, "[" * 50_000, '{"a": NaN}',
    "a@" + "ü" * 80 + ".example", "x@" + "a." * 130 + "de", "https://" + "a" * 70 + ".example/", "https://" + "ü" * 64 + ".example/",
    "https://xn--" + "9" * 60 + "/", "http://[::1", "http://[", "http://\u2488\u3002:99999999/", "https://a:b@c:d/", "a\r\nb", "9999-12-31T23:59:59",
    "0001-01-01 00:00", "9" * 400 + " GiB", "1e308 TiB", "\u202e\U000e0001", "1,2,²", "../../etc/passwd", "%s%n{0}{{x}}",
]  # fmt: skip
CURSORS = [
    urllib.parse.quote(base64.b64encode(inside).decode())
    for inside in (
        b"p=abc", b"p=", b"p=%", b"p=%00", b"p=-1", b"p=" + b"9" * 40, b"p=" + b"9" * 5000, b"p=%C2%B2", b"p=nan", b"p=1e9", b"o=-1", b"r=x&p=1",
        b"o=" + b"9" * 5000, b"p=1&p=2", b"\xff",
    )
]  # fmt: skip
IN_JSON: list[Any] = [
    None, True, -1, 1.5, 2**31, 2**63, 10**40, 1e308, "", "²", "9" * 5000, "a\0b", "x" * 100_000, [], [[1]], {}, {"\0": 1}, {"a": {"b": []}},
    "٣", "https://" + "a" * 70 + ".example/", "x@" + "ü" * 80 + ".de",
]  # fmt: skip
DEEP = b"[" * 50_000 + b"]" * 50_000
BODIES = [
    b"", b"{", b"[]", b"null", b'"text"', b"1", DEEP, b'{"a":' + DEEP + b"}", b'{"a": NaN}', b'{"a": ' + b"9" * 5000 + b"}", b'{"a": "\\ud800"}',
    b'{"a": "\\u0000"}', b'{"\\u0000": 1}', b"\xff\xfe{", b"\0", b'{"a": 1e999}', b"[" + b"1," * 100 + b"1]",
]  # fmt: skip
EVERYWHERE = (
    "page",
    "ordering",
    "sort",
    "format",
    "limit",
    "cursor",
    "lang",
    "base",
    "q",
    "host",
    "study",
    "label",
    "next",
    "id",
)
LEFT_ALONE = ("/accounts/logout", "/accounts/password", "/static/", "/events/", "/language/")


@dataclass
class Page:
    """One kind of address, the parameters that links and forms give it, and the forms that post to it."""

    path: str
    parameters: set[str] = field(default_factory=set)
    fields: dict[str, str] | None = None


class Links(HTMLParser):
    """Where a page leads, and its forms: method, action, and fields with their values."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[str, str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.links += [given[name] for name in ("href", "hx-get") if given.get(name)]
        if tag == "form":
            method = given.get("method", "post" if "hx-post" in given else "get").lower()
            self.forms.append((method, given.get("action") or given.get("hx-post") or "", {}))
        if tag in ("input", "select", "textarea", "button") and given.get("name") and self.forms:
            self.forms[-1][2].setdefault(given["name"], given.get("value", ""))


def kind_of(path: str) -> str:
    return re.sub(r"(?<=/)\d+(?=[/.-]|$)", "0", path)


def filled(path: str) -> str:
    """A path of the schema with a study that there is and numbers that there may be."""
    return re.sub(r"{\w+}", "1", path.replace("{slug}", "thumper-x4500"))


def crawl(owner: Client, most: int) -> dict[str, Page]:
    """Pages by kind of address, from the overview on."""
    pages: dict[str, Page] = {}
    waiting, seen = ["/"], {"/"}
    asked = 0
    while waiting and asked < most:
        address = waiting.pop(0)
        answer = owner.get(address, follow=True)
        asked += 1
        assert answer.status < 500, (address, answer.status)
        if "html" not in answer.headers.get("Content-Type", ""):
            continue
        found = Links()
        found.feed(answer.text)
        here = urllib.parse.urlsplit(answer.url)
        forms = [(method, urllib.parse.urljoin(answer.url, action), fields) for method, action, fields in found.forms]
        targets = [("get", urllib.parse.urljoin(answer.url, link), {}) for link in found.links] + forms
        for method, target, fields in targets:
            parts = urllib.parse.urlsplit(target)
            if parts.netloc != here.netloc or parts.path.startswith(LEFT_ALONE):
                continue
            page = pages.setdefault(kind_of(parts.path), Page(parts.path))
            if method == "post":
                page.path, page.fields = parts.path, {**(page.fields or {}), **fields}
                continue
            page.parameters |= {*fields, *urllib.parse.parse_qs(parts.query, keep_blank_values=True)}
            if kind_of(parts.path) not in seen and not parts.path.startswith("/api/"):
                seen.add(kind_of(parts.path))
                waiting.append(parts.path)
    return pages


@dataclass
class Wire:
    """Requests as no well-behaved client sends them."""

    base: str
    headers: Mapping[str, str]

    def ask(self, method: str, target: str, body: bytes | None = None, **headers: str) -> tuple[int, str, bytes]:
        where = urllib.parse.urlsplit(self.base)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        try:
            safe = urllib.parse.quote(target, safe="/?&=%#(),:[]{}'~!$*+;@|\\\"^`")
            connection.putrequest(method, safe, skip_accept_encoding=True, skip_host="Host" in headers)
            given = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
            for name, value in given.items():
                connection.putheader(name, value.encode("latin-1"))
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type") or "", answer.read()
        finally:
            connection.close()

    def check(self, method: str, target: str, body: bytes | None = None, **headers: str) -> int:
        """No error of the server, no trace; below /api/ each refusal is a problem document."""
        status, kind, text = self.ask(method, target, body, **headers)
        told = (method, target[:300], (body or b"")[-200:], headers, status, text[:500])
        assert status < 500, told
        assert b"Traceback (most recent" not in text, told
        if status >= 400 and target.startswith("/api/") and method != "HEAD":
            assert kind == "application/problem+json", told
            assert json.loads(text)["status"] == status, told
        return status


def signed_in(product: Product, owner: Client) -> Wire:
    cookies = "; ".join(f"{one.name}={one.value}" for one in owner.cookies)
    return Wire(product.url, {"Cookie": cookies, "X-CSRFToken": owner.csrf_token(), "Referer": product.url})


@pytest.fixture(scope="module")
def pages(owner: Client) -> dict[str, Page]:
    return crawl(owner, PAGES)


@pytest.fixture(scope="module")
def schema(product: Product) -> dict[str, Any]:
    found: dict[str, Any] = product.client().get("/api/schema/?format=json").json()["paths"]
    return found


def scripted(product: Product) -> Wire:
    """A script with a token of its own, so that no other test's requests count against its rate."""
    return Wire(product.url, {"Authorization": f"Bearer {product.make_token('admin')}"})


def some(values: Any, count: int = VALUES_EACH) -> list[Any]:
    listed = list(values)
    return listed if len(listed) <= count else rough.sample(listed, count)


def test_no_parameter_of_a_page_is_an_error_of_the_server(
    product: Product, owner: Client, pages: dict[str, Page]
) -> None:
    wire = signed_in(product, owner)
    assert len(pages) > 30
    for page in some(pages.values(), 10_000 if IS_LONG else 45):
        for name in some(sorted(page.parameters | {*some(EVERYWHERE)}), 40 if IS_LONG else 2):
            for value in some(IN_ADDRESS):
                wire.check("GET", f"{page.path}?{urllib.parse.quote(name)}={value}")


def test_no_part_of_a_path_is_an_error_of_the_server(
    product: Product, owner: Client, pages: dict[str, Page], schema: dict[str, Any]
) -> None:
    wire = signed_in(product, owner)
    paths = [page.path for page in pages.values()] + [filled(path) for path in schema]
    for path in some(paths, 10_000 if IS_LONG else 50):
        parts = path.strip("/").split("/")
        for place in range(len(parts)):
            for value in some(IN_ADDRESS, 14 if IS_LONG else 1):
                wire.check("GET", f"/{'/'.join([*parts[:place], value or '%20', *parts[place + 1 :]])}/")


def test_no_field_of_a_form_is_an_error_of_the_server(product: Product, owner: Client, pages: dict[str, Page]) -> None:
    wire = signed_in(product, owner)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    for page in some([page for page in pages.values() if page.fields is not None], FORMS):
        fields = {name: value for name, value in (page.fields or {}).items() if name != "csrfmiddlewaretoken"}
        for name in some(sorted(fields) or ["name"], 40 if IS_LONG else 3):
            for value in some(IN_FORM):
                body = urllib.parse.urlencode({**fields, name: value}).encode()
                wire.check("POST", page.path, body, **kind)
            wire.check("POST", page.path, urllib.parse.quote(name).encode() + b"=%ED%A0%80&" * 3, **kind)


def test_no_parameter_of_the_interface_is_an_error_of_the_server(product: Product, schema: dict[str, Any]) -> None:
    wire = scripted(product)
    for path, operations in schema.items():
        address = filled(path)
        read = operations.get("get", {})
        names = {one["name"] for one in read.get("parameters", []) if one["in"] == "query"} | {*some(EVERYWHERE)}
        for name in some(sorted(names), 40 if IS_LONG else 2):
            value = some(IN_ADDRESS, 1)[0]
            wire.check("GET", f"{address}?{name}={value}")
            wire.check("GET", f"{address}?{name}={value}&{name}=1&{name}")
        for accept in some(
            [
                "",
                "²",
                ";;;q=x",
                "text/csv;q=nan",
                "*/*;q=inf",
                "a" * 5000,
                "application/*;q=0",
                "image/png, text/csv;q=2",
            ],
            1,
        ):
            wire.check("GET", address, Accept=accept)


def test_no_cursor_is_an_error_of_the_server(product: Product, schema: dict[str, Any]) -> None:
    wire = scripted(product)
    lists = [path for path, operations in schema.items() if "{" not in path and "get" in operations]
    for path in ["/api/v1/runs/", *some(lists, 100 if IS_LONG else 4)]:
        for cursor in CURSORS:
            wire.check("GET", f"{path}?cursor={cursor}")


def bodies(path: str, operation: dict[str, Any], shapes: dict[str, Any]) -> Iterator[bytes]:
    """Broken ones, and honest ones with one field of another kind."""
    yield from some(BODIES, 17 if IS_LONG else 3)
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    for field_name in some(sorted(shapes.get(name, {}).get("properties", {})), 60 if IS_LONG else 3):
        for value in some(IN_JSON, 21 if IS_LONG else 2):
            yield json.dumps({"name": f"rough {rough.random()}", field_name: value}).encode()
    yield json.dumps({"a" * 5000: 1, "²": [], "": None}).encode()


def test_no_body_is_an_error_of_the_server(product: Product, admin: Client) -> None:
    wire = scripted(product)
    whole = admin.get("/api/schema/?format=json").json()
    for path, operations in whole["paths"].items():
        for method in ("post", "put", "patch", "delete"):
            for body in (
                bodies(path, operations.get(method, {}), whole["components"]["schemas"]) if method in operations else ()
            ):
                wire.check(method.upper(), filled(path), body, **{"Content-Type": "application/json"})
            for kind in some(
                [
                    "",
                    "text/plain",
                    "multipart/form-data",
                    "multipart/form-data; boundary=²",
                    "application/json; charset=utf-16",
                ],
                1,
            ):
                wire.check(method.upper(), filled(path), b"--x\r\n\r\n", **{"Content-Type": kind})


def test_methods_and_addresses_that_there_are_not_are_problem_documents(
    product: Product, admin: Client, owner: Client, schema: dict[str, Any]
) -> None:
    token = {"Authorization": f"Bearer {admin.token}"}
    stranger, script, browser = (Wire(product.url, given) for given in ({}, token, signed_in(product, owner).headers))
    no_proof = Wire(product.url, {"Cookie": browser.headers["Cookie"]})
    for path in (
        "/api/",
        "/api/v1/",
        "/api/v1/nothing/",
        "/api/v1/runs",
        "/api/v1/hosts/1/nothing/",
        "/api/v2/runs/",
        "/api/%00/",
        "/api/v1/%C2%B2",
    ):
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"):
            for wire in (stranger, script, browser, no_proof):
                assert wire.check(method, path, b"{}" if method in ("POST", "PUT", "PATCH") else None) == 404
    for path in some(schema, 1000 if IS_LONG else 25):
        address = filled(path)
        for method in ("HEAD", "OPTIONS", "TRACE", "PROPFIND", "PUT"):
            script.check(method, address)
            stranger.check(method, address)
            script.check("OPTIONS", f"{address}?format={rough.choice(['csv', 'png', 'svg', 'xml', 'mediawiki', '²'])}")
            script.check("GET", address, X_HTTP_Method_Override="DELETE", X_Method_Override="PATCH")


def test_no_header_is_an_error_of_the_server(product: Product, owner: Client, admin: Client) -> None:
    names = (
        "If-None-Match", "If-Modified-Since", "If-Match", "Range", "Authorization", "Cookie", "Accept", "Accept-Language", "Referer",
        "Origin", "HX-Request", "HX-Current-URL", "X-Forwarded-For", "X-Forwarded-Proto", "X-CSRFToken", "Last-Event-ID", "Content-Type",
    )  # fmt: skip
    values = (
        "",
        "²",
        "é" * 50,
        "9" * 5000,
        "-1",
        "W/²",
        '"' * 99,
        "bytes=²-",
        "Bearer ²",
        "Bearer",
        "Basic ²",
        "a=b; ²=²; sessionid=²",
        "Thu, 99 Jan 9999",
    )
    cookie = signed_in(product, owner).headers["Cookie"]
    paths = (
        "/",
        "/api/v1/runs/",
        "/api/v1/studies/thumper-x4500/",
        "/compare/",
        "/compare/free/",
        "/compare/questions/filesystem/",
        "/healthz",
        "/events/runs/1/",
        "/agent/agent.pyz",
        "/api/schema/",
    )
    for name in names:
        for value in some(values, 13 if IS_LONG else 2):
            for path in some(paths, 8 if IS_LONG else 2):
                given = {"Cookie": cookie, "Authorization": f"Bearer {admin.token}"} | {name: value}
                Wire(product.url, given).check("GET", path)
    for host in ("", "²", "x" * 300, "a..b", "[::1", "localhost:99999999", "xn--" + "9" * 70, "evil.example"):
        for path in ("/", "/api/v1/runs/", "/accounts/login/"):
            assert Wire(product.url, {}).check("GET", path, Host=host) in (200, 302, 400, 401, 403), (host, path)


def test_broken_http_is_answered_and_the_next_one_is_served(product: Product) -> None:
    where = urllib.parse.urlsplit(product.url)
    for raw in (
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: \xb2\r\n\r\n", b"POST /api/v1/runs/ HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/runs/ HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", b"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n", b"GET * HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    ):  # fmt: skip
        with socket.create_connection((where.hostname, where.port), timeout=20) as connection:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(65536)
        assert b" 500 " not in answer[:20], (raw[:100], answer[:300])
    assert product.client().get("/healthz").status == 200


def test_the_same_name_made_twice_at_once_is_a_conflict_and_no_error(product: Product, owner: Client) -> None:
    name = f"twice {random.randrange(10**9)}"
    admin = product.client(product.make_token("admin"))
    host = admin.send("POST", "/api/v1/hosts/", {"name": f"{name} host"}).json()["id"]
    script = Wire(product.url, {"Authorization": f"Bearer {admin.token}", "Content-Type": "application/json"})
    browser = signed_in(product, owner)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for path, fields in (
        ("hosts", {"name": name}),
        ("controllers", {"host": host, "name": name}),
        ("disks", {"host": host, "device_name": "sdz", "model": "M", "serial": name}),
        ("targets", {"host": host, "name": name, "kind": "directory", "path": "/x"}),
        ("switches", {"name": name}),
    ):
        with ThreadPoolExecutor(6) as threads:
            asked = [
                threads.submit(script.check, "POST", f"/api/v1/{path}/", json.dumps(fields).encode()) for _ in range(6)
            ]
        assert {one.result() for one in asked} <= {201, 400, 409}
    for path, typed in (
        ("/studies/new/", {"title": name, "slug": name.replace(" ", "-"), "language": "en"}),
        ("/trends/destinations/", {"kind": "email", "name": name, "address": f"{name.replace(' ', '')}@example.org"}),
        ("/accounts/email/", {"action_add": "", "email": product.email}),
    ):
        body = urllib.parse.urlencode(typed).encode()
        with ThreadPoolExecutor(6) as threads:
            asked = [threads.submit(browser.check, "POST", path, body, **form) for _ in range(6)]
        assert {one.result() for one in asked} <= {200, 302, 400, 404, 409, 422}


def test_addresses_that_cannot_be_are_refused_in_words(product: Product, owner: Client) -> None:
    """Over-long labels and hosts, other scripts, halves of brackets: for mail, webhooks and sign-in alike."""
    wire = signed_in(product, owner)
    hosts = [
        "a" * 64,
        "ü" * 64,
        "a." * 130 + "de",
        "xn--" + "9" * 60,
        "²",
        "a..b",
        ".",
        "\u2488\u3002",
        "[::1",
        "a\0b",
        "x" * 5000,
        "\u200b",
        "ß" * 63,
    ]
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    for host in hosts:
        for path, typed in (
            ("/trends/destinations/", {"kind": "webhook", "name": "w", "address": f"https://{host}/"}),
            ("/trends/destinations/", {"kind": "webhook", "name": "w", "address": f"https://{host}:99999999/"}),
            ("/trends/destinations/", {"kind": "email", "name": "w", "address": f"a@{host}.example"}),
            ("/lab/members/", {"email": f"a@{host}.example", "role": "viewer"}),
            ("/lab/members/", {"email": f"{host}@example.org", "role": "viewer"}),
            ("/accounts/email/", {"action_add": "", "email": f"a@{host}.example"}),
        ):
            wire.check("POST", path, urllib.parse.urlencode(typed).encode(), **kind)
        for path in ("/accounts/login/", "/accounts/password/reset/"):
            client = product.client()
            typed = {"login": f"a@{host}.example", "email": f"a@{host}.example", "password": "x"}
            assert client.post(path, typed).status < 500, (path, host)
