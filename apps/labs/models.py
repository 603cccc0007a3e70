"""Models of tenancy: labs, members, tokens, and the audit trail."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.labs.isolation import LabManager, LabQuerySet, LabScoped


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractUser):
    """A person, known by e-mail address."""

    username = None  # type: ignore[assignment]
    email = models.EmailField(unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = []

    objects = UserManager()  # type: ignore[misc,assignment]

    def __str__(self) -> str:
        return self.get_full_name() or self.email


class LabSlugQuerySet(models.QuerySet["Lab"]):
    def published_ids(self) -> list[int]:
        return list(self.filter(is_published=True).values_list("id", flat=True))


class Lab(models.Model):
    """The tenant: everything belongs to exactly one lab."""

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=80, unique=True)
    is_published = models.BooleanField(
        default=False, help_text="Every signed-in person may read this lab, nobody but its members may change it."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LabSlugQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    VIEWER = "viewer", "viewer"
    ENGINEER = "engineer", "engineer"
    OWNER = "owner", "owner"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    def covers(self, needed: str) -> bool:
        return self.rank >= Role(needed).rank


class MemberQuerySet(models.QuerySet["Member"]):
    def of(self, user: User) -> "list[Member]":
        """Return a person's memberships with their labs, the oldest first and those in published labs last."""
        return list(self.filter(user=user).select_related("lab").order_by("lab__is_published", "pk"))


class Member(models.Model):
    """A person's role in a lab."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)

    objects = MemberQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "user"], name="one_membership_per_lab")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    def covers(self, needed: str) -> bool:
        return Role(self.role).covers(needed)


class TokenScope(models.TextChoices):
    READ = "read", "read"
    UPLOAD = "upload", "upload"
    RUN = "run", "run"
    ADMIN = "admin", "admin"


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


COMMAND_LINE = "command line"


class TokenQuerySet(LabQuerySet["Token"]):
    def find(self, secret: str) -> "Token | None":
        """Return the living token with this secret, or None. Secrets are 256 random bits, so a look-up by hash leaks nothing by time.

        A token lives no longer than its maker's membership: leaving ends it (`apps.labs.tokens`), and this holds even where that was missed.
        """
        maker_is_member = Member.objects.filter(lab=OuterRef("lab"), user=OuterRef("maker"), user__is_active=True)
        living = self.filter(Q(maker=None) | Exists(maker_is_member), secret_sha256=digest(secret), revoked_at=None)
        token = living.select_related("lab").first()
        return None if token is None or token.is_expired else token

    def issue(
        self, lab: Lab, scope: str, name: str, days: int | None = None, *, maker: User | None = None
    ) -> tuple["Token", str]:
        """Make a token and return it with its secret, which is shown once and kept only as a hash.

        Without a maker it was made on the command line, and ends when it is revoked.
        """
        secret = f"spl_{secrets.token_urlsafe(32)}"
        expires = timezone.now() + timedelta(days=days) if days else None
        token = self.create(
            lab=lab,
            scope=scope,
            name=name,
            secret_sha256=digest(secret),
            expires_at=expires,
            maker=maker,
            made_by=maker.email if maker else COMMAND_LINE,
        )
        return token, secret

    def end(self, because: str) -> "list[Token]":
        """End those that still live, for good, and return them; the reason is shown beside each."""
        ended = list(self.filter(revoked_at=None))
        self.filter(pk__in=[token.pk for token in ended], revoked_at=None).update(
            revoked_at=timezone.now(), ended_because=because[:200]
        )
        return ended


class Token(LabScoped):
    """A lab's key for scripts and wikis, of one scope."""

    name = models.CharField(max_length=120)
    scope = models.CharField(max_length=10, choices=TokenScope.choices)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    maker = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_by = models.CharField(max_length=254, blank=True, help_text="address of the maker then, or “command line”")
    ended_because = models.CharField(max_length=200, blank=True)

    objects: ClassVar[Any] = LabManager.from_queryset(TokenQuerySet)()

    def __str__(self) -> str:
        return f"{self.name} ({self.scope})"

    @property
    def is_expired(self) -> bool:
        return bool(self.expires_at and self.expires_at < timezone.now())

    @property
    def state(self) -> str:
        """Return `living`, `expired`, or `ended`."""
        return "ended" if self.revoked_at else "expired" if self.is_expired else "living"

    @property
    def state_words(self) -> str:
        """Return the state with its reason."""
        return {"ended": self.ended_because or "revoked", "expired": "its time is over"}.get(self.state, "living")

    def allows(self, needed: str) -> bool:
        """Return whether the token may do this: `admin` covers all, `run` and `upload` include reading."""
        return needed == self.scope or self.scope == TokenScope.ADMIN or needed == TokenScope.READ


