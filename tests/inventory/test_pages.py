"""The inventory's lists and pages: finding parts, and reading each field for what it is."""

import pytest
from django.urls import reverse

from apps.inventory.descriptions import described
from apps.inventory.models import Controller, Disk, Host
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.dashboard import world
from tests.sampling import for_each

pytestmark = pytest.mark.django_db


@pytest.mark.slow
@for_each("kind, word, found", [
        ("hosts", "EPYC", 1), ("hosts", "sparc", 0), ("disks", "st4000", 8), ("disks", "nvme", 1), ("arrays", "md1", 2),
        ("controllers", "SAS3008", 2), ("filesystems", "xfs", 1), ("targets", "/srv/data", 1),
    ], taken_back=True)  # fmt: skip
def test_parts_are_found_by_a_word_in_any_field(lab, sign_in, kind, word, found):
    world.raid_host(lab, "storage1")
    answer = sign_in("viewer").get(reverse(kind), {"q": word}, headers={"HX-Request": "true"})
    assert answer.context["page"].paginator.count == found
    assert "<html" not in answer.content.decode()


def test_the_labs_own_parts_come_before_published_ones(cast, sign_in):
    published = Lab.objects.create(name="Reports", slug="reports", is_published=True)
    for where, name in ((published, "aaa"), (cast.lab, "zzz")):
        with lab_scope(where.pk):
            Host.objects.create(lab=where, name=name)
    names = [host.name for host in sign_in("viewer").get(reverse("hosts")).context["page"]]
    assert names == ["zzz", "aaa"]


def test_an_empty_list_says_how_it_fills(cast, sign_in):
    assert "one line to paste" in sign_in("owner").get(reverse("disks")).content.decode()
    assert "Ask an owner" in sign_in("viewer").get(reverse("disks")).content.decode()


def test_a_field_says_its_unit_its_source_and_why_it_is_empty(lab):
    host = Host(lab=lab, name="a", ram_bytes=2**30, sources={"ram_bytes": "inferred"}, absent={"board": "not_printed"})
    ram, board, kernel = described(host, "ram_bytes", "board", "kernel")
    assert (ram.value, ram.unit, ram.source, ram.absence) == (2**30, "B", "inferred", "")
    assert (board.value, board.absence_label) == (None, "not reported")
    assert kernel.absence_label == "unknown"


def test_no_and_zero_are_values_and_not_absent(lab):
    disk = Disk(lab=lab, is_solid_state=False, slot_number=0)
    solid, slot = described(disk, "is_solid_state", "slot_number")
    assert (solid.value, slot.value) == ("no", 0)
    assert not solid.absence
    assert not slot.absence


def test_what_a_person_typed_is_never_markup(lab, sign_in):
    host = Host.objects.create(lab=lab, name="<script>alert(1)</script>", notes="<b>x</b>", labels={"<i>": "<u>"})
    Controller.objects.create(lab=lab, host=host, name="<img src=x>")
    page = sign_in("viewer").get(host.get_absolute_url()).content.decode()
    for tag in ("<script>alert", "<b>x", "<i>", "<u>", "<img"):
        assert tag not in page


def test_a_list_has_the_filters_of_rest(lab, sign_in):
    world.raid_host(lab, "storage1")
    world.raid_host(lab, "storage2")
    viewer = sign_in("viewer")
    answer = viewer.get(reverse("disks"), {"host": "storage1", "interface": "SAS"})
    with lab_scope(lab.pk):
        expected = Disk.objects.filter(host__name="storage1", interface="SAS").count()
    assert answer.context["page"].paginator.count == expected > 0
    text = answer.content.decode()
    assert 'aria-label="Remove the filter host: storage1"' in text
    assert '<option value="SAS" selected>' in text
    assert '<input type="hidden" name="host" value="storage1">' in text  # a word that is typed keeps it
    refused = viewer.get(reverse("disks"), {"interface": "pigeon"})
    assert refused.context["page"].paginator.count == 0
    assert "found “pigeon”" in refused.content.decode()


def test_a_filtered_list_is_exported_and_edited_as_it_is_shown(lab, sign_in):
    world.raid_host(lab, "storage1")
    world.raid_host(lab, "storage2")
    engineer = sign_in("engineer")
    written = engineer.get(reverse("inventory-export"), {"of": "disks", "format": "csv", "host": "storage1"})
    rows = b"".join(written.streaming_content).decode().splitlines()[1:]
    with lab_scope(lab.pk):
        own = Disk.objects.filter(host__name="storage1").count()
    assert len(rows) == own
    assert not any("storage2" in row for row in rows)
    many = engineer.get(reverse("inventory-edit-many", args=["disks"]), {"all": "1", "host": "storage1"})
    assert len(many.context["ids"]) == own


def test_a_page_shows_every_field_that_can_be_edited(lab, sign_in):
    """A list of fields that is typed a second time forgets some: an array's page forgot its policies."""
    host = world.raid_host(lab, "storage1")
    with lab_scope(lab.pk):
        array = host.arrays.first()
        array.write_policy, array.read_policy = "write-back", "read-ahead"
        array.save()
    text = sign_in("viewer").get(reverse("array", args=[array.pk])).content.decode()
    assert "write-back" in text
    assert "read-ahead" in text
