"""A multipart parser for Django that preserves the folder in a file's name (`host3/iozone.txt`) and rejects cut bodies.

Django drops the folders, which is right for a name that becomes a path on disk. Here the name is only displayed, sorted
and used for guesses; without folders, ten files of ten hosts would all be called `iozone.txt`. Django also silently
skips a part whose header is not UTF-8 (curl sends file names as they are on disk) and a last file whose body is cut.

    @keeps_paths                                  # before anything reads the body
    def view(request): … sent_name(request.FILES["file"])
"""

import html
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

from django.core.files.uploadedfile import UploadedFile
from django.http.multipartparser import MultiPartParser, MultiPartParserError

_LONGEST_HEADER = 1 << 16  # Django takes far shorter ones


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class SentBody:
    """Headers of parts come out in UTF-8, the bytes of files as they are; nothing comes out behind the last boundary."""

    def __init__(self, stream: Readable, boundary: bytes) -> None:
        self._stream, self._mark = stream, b"--" + boundary
        self._held = b""  # came, and is not understood yet
        self.has_end = False

    def read(self, size: int) -> bytes:
        """Return about `size` bytes (a part's header more), or no bytes at the end."""
        while came := self._stream.read(size):
            if out := self._passed(self._held + came):
                return out
        rest, self._held = self._held, b""
        return self._at_end(rest) if rest else b""

    def _passed(self, data: bytes) -> bytes:
        """Return the part of the data that is complete, and hold the rest."""
        if self.has_end:
            self._held = b""
            return b""
        passed: list[bytes] = []
        at = 0
        while (mark := data.find(self._mark, at)) >= 0:
            behind = mark + len(self._mark)
            if data.startswith(b"--", behind):
                self.has_end, self._held = True, b""
                return b"".join((*passed, data[at : behind + 2], b"\r\n"))
            header_end = data.find(b"\r\n\r\n", behind)
            if header_end < 0 and len(data) - mark <= _LONGEST_HEADER:
                break
            header_end = header_end if header_end >= 0 else len(data)
            passed += data[at:mark], _in_utf_8(data[mark:header_end])
            at = header_end
        keep = mark if mark >= 0 else max(at, len(data) - len(self._mark) + 1)
        self._held = data[keep:]
        return b"".join((*passed, data[at:keep]))

    def _at_end(self, rest: bytes) -> bytes:
        self.has_end = self.has_end or rest.startswith(self._mark + b"--")
        return rest


def _in_utf_8(header: bytes) -> bytes:
    return header.decode("utf-8", "replace").encode()


View = TypeVar("View", bound=Callable[..., Any])


class PathParser(MultiPartParser):
    """Files have `sent_path` beside Django's `name`; the last part of both is the same. No file is left out because of its name."""

    _path = ""
    _files: Any
    _input_data: Any
    _boundary: bytes
    _content_length: int

    def parse(self) -> Any:
        self._input_data = body = SentBody(self._input_data, self._boundary)
        result = super().parse()
        if self._content_length and not body.has_end:
            raise MultiPartParserError("the body ends before its last boundary; send it again")
        return result

    def sanitize_file_name(self, file_name: str) -> str:
        name = str(super().sanitize_file_name(file_name) or "unnamed")
        folders = html.unescape(file_name).replace("\\", "/").split("/")[:-1]
        self._path = "/".join([*("".join(filter(str.isprintable, folder)) for folder in folders), name])
        return name

    def handle_file_complete(self, old_field_name: str, counters: list[int]) -> None:
        before = len(self._files.getlist(old_field_name))
        super().handle_file_complete(old_field_name, counters)
        for item in self._files.getlist(old_field_name)[before:]:
            item.sent_path = self._path


def keeps_paths(view: View) -> View:
    """Decorate a view so that uploaded files keep the folders of their names as `sent_path`."""

    @wraps(view)
    def wrapped(request: Any, *args: Any, **kwargs: Any) -> Any:
        def parse(meta: Any, body: Any) -> Any:
            return PathParser(meta, body, request.upload_handlers, request.encoding).parse()

        request.parse_file_upload = parse
        return view(request, *args, **kwargs)

    return wrapped  # type: ignore[return-value]


def sent_name(file: "UploadedFile[Any]") -> str:
    """Return a file's name with folders, to be cleaned by `services.clean_name`."""
    return str(getattr(file, "sent_path", "") or file.name or "unnamed")
