"""Who belongs to a lab: adding, changing and removing members, each written down, and never without an owner."""

from django.db import transaction

from apps.labs.first import new_password
from apps.labs.models import AuditEvent, Lab, Member, Role, User


class LastOwnerError(ValueError):
    """The lab would be left without an owner."""

    def __init__(self, member: Member) -> None:
        super().__init__(f"{member.user} is the only owner of {member.lab}. Make somebody else an owner first.")


@transaction.atomic
def add_member(lab: Lab, email: str, role: str, who: str) -> tuple[Member, str | None]:
    """The new member, and the first password where the account is new too: the only time it is known."""
    user, password = User.objects.filter(email=email).first(), None
    if user is None:
        password = new_password()
        user = User.objects.create_user(email, password)
    member = Member.objects.create(lab=lab, user=user, role=role)
    AuditEvent.objects.record(lab.pk, "member added", email, who=who, role=role)
    return member, password


@transaction.atomic
def change_role(member: Member, role: str, who: str) -> None:
    """Raises `LastOwnerError`."""
    _keep_an_owner(member, role)
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    AuditEvent.objects.record(member.lab_id, "role changed", member.user.email, who=who, before=before, after=role)


@transaction.atomic
def remove_member(member: Member, who: str) -> None:
    """Raises `LastOwnerError`. The account stays, and what the person did stays written down."""
    _keep_an_owner(member, "")
    AuditEvent.objects.record(member.lab_id, "member removed", member.user.email, who=who, role=member.role)
    member.delete()


def _keep_an_owner(member: Member, role: str) -> None:
    # the lab's row is the lock: two owners cannot remove each other at the same moment
    Lab.objects.select_for_update().get(pk=member.lab_id)
    others = Member.objects.filter(lab=member.lab_id, role=Role.OWNER).exclude(pk=member.pk)
    member.refresh_from_db(fields=["role"])
    if member.role == Role.OWNER and role != Role.OWNER and not others.exists():
        raise LastOwnerError(member)
