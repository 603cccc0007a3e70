"""Enrolment: a one-use token makes a host and its agent; repeating it after a lost answer gives the same agent.

It takes nothing away from an agent that is there already. Where the machine has one, the new agent waits on a host
entry of its own until an owner decides what it is (`apps.agents.trust`).
"""

import re

from django.db import transaction
from django.utils import timezone

from apps.agents import fields
from apps.agents.identity import RefusedError
from apps.agents.models import Agent, Enrolment
from apps.agents.trust import is_other, read_hardware
from apps.core.text import make_printable
from apps.inventory.history.authors import by
from apps.inventory.models import Host
from apps.inventory.vocabulary import Author
from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent, Lab, digest

SHA256 = re.compile(r"[0-9a-f]{64}")
TEXTS = {"token": 200, "hostname": 255, "agent_version": 40}  # the most characters of each


def enrol(body: dict[str, object]) -> Agent:
    """Make the host and its agent from an enrolment request; return the same agent when the request is repeated.

    Raises:
        FieldError: A text is not one or is too long.
        RefusedError: 400 for malformed hashes; 401 for a token that is unknown, too old or used.
    """
    secret_sha256 = str(body.get("secret_sha256", ""))
    if not SHA256.fullmatch(secret_sha256) or not SHA256.fullmatch(str(body.get("machine", ""))):
        raise RefusedError(400, "secret_sha256 and machine are expected as 64 hexadecimal digits.")
    for name, most in TEXTS.items():
        fields.text(name, body.get(name), most)
    with all_labs(), transaction.atomic():
        enrolment = (
            Enrolment.objects.select_for_update(of=("self",))
            .select_related("lab", "agent__host")
            .filter(token_sha256=digest(str(body.get("token", ""))), expires_at__gt=timezone.now())
            .first()
        )
        if enrolment is None:
            raise RefusedError(401, "This enrolment token is not known or is older than 15 minutes; ask for a new one.")
        if enrolment.used_at:
            return _again(enrolment.agent, secret_sha256)
        Lab.objects.select_for_update().get(pk=enrolment.lab_id)  # two enrolments of one machine must see each other
        return _make(enrolment, body, secret_sha256)


def _again(agent: Agent | None, secret_sha256: str) -> Agent:
    if agent is None or agent.secret_sha256 != secret_sha256:
        raise RefusedError(401, "This enrolment token was used already.")
    return agent


def _make(enrolment: Enrolment, body: dict[str, object], secret_sha256: str) -> Agent:
    machine, hostname = str(body["machine"]), _printable(str(body.get("hostname") or ""))[:190] or "host"
    hardware = read_hardware(body.get("hardware"))
    same_machine = list(Agent.objects.filter(lab=enrolment.lab, machine=machine).select_related("host"))
    twins = [agent for agent in same_machine if not _may_go(agent, enrolment, hardware)]
    if twins:
        host = _new_host(enrolment.lab, hostname)
    elif same_machine:
        host = _freed(same_machine)
    else:
        host = _host(enrolment.lab, hostname)
    trusted = enrolment.is_trusted and not twins
    agent: Agent = Agent.objects.create(
        lab=enrolment.lab,
        host=host,
        secret_sha256=secret_sha256,
        machine=machine,
        hardware=hardware,
        version=body.get("agent_version") or "",
        state=Agent.State.APPROVED if trusted else Agent.State.PENDING,
        approved_at=timezone.now() if trusted else None,
    )
    Enrolment.objects.filter(pk=enrolment.pk).update(used_at=timezone.now(), agent=agent)
    AuditEvent.objects.record(
        agent.lab_id,
        "agent enrolled",
        str(agent.host),
        actor=enrolment.created_by,
        **({"same_machine_as": [str(twin.host) for twin in twins]} if twins else {}),
    )
    return agent


def _printable(hostname: str) -> str:
    """Return a host's name on one line, without control characters; it is a name on pages, in exports and in e-mails."""
    return make_printable(hostname).strip()


def _may_go(agent: Agent, enrolment: Enrolment, hardware: str) -> bool:
    """Return whether a former agent of this machine may be removed for the one that enrols.

    It may when an owner has revoked it, or when `bin/up` made it on this very machine and now makes it anew.
    """
    own = enrolment.is_trusted and Enrolment.objects.filter(agent=agent, is_trusted=True).exists()
    return agent.state == Agent.State.REVOKED or (own and not is_other(agent.hardware, hardware))


def _freed(agents: list[Agent]) -> Host:
    """Delete the revoked or outdated agents of a machine and return their host, which keeps its history."""
    host: Host = agents[0].host
    for agent in agents:
        agent.delete()
    return host


def _host(lab: Lab, hostname: str) -> Host:
    """Return the host that was entered by hand under this name, if it has no agent; a new one otherwise."""
    known = Host.objects.filter(lab=lab, name=hostname).first()
    if known and not Agent.objects.filter(host=known).exists():
        return known  # type: ignore[no-any-return]
    return _new_host(lab, hostname)


def _new_host(lab: Lab, hostname: str) -> Host:
    name, number = hostname, 2
    while Host.objects.filter(lab=lab, name=name).exists():
        name, number = f"{hostname[:190]} ({number})", number + 1
    with by(Author.AGENT, name):
        return Host.objects.create(lab=lab, name=name)  # type: ignore[no-any-return]
