"""Multipart bodies with files, whose names keep their folders."""

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http.multipartparser import MultiPartParserError
from rest_framework.exceptions import ParseError
from rest_framework.parsers import DataAndFiles, MultiPartParser

from apps.uploads.sent_paths import PathParser


class FilesParser(MultiPartParser):
    """As REST framework's own, but for the names: `sent_paths.sent_name`."""

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
