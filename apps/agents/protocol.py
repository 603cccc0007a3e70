"""The agent protocol's short requests (docs/reference/agent-protocol.md). The long poll is in `long_poll.py`."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.agents import delivery, enrolment, fields
from apps.agents.downloads import describe_release
from apps.agents.identity import (
    IDENTIFYING,
    Caller,
    IdentityDoubt,
    RefusedError,
    find_agent,
    find_doubt,
    identify,
    parse_secret,
)
from apps.agents.models import Agent
from apps.agents.services import note_inventory_refusal, refuse_runs_of_gone_targets, update_wanted_directories
from apps.agents.trust import twins_of
from apps.core.http import problem
from apps.core.strict_json import REPLACED, JsonInputError, read_json
from apps.inventory.discovery.receive import RefusedOutputsError, receive
from apps.inventory.history.authors import by
from apps.inventory.vocabulary import Author
from apps.labs.isolation import all_labs, lab_scope
from apps.runs.facts import freeze_for
from apps.runs.models import Attempt
from apps.runs.states import ENDED, State

AgentView = Callable[..., HttpResponse]
MIB = 1024 * 1024
NOT_AS_WRITTEN = "The request is not as docs/reference/agent-protocol.md has it:"
MAX_JSON = 4 * MIB  # the request that ends an attempt may bring its last chunks
MOST_WORDS = 1000
MAX_INVENTORY = 32 * MIB  # 12 MiB of outputs, which grow in JSON by escaped quotation marks and line ends


def _body(request: HttpRequest, most: int = MAX_JSON, *, nul: str = REPLACED) -> dict[str, Any]:
    """Return the JSON object in a request of at most `most` bytes; NUL characters in its texts become `nul`.

    It is read as a stream: `request.body` has Django's limit of 2.5 MiB, which is meant for forms.

    Raises:
        RefusedError: 400 for a body that is cut off or no JSON object, 413 for one that is too large.
    """
    try:
        raw = request.read(most + 1)
    except UnreadablePostError as error:
        raise RefusedError(400, f"The body did not arrive whole: {error}") from None
    if len(raw) > most:
        length = request.headers.get("content-length") or f"more than {most}"
        raise RefusedError(413, f"The body has {length} bytes, expected at most {most}.")
    try:
        found = read_json(raw, nul=nul)
    except JsonInputError as error:
        raise RefusedError(400, f"The body is not as docs/reference/agent-protocol.md has it. {error}") from None
    if not isinstance(found, dict):
        raise RefusedError(400, f"The body is {type(found).__name__}, expected an object.")
    return found


def agent_view(method: str) -> Callable[[AgentView], AgentView]:
    """Make a view of an approved agent's request: it gets the agent, in its lab's scope; refusals are problem details."""

    def decorate(view: AgentView) -> AgentView:
        @_protocol_view(method)
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            agent = identify(_read_caller(request))
            with lab_scope(agent.lab_id):
                return view(request, agent, *args, **kwargs)

        return wrapped

    return decorate


def attempt_view(method: str, *only: str) -> Callable[[AgentView], AgentView]:
    """Make a view of an approved agent's request about an attempt of its host; the view gets the attempt.

    One statement finds the attempt and its agent. `only`: the fields that the view reads, for views that are called
    often; other fields are fetched when they are read.
    """

    def decorate(view: AgentView) -> AgentView:
        @_protocol_view(method)
        @wraps(view)
        def wrapped(request: HttpRequest, pk: int, **kwargs: Any) -> HttpResponse:
            caller = _read_caller(request)
            attempt = _find_attempt(caller, pk, only)
            agent = identify(caller, attempt.host.agent if attempt else None)
            if attempt is None:
                raise Http404
            with lab_scope(agent.lab_id):
                return view(request, attempt, **kwargs)

        return wrapped

    return decorate


def _find_attempt(caller: Caller, pk: int, only: Sequence[str]) -> Attempt | None:
    """Return the attempt with its host's agent, if that agent has the number in the caller's secret; None otherwise.

    The rest of the secret is not checked here.
    """
    number, _ = parse_secret(caller.authorization)
    with all_labs(), suppress(Attempt.DoesNotExist):
        attempts = Attempt.objects.select_related("host__agent", "run" if only else "run__workload")
        if only:
            attempts = attempts.only(*only, *(f"host__agent__{name}" for name in IDENTIFYING))
        found: Attempt = attempts.get(pk=pk, host__agent=number)
        return found
    return None


def _protocol_view(method: str) -> Callable[[AgentView], AgentView]:
    def decorate(view: AgentView) -> AgentView:
        @csrf_exempt
        @require_http_methods([method])
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                return view(request, *args, **kwargs)
            except RefusedError as refused:
                return problem(refused.status, refused.detail, **refused.more)
            except fields.FieldError as error:
                return problem(400, f"{NOT_AS_WRITTEN} {error}.")

        return wrapped

    return decorate


def _read_caller(request: HttpRequest) -> Caller:
    return Caller.from_headers({name.lower(): value for name, value in request.headers.items()})


def _check_fence(attempt: Attempt, token: object) -> None:
    """Refuse a token other than the attempt's: the request belongs to an earlier offer."""
    if str(token) != str(attempt.token):
        raise RefusedError(409, f"Fencing token {fields.told(token)} is not the one of attempt {attempt.pk}.")


