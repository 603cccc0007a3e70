"""Renewals of a member's access: a one-use link by which the person sets a new password.

An account may belong to several labs, and an owner of one must not get into the others with it. So a link that an owner has seen sets a
password only while this lab is the account's only one, and takes from the account the proof of its address; a link that went to the
account's mailbox sets it in any case, for it proves the address.
"""

import shlex

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.urls import reverse

from apps.labs import audit
from apps.labs.addresses import prove_address
from apps.labs.isolation import lab_scope
from apps.labs.links import one_use
from apps.labs.links.one_use import EndedError, HandedOver, LinkError, Maker
from apps.labs.models import AuditEvent, LinkState, Member, Renewal, User


class SeveralLabsError(LinkError):
    """The account belongs to other labs too, and the link may have been seen by somebody else than the person."""

    def __init__(self) -> None:
        super().__init__(
            "This link cannot set a password, because it did not come by mail and the account is not this lab's alone. "
            "The server's administrator can: ./manage.py changepassword."
        )


def renew(member: Member, maker: Maker) -> tuple[Renewal, str]:
    """Make a link for a member of the lab, and its secret, which is known this once. An open one for the same person ends.

    It is made whatever other labs the person is in, so that an owner learns nothing of those.

    Raises:
        LinkError: the member is the one who asks, or see `one_use_links.check_rate`.
    """
    if maker.user and member.user_id == maker.user.pk:
        raise LinkError("This is your own account: change your password instead.")
    secret = f"spr_{one_use.new_secret()}"
    with lab_scope(member.lab_id), transaction.atomic():
        lab = one_use.lock(member.lab_id)
        one_use.check_rate(Renewal, lab, user=member.user)
        _end_former(member, maker.name)
        renewal = Renewal.objects.create(
            lab=lab, user=member.user, secret_sha256=one_use.hash_of(secret),
            expires_at=one_use.last_day(), **maker.fields(),
        )  # fmt: skip
        AuditEvent.objects.record(lab.pk, "renewal link made", member.user.email, actor=maker.name)
    return renewal, secret


def hand_over(renewal: Renewal, secret: str) -> HandedOver:
    """Send the link by mail.

    Raises:
        MailError: The mail could not be sent; the link is withdrawn.
    """
    command = f"./manage.py changepassword {shlex.quote(renewal.user.email)}"
    with lab_scope(renewal.lab_id):
        return one_use.hand_over(renewal, secret, reverse("renewal"), "labs/mail/renewal.txt", command)


def _end_former(member: Member, who: str) -> None:
    for former in Renewal.objects.filter(lab_id=member.lab_id, user=member.user, state=LinkState.OPEN):
        if not one_use.revoke(former, who, "a newer one takes its place"):  # it is past its last day
            Renewal.objects.filter(pk=former.pk).update(state=LinkState.REVOKED)


@transaction.atomic
def set_password(renewal: Renewal, password: str) -> User:
    """Set the password, once; every session of the account ends by it.

    Raises:
        EndedError: the link was used or revoked meanwhile, its maker may make none any more, or the person has left the lab.
        SeveralLabsError: see the module's first lines; the link stays open.
    """
    hashed = make_password(password)
    with lab_scope(renewal.lab_id):
        one_use.lock(renewal.lab_id)
        user = User.objects.select_for_update().get(pk=renewal.user_id)  # nobody joins a lab with it at the same time
        labs = set(Member.objects.filter(user=user).values_list("lab_id", flat=True))
        if renewal.lab_id not in labs:
            raise EndedError
        if len(labs) > 1 and not renewal.by_mail:
            raise SeveralLabsError
        if not Renewal.objects.end(renewal.pk, LinkState.ACCEPTED) or not one_use.maker_may_still(renewal):
            raise EndedError
        User.objects.filter(pk=user.pk).update(password=hashed)
        if renewal.by_mail:
            prove_address(user)
        else:
            EmailAddress.objects.filter(user=user).update(verified=False)
        audit.record_account_event(user, "password changed", who=user.email)
        AuditEvent.objects.record(
            renewal.lab_id, "access renewed", user.email, actor=user.email, link_made_by=renewal.created_by
        )
    user.refresh_from_db()
    return user
