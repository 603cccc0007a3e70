"""Gives every request its lab: from the session here, from the token in `apps.publishing.authentication`."""

from collections.abc import Callable

from django.db import DEFAULT_DB_ALIAS
from django.http import HttpRequest, HttpResponse

from apps.labs.isolation import Scope, scoped, set_scope
from apps.labs.models import LAB_FIELDS, Lab, Member
from apps.lib import sql

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
                mine, published = _labs_of(request.user.pk)
                request.my_labs = sorted((one.lab for one in mine), key=lambda one: one.name)  # type: ignore[attr-defined]
                adopt(request, _chosen(mine, request.session.get(SESSION_KEY)), published)
            return self.get_response(request)


def choose(user_id: int | None, wanted_lab: object) -> Member | None:
    """The chosen lab's membership, or the first one."""
    return _chosen(_labs_of(user_id)[0], wanted_lab) if user_id else None


# By hand, because every page of a signed-in person begins with it.
LABS = """
SELECT lab.id, lab.name, lab.slug, lab.is_published, lab.created_at, member.id, member.role
FROM labs_lab lab LEFT JOIN labs_member member ON member.lab_id = lab.id AND member.user_id = %(user)s
WHERE member.id IS NOT NULL OR lab.is_published ORDER BY lab.is_published, member.id"""


def _labs_of(user_id: int) -> tuple[list[Member], frozenset[int]]:
    """A person's memberships with their labs, published ones last; and the ids of all published labs."""
    mine, published = [], set()
    for *fields, member_id, role in sql.rows(LABS, {"user": user_id}):
        lab = Lab.from_db(DEFAULT_DB_ALIAS, LAB_FIELDS, fields)
        if lab.is_published:
            published.add(lab.pk)
        if member_id is not None:
            member = Member.from_db(
                DEFAULT_DB_ALIAS, ["id", "lab_id", "user_id", "role"], [member_id, lab.pk, user_id, role]
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