def _clock(body: dict[str, Any], told: str) -> datetime | None:
    """Return what the host's clock said when it sent this; None where `told`, a moment by that clock, is not in it.

    Older agents do not tell the clock either.
    """
    return None if body.get("clock") is None or body.get(told) is None else _moment("clock", body["clock"])


def _moment(name: str, value: object) -> datetime:
    """Parse a time of the host's clock, in seconds since 1970; return the present where none was sent.

    `to_server_time` makes one of the server's clock of it, which is the one that runs are ordered by.

    Raises:
        FieldError: The value is no such time.
    """
    if value is None:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(fields.number(name, value), UTC)
    except (OverflowError, OSError, ValueError):
        raise fields.wrong(name, value, "seconds since 1970") from None


@csrf_exempt
@require_http_methods(["POST"])
def enrol(request: HttpRequest) -> HttpResponse:
    """Enrol a host: make it and its agent from a one-use token, and answer 201 with the agent's number and state."""
    try:
        agent = enrolment.enrol(_body(request))
    except RefusedError as refused:
        return problem(refused.status, refused.detail)
    except fields.FieldError as error:
        return problem(400, f"{NOT_AS_WRITTEN} {error}.")
    told = {"agent": agent.pk, "name": agent.host.name, "lab": agent.lab.slug, "state": agent.state}
    return JsonResponse({**told, **_question(agent)}, status=201)


def _question(agent: Agent) -> dict[str, str]:
    """Return what the enrolling administrator is told of agents that have the same machine id; empty where none has."""
    with lab_scope(agent.lab_id):
        twins = twins_of([agent]).get(agent.pk, [])
    if not twins:
        return {}
    names = ", ".join(str(twin.agent.host) for twin in twins)
    return {
        "question": f"This machine id is enrolled already, as {names}; an owner says whether it is the same machine."
    }


