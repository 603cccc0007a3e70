"""The lab and the people of `tests/conftest.py`, made with few statements."""

from apps.labs.models import Lab, Member, Role, User
from tests.conftest import PASSWORD, Cast

ROLES = {"owner": Role.OWNER, "engineer": Role.ENGINEER, "viewer": Role.VIEWER, "stranger": Role.OWNER}


def make_cast() -> Cast:
    """Make an owner, an engineer and a viewer of one lab, and a stranger who owns another one."""
    lab, other = Lab.objects.bulk_create(
        [Lab(name="Storage lab", slug="storage-lab"), Lab(name="Other lab", slug="other-lab")]
    )
    people = {name: User(email=f"{name}@example.org") for name in ROLES}
    for user in people.values():
        user.set_password(PASSWORD)
    User.objects.bulk_create(people.values())
    Member.objects.bulk_create(
        Member(lab=other if name == "stranger" else lab, user=user, role=ROLES[name]) for name, user in people.items()
    )
    return Cast(lab, other, **people)
