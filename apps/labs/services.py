"""Services of labs and memberships: create, rename and leave labs, change and remove members, create the first lab."""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.text import slugify

from apps.core.forms import FORM_KEY
from apps.core.text import find_free_name
from apps.core.units import moment
from apps.labs.isolation import LabScoped, lab_scope
from apps.labs.links import one_use
from apps.labs.models import AuditEvent, FormSubmission, Invitation, Lab, Member, Renewal, Role, Token, User

OF_THE_LAB_ITSELF = (AuditEvent, FormSubmission, Invitation, Renewal, Token)  # a lab that has only these holds nothing

SUBMISSIONS_LAST = timedelta(days=2)  # so long a form that is sent again is known
ANSWERS_LAST = timedelta(hours=24)  # so long a script's request that is sent again is known


class LabNameError(ValueError):
    """The name cannot be a lab's; the sentence says why."""


def may_make_labs(user: User) -> bool:
    """Apply SPINDLE_LABS_BY: `owners` of any lab, `everyone` with an account, or only the `command` line."""
    if settings.LABS_BY == "owners":
        return Member.objects.filter(user=user, role=Role.OWNER).exists()
    return bool(settings.LABS_BY == "everyone")


def may_tokens_make_labs() -> bool:
    """Apply SPINDLE_LABS_BY to a lab's admin tokens, which stand for its owners."""
    return settings.LABS_BY != "command"


@transaction.atomic
def create_lab(name: str, who: str, owner: User | None = None, slug: str = "") -> Lab:
    """Make a lab. Without `owner` it waits for somebody to be invited.

    Raises:
        LabNameError: no name, one too long, or one that another lab has.
    """
    lab = _inserted(clean_name(name), slug)
    with lab_scope(lab.pk):
        AuditEvent.objects.record(lab.pk, "lab made", name, actor=who)
    if owner:
        Member.objects.create(lab=lab, user=owner, role=Role.OWNER)
    return lab


def _inserted(name: str, slug: str) -> Lab:
    for _ in range(5):  # another lab may take the same free short name at the same moment
        try:
            with transaction.atomic():
                return Lab.objects.create(name=name, slug=slug or free_slug(name))
        except IntegrityError:
            if slug or Lab.objects.filter(name=name).exists():
                break
    raise LabNameError(
        f"There is a lab with the name {name!r}{f' or the short name {slug!r}' if slug else ''} already."
    )


@transaction.atomic
def rename_lab(lab: Lab, name: str, who: str) -> Lab:
    """Give the lab another name. Its short name stays, because scripts use it.

    Raises:
        LabNameError: as `create_lab`.
    """
    name, lab = clean_name(name), one_use.lock(lab.pk)
    before, lab.name = lab.name, name
    if before == name:
        return lab
    try:
        with transaction.atomic():
            lab.save(update_fields=["name"])
    except IntegrityError:
        raise LabNameError(f"There is a lab with the name {name!r} already.") from None
    with lab_scope(lab.pk):
        AuditEvent.objects.record(lab.pk, "lab renamed", name, actor=who, before=before)
    return lab


@transaction.atomic
def leave_lab(member: Member) -> None:
    """End one's own membership. Who is alone in a lab that holds nothing may leave it too; its name is then free again.

    Raises:
        LastOwnerError: nobody else owns the lab.
    """
    lab, who = one_use.lock(member.lab_id), member.user.email
    is_alone = not Member.objects.filter(lab=lab).exclude(pk=member.pk).exists()
    with lab_scope(lab.pk):
        if not (is_alone and not lab.is_published and holds_nothing(lab)):
            leave(member)
            return
        AuditEvent.objects.record(lab.pk, "member left", who, actor=who, role=member.role)
        end_access(member, who)
        for invitation in Invitation.objects.in_force().filter(lab=lab):
            one_use.revoke(invitation, who, "the lab was left")
        Token.objects.filter(lab=lab, revoked_at=None).update(revoked_at=timezone.now())
        AuditEvent.objects.record(lab.pk, "lab given up", lab.name, actor=who)
    suffix = f" (given up, {lab.pk})"
    lab.name = lab.name[: 120 - len(suffix)] + suffix
    lab.save(update_fields=["name"])


