"""The agent protocol's short requests (docs/agent-protocol.md). The long poll is in `live.py`."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.agents import delivery, enrolment
from apps.agents.identity import Caller, RefusedError, identify
from apps.agents.models import Agent
from apps.inventory.discovery.receive import RefusedOutputsError, receive
from apps.inventory.editing.authors import by
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.lib.problems import problem
from apps.runs.attempts import Attempt
from apps.runs.evidence import freeze_for
from apps.runs.states import ENDED, State

AgentView = Callable[..., HttpResponse]
MAX_JSON = 16 * 1024 * 1024


def _body(request: HttpRequest) -> dict[str, Any]:
    if int(request.headers.get("content-length") or 0) > MAX_JSON:
        raise RefusedError(413, f"The body may have {MAX_JSON} bytes.")
    try:
        found = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise RefusedError(400, f"The body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RefusedError(400, f"The body is {type(found).__name__}, expected an object.")
    return found


def agent_view(method: str) -> Callable[[AgentView], AgentView]:
    """A request of an approved agent: identified, in its lab's scope, refusals as problem details."""

    def decorate(view: AgentView) -> AgentView:
        @csrf_exempt
        @require_http_methods([method])
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                agent = identify(Caller.from_headers({key.lower(): value for key, value in request.headers.items()}))
                with lab_scope(agent.lab_id):
                    return view(request, agent, *args, **kwargs)
            except RefusedError as refused:
                return problem(refused.status, refused.detail, state=refused.state)

        return wrapped

    return decorate


def _attempt(agent: Agent, pk: int, token: object) -> Attempt:
    """The host's own attempt, fenced: another token than the attempt's is from another time."""
    attempt: Attempt = get_object_or_404(Attempt.objects.select_related("run"), pk=pk, host_id=agent.host_id)
    if str(token) != str(attempt.token):
        raise RefusedError(409, f"Fencing token {token!r} is not the one of attempt {pk}.")
    return attempt


def _moment(value: object) -> datetime:
    """The host's clock, for people; nothing is decided by it."""
    try:
        return datetime.fromtimestamp(float(value), UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return datetime.now(UTC)


@csrf_exempt
@require_http_methods(["POST"])
def enrol(request: HttpRequest) -> HttpResponse:
    try:
        agent = enrolment.enrol(_body(request))
    except RefusedError as refused:
        return problem(refused.status, refused.detail)
    return JsonResponse(
        {"agent": agent.pk, "name": agent.host.name, "lab": agent.lab.slug, "state": agent.state}, status=201
    )


@agent_view("POST")
def accept(request: HttpRequest, agent: Agent, pk: int) -> HttpResponse:
    attempt = _attempt(agent, pk, _body(request).get("token"))
    if not attempt.accept():
        raise RefusedError(410, f"Attempt {pk} is {attempt.state}, it can no longer be accepted.")
    return JsonResponse({"state": State.ACCEPTED})


@agent_view("POST")
def refuse(request: HttpRequest, agent: Agent, pk: int) -> HttpResponse:
    body = _body(request)
    attempt = _attempt(agent, pk, body.get("token"))
    reason = f"The host's policy refused it: {str(body.get('reason', ''))[:2000]}"
    if not attempt.move(State.FAILED, reason=reason) and attempt.state not in ENDED:
        raise RefusedError(409, f"Attempt {pk} is {attempt.state}.")
    delivery.announce(attempt)
    return JsonResponse({"state": State.FAILED})


@agent_view("POST")
def running(request: HttpRequest, agent: Agent, pk: int) -> HttpResponse:
    body = _body(request)
    attempt = _attempt(agent, pk, body.get("token"))
    argv = [str(word)[:500] for word in (body.get("argv") or [])[:60]]
    if not attempt.run_started(_moment(body.get("started_at")), str(body.get("boot_id", ""))[:64], argv):
        raise RefusedError(410, f"Attempt {pk} has ended for the server.")
    freeze_for(attempt.run)
    delivery.announce(attempt)
    return JsonResponse({"state": State.RUNNING})


@agent_view("PUT")
def chunk(request: HttpRequest, agent: Agent, pk: int, stream: str, sequence: int) -> HttpResponse:
    attempt = _attempt(agent, pk, request.headers.get("x-spindle-token"))
    stored = delivery.store_chunk(attempt, stream, sequence, request.headers.get("x-spindle-sha256", ""), request)
    return JsonResponse({"stored": stored})


@agent_view("POST")
def finish(request: HttpRequest, agent: Agent, pk: int) -> HttpResponse:
    body = _body(request)
    attempt = _attempt(agent, pk, body.get("token"))
    missing = delivery.finish(attempt, delivery.Ending.from_json(body), _moment(body.get("ended_at")))
    return JsonResponse({"complete": False, "missing": missing} if missing else {"complete": True})


@agent_view("POST")
def inventory(request: HttpRequest, agent: Agent) -> HttpResponse:
    try:
        with by(Author.AGENT, agent.host.name, id=agent.host_id):
            stored = receive(agent.host, _body(request).get("outputs", []))
    except RefusedOutputsError as error:
        raise RefusedError(400, str(error)) from None
    return JsonResponse({"stored": len(stored)}, status=202)
