"""Invitations, the only way into a lab except by creating one.

An e-mail address alone opens nothing. An invitation is accepted by whoever holds its one-use link, or by an account that has proved the
invited address. Nothing here looks up whether the invited address has an account, so nobody learns it from an answer, its time or the trail.
"""

import shlex

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.urls import reverse

from apps.core.mail import is_exact
from apps.labs import throttle
from apps.labs.addresses import prove_address
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.links import one_use
from apps.labs.links.one_use import EndedError, HandedOver, LinkError, Maker
from apps.labs.models import AuditEvent, Invitation, Lab, LinkState, Member, User
from apps.labs.throttle import ThrottleRule

# Who holds a link that was not mailed chooses an address, and learns whether it is free: of few addresses, and each try is in the lab's trail.
TRIES_OF_LINK = ThrottleRule(free=5, first=3600, longest=86_400)
TRIES_OF_LAB = ThrottleRule(free=20, first=3600, longest=86_400)


class AlreadyMemberError(LinkError):
    """The person is in the lab already; an invitation changes no role."""


class AddressTakenError(LinkError):
    """The address is an account's. Only who holds the link reads of it, and only on trying to make one."""

    def __init__(self, invitation: Invitation) -> None:
        super().__init__(
            f"There is an account for {invitation.email} already. Sign in to it, and the invitation can be accepted."
            if invitation.by_mail
            else "This address cannot be used for a new account. If you have an account, sign in to it; otherwise choose another address."
        )


class TooManyTriesError(LinkError):
    """So many addresses that cannot be used were tried with this link, or in this lab, that the next one has to wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"Too many addresses were tried. Try again in {throttle.in_words(seconds)}, or sign in to an account that you have."
        )
        self.seconds = seconds


def invite(lab: Lab, email: str, role: str, maker: Maker) -> tuple[Invitation, str]:
    """Make an invitation and its secret, which is known this once. An open one to the same address ends.

    Raises:
        AlreadyMemberError: a member of this lab has this address.
        TooManyError: see `one_use_links.check_rate`.
    """
    email = email.strip().lower()
    secret = f"spi_{one_use.new_secret()}"
    with lab_scope(lab.pk), transaction.atomic():
        lab = one_use.lock(lab.pk)
        if Member.objects.filter(lab=lab, user__email=email).exists():
            raise AlreadyMemberError(f"{email} is a member of {lab} already.")
        one_use.check_rate(Invitation, lab, email=email)
        _end_former(lab, email, maker.name)
        invitation = Invitation.objects.create(
            lab=lab, email=email, role=role, secret_sha256=one_use.hash_of(secret),
            expires_at=one_use.last_day(), **maker.fields(),
        )  # fmt: skip
        AuditEvent.objects.record(lab.pk, "member invited", email, actor=maker.name, role=role)
    return invitation, secret


def link_of(secret: str) -> str:
    return one_use.address_of(reverse("invitation"), secret)


def hand_over(invitation: Invitation, secret: str) -> HandedOver:
    """Send the invitation by mail.

    Raises:
        MailError: The mail could not be sent; the invitation is withdrawn.
    """
    command = f"./manage.py invite_member --lab {invitation.lab.slug} --email {shlex.quote(invitation.email)} --role {invitation.role}"
    with lab_scope(invitation.lab_id):
        return one_use.hand_over(invitation, secret, reverse("invitation"), "labs/mail/invitation.txt", command)


def _end_former(lab: Lab, email: str, who: str) -> None:
    for former in Invitation.objects.filter(lab=lab, email=email, state=LinkState.OPEN):
        if not one_use.revoke(former, who, "a newer one takes its place"):  # it is past its last day
            Invitation.objects.filter(pk=former.pk).update(state=LinkState.REVOKED)


def open_for(user: User) -> list[Invitation]:
    """Return what an account may accept without a link: invitations to addresses that it has proved."""
    with all_labs():
        invitations = (
            Invitation.objects.in_force()
            .filter(email__in=proved_addresses(user))
            .exclude(lab__members__user=user)
            .select_related("lab", "created_by_user")
            .order_by("expires_at")
        )
        return [invitation for invitation in invitations if one_use.maker_may_still(invitation)]


def proved_addresses(user: User) -> list[str]:
    return [
        email.lower() for email in EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    ]


def has_proved(user: User) -> bool:
    """Return whether the account's own address is proved."""
    return user.email in proved_addresses(user)