@attempt_view("POST")
def accept(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    """Take note that the host accepts an offered attempt; 410 if it can no longer be accepted."""
    _check_fence(attempt, _body(request).get("token"))
    if not attempt.accept():
        raise RefusedError(410, f"Attempt {attempt.pk} is {attempt.state}, it can no longer be accepted.")
    return JsonResponse({"state": State.ACCEPTED})


@attempt_view("POST")
def refuse(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    """Fail an attempt that the host refuses, with the host's reason."""
    body = _body(request)
    _check_fence(attempt, body.get("token"))
    reason = f"The host refused it: {fields.text('reason', body.get('reason'), 2000, is_cut=True)}"
    if not attempt.move(State.FAILED, reason=reason) and attempt.state not in ENDED:
        raise RefusedError(409, f"Attempt {attempt.pk} is {attempt.state}.")
    delivery.announce(attempt)
    return JsonResponse({"state": State.FAILED})


@attempt_view("POST")
def running(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    """Take note that fio runs: when it began, its command line, and the snapshot of what the run is measured on."""
    body = _body(request)
    _check_fence(attempt, body.get("token"))
    words = fields.rows("argv", body.get("argv"), MOST_WORDS)
    argv = [fields.text("argv", word, 500, is_cut=True) for word in words][:60]
    boot_id, started_at = fields.text("boot_id", body.get("boot_id"), 64), _moment("started_at", body.get("started_at"))
    place = fields.place_of("place", body.get("place"))
    settings = fields.settings_of((body.get("place") or {}).get("settings"))
    limit = attempt.run.limit_seconds
    if attempt.state in ENDED:
        attempt.resume()  # its host is back; a person had given it up meanwhile
    if not attempt.run_started(started_at, boot_id, argv, limit, _clock(body, "started_at")):
        raise RefusedError(410, f"Attempt {attempt.pk} has ended for the server.")
    freeze_for(attempt.run, place, settings)
    delivery.announce(attempt)
    return JsonResponse({"state": State.RUNNING})


@attempt_view("POST")
def guards(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    """Store what the run's guards found on its host; repeated whenever it has changed, and harmless after the end."""
    body = _body(request)
    _check_fence(attempt, body.get("token"))
    evidence = fields.evidence_of(body.get("evidence"))
    if attempt.state in ENDED and attempt.manifest is None:
        reported = State.RUNNING if attempt.started_at else State.ACCEPTED
        if not attempt.resume(reported):  # it was given up, and its host is back: one that has not begun is cancelled
            raise RefusedError(410, f"Attempt {attempt.pk} has ended for the server.")
    return JsonResponse({"stored": delivery.store_evidence(attempt, evidence)})


@attempt_view("PUT", *delivery.FIELDS)
def chunk(request: HttpRequest, attempt: Attempt, stream: str, sequence: int) -> HttpResponse:
    """Store a chunk of an attempt's output; the answer says whether it was new."""
    _check_fence(attempt, request.headers.get("x-spindle-token"))
    stored = delivery.store_chunk(attempt, stream, sequence, request.headers.get("x-spindle-sha256", ""), request)
    return JsonResponse({"stored": stored})


@attempt_view("POST")
def finish(request: HttpRequest, attempt: Attempt) -> HttpResponse:
    """End the attempt; the answer says whether the delivery is complete, or which chunks are missing."""
    body = _body(request)
    _check_fence(attempt, body.get("token"))
    ended_at = _moment("ended_at", body.get("ended_at"))
    missing = delivery.finish(attempt, delivery.Ending.from_json(body), ended_at, _clock(body, "ended_at"))
    return JsonResponse({"complete": False, "missing": missing} if missing else {"complete": True})


@_protocol_view("GET")
def own(request: HttpRequest) -> HttpResponse:
    """Tell whoever has an agent's secret how this server sees it, and which program it hands out. Nothing is changed."""
    caller = _read_caller(request)
    agent = find_agent(caller)
    if agent is None:
        raise RefusedError(401, "No agent has this secret, or it was revoked.")
    doubt = find_doubt(agent, caller)
    with lab_scope(agent.lab_id):
        seen = {"agent": agent.pk, "name": agent.host.name, "lab": agent.lab.slug, "state": agent.state}
    strange = doubt.value if doubt in (IdentityDoubt.MACHINE, IdentityDoubt.HARDWARE) else ""
    clock = datetime.now(UTC).timestamp()
    return JsonResponse({**seen, "doubt": strange, "clock": clock, "release": describe_release()})


@agent_view("POST")
def inventory(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Take in the outputs of the host's inventory commands; a refusal is noted on the host's page."""
    try:
        body = _body(request, MAX_INVENTORY, nul="\0")
        with by(Author.AGENT, agent.host.name, id=agent.host_id):
            stored = receive(agent.host, body.get("outputs", []))
    except (RefusedOutputsError, RefusedError) as error:
        status = error.status if isinstance(error, RefusedError) else 400
        note_inventory_refusal(agent, f"{status} {error}")
        raise RefusedError(status, str(error)) from None
    note_inventory_refusal(agent, getattr(agent.host, "reading_problem", ""))
    refuse_runs_of_gone_targets(agent.host)
    update_wanted_directories(agent)
    return JsonResponse({"stored": len(stored)}, status=202)


@csrf_exempt
def not_there(request: HttpRequest, rest: str) -> HttpResponse:
    """Answer 404 for an address below /agent/ that no request has."""
    return problem(404, f"No request of agents has this address: {request.path[:200]} (all of them end with a slash).")
