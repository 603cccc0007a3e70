"""Gives every request its lab: from the session here, from the token in `apps.publishing.authentication`."""

from collections.abc import Callable

from django.contrib.auth.models import AnonymousUser
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpRequest, HttpResponse

from apps.labs.isolation import Scope, scoped, set_scope
from apps.labs.models import LAB_FIELDS, Lab, Member, User

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
                mine, published = _labs_of(request.user)
                request.my_labs = sorted((one.lab for one in mine), key=lambda one: one.name)  # type: ignore[attr-defined]
                adopt(request, _chosen(mine, request.session.get(SESSION_KEY)), published)
            return self.get_response(request)


def choose(user: User | AnonymousUser, wanted_lab: object) -> Member | None:
    """The chosen lab's membership, or the first one."""
    return _chosen(_labs_of(user)[0], wanted_lab) if isinstance(user, User) else None


def _labs_of(user: User) -> tuple[list[Member], frozenset[int]]:
    """A person's memberships with their labs, published ones last; and the ids of all published labs. Read together with the person."""
    mine, published = [], set()
    for *fields, member_id, role in user.labs_read:
        if fields[0] is None:  # a person who may read none
            continue
        lab = Lab.from_db(DEFAULT_DB_ALIAS, LAB_FIELDS, fields)
        if lab.is_published:
            published.add(lab.pk)
        if member_id is not None:
            member = Member.from_db(
                DEFAULT_DB_ALIAS, ["id", "lab_id", "user_id", "role"], [member_id, lab.pk, user.pk, role]
            )
            member.lab = lab
            mine.append(member)
    return mine, frozenset(published)


def _chosen(mine: list[Member], wanted_lab: object) -> Member | None:
    return next((member for member in mine if member.lab_id == wanted_lab), next(iter(mine), None))


def adopt(request: HttpRequest, member: Member | None, published: frozenset[int]) -> None:
    """Scope the request to the member's lab; reading also reaches published labs, changing never does."""
    if member is None:
        return
    request.lab, request.member = member.lab, member  # type: ignore[attr-defined]
    also = published if request.method in SAFE_METHODS else frozenset()
    set_scope(Scope(frozenset({member.lab_id}) | also))


def readable_scope(lab_id: int) -> Scope:
    return Scope(frozenset({lab_id, *Lab.objects.published_ids()}))
