"""A multipart body that is read here is read the same by Django; one that might be read in two ways is not read here."""

import io

import pytest
from django.http.multipartparser import MultiPartParser
from django.test import RequestFactory
from django.test.client import encode_multipart

from apps.publishing.form_data import MOST_PARTS, parts

BORDER = "----border.1_x"
KIND = f"multipart/form-data; boundary={BORDER}"
FILE = b'Content-Disposition: form-data; name="file"; filename="run 1(a).json"'


def body(*pieces: bytes, end: bytes = b"--\r\n") -> bytes:
    mark = f"--{BORDER}".encode()
    return b"".join(mark + b"\r\n" + piece + b"\r\n" for piece in pieces) + mark + end


def piece(data: bytes = b"{}", head: bytes = FILE) -> bytes:
    return head + b"\r\n\r\n" + data


def word(name: str, value: bytes) -> bytes:
    return piece(value, f'Content-Disposition: form-data; name="{name}"'.encode())


def by_django(raw: bytes) -> tuple[str, bytes, dict[str, str]]:
    meta = {"CONTENT_TYPE": KIND, "CONTENT_LENGTH": len(raw)}
    handlers = RequestFactory().post("/").upload_handlers
    words, files = MultiPartParser(meta, io.BytesIO(raw), handlers).parse()
    (file,) = files.getlist("file")
    assert file is not None
    return str(file.name), file.read(), dict(words.items())


USUAL = [
    body(piece()),
    body(piece(b"\r\n--\r\n\0\xff--", FILE + b"\r\nContent-Type: application/json")),
    body(
        word("keep", b"true"),
        piece(b"x" * 9000),
        word("labels", "cable=старый, a=b".encode()),
        word("path", b"a/b.json"),
    ),
    body(piece(), word("host", b"")),
    body(piece(b"\r\n"), end=b"--"),
    encode_multipart(BORDER, {"file": io.BytesIO(b"abc"), "keep": "1"}).replace(b'filename=""', b'filename="ab"'),
]
UNUSUAL = [
    b"", b"--", body(), body(word("keep", b"1")), body(piece(), piece()), body(piece(), word("keep", b"1"), word("keep", b"0")),
    b"preamble" + body(piece()), body(piece()) + b"after", body(piece()).replace(b"\r\n\r\n", b"\n\n"), body(piece())[:-4], body(piece())[2:],
    body(piece(f"a--{BORDER}b".encode())), body(piece(f"\r\n--{BORDER}x".encode())), body(piece(f"\r\n--{BORDER}--".encode())),
    body(piece(head=FILE + b"\r\nContent-Transfer-Encoding: base64")), body(piece(head=FILE + b"\r\nX: y")),
    body(piece(head=FILE.replace(b"run 1", b"../run"))), body(piece(head=FILE.replace(b"run 1", b"&amp;"))),
    body(piece(head=FILE.replace(b"run 1", b"a\\b"))), body(piece(head=FILE.replace(b"run 1", "é".encode()))),
    body(piece(head=FILE.replace(b"run 1(a).json", b".."))), body(piece(head=FILE.replace(b"run 1(a).json", b""))),
    body(piece(head=FILE.replace(b"run 1(a).json", b"x" * 300))), body(piece(head=FILE.replace(b'"file"', b'"other"'))),
    body(piece(head=b"")), body(piece(), word("labels", b"\xff")), body(piece(), word("file", b"x")), body(piece(), word("a b", b"x")),
    body(piece(), *[word(f"word_{letter}", b"x") for letter in "abcdefghijk"][:MOST_PARTS]),
]  # fmt: skip


@pytest.mark.parametrize("raw", USUAL)
def test_the_usual_body_is_read_as_django_reads_it(raw: bytes) -> None:
    found = parts(KIND, raw)
    assert found is not None
    assert found == by_django(raw)


@pytest.mark.parametrize("raw", UNUSUAL)
def test_anything_else_is_left_to_django(raw: bytes) -> None:
    assert parts(KIND, raw) is None


@pytest.mark.parametrize(
    "kind",
    ["", "application/json", "multipart/form-data", f'multipart/form-data; boundary="{BORDER}"', f"{KIND}; charset=utf-8", f"{KIND}\n"],
)  # fmt: skip
def test_another_type_is_left_to_django(kind: str) -> None:
    assert parts(kind, body(piece())) is None
