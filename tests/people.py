"""The people of nearly every test: an owner, an engineer and a viewer of one lab, and a stranger who owns another one."""

from dataclasses import dataclass
from functools import cache

from django.contrib.auth.hashers import make_password

from apps.labs.models import Lab, Member, Role, User

PASSWORD = "correct horse battery"
ROLES = {"owner": Role.OWNER, "engineer": Role.ENGINEER, "viewer": Role.VIEWER, "stranger": Role.OWNER}


@dataclass
class Cast:
    lab: Lab
    other_lab: Lab
    owner: User
    engineer: User
    viewer: User
    stranger: User


@cache
def hashed_password() -> str:
    return make_password(PASSWORD)


def make_cast() -> Cast:
    """Make both labs and the people in three statements."""
    lab, other = Lab.objects.bulk_create(
        [Lab(name="Storage lab", slug="storage-lab"), Lab(name="Other lab", slug="other-lab")]
    )
    people = {name: User(email=f"{name}@example.org", password=hashed_password()) for name in ROLES}
    User.objects.bulk_create(people.values())
    Member.objects.bulk_create(
        Member(lab=other if name == "stranger" else lab, user=user, role=ROLES[name]) for name, user in people.items()
    )
    return Cast(lab, other, **people)