class AuditQuerySet(LabQuerySet["AuditEvent"]):
    def record(self, lab_id: int, act: str, subject: str, *, actor: str = "system", **detail: Any) -> "AuditEvent":
        """Write an act down. Long names are cut: the trail must not stop what it tells of."""
        return self.create(lab_id=lab_id, act=act[:60], subject=subject[:200], who=actor[:200], detail=detail)

    def record_repeated(self, lab_id: int, act: str, subject: str, *, actor: str, **detail: Any) -> None:
        """Write down what others can make happen as often as they like: one row for each act, author and day, which counts.

        `detail` is of the first time.
        """
        day = timezone.localdate().isoformat()
        key = hashlib.sha256("\0".join(["counted", str(lab_id), act, actor, day]).encode()).hexdigest()
        row = AuditEvent(
            lab_id=lab_id, act=act[:60], subject=subject[:200], who=actor[:200], summary_key=key,
            detail={**detail, "day": day, "times": 0},
        )  # fmt: skip
        with transaction.atomic():
            self.bulk_create([row], ignore_conflicts=True)  # two at the same moment make one
            event = self.select_for_update().get(summary_key=key)
            event.detail["times"] += 1
            event.at = timezone.now()
            event.save(update_fields=["at", "detail"])


class AuditEvent(LabScoped):
    """Who did what when, for acts that matter to safety. Rows are only ever added."""

    at = models.DateTimeField(auto_now_add=True)
    who = models.CharField(max_length=200)
    act = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)

    # Failed sign-ins of one person from one network on one day are one row that counts, and so are repeated acts of one host: this is what
    # finds it again.
    summary_key = models.CharField(max_length=64, null=True, blank=True, unique=True, editable=False)

    objects: ClassVar[Any] = LabManager.from_queryset(AuditQuerySet)()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["lab", "-at", "-id"], name="audit_newest_first")]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"


class AttemptCount(models.Model):
    """How often something was tried under one key (a keyed hash), and when it may be tried again: `apps.labs.throttle`. It belongs to no lab."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()
    wait_until = models.DateTimeField(null=True, blank=True)
    succeeded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["count", "last_at"], name="attempts_to_forget")]

    def __str__(self) -> str:
        return f"{self.count} of {self.key[:8]}"


class FormSubmission(LabScoped):
    """Something that was sent and done; the same, sent again, is led or answered as the first time.

    A double click sends a form twice, and so does a browser that reloads the answer (`apps.labs.services.submit_once`).
    A script sends a request again when it has not heard the answer (`answer_once`).
    """

    key = models.CharField(
        max_length=64,
        help_text="SHA-256 of the form's own key and everything that was typed; of a script's name and its key",
    )
    address = models.CharField(max_length=300, help_text="where the first sending led")
    request_sha256 = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="of a script's request: its address and body"
    )
    status = models.PositiveSmallIntegerField(null=True, help_text="of the answer to a script; null for a form")
    answer = models.TextField(blank=True, default="", db_default="", help_text="the body of that answer")
    headers = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        help_text="of that answer, those that are given again",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "key"], name="submitted_once")]
        indexes = [models.Index(fields=["lab", "created_at"], name="submissions_to_forget")]

    def __str__(self) -> str:
        return self.address


class LinkState(models.TextChoices):
    OPEN = "open", "open"
    ACCEPTED = "accepted", "accepted"
    DECLINED = "declined", "declined"
    REVOKED = "revoked", "revoked"


class LinkQuerySet(LabQuerySet[Any]):
    def in_force(self) -> "LinkQuerySet":
        """Return the links that may still be used: open, and not past their last day."""
        return self.filter(state=LinkState.OPEN, expires_at__gt=timezone.now())

    def find(self, sha256: str) -> Any:
        """Return the link with this hash in whatever state, or None. Secrets are 256 random bits, so a look-up by hash leaks nothing by time."""
        return self.select_related("lab", "created_by_user").filter(secret_sha256=sha256).first()

    def end(self, pk: int, state: str, **fields: Any) -> bool:
        """End a link that is in force. Return False when somebody else was first: of two at the same moment one gets True."""
        return bool(self.in_force().filter(pk=pk).update(state=state, ended_at=timezone.now(), **fields))


class OneUseLink(LabScoped):
    """A link that works once, for some days, while whoever made it still may. Only the hash of its secret is kept."""

    secret_sha256 = models.CharField(max_length=64, unique=True)
    by_mail = models.BooleanField(
        default=False, help_text="It went to the mailbox of its address and was shown to nobody else."
    )
    created_by = models.CharField(max_length=200)
    created_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    created_by_token = models.ForeignKey(Token, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=LinkState.choices, default=LinkState.OPEN)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[Any] = LabManager.from_queryset(LinkQuerySet)()

    class Meta:
        abstract = True

    @property
    def is_in_force(self) -> bool:
        return self.state == LinkState.OPEN and self.expires_at > timezone.now()

    @property
    def is_expired(self) -> bool:
        return self.state == LinkState.OPEN and self.expires_at <= timezone.now()


class Invitation(OneUseLink):
    """An offer of a role in a lab to whoever holds the link, or to an account that has proved the address."""

    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Role.choices)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "email"], condition=models.Q(state="open"), name="one_open_invitation_per_address"
            )
        ]

    def __str__(self) -> str:
        return f"{self.email} ({self.role})"


class Renewal(OneUseLink):
    """A link by which a member of a lab sets a new password."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "user"], condition=models.Q(state="open"), name="one_open_renewal_per_member"
            )
        ]

    def __str__(self) -> str:
        return str(self.user)
