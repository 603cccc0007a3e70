"""The header `Idempotency-Key`: a POST that a script sends again is done once, and answered as the first was."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http.request import RawPostDataException
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.problems import ProblemError
from apps.api.renderers import JSON
from apps.labs.models import Lab, Token
from apps.labs.services import KeyReusedError, StoredAnswer, answer_once

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST_KEY = 255
REPEATED_HEADERS = ("Location",)
PARAMETER = OpenApiParameter(
    HEADER, str, OpenApiParameter.HEADER,
    description="1 to 255 characters that a script makes up for what it asks for. Sent again by the same token within 24 h, "
    f"the same request is not done again: the first answer comes once more, with `{REPLAYED}: true`. Another request "
    "with the same key is a 422. An answer of 4xx or 5xx is not kept: nothing was done, and the request may be sent again.",
)  # fmt: skip


def answer_by_key(lab: Lab, request: Request, handle: Callable[[], Any]) -> Any:
    """Return what `handle` answers, or what it answered the first time that the request was sent with its key.

    Raises:
        ProblemError: The key is no key (400), was sent with another request (422), or the body is too large for one (413).
    """
    key = request.headers[HEADER]
    if not 1 <= len(key) <= LONGEST_KEY or not key.isprintable():
        length, expected = f"{len(key)} characters", f"1 to {LONGEST_KEY} printable characters"
        raise ProblemError(
            400, f"{HEADER}: found {length}, expected {expected}", field=HEADER, found=length, expected=expected
        )
    not_stored: list[Any] = []  # the response that is no answer to be given again

    def make() -> StoredAnswer | None:
        response = handle()
        if not isinstance(response, Response) or not 200 <= response.status_code < 300:
            not_stored.append(response)
            return None
        headers = {name: response.headers[name] for name in REPEATED_HEADERS if name in response.headers}
        return StoredAnswer(response.status_code, JSON().render(response.data).decode(), headers)

    try:
        answer, is_new = answer_once(lab, _caller_of(request), key, _digest_of(request), make)
    except KeyReusedError as error:
        raise ProblemError(
            422, str(error), field=HEADER, expected="the request that the key was first sent with"
        ) from None
    if answer is None:
        return not_stored[0]
    headers = answer.headers if is_new else {**answer.headers, REPLAYED: "true"}
    return Response(json.loads(answer.body) if answer.body else None, status=answer.status, headers=headers)


def _caller_of(request: Request) -> str:
    if isinstance(request.auth, Token):
        return f"token {request.auth.pk}"
    return f"user {request.user.pk}"


def _digest_of(request: Request) -> str:
    """Return the SHA-256 of what is asked for: the address and the bytes of the body."""
    plain = request._request
    try:
        body = plain.body
    except RawPostDataException:  # a browser's form, of which the check of its session has read the fields
        expected = "a body of JSON, or none"
        raise ProblemError(
            400, f"{HEADER}: found a form, expected {expected}", field=HEADER, found="a form", expected=expected
        ) from None
    except RequestDataTooBig:
        raise ProblemError(
            413, f"Found a body that is too large to be kept by its {HEADER}; send it without."
        ) from None
    head = f"{plain.method} {plain.get_full_path()}\n{plain.content_type}\n"
    return hashlib.sha256(head.encode() + body).hexdigest()
