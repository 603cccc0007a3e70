"""The lab of a request, from its session, and the context that every page gets. Tokens: `apps.api.authentication`."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse

from apps.labs.devices import remember_device
from apps.labs.isolation import LabScopes, scoped, set_scope
from apps.labs.models import Lab, Member, User

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
SESSION_KEY = "lab"


class LabRequest(HttpRequest):
    """What views behind `member_required` get."""

    lab: Lab
    member: Member


class LabMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.lab = request.member = None  # type: ignore[attr-defined]
        with scoped(None):
            if request.user.is_authenticated:
                memberships = Member.objects.of(request.user)
                request.my_labs = sorted((member.lab for member in memberships), key=lambda lab: lab.name)  # type: ignore[attr-defined]
                adopt(request, _choose(memberships, request.session.get(SESSION_KEY)))
            response = self.get_response(request)
            remember_device(request, response)
            return response


def choose(user: User | AnonymousUser, wanted_lab: object) -> Member | None:
    """Return a person's membership in the wanted lab, or the first one."""
    return _choose(Member.objects.of(user), wanted_lab) if isinstance(user, User) else None


def _choose(memberships: list[Member], wanted_lab: object) -> Member | None:
    return next((member for member in memberships if member.lab_id == wanted_lab), next(iter(memberships), None))


def adopt(request: HttpRequest, member: Member | None) -> None:
    """Scope the request to the member's lab; reading also reaches published labs, changing never does."""
    if member is None:
        return
    request.lab, request.member = member.lab, member  # type: ignore[attr-defined]
    is_reading = request.method in SAFE_METHODS
    set_scope(readable_scope(member.lab_id) if is_reading else LabScopes(frozenset({member.lab_id})))


def readable_scope(lab_id: int) -> LabScopes:
    return LabScopes(frozenset({lab_id, *Lab.objects.published_ids()}))


def lab(request: HttpRequest) -> dict[str, Any]:
    member = getattr(request, "member", None)
    return {
        "lab": getattr(request, "lab", None),
        "member": member,
        "may_edit": bool(member and member.covers("engineer")),
        "my_labs": getattr(request, "my_labs", []) if member else [],
        "spindle_version": settings.VERSION,
    }
