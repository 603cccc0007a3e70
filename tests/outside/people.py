"""People of labs, made in the one place that knows how: the tests beside it only ask for them."""

import json
import uuid
from dataclasses import dataclass

from tests.outside.product import Client, Product

PASSWORD = "four plain words together"
MAKE = """
import json
from apps.labs.models import Lab, Member, User
for person in json.loads({wanted!r}):
    user, _ = User.objects.get_or_create(email=person["email"])
    user.set_password(person["password"])
    user.save()
    for slug, role in person["labs"].items():
        lab, _ = Lab.objects.get_or_create(slug=slug, defaults={{"name": slug}})
        Member.objects.get_or_create(lab=lab, user=user, defaults={{"role": role}})
"""


@dataclass(frozen=True)
class Person:
    """Somebody with an account, and how they sign in."""

    product: Product
    email: str
    password: str

    def browser(self, **headers: str) -> Client:
        """Return a fresh browser in which this person is signed in."""
        client = self.product.client(**headers)
        answer = client.sign_in(self.email, self.password)
        assert answer.status == 302, (answer.status, main_text(answer.text))
        return client


def make_people(product: Product, *labs: dict[str, str]) -> list[Person]:
    """Make one person for each mapping of a lab's short name to a role; labs that are not there are made too."""
    people = [Person(product, f"{uuid.uuid4().hex[:10]}@people.example", PASSWORD) for _ in labs]
    wanted = [
        {"email": one.email, "password": one.password, "labs": where} for one, where in zip(people, labs, strict=True)
    ]
    product.manage("shell", "-c", MAKE.format(wanted=json.dumps(wanted)))
    return people


def new_lab() -> str:
    """Return a lab's short name that nobody has used."""
    return f"lab-{uuid.uuid4().hex[:8]}"


def main_text(page: str) -> str:
    """Return what stands in the middle of a page."""
    return page.split("<main", 1)[-1].split("</main", 1)[0]
