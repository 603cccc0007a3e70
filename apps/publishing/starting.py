"""The usual start of a run, in raw ASGI: a script's token, a whole request, a target that takes runs. A person waits for what follows, so
it is done before Django's middleware and REST framework would have looked at the request, in the event loop and in one statement: who asked for which
target a moment ago is remembered, and the statement that queues the runs does so only if all that is still so.

What is not usual (a session, another form of answer, anything wrong) changes nothing here and goes on to the view, which knows the reason.
Every rule is the view's own: the token's look-up and scope, the rate, the target, the workload, the insert, and the fields of the answer.
"""

import asyncio
import io
from typing import Any

import orjson
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse

from apps.inventory.models import Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Token, digest
from apps.lib.asgi import Receive, Scope, Send, headers, in_thread, read_body, replayed, send_response
from apps.lib.sql import ALWAYS, Given, wait_for_disk
from apps.publishing.authentication import find_token, name_of, note_use, secret_in, still_living
from apps.publishing.past_django import UnusualError, answer, is_let_through
from apps.publishing.shown import started_runs
from apps.publishing.throttling import TokenThrottle
from apps.publishing.views.runs import START_FIELDS
from apps.publishing.views.runs import runs as view_of_runs
from apps.runs.queueing import StaleError, Wish
from apps.runs.start import checked, find_target, of_jobs, start_here
from apps.runs.waiting import QUIET_S, accepts
from apps.runs.workload import WorkloadError

LARGEST = 64 * 1024
ACCEPTED_WITHIN_S = 0.01 + QUIET_S
REMEMBERED = 1000
LARGEST_HEAD = 2048
# What differs between two requests of one script; the rest of the head says whether a request is usual, and is looked at once.
ALONE = frozenset((b"authorization", b"content-length"))
Kind = tuple[Any, ...]
usual: set[Kind] = set()
remembered: dict[tuple[str, int], tuple[Token, Target]] = {}  # by SHA-256 of the secret and the target's id
VIEW: Any = getattr(view_of_runs, "cls")  # noqa: B009  (REST framework's class of the view)
ALLOW = ", ".join(VIEW().allowed_methods)


async def start(scope: Scope, receive: Receive, send: Send, view: Any) -> None:
    """`view` is the ASGI application that answers when this one does not."""
    secret = _secret(scope)
    if secret is None:
        await view(scope, receive, send)
        return
    raw = await read_body(receive)
    try:
        token, wish = await _start(secret, *_asked(raw))
    except (UnusualError, WorkloadError):
        await view(scope, replayed(raw, receive), send)
        return
    await _on_disk(wish.first)
    await send_response(send, await in_thread(_told, scope, raw, token, wish))


async def _on_disk(run: int) -> None:
    """By a host's accept that comes at once, which waits for this start too; else the start waits by itself."""
    try:
        async with asyncio.timeout(ACCEPTED_WITHIN_S):
            await accepts[run].wait()
    except (KeyError, TimeoutError):
        await in_thread(wait_for_disk)
    finally:
        accepts.pop(run, None)


def _secret(scope: Scope) -> str | None:
    """The token's secret in a usual request; None in all others."""
    alone = {name: value for name, value in scope["headers"] if name in ALONE}
    others = [pair for pair in scope["headers"] if pair[0] not in ALONE]
    length = alone.get(b"content-length", b"")
    if len(alone) + len(others) < len(scope["headers"]) or not length.isdigit() or int(length) > LARGEST:
        return None
    kind: Kind = (scope["query_string"], scope["scheme"], scope["server"], *others)
    if kind not in usual:
        if not _is_usual(scope):
            return None
        if len(usual) >= REMEMBERED:
            usual.clear()
        usual.add(kind)
    return secret_in(alone.get(b"authorization", b"").decode("latin-1")) or None


def _is_usual(scope: Scope) -> bool:
    given = headers(scope)
    if (
        scope["query_string"]
        or sum(map(len, given.values())) > LARGEST_HEAD
        or given.get("content-type", "").partition(";")[0].strip().lower() != "application/json"
        or given.get("accept", "*/*") not in ("*/*", "application/json")
    ):
        return False
    try:
        return is_let_through(ASGIRequest(scope, io.BytesIO()))
    except SuspiciousOperation:
        return False


def _asked(raw: bytes) -> tuple[int, dict[str, Any], int]:
    """Target, workload and repetitions."""
    try:
        asked = orjson.loads(raw)
        found = asked["target"], asked["workload"], asked.get("repetitions", 1)
        is_known = asked.keys() <= START_FIELDS
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnusualError from None
    if not is_known or tuple(map(type, found)) != (int, dict, int):
        raise UnusualError
    return found


def _told(scope: Scope, raw: bytes, token: Token, wish: Wish) -> HttpResponse:
    request = ASGIRequest(scope, io.BytesIO(raw))
    is_let_through(request)  # which leaves there what the answer's headers need
    with lab_scope(token.lab_id):
        note_use(token)
        shown = started_runs(request, wish.runs())
    return answer(request, shown, status=201, allow=ALLOW)


async def _start(secret: str, target: int, spec: dict[str, Any], repetitions: int) -> tuple[Token, Wish]:
    who = digest(secret), target
    if known := remembered.get(who):
        try:
            return known[0], await _queued(*known, spec, repetitions, _still_so(*known))
        except StaleError:
            remembered.pop(who, None)
    known = await in_thread(_found, secret, target)
    wish = await _queued(*known, spec, repetitions)
    if len(remembered) >= REMEMBERED:
        remembered.clear()
    remembered[who] = known
    return known[0], wish


async def _queued(token: Token, target: Target, spec: dict[str, Any], repetitions: int, given: Given = ALWAYS) -> Wish:
    complete = checked(token.lab, target, of_jobs(spec), repetitions)
    throttle = TokenThrottle()  # last: what goes on is counted by the view
    if not (throttle.allows_at_once(token) or await in_thread(throttle.allows, token)):
        raise UnusualError
    wish = Wish(token.lab, target, complete, repetitions, name_of(token), given)
    await start_here(wish)
    return wish


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
