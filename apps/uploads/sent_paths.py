"""A sent file's name with its folders, as browsers send a folder's files and scripts may name theirs: `host3/iozone.txt`.

Django keeps the last part of a name alone, which is right where it may become a path on the disk. Here a name is shown, sorted and
guessed by, and never opened; and without its folders ten files of ten hosts are all called `iozone.txt`.

    @keeps_paths                                  # before anything reads the body
    def view(request): … sent_name(request.FILES["file"])
"""

import html
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.core.files.uploadedfile import UploadedFile
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from apps.uploads.sent_body import SentBody

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
        found = super().parse()
        if self._content_length and not body.has_end:
            raise MultiPartParserError("the body ends before its last boundary; send it again")
        return found

    def sanitize_file_name(self, file_name: str) -> str:
        name = str(super().sanitize_file_name(file_name) or "unnamed")
        folders = html.unescape(file_name).replace("\\", "/").split("/")[:-1]
        self._path = "/".join([*("".join(filter(str.isprintable, one)) for one in folders), name])
        return name

    def handle_file_complete(self, old_field_name: str, counters: list[int]) -> None:
        before = len(self._files.getlist(old_field_name))
        super().handle_file_complete(old_field_name, counters)
        for one in self._files.getlist(old_field_name)[before:]:
            one.sent_path = self._path


def keeps_paths(view: View) -> View:
    """For a view whose body is read by Django."""

    @wraps(view)
    def wrapped(request: Any, *args: Any, **kwargs: Any) -> Any:
        def parse(meta: Any, body: Any) -> Any:
            return PathParser(meta, body, request.upload_handlers, request.encoding).parse()

        request.parse_file_upload = parse
        return view(request, *args, **kwargs)

    return wrapped  # type: ignore[return-value]


def sent_name(file: "UploadedFile[Any]") -> str:
    """To be cleaned (`receiving.clean_name`) as every name is."""
    return str(getattr(file, "sent_path", "") or file.name or "unnamed")
