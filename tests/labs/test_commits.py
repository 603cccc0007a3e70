"""Acts on labs and memberships with a database that commits: each is a transaction of its own, whole or not at all."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.labs import services
from apps.labs.addresses import change_address
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.links.invitations import decline, invite
from apps.labs.links.one_use import Maker
from apps.labs.models import AuditEvent, Invitation, Lab, Member, Role, Token, User
from tests.conftest import Cast

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
BY = "owner@example.org"


def everything() -> tuple[list[Any], ...]:
    with all_labs():
        return (
            list(Lab.objects.order_by("pk").values_list("pk", "name")),
            list(Member.objects.order_by("pk").values_list("lab", "user", "role")),
            list(Invitation.objects.order_by("pk").values_list("pk", "state")),
            list(Token.objects.order_by("pk").values_list("pk", "revoked_at")),
            list(User.objects.order_by("pk").values_list("pk", "email")),
            list(AuditEvent.objects.order_by("pk").values_list("act", "who")),
        )


def member(cast: Cast, name: str) -> Member:
    found: Member = Member.objects.select_related("user", "lab").get(user=getattr(cast, name), lab=cast.lab)
    return found


def fail(*_: object, **__: object) -> None:
    raise ConnectionError("the database went away")


ACTS: dict[str, Callable[[Cast], Any]] = {
    "make": lambda cast: services.create_lab("Tape lab", BY, cast.owner),
    "rename": lambda cast: services.rename_lab(cast.lab, "Disk lab", BY),
    "change a role": lambda cast: services.change_role(member(cast, "engineer"), Role.VIEWER, BY),
    "remove": lambda cast: services.remove_member(member(cast, "engineer"), BY),
    "leave": lambda cast: services.leave_lab(member(cast, "engineer")),
    "invite": lambda cast: invite(cast.lab, "new@example.org", Role.VIEWER, Maker(BY, cast.owner)),
    "decline": lambda cast: decline(Invitation.objects.get(email="asked@example.org"), "asked@example.org"),
    "another address": lambda cast: change_address(cast.viewer, "new@example.org", is_proved=True),
}


@pytest.mark.parametrize("act", ACTS)
def test_an_act_commits_and_one_that_fails_at_its_end_has_changed_nothing(
    cast: Cast, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lab_scope(cast.lab.pk):
        invite(cast.lab, "asked@example.org", Role.VIEWER, Maker(BY, cast.owner))
        Token.objects.issue(cast.lab, "run", "night", maker=cast.engineer)
        before = everything()
        with monkeypatch.context() as broken:
            for name in ("record", "bulk_create"):
                broken.setattr(type(AuditEvent.objects), name, fail)
            with pytest.raises(ConnectionError):
                ACTS[act](cast)
        assert everything() == before
        ACTS[act](cast)
    after = everything()
    assert after[:-1] != before[:-1]
    assert len(after[-1]) > len(before[-1])
