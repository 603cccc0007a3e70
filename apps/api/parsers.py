"""Parsers of request bodies: JSON within limits, and forms with files."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http.multipartparser import MultiPartParserError
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

from apps.core.strict_json import JsonInputError, read_json
from apps.uploads.multipart import PathParser

MOST_BYTES = 4 << 20


class TooLargeError(APIException):
    status_code = 413
    default_detail = f"Found a JSON body of more than {MOST_BYTES:,} bytes, expected less."


class RefusedFieldError(ParseError):
    """A body with a field that cannot be taken. `more`: the members that the problem document has besides."""

    def __init__(self, field: str, found: str, expected: str) -> None:
        said = f"found {found}, expected {expected}"
        super().__init__(f"{field}: {said}")
        self.more = {"field": field, "found": found, "expected": expected, "errors": [{"field": field, "detail": said}]}


class StrictJSONParser(BaseParser):
    """Reads JSON within limits of size and depth, and refuses what no column can store (see `read_json`)."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        raw = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise TooLargeError
        try:
            return read_json(raw)
        except JsonInputError as error:
            if error.field:
                raise RefusedFieldError(error.field, error.found, error.expected) from None
            raise ParseError(f"body: {error}") from None


class FilesParser(MultiPartParser):
    """REST framework's parser of forms, with the names of files read by `sent_paths.sent_name`."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        context = parser_context or {}
        request = context["request"]
        meta = {**request.META, "CONTENT_TYPE": media_type}
        encoding = context.get("encoding", settings.DEFAULT_CHARSET)
        try:
            return DataAndFiles(*PathParser(meta, stream, request.upload_handlers, encoding).parse())
        except MultiPartParserError as error:
            raise ParseError(f"Multipart form parse error - {error}") from error
        except TooManyFilesSent as error:
            most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
            message = (
                f"file: found more than {most} files in one request, expected at most {most}; send them as an archive"
            )
            raise ParseError(message) from error
        except (RequestDataTooBig, TooManyFieldsSent) as error:
            message = "found words without end beside the files, expected study, host, target, labels, keep and a path for each file"
            raise ParseError(message) from error
