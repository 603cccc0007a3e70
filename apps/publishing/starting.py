"""The usual start of a run, in raw ASGI: a script's token, a whole request, a target that takes runs. A person waits for what follows, so
it is done before Django's middleware and REST framework would have looked at the request, and in one statement: who asked for which
target a moment ago is remembered, and the statement that queues the runs does so only if all that is still so.

What is not usual (a session, another form of answer, anything wrong) changes nothing here and goes on to the view, which knows the reason.
Every rule is the view's own: the token's look-up and scope, the rate, the target, the workload, the insert, and the fields of the answer.
"""

import asyncio
import io
from typing import Any

import orjson
from csp.middleware import CSPMiddleware
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.cache import patch_vary_headers

from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Token, digest
from apps.lib.asgi import Receive, Scope, Send, headers, in_thread, read_body, replayed, send_response
from apps.lib.sql import ALWAYS, Given, wait_for_disk
from apps.publishing.authentication import find_token, name_of, note_use, secret_of, still_living
from apps.publishing.renderers import to_json
from apps.publishing.shown import started_runs
from apps.publishing.throttling import TokenThrottle
from apps.publishing.views.runs import runs as view_of_runs
from apps.runs.models import Run
from apps.runs.start import StaleError, checked, find_target, of_jobs, queue_runs
from apps.runs.waiting import accepts
from apps.runs.workload import WorkloadError

LARGEST = 64 * 1024
ACCEPTED_WITHIN_S = 0.01
REMEMBERED = 1000
remembered: dict[tuple[str, int], tuple[Token, Target]] = {}  # by SHA-256 of the secret and the target's id
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
    request = ASGIRequest(scope, io.BytesIO(raw))
    started = await in_thread(_started, request)
    if started is None:
        await view(scope, replayed(raw, receive), send)
        return
    await _on_disk(started[1][0].pk)
    await send_response(send, await in_thread(_told, request, *started))


async def _on_disk(run: int) -> None:
    """A host's accept that comes at once waits for this start too; else the start waits by itself."""
    accepted = accepts.get(run)
    if accepted is None:
        return
    try:
        await asyncio.wait_for(accepted.wait(), ACCEPTED_WITHIN_S)
    except TimeoutError:
        await in_thread(wait_for_disk)
    finally:
        del accepts[run]


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


# The middleware that looks at the host and gives every answer its headers.
MIDDLEWARE: list[Any] = [
    kind(lambda _: HttpResponse())
    for kind in (SecurityMiddleware, CSPMiddleware, CommonMiddleware, XFrameOptionsMiddleware)
]


def _started(request: ASGIRequest) -> tuple[Token, list[Run]] | None:
    """Only what the host waits for."""
    try:
        for one in MIDDLEWARE:
            if hasattr(one, "process_request") and one.process_request(request) is not None:
                return None
        return _start(secret_of(request) or "", request.body)
    except (UnusualError, WorkloadError, SuspiciousOperation):
        return None


def _told(request: ASGIRequest, token: Token, started: list[Run]) -> HttpResponse:
    with lab_scope(token.lab_id):
        note_use(token)
        shown = started_runs(request, started)
    more = {"Location": shown["url"], "Allow": ALLOW}
    response = HttpResponse(to_json(shown), status=201, content_type="application/json", headers=more)
    patch_vary_headers(response, ("Cookie",))
    for one in reversed(MIDDLEWARE):
        response = one.process_response(request, response)
    return response


def _start(secret: str, raw: bytes) -> tuple[Token, list[Run]]:
    try:
        asked = orjson.loads(raw)
        target, spec, repetitions = asked["target"], asked["workload"], asked.get("repetitions", 1)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnusualError from None
    if (type(target), type(spec), type(repetitions)) != (int, dict, int):
        raise UnusualError
    who = digest(secret), target
    if known := remembered.get(who):
        try:
            return known[0], _queue(*known, spec, repetitions, _still_so(*known))
        except StaleError:
            remembered.pop(who, None)
    known = _found(secret, target)
    runs = _queue(*known, spec, repetitions)
    if len(remembered) >= REMEMBERED:
        remembered.clear()
    remembered[who] = known
    return known[0], runs


def _queue(token: Token, target: Target, spec: Any, repetitions: int, given: Given = ALWAYS) -> list[Run]:
    complete = checked(token.lab, target, of_jobs(spec), repetitions)
    if not TokenThrottle().allows(token):  # last: what goes on is counted by the view
        raise UnusualError
    return queue_runs(
        token.lab, target, complete, repetitions, who=name_of(token), given=given, accepts_are_awaited=True
    )


def _found(secret: str, pk: int) -> tuple[Token, Target]:
    token = find_token(secret) if secret else None
    if token is None or not token.allows(VIEW.needed_scope):
        raise UnusualError
    target = find_target(token.lab, pk)
    if target is None:
        raise UnusualError
    return token, target


def _still_so(token: Token, target: Target) -> Given:
    """All that `_found` has found."""
    living = still_living(token)
    names = {"target_name": target.name, "host_name": target.host.name}
    return Given(
        f"{living.sql} AND target.name = %(target_name)s AND host.name = %(host_name)s", {**living.values, **names}
    )
