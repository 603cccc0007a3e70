"""Enrolment: a one-use token makes a host and its agent; repeating it after a lost answer gives the same agent."""

import re
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.agents.identity import RefusedError
from apps.agents.models import Agent, Enrolment
from apps.inventory.editing.authors import by
from apps.inventory.models import Host
from apps.inventory.vocabulary import Author
from apps.labs.isolation import all_labs
from apps.labs.models import AuditEvent, digest

SHA256 = re.compile(r"[0-9a-f]{64}")


def enrol(body: dict[str, Any]) -> Agent:
    """Raises `RefusedError` 400, 401 or 409 with what was found and expected."""
    secret_sha256 = str(body.get("secret_sha256", ""))
    if not SHA256.fullmatch(secret_sha256) or not SHA256.fullmatch(str(body.get("machine", ""))):
        raise RefusedError(400, "secret_sha256 and machine are expected as 64 hexadecimal digits.")
    with all_labs(), transaction.atomic():
        enrolment = (
            Enrolment.objects.select_for_update(of=("self",))
            .select_related("lab", "agent__host")
            .filter(token_sha256=digest(str(body.get("token", ""))), expires_at__gt=timezone.now())
            .first()
        )
        if enrolment is None:
            raise RefusedError(401, "This enrolment token is not known or is older than 15 minutes; ask for a new one.")
        if enrolment.agent:
            return _again(enrolment.agent, secret_sha256)
        return _make(enrolment, body, secret_sha256)


def _again(agent: Agent, secret_sha256: str) -> Agent:
    if agent.secret_sha256 != secret_sha256:
        raise RefusedError(401, "This enrolment token was used already.")
    return agent


def _make(enrolment: Enrolment, body: dict[str, Any], secret_sha256: str) -> Agent:
    trusted = enrolment.is_trusted
    agent: Agent = Agent.objects.create(
        lab=enrolment.lab,
        host=_host(enrolment, str(body.get("hostname") or "host")[:200], str(body["machine"])),
        secret_sha256=secret_sha256,
        machine=str(body["machine"]),
        version=str(body.get("agent_version", ""))[:40],
        state=Agent.State.APPROVED if trusted else Agent.State.PENDING,
        approved_at=timezone.now() if trusted else None,
    )
    Enrolment.objects.filter(pk=enrolment.pk).update(used_at=timezone.now(), agent=agent)
    AuditEvent.objects.record(agent.lab_id, "agent enrolled", str(agent.host), who=enrolment.created_by)
    return agent


def _host(enrolment: Enrolment, hostname: str, machine: str) -> Host:
    """The host this agent stands on. A host that was entered by hand under this name is adopted; one with an agent is not."""
    former = Agent.objects.filter(lab=enrolment.lab, machine=machine).select_related("host").first()
    if former:  # enrolled again on the same machine: the old secret dies, the host and its history stay
        host: Host = former.host
        former.delete()
        return host
    known = Host.objects.filter(lab=enrolment.lab, name=hostname).first()
    if known and not Agent.objects.filter(host=known).exists():
        return known  # type: ignore[no-any-return]
    name, number = hostname, 2
    while Host.objects.filter(lab=enrolment.lab, name=name).exists():
        name, number = f"{hostname} ({number})", number + 1
    with by(Author.AGENT, name):
        return Host.objects.create(lab=enrolment.lab, name=name)  # type: ignore[no-any-return]
