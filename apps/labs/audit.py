"""The audit trail of acts on one's own account, written to every lab of the account."""

from datetime import date, timedelta
from hashlib import sha256
from typing import Any

from allauth.core import context
from django.db import transaction
from django.db.models import IntegerField, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils import timezone

from apps.core.server.proxies import network_of
from apps.labs import throttle
from apps.labs.isolation import all_labs
from apps.labs.models import COMMAND_LINE, AttemptCount, AuditEvent, Lab, Member, User

FAILED = "sign-in failed"
WRONG_PRESENT = "wrong password while signed in"
NOBODY = "not signed in"
MOST_NETWORKS = 20  # rows of one person and day; more networks than that are one row together
OTHERS = "other networks"
SHOWN_DAYS = 7


def client_network(request: HttpRequest | None) -> str:
    """Return where a request comes from: an IPv4 address, or an IPv6 network."""
    return network_of(request.META.get("REMOTE_ADDR")) if request is not None else COMMAND_LINE


def record_account_event(
    user: User, act: str, *, who: str = "", request: HttpRequest | None = None, **detail: Any
) -> None:
    """Write down an act on a person's account in each of the person's labs. Without a request it came from the command line."""
    request = request if request is not None else context.request
    if request is None:
        who = who or COMMAND_LINE
    else:
        detail["from"] = client_network(request)
        who = who or str(request.user if request.user.is_authenticated else user)
    subject = user.email[:200]
    with all_labs():
        AuditEvent.objects.bulk_create(
            AuditEvent(
                lab_id=lab,
                act=act,
                subject=subject,
                who=who[:200],
                detail=detail,
            )
            for lab in _labs_of(user)
        )


@transaction.atomic
def record_failed_sign_in(address: str, network: str, *, refused: bool) -> None:
    """Count a sign-in that failed, or that was refused because of many before it.

    A person's labs see it with its address; of any other address only a number is kept. Both cost the same statements, so that the time tells
    nobody which it was.
    """
    today = timezone.localdate().isoformat()
    throttle.count_up(_total_key(today))
    user = User.objects.filter(email=address).first()
    labs = _labs_of(user)
    for lab in labs:
        _count_in_trail(lab, FAILED, NOBODY, address, network, today, refused)
    if not labs:
        throttle.count_up(throttle.key("nobody's failures", today))


@transaction.atomic
def record_wrong_password(user: User, network: str, *, refused: bool) -> None:
    """Count a wrong present password of somebody who is signed in, or one that was refused because of many before it."""
    today = timezone.localdate().isoformat()
    for lab in _labs_of(user):
        _count_in_trail(lab, WRONG_PRESENT, user.email, user.email, network, today, refused)


def _labs_of(user: User | None) -> list[int]:
    return list(Member.objects.filter(user_id=user.pk if user else 0).values_list("lab_id", flat=True))


def _count_in_trail(lab: int, act: str, who: str, address: str, network: str, today: str, refused: bool) -> None:
    """Count one more in the row of this lab, act, person, network and day."""
    with all_labs():
        event = _summary(lab, act, who, address, network, today)
        event.at = timezone.now()
        event.detail["failures"] += 1
        if refused:
            event.detail["refused"] = event.detail.get("refused", 0) + 1
        event.save(update_fields=["at", "detail"])


def _summary(lab: int, act: str, who: str, address: str, network: str, today: str) -> AuditEvent:
    events = AuditEvent.objects.select_for_update()
    key = _summary_key(lab, act, address, network, today)
    if result := events.filter(summary_key=key).first():
        return result  # type: ignore[no-any-return]
    begun = AuditEvent.objects.filter(lab_id=lab, act=act, subject=address[:200], detail__day=today).count()
    if begun >= MOST_NETWORKS and network != OTHERS:
        return _summary(lab, act, who, address, OTHERS, today)
    fresh = AuditEvent(
        lab_id=lab,
        act=act,
        subject=address[:200],
        who=who[:200],
        detail={"from": network, "day": today, "failures": 0},
        summary_key=key,
    )
    AuditEvent.objects.bulk_create([fresh], ignore_conflicts=True)  # two at the same moment make one
    return events.get(summary_key=key)  # type: ignore[no-any-return]


def _summary_key(lab: int, act: str, address: str, network: str, today: str) -> str:
    return sha256("\0".join([str(lab), act, address, network, today]).encode()).hexdigest()


def _total_key(day: str) -> str:
    return throttle.key("failed sign-ins", day)


def failures_elsewhere(lab: Lab) -> list[tuple[date, int]]:
    """Return for the last days how many sign-ins failed with addresses that belong to no member of the lab, whether or not they have an account.

    Days without any are left out.
    """
    days = [timezone.localdate() - timedelta(days=back) for back in range(SHOWN_DAYS)]
    keys = {_total_key(day.isoformat()): day for day in days}
    totals = {keys[row.key]: row.count for row in AttemptCount.objects.filter(key__in=keys)}
    failures = Cast(KeyTextTransform("failures", "detail"), IntegerField())
    own = dict(
        AuditEvent.objects.filter(lab=lab, act=FAILED, detail__day__in=[day.isoformat() for day in days])
        .order_by()
        .values_list(KeyTextTransform("day", "detail"))
        .annotate(failures=Sum(failures))
    )
    rest = [(day, totals.get(day, 0) - own.get(day.isoformat(), 0)) for day in days]
    return [(day, count) for day, count in rest if count > 0]
