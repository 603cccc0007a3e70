"""A host's page: it asks as often however large the host is, stays light, and says what it knows in full."""

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.inventory.discovery.receive import receive
from apps.inventory.models import Array, ArrayMember, Controller, Disk, Host
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.conftest import Cast
from tests.dashboard import world
from tests.inventory import plants
from tests.inventory.hosts import output
from tests.page_text import page_text

SignIn = Callable[[str], Client]


def asked(client: Client, address: str) -> int:
    """Return how many statements a page takes the second time, when the session has its own rows."""
    client.get(address)
    return asked_now(client, address)


def asked_now(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.slow
def test_a_host_of_a_hundred_arrays_asks_as_often_as_a_small_one(lab: Lab, sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    small, big = plants.large(lab, 20, 2, name="small"), plants.large(lab)
    assert Disk.objects.filter(host=big).count() == 1000
    for route in ("host", "host-drawing", "host-drawing-file", "api-host-topology", "api-host-findings"):
        few = asked(viewer, reverse(route, args=[small.pk]))
        assert asked_now(viewer, reverse(route, args=[big.pk])) == few, route
        assert few <= 40, route


@pytest.mark.slow
def test_the_page_of_a_thousand_disks_is_light_and_leaves_none_out(lab: Lab, sign_in: SignIn) -> None:
    host = plants.large(lab)
    page = sign_in("viewer").get(host.get_absolute_url()).content.decode()
    assert len(page) < 400_000
    assert page.count('href="/disks/') >= 1000
    assert page.count('href="/arrays/') >= 100
    assert page.count("<details") >= 10  # folded until somebody looks
    assert "1–15 of 100" in page
    assert "100 × RAID 6" in page


def test_targets_are_paged_with_both_ceilings_and_what_decides_them(lab: Lab, sign_in: SignIn) -> None:
    host = plants.large(lab)
    viewer = sign_in("viewer")
    second = viewer.get(host.get_absolute_url(), {"targets": "2"})
    assert [len(second.context["ceilings"]), second.context["targets"].number] == [15, 2]
    target, ceiling = second.context["ceilings"][0]
    assert (ceiling.read.value, ceiling.write.value, ceiling.read.decides.name) == (6e9, 4.8e9, "disk links")
    text = second.content.decode()
    assert f'href="/targets/{target.pk}/"' in text
    assert "10 × 600\u00a0MB/s SAS-6G lanes = 6\u202f000\u00a0MB/s" in text


def test_nothing_known_yet_says_what_comes(lab: Lab, sign_in: SignIn) -> None:
    host = Host.objects.create(lab=lab, name="bare")
    page = sign_in("viewer").get(host.get_absolute_url()).content.decode()
    assert "Nothing known yet" in page
    assert "This host has no targets yet." in page
    assert '<div class="empty">No findings</div>' in page


def test_what_is_not_printed_unknown_and_none_stay_apart(lab: Lab, sign_in: SignIn) -> None:
    absent = {"board": "not_printed", "hypervisor": "none"}
    host = Host.objects.create(lab=lab, name="bare", absent=absent, ram_bytes=2**30)
    page = sign_in("viewer").get(host.get_absolute_url()).content.decode()
    facts = page[page.index("facts-title") : page.index('id="drawing"')]
    assert ">not reported</span>: board<" in facts
    assert ">none</span>: hypervisor<" in facts
    assert "1\u00a0GiB" in facts


def test_findings_stand_on_the_host_the_array_and_a_page_of_the_lab(lab: Lab, sign_in: SignIn) -> None:
    host = plants.thumper(lab)
    viewer = sign_in("viewer")
    line = "sdp is a member of md1 (round ext3) and of md4 (round ext3)"
    md4, md3 = Array.objects.get(name="md4"), Array.objects.get(name="md3")
    for address in (host.get_absolute_url(), reverse("array", args=[md4.pk]), reverse("findings")):
        page = viewer.get(address).content.decode()
        assert line in page, address
        assert f'href="/arrays/{md4.pk}/"' in page
    assert line not in viewer.get(reverse("array", args=[md3.pk])).content.decode()


def test_the_start_page_gets_the_most_serious_first(lab: Lab, sign_in: SignIn) -> None:
    plants.thumper(lab)
    world.raid_host(lab, "storage1")
    viewer = sign_in("viewer")
    assert "/findings/?short=1" in viewer.get(reverse("overview")).content.decode()
    short = viewer.get(reverse("findings"), {"short": "1"})
    assert [one.severity for _, one in short.context["first"]][:2] == ["serious", "serious"]
    assert "<html" not in short.content.decode()


def test_findings_of_many_hosts_cost_as_many_queries_as_of_one(lab: Lab, sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    world.raid_host(lab, "storage0")
    one = asked(viewer, reverse("findings"))
    for n in range(1, 6):
        world.raid_host(lab, f"storage{n}")
    assert asked(viewer, reverse("findings")) == one


def test_another_labs_hosts_are_not_among_the_findings(cast: Cast, sign_in: SignIn) -> None:
    with lab_scope(cast.other_lab.pk):
        plants.thumper(cast.other_lab)
    page = sign_in("viewer").get(reverse("findings")).content.decode()
    assert "sdp" not in page
    assert "No hosts yet" in page


def test_the_tree_names_a_disks_place_and_puts_a_card_under_its_hba(lab: Lab, sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    page = viewer.get(plants.thumper(lab).get_absolute_url()).content.decode()
    tree = page[page.index('<ul class="tree">') :]
    assert "slot c1d0" in tree
    assert "slots c4d0" not in tree
    assert 'in <a href="/arrays/' in tree
    page = viewer.get(plants.crs4(lab).get_absolute_url()).content.decode()
    tree = page[page.index('<ul class="tree">') :]
    assert tree.index("AIC-7902") < tree.index("<ul>") < tree.index("2010S") < tree.index("2 × Seagate")


def test_wrong_inventory_does_not_break_the_page(lab: Lab, sign_in: SignIn) -> None:
    host = plants.thumper(lab)
    md5, md2 = Array.objects.get(name="md5"), Array.objects.get(name="md2")
    ArrayMember.objects.create(array=md2, position=9, member_array=md5)
    one, other = Controller.objects.filter(host=host)[:2]
    Controller.objects.filter(pk=one.pk).update(sits_on=other)
    Controller.objects.filter(pk=other.pk).update(sits_on=one)
    below: Array = plants.array(host, "v0", "linear", [Disk.objects.get(device_name="sda")])
    for depth in range(1, 60):
        below = plants.array(host, f"v{depth}", "linear", [below])
    page = sign_in("viewer").get(host.get_absolute_url())
    assert page.status_code == 200
    text = page.content.decode()
    assert "Circular array definition" in text
    assert "circular array definition" in text
    assert "v59" in text


def test_of_each_tool_it_says_whether_it_was_read_and_why_not(lab: Lab, sign_in: SignIn) -> None:
    host = plants.large(lab, 1, 2)
    refused = output("tune2fs", "", 1, "tune2fs: Permission denied while trying to open /dev/sda1")
    receive(host, [output("mdstat", "", 1), output("os-release", 'NAME="x"\n'), refused, output("zpool", "", 127)])
    page = " ".join(page_text(sign_in("viewer").get(host.get_absolute_url()).content.decode()).split())
    told = re.findall(r"UTC\s?[01](nothing to read|yes|not read [^;]+; it said: .*?sda1)", page)
    assert told[:2] == ["nothing to read", "yes"]
    assert told[2].startswith("not read tune2fs needs root")
    assert "Not installed there: zpool." in page
