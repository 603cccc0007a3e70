"""Gives every request its lab: from the session here, from the token in `apps.publishing.authentication`."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.labs.isolation import Scope, scoped, set_scope
from apps.labs.models import Lab, Member

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
                mine = memberships(request.user.pk)
                request.my_labs = sorted((one.lab for one in mine), key=lambda one: one.name)  # type: ignore[attr-defined]
                adopt(request, chosen(mine, request.session.get(SESSION_KEY)))
            return self.get_response(request)


def choose(user_id: int | None, wanted_lab: object) -> Member | None:
    """The chosen lab's membership, or the first one."""
    return chosen(memberships(user_id), wanted_lab) if user_id else None


def memberships(user_id: int) -> list[Member]:
    """With their labs; published labs last."""
    return list(Member.objects.filter(user_id=user_id).select_related("lab").order_by("lab__is_published", "id"))


def chosen(mine: list[Member], wanted_lab: object) -> Member | None:
    return next((member for member in mine if member.lab_id == wanted_lab), next(iter(mine), None))


def adopt(request: HttpRequest, member: Member | None) -> None:
    """Scope the request to the member's lab; reading also reaches published labs, changing never does."""
    if member is None:
        return
    request.lab, request.member = member.lab, member  # type: ignore[attr-defined]
    set_scope(readable_scope(member.lab_id) if request.method in SAFE_METHODS else Scope(frozenset({member.lab_id})))


def readable_scope(lab_id: int) -> Scope:
    return Scope(frozenset({lab_id, *Lab.objects.published_ids()}))
