"""Tenancy: labs, their members and tokens, and the trail of what was done."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from functools import cache
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import connection, models
from django.utils import timezone

from apps.labs.isolation import LabManager, LabQuerySet, LabScoped
from apps.lib.sql import one_row, rows

# With the labs that the person may read: those that the person belongs to, and published ones, which come last.
PERSON = """
SELECT {columns}
FROM labs_user person
{labs}
WHERE person.id = %(pk)s {order}"""
LABS_OF_PERSON = """
LEFT JOIN labs_lab lab
    ON person.id IS NOT NULL AND (lab.is_published OR lab.id IN (SELECT lab_id FROM labs_member WHERE user_id = person.id))
LEFT JOIN labs_member member ON member.lab_id = lab.id AND member.user_id = person.id"""
IN_ORDER = "ORDER BY lab.is_published, member.id"
Rows = list[tuple[Any, ...]]
_read_ahead: ContextVar[tuple[int, Rows] | None] = ContextVar("a person's number, and rows of PERSON", default=None)


@cache
def person_columns() -> tuple[list[str], str]:
    """The person's columns, and all that a statement selects of `person`, `lab` and `member` (LABS_OF_PERSON)."""
    names = [field.attname for field in User._meta.concrete_fields]
    columns = (
        [f"person.{name}" for name in names] + [f"lab.{name}" for name in LAB_FIELDS] + ["member.id", "member.role"]
    )
    return names, ", ".join(columns)


@cache
def _person() -> str:
    return PERSON.format(columns=person_columns()[1], labs=LABS_OF_PERSON, order=IN_ORDER)


@contextmanager
def person_read(found: tuple[int, Rows] | None) -> Iterator[None]:
    """Inside, `User.objects.get(pk=…)` of this number takes these rows, which another statement of the same request has just read."""
    token = _read_ahead.set(found)
    try:
        yield
    finally:
        _read_ahead.reset(token)


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get(self, *args: Any, **wanted: Any) -> "User":
        """Every page of a signed-in person begins with Django asking for one by `pk` alone: a statement that is planned once."""
        pk = wanted.get("pk")
        if args or len(wanted) > 1 or not isinstance(pk, int):
            return super().get(*args, **wanted)
        names = person_columns()[0]
        ahead = _read_ahead.get()
        found = ahead[1] if ahead and ahead[0] == pk else rows(_person(), {"pk": pk})
        if not found:
            raise self.model.DoesNotExist(f"There is no user {pk}.")
        person = self.model.from_db(connection.alias, names, found[0][: len(names)])
        person.labs_read = [row[len(names) :] for row in found]
        return person


class User(AbstractUser):
    """A person, known by e-mail address."""

    username = None  # type: ignore[assignment]
    email = models.EmailField(unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = []

    labs_read: Rows  # of one found by `pk`: LAB_FIELDS of each lab, then the number and role of the membership, if any

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


class Member(models.Model):
    """A person's role in a lab."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "user"], name="one_membership_per_lab")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    def covers(self, needed: str) -> bool:
        return Role(self.role).covers(needed)


class Scope(models.TextChoices):
    READ = "read", "read"
    UPLOAD = "upload", "upload"
    RUN = "run", "run"
    ADMIN = "admin", "admin"


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


# Every request of a script begins with this one.
TOKEN_FIELDS = [
    "id",
    "lab_id",
    "name",
    "scope",
    "secret_sha256",
    "created_at",
    "expires_at",
    "last_used_at",
    "revoked_at",
]
LAB_FIELDS = ["id", "name", "slug", "is_published", "created_at"]
LIVING = """
SELECT {fields} FROM labs_token token JOIN labs_lab lab ON lab.id = token.lab_id
WHERE token.secret_sha256 = %(sha256)s AND token.revoked_at IS NULL
"""


class TokenQuerySet(LabQuerySet["Token"]):
    def find(self, secret: str) -> "Token | None":
        """The living token for this secret, in any lab. Secrets are 256 random bits, so a look-up by hash leaks nothing by time."""
        fields = [f"token.{name}" for name in TOKEN_FIELDS] + [f"lab.{name}" for name in LAB_FIELDS]
        row = one_row(LIVING.format(fields=", ".join(fields)), {"sha256": digest(secret)})
        if row is None:
            return None
        known = len(TOKEN_FIELDS)
        token: Token = Token.from_db(connection.alias, TOKEN_FIELDS, row[:known])
        token.lab = Lab.from_db(connection.alias, LAB_FIELDS, row[known:])
        return None if token.is_expired else token

    def issue(self, lab: Lab, scope: str, name: str, days: int | None = None) -> tuple["Token", str]:
        """A new token and its secret, which is shown once and kept only as a hash."""
        secret = f"spl_{secrets.token_urlsafe(32)}"
        expires = timezone.now() + timedelta(days=days) if days else None
        token = self.create(lab=lab, scope=scope, name=name, secret_sha256=digest(secret), expires_at=expires)
        return token, secret


class Token(LabScoped):
    """A lab's key for scripts and wikis, of one scope."""

    name = models.CharField(max_length=120)
    scope = models.CharField(max_length=10, choices=Scope.choices)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[Any] = LabManager.from_queryset(TokenQuerySet)()

    def __str__(self) -> str:
        return f"{self.name} ({self.scope})"

    @property
    def is_expired(self) -> bool:
        return bool(self.expires_at and self.expires_at < timezone.now())

    def allows(self, needed: str) -> bool:
        """`admin` covers all; `run` and `upload` also read; `read` only reads."""
        return needed == self.scope or self.scope == Scope.ADMIN or needed == Scope.READ


class AuditQuerySet(LabQuerySet["AuditEvent"]):
    def record(self, lab_id: int, act: str, subject: str, *, who: str = "system", **detail: Any) -> "AuditEvent":
        return self.create(lab_id=lab_id, act=act, subject=subject, who=who, detail=detail)


class AuditEvent(LabScoped):
    """Who did what when, for acts that matter to safety. Rows are only ever added."""

    at = models.DateTimeField(auto_now_add=True)
    who = models.CharField(max_length=200)
    act = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)

    objects: ClassVar[Any] = LabManager.from_queryset(AuditQuerySet)()

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"