def holds_nothing(lab: Lab) -> bool:
    """Return True for a lab without hosts, runs, uploads, studies or anything else that people or agents put there."""
    with lab_scope(lab.pk):
        return not any(
            model._default_manager.filter(lab=lab).exists()
            for model in apps.get_models()
            if issubclass(model, LabScoped) and model not in OF_THE_LAB_ITSELF
        )


def clean_name(name: str) -> str:
    """Return the name on one line. Raises `LabNameError`."""
    cleaned = " ".join(name.split())
    if not cleaned:
        raise LabNameError("A lab needs a name.")
    if len(cleaned) > 120:
        raise LabNameError(f"The name has {len(cleaned)} characters; at most 120 are kept.")
    if not cleaned.isprintable():
        raise LabNameError("The name holds characters that cannot be printed.")
    return cleaned


def free_slug(name: str) -> str:
    """Return a short name that no lab has; two that are made at the same moment are told apart by the database."""
    base = slugify(name)[:70].strip("-_") or "lab"
    taken = set(Lab.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    return find_free_name(base, taken)


def clean_slug(slug: str) -> str:
    """Return a short name that was asked for, empty for none. Raises `LabNameError`."""
    try:
        if slug:
            validate_slug(slug)
    except ValidationError:
        raise LabNameError(f"Found the short name {slug!r}, expected letters, digits, - and _.") from None
    if len(slug) > 80:
        raise LabNameError(f"The short name has {len(slug)} characters; at most 80 are kept.")
    return slug


class LastOwnerError(ValueError):
    """The lab would be left without an owner."""

    def __init__(self, member: Member) -> None:
        super().__init__(f"{member.user} is the only owner of {member.lab}. Make somebody else an owner first.")


@transaction.atomic
def change_role(member: Member, role: str, who: str) -> None:
    """Change a member's role.

    Raises:
        LastOwnerError: The lab would be left without an owner.
    """
    _keep_an_owner(member, role)
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    AuditEvent.objects.record(member.lab_id, "role changed", member.user.email, actor=who, before=before, after=role)
    if before == Role.OWNER and role != Role.OWNER:
        one_use.end_links_of(member.lab_id, member.user, who)


@transaction.atomic
def remove_member(member: Member, who: str) -> None:
    """Remove a member from the lab; the account and the audit trail stay.

    Raises:
        LastOwnerError: The lab would be left without an owner.
    """
    _keep_an_owner(member, "")
    AuditEvent.objects.record(member.lab_id, "member removed", member.user.email, actor=who, role=member.role)
    end_access(member, who)


@transaction.atomic
def leave(member: Member) -> None:
    """End one's own membership. Raises `LastOwnerError`."""
    _keep_an_owner(member, "")
    who = member.user.email
    AuditEvent.objects.record(member.lab_id, "member left", who, actor=who, role=member.role)
    end_access(member, who)


def end_access(member: Member, who: str) -> None:
    """Take away the membership with all that hangs on it: one place for whoever leaves or is removed."""
    one_use.end_links_of(member.lab_id, member.user, who)
    for renewal in Renewal.objects.in_force().filter(lab_id=member.lab_id, user=member.user):
        one_use.revoke(renewal, who, "no member any more")
    member.delete()


def _keep_an_owner(member: Member, role: str) -> None:
    # the lab's row is the lock: two owners cannot remove each other at the same moment
    Lab.objects.select_for_update().get(pk=member.lab_id)
    others = Member.objects.filter(lab=member.lab_id, role=Role.OWNER).exclude(pk=member.pk)
    member.refresh_from_db(fields=["role"])
    if member.role == Role.OWNER and role != Role.OWNER and not others.exists():
        raise LastOwnerError(member)


LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that are mistaken for each other when copied by hand


@dataclass(frozen=True)
class FirstLab:
    lab: Lab
    email: str
    password: str | None  # None when the lab was here already


def new_password() -> str:
    """Return a random password of 80 bits in groups of four letters."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(4))


@transaction.atomic
def first_lab(email: str = "owner@spindle.local", name: str = "My lab") -> FirstLab:
    """Return the first lab; where there is none, make it with this name and owner.

    Raises:
        LabNameError: a lab cannot have this name.
    """
    lab = Lab.objects.filter(is_published=False).order_by("id").first()
    if lab:
        owner = Member.objects.filter(lab=lab, role=Role.OWNER).select_related("user").first()
        return FirstLab(lab, owner.user.email if owner else "", None)
    password = new_password()
    lab = create_lab(name, "bin/up")
    user = User.objects.create_user(email, password)
    Member.objects.create(lab=lab, user=user, role=Role.OWNER)
    return FirstLab(lab, email, password)


@transaction.atomic
def submit_once(lab: Lab, sent: QueryDict, make: Callable[[], str]) -> tuple[str, bool]:
    """Do what a form asks for once, however often it is sent; return where it leads, and whether it was done now.

    A second sending waits for the first to end. If the first was refused, the second is tried. Who goes back and types
    something else sends another form. A form without a key (`{% form_key %}`) is done each time.

    Args:
        make: Does it and returns the address that it leads to; an empty text where it was refused.
    """
    if not (key := _key_of(sent)):
        return make(), True
    submission, is_new = _claim(lab, key)
    if not is_new:
        return submission.address, False
    submission.address = make()
    if submission.address:
        submission.save(update_fields=["address"])
    else:
        submission.delete()
    return submission.address, True


@dataclass(frozen=True)
class StoredAnswer:
    """An answer to a script as it is given again: its status, its body as text, and headers such as `Location`."""

    status: int
    body: str
    headers: Mapping[str, str]


class KeyReusedError(ValueError):
    """A key was sent before with another request; the message says so."""


@transaction.atomic
def answer_once(
    lab: Lab, caller: str, key: str, request_sha256: str, make: Callable[[], StoredAnswer | None]
) -> tuple[StoredAnswer | None, bool]:
    """Do what a script asks for once, however often it sends it with one key; return the answer and whether it is new.

    A second sending waits for the first to end. Where the first was refused, nothing is kept and the second is tried.

    Args:
        caller: Who asks: keys of two callers have nothing to do with each other.
        make: Does it and returns the answer; None where there is none to keep.

    Raises:
        KeyReusedError: The caller has sent the key with another request within `ANSWERS_LAST`.
    """
    name = hashlib.sha256(json.dumps(["script", caller, key]).encode()).hexdigest()
    submission, is_new = _claim(lab, name, request_sha256=request_sha256)
    if not is_new:
        if submission.request_sha256 != request_sha256:
            raise KeyReusedError(
                f"This key was sent with another request at {moment(submission.created_at)}; a key is for one request alone."
            )
        return StoredAnswer(submission.status or 200, submission.answer, submission.headers), False
    answer = make()
    if answer is None:
        submission.delete()
        return None, True
    submission.status, submission.answer, submission.headers = answer.status, answer.body, dict(answer.headers)
    submission.save(update_fields=["status", "answer", "headers"])
    return answer, True


def _claim(lab: Lab, key: str, **fields: str) -> tuple[FormSubmission, bool]:
    """Return the submission with this key and whether it is new; one whose time is over is none any more."""
    _submissions_over(timezone.now()).filter(lab=lab, key=key).delete()
    claimed: tuple[FormSubmission, bool] = FormSubmission.objects.get_or_create(lab=lab, key=key, defaults=fields)
    return claimed


def _submissions_over(now: datetime) -> QuerySet[FormSubmission]:
    """Return the submissions of forms and of scripts that are not to be known any more."""
    of_forms = Q(status=None, created_at__lt=now - SUBMISSIONS_LAST)
    of_scripts = Q(status__isnull=False, created_at__lt=now - ANSWERS_LAST)
    submissions: QuerySet[FormSubmission] = FormSubmission.objects.filter(of_forms | of_scripts)
    return submissions


def delete_old_submissions(now: datetime) -> int:
    """Delete the forms and answers to scripts whose time is over, of all labs in scope; return how many."""
    return _submissions_over(now).delete()[0]


def _key_of(sent: QueryDict) -> str:
    """Return what is the same for two sendings of one form alone; empty where the form has no key."""
    if not sent.get(FORM_KEY):
        return ""
    typed = sorted((name, sent.getlist(name)) for name in sent if name != "csrfmiddlewaretoken")
    return hashlib.sha256(json.dumps(typed).encode()).hexdigest()
