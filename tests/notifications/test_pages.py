"""The page of destinations shows what belongs to the own lab and nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.notifications.models import Delivery, Destination
from tests.conftest import Cast
from tests.trends.nights import destination

SignIn = Callable[[str], Client]


@pytest.fixture
def published_lab(cast: Cast) -> Lab:
    """A lab that everybody may read, with a destination and a delivery of its own."""
    Lab.objects.filter(pk=cast.other_lab.pk).update(is_published=True)
    with lab_scope(cast.other_lab.pk):
        other = destination(cast.other_lab, address="secret@other.example", name="theirs")
        Delivery.objects.create(lab=cast.other_lab, destination=other, payload={"event": "test", "text": "theirs"})
    return cast.other_lab


def test_destinations_and_deliveries_of_a_published_lab_are_not_shown(
    cast: Cast, published_lab: Lab, sign_in: SignIn
) -> None:
    with lab_scope(cast.lab.pk):
        own = destination(cast.lab)
        delivery = Delivery.objects.create(lab=cast.lab, destination=own, payload={"event": "test", "text": "own"})
    page = sign_in("owner").get("/trends/destinations/")
    assert list(page.context["destinations"]) == [own]
    assert list(page.context["deliveries"]) == [delivery]
    assert "secret@other.example" not in page.content.decode()
    assert "theirs" not in page.content.decode()


@pytest.mark.parametrize("act", ["test", "switch", "delete"])
def test_a_published_labs_destination_is_not_there_for_others(published_lab: Lab, sign_in: SignIn, act: str) -> None:
    with lab_scope(published_lab.pk):
        other = Destination.objects.get()
        delivery = Delivery.objects.get()
        Delivery.objects.update(state="dead")
    client = sign_in("owner")
    assert client.post(f"/trends/destinations/{other.pk}/{act}/").status_code == 404
    assert client.post(f"/trends/deliveries/{delivery.pk}/again/").status_code == 404
    with lab_scope(published_lab.pk):
        assert Destination.objects.get().is_active
        assert Delivery.objects.get().state == "dead"
        assert Delivery.objects.count() == 1


def test_what_an_owner_does_with_destinations_is_in_the_audit_trail(
    cast: Cast, sign_in: SignIn, published: list[Any]
) -> None:
    client = sign_in("owner")
    client.post("/trends/destinations/", {"kind": "email", "name": "team", "address": "team@example.org"})
    with lab_scope(cast.lab.pk):
        key = Destination.objects.get().pk
    for act in ("test", "switch", "switch", "delete"):
        client.post(f"/trends/destinations/{key}/{act}/")
    with lab_scope(cast.lab.pk):
        acts = list(AuditEvent.objects.filter(lab=cast.lab).order_by("id").values_list("act", flat=True))
    assert acts == [
        "destination made",
        "message sent by hand",
        "destination switched off",
        "destination switched on",
        "destination deleted",
    ]