@transaction.atomic
def accept(invitation: Invitation, user: User, *, by_link: bool) -> Member:
    """Make the person a member with the invitation's role, once.

    `by_link`: the person holds the link; if that went to the mailbox of the account's own address, the address is proved by it.

    Raises:
        EndedError: it was used, declined or revoked meanwhile, or its maker may invite nobody any more.
        AlreadyMemberError: the person is in the lab already; the invitation stays open.
    """
    with lab_scope(invitation.lab_id):
        lab = one_use.lock(invitation.lab_id)
        User.objects.select_for_update().get(pk=user.pk)  # no renewal of this account goes on at the same time
        if Member.objects.filter(lab=lab, user=user).exists():
            raise AlreadyMemberError(f"{user.email} is a member of {lab} already; an invitation changes no role.")
        member = _join(invitation, user)
    if by_link and invitation.by_mail and invitation.email == user.email:
        prove_address(user)
    return member


def accept_as_new(invitation: Invitation, email: str, password: str, network: str) -> Member:
    """Make an account with an address and a password that the person has chosen, and let it join.

    A link that was mailed makes an account for the mailbox's address alone. One that was handed over is bound to no address: somebody else may
    have made an account with the invited one.

    Raises:
        EndedError: as `accept`.
        AddressTakenError: the address has an account; the invitation stays open.
        TooManyTriesError: nothing was looked at.
    """
    if invitation.by_mail:
        return _accept_as_new(invitation, invitation.email, password)
    keys = [throttle.key("address by link", str(invitation.pk)), throttle.key("address in lab", str(invitation.lab_id))]
    if seconds := throttle.take(dict(zip(keys, (TRIES_OF_LINK, TRIES_OF_LAB), strict=True))):
        raise TooManyTriesError(seconds)
    try:
        member = _accept_as_new(invitation, email, password)
    except AddressTakenError:
        # without the address, or the lab's owners would learn of it what the page hides
        with lab_scope(invitation.lab_id):
            AuditEvent.objects.record(
                invitation.lab_id, "new account refused", invitation.email, actor="who holds the link",
                reason="the chosen address cannot be used", **{"from": network},
            )  # fmt: skip
        raise
    except EndedError:
        throttle.give_back(keys, ())
        raise
    throttle.give_back(keys, ())
    return member


@transaction.atomic
def _accept_as_new(invitation: Invitation, email: str, password: str) -> Member:
    hashed = make_password(password)  # slow on purpose, so before the lab is locked
    with lab_scope(invitation.lab_id):
        one_use.lock(invitation.lab_id)
        if is_taken(email):
            raise AddressTakenError(invitation)
        try:
            with transaction.atomic():
                user = User.objects.create(email=email, password=hashed)
        except IntegrityError:
            raise AddressTakenError(invitation) from None
        member = _join(invitation, user)
    EmailAddress.objects.create(
        user=user, email=user.email, primary=True, verified=invitation.by_mail and is_exact(user.email)
    )
    return member


def _join(invitation: Invitation, user: User) -> Member:
    ended = Invitation.objects.end(invitation.pk, LinkState.ACCEPTED, accepted_by=user)
    if not ended or not one_use.maker_may_still(invitation):
        raise EndedError
    member = Member.objects.create(lab_id=invitation.lab_id, user=user, role=invitation.role)
    more = {} if user.email == invitation.email else {"account": user.email}
    AuditEvent.objects.record(
        invitation.lab_id, "invitation accepted", invitation.email, actor=user.email, role=invitation.role,
        invited_by=invitation.created_by, **more,
    )  # fmt: skip
    return member


@transaction.atomic
def decline(invitation: Invitation, who: str) -> None:
    """Decline an invitation.

    Raises:
        EndedError: It is not in force any more.
    """
    with lab_scope(invitation.lab_id):
        if not Invitation.objects.end(invitation.pk, LinkState.DECLINED):
            raise EndedError
        AuditEvent.objects.record(invitation.lab_id, "invitation declined", invitation.email, actor=who)


def is_taken(email: str) -> bool:
    """Return whether an account signs in with this address, or has proved it."""
    return (
        User.objects.filter(email=email).exists()
        or EmailAddress.objects.filter(email__iexact=email, verified=True).exists()
    )
