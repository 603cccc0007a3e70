"""The usual start of a run, in raw ASGI: a script's token, a whole request, a target that takes runs. A person waits for what follows, so
it is done in four short statements, before Django's middleware and REST framework would have looked at the request.

What is not usual (a session, another form of answer, anything wrong) changes nothing here and goes on to the view, which knows the reason.
Every rule is the view's own: the token's look-up and scope, the rate, the target, the workload, the insert, and the fields of the answer.
"""

import io
from typing import Any

import orjson
from csp.middleware import CSPMiddleware
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.cache import patch_vary_headers

from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from apps.lib.asgi import Receive, Scope, Send, headers, in_thread, read_body, replayed, send_response
from apps.publishing.authentication import find_token, name_of, note_use, secret_of
from apps.publishing.renderers import to_json
from apps.publishing.shown import started_runs
from apps.publishing.throttling import TokenThrottle
from apps.publishing.views.runs import runs as view_of_runs
from apps.runs.models import Run
from apps.runs.start import checked, find_target, of_jobs, start_runs
from apps.runs.workload import WorkloadError

LARGEST = 64 * 1024
VIEW: Any = getattr(view_of_runs, "cls")  # noqa: B009  (REST framework's class of the view)
ALLOW = ", ".join(VIEW().allowed_methods)


class UnusualError(Exception):
    """Nothing was done; the view will do it, or say why not."""


async def start(scope: Scope, receive: Receive, send: Send, view: Any) -> None:
    """`view` is the ASGI application that answers when this one does not."""
    if not _is_usual(scope):
        await view(scope, receive, send)
        return
    raw = await read_body(receive)
    answer = await in_thread(_answer, ASGIRequest(scope, io.BytesIO(raw)))
    if answer is None:
        await view(scope, replayed(raw, receive), send)
    else:
        await send_response(send, answer)


def _is_usual(scope: Scope) -> bool:
    given = headers(scope)
    length = given.get("content-length", "")
    return (
        not scope["query_string"]
        and length.isdecimal()
        and int(length) <= LARGEST
        and given.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
        and given.get("accept", "*/*") in ("*/*", "application/json")
    )


def _answer(request: ASGIRequest) -> HttpResponse | None:
    try:
        answer: HttpResponse = dressed(request)
        return answer
    except (UnusualError, WorkloadError, SuspiciousOperation):
        return None


def _started(request: HttpRequest) -> HttpResponse:
    token = _token(request)
    with lab_scope(token.lab_id):
        started = _start(token, request.body)
        note_use(token)
        shown = started_runs(request, started)
    more = {"Location": shown["url"], "Allow": ALLOW}
    response = HttpResponse(to_json(shown), status=201, content_type="application/json", headers=more)
    patch_vary_headers(response, ("Cookie",))
    return response


# The middleware that looks at the host and gives every answer its headers.
dressed: Any = SecurityMiddleware(CSPMiddleware(CommonMiddleware(XFrameOptionsMiddleware(_started))))


def _token(request: HttpRequest) -> Token:
    secret = secret_of(request)
    token = find_token(secret) if secret else None
    if token is None or not token.allows(VIEW.needed_scope):
        raise UnusualError
    return token


def _start(token: Token, raw: bytes) -> list[Run]:
    try:
        asked = orjson.loads(raw)
        target, spec, repetitions = asked["target"], asked["workload"], asked.get("repetitions", 1)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnusualError from None
    if (type(target), type(spec), type(repetitions)) != (int, dict, int):
        raise UnusualError
    found = find_target(token.lab, target)
    if found is None:
        raise UnusualError
    complete = checked(token.lab, found, of_jobs(spec), repetitions)
    if not TokenThrottle().allows(token):  # last: what goes on is counted by the view
        raise UnusualError
    return start_runs(lab=token.lab, target=found, spec=complete, repetitions=repetitions, who=name_of(token))
