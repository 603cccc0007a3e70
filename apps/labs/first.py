"""The first lab and its owner, made once; the password is returned once and kept only as a hash."""

import secrets
from dataclasses import dataclass

from django.db import transaction

from apps.labs.models import Lab, Member, Role, User

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that are mistaken for each other when copied by hand


@dataclass(frozen=True)
class FirstLab:
    lab: Lab
    email: str
    password: str | None  # None when the lab was here already


def new_password() -> str:
    """80 bits in groups of four letters."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(4))


@transaction.atomic
def first_lab(email: str = "owner@spindle.local", name: str = "My lab") -> FirstLab:
    lab = Lab.objects.filter(is_published=False).order_by("id").first()
    if lab:
        owner = Member.objects.filter(lab=lab, role=Role.OWNER).select_related("user").first()
        return FirstLab(lab, owner.user.email if owner else "", None)
    password = new_password()
    lab = Lab.objects.create(name=name, slug="my-lab")
    user = User.objects.create_user(email, password)
    Member.objects.create(lab=lab, user=user, role=Role.OWNER)
    return FirstLab(lab, email, password)
