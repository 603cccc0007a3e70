"""NICs, switches, cables and storage paths: in the topology, in snapshots, in ceilings, and on pages."""

import json
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.api.resources.topology import TopologySerializer
from apps.core.quantities import written
from apps.inventory.ceilings.ceiling import Bound, ceiling_of
from apps.inventory.ceilings.current import ceiling_now, ceilings_in
from apps.inventory.models import Array, Disk, Host, NetworkLink, Nic, PathSection, StoragePath, Switch, Target
from apps.inventory.snapshots.content import canonical, content_in, content_of, freeze
from apps.inventory.topology.host_parts import parts_of
from apps.inventory.topology.tree import topology
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.conftest import Cast
from tests.inventory import plants

MB = 1e6


@pytest.fixture
def infn(lab: Lab) -> Host:
    return plants.infn(lab)


def target(name: str) -> Target:
    found: Target = Target.objects.get(name=name)
    return found


def plain(bound: Bound) -> dict[str, str]:
    return {part.name: written(part.arithmetic).replace("\u202f", " ").replace("\u00a0", " ") for part in bound.parts}


def bounds(name: str) -> dict[str, str]:
    found = ceiling_now(target(name))
    assert found
    return plain(found.read)


def test_infns_san_is_bounded_by_its_sections_and_links_that_stand_by_are_not_counted(infn: Host) -> None:
    assert bounds("san") == {
        "server – T2000": "4 × 200 MB/s FC-2G = 800 MB/s",
        "T2000 – JBODs": "4 × 200 MB/s FC-2G = 800 MB/s",
    }
    PathSection.objects.filter(position=1).update(count=2, standby_count=1)
    found = ceiling_now(target("san"))
    assert found
    assert found.read.decides
    assert (found.read.value, found.read.decides.name) == (200 * MB, "T2000 – JBODs")
    assert found.read.decides.why == "1 more only stands by."


def test_what_is_printed_counts_only_where_the_links_are_not_known(infn: Host) -> None:
    """The author prints 1 GB/s for four channels; FC-2G carries 200 MB/s each after its coding."""
    first = PathSection.objects.filter(position=0)
    found = ceiling_now(target("san"))
    assert found
    assert "Printed is 1\u202f000\u00a0MB/s" in next(
        written(p.why) for p in found.read.parts if p.name == "server – T2000"
    )
    first.update(link="")
    assert bounds("san")["server – T2000"] == "1 000 MB/s as printed"
    first.update(bytes_per_second=None)
    found = ceiling_now(target("san"))
    assert found
    assert "what server – T2000 carries" in found.unknown


def test_two_paths_stand_side_by_side_each_as_wide_as_its_narrowest_section(infn: Host) -> None:
    second = StoragePath.objects.create(lab=infn.lab, host=infn, name="SAN B", array=Array.objects.get())
    PathSection.objects.create(path=second, position=0, name="server – B", count=2, link="FC-4G")
    assert bounds("san") == {"storage paths": "800 MB/s (server – T2000) + 800 MB/s (server – B) = 1 600 MB/s"}


def test_a_path_bounds_only_what_lies_behind_it(infn: Host) -> None:
    local = Disk.objects.create(lab=infn.lab, host=infn, device_name="sda", interface="SATA", generation="SATA-3G")
    Target.objects.create(lab=infn.lab, host=infn, name="local", disk=local)
    assert set(bounds("local")) == {"disk links"}
    StoragePath.objects.update(array=None)
    assert set(bounds("local")) == {"disk links"}  # the path ends at a controller that this disk is not on
    assert len(bounds("san")) == 2


def test_labels_still_work_beside_the_path(infn: Host) -> None:
    Target.objects.filter(name="san").update(labels={"path to the shelf": "2 × FC-2G"})
    assert bounds("san")["path to the shelf"] == "2 × 200 MB/s FC-2G = 400 MB/s"


def test_a_network_target_is_bounded_by_every_cable_to_its_peer(infn: Host) -> None:
    assert bounds("to server1") == {
        "network interface myri0": "1 × 10 Gb/s ÷ 8 = 1 250 MB/s",
        "cable myri0 to server1 myri0": "1 × 10 Gb/s ÷ 8 = 1 250 MB/s",
        "interface at the other end, server1 myri0": "1 × 10 Gb/s ÷ 8 = 1 250 MB/s",
    }
    assert bounds("to the farm") == {
        "network interface myri1": "1 × 10 Gb/s ÷ 8 = 1 250 MB/s",
        "cable myri1 to switch A": "1 × 10 Gb/s ÷ 8 = 1 250 MB/s",
        "cable switch A to switch B": "1 × 10 Gb/s ÷ 8 = 1 250 MB/s",
        "cable switch B to worker-nodes eth0": "48 × 1 Gb/s ÷ 8 = 6 000 MB/s",
        "interface at the other end, worker-nodes eth0": "48 × 1 Gb/s ÷ 8 = 6 000 MB/s",
    }
    found = ceiling_now(target("to the farm"))
    assert found
    assert found.network.value == 1250 * MB
    assert found.unknown == ()


def test_an_interface_without_rate_or_cable_is_named_as_unknown(infn: Host) -> None:
    NetworkLink.objects.all().delete()
    Nic.objects.update(bits_per_second=None)
    found = ceiling_now(target("to server1"))
    assert found
    assert found.read.value is None
    assert {"which cables lead to the other end", "how fast the network is"} <= set(found.unknown)


def test_media_rates_and_channels_are_read_from_their_fields(lab: Lab) -> None:
    plants.crs4(lab)
    assert bounds("raid0") == {"disk links": "1 × 320 MB/s U320 channel shared by 2 disks = 320 MB/s"}
    Disk.objects.update(media_bytes_per_second=70 * 10**6)
    assert bounds("raid0")["media"] == "2 × 70 MB/s media = 140 MB/s"


def test_a_link_that_runs_slower_than_its_disk_could_sets_the_bound(lab: Lab) -> None:
    plants.dtn(lab)
    assert bounds("vd-data")["disk links"] == "12 × 600 MB/s SAS-6G lanes = 7 200 MB/s"
    Disk.objects.update(link_generation="SAS-3G")
    assert bounds("vd-data")["disk links"] == "12 × 300 MB/s SAS-3G lanes = 3 600 MB/s"


def test_snapshots_hold_the_way_and_no_ids(infn: Host) -> None:
    content = content_of(target("to the farm"))
    assert [cable.get("to") for cable in content["network"]["way"]] == ["switch A", "switch B", "worker-nodes eth0"]
    assert content["network"]["way"][2]["nic"]["count"] == 48
    assert content["network"]["nic"]["mtu"] == 1500
    frozen = freeze(target("san"))
    assert frozen.content["storage_paths"][0]["sections"][1] == {
        "name": "T2000 – JBODs", "kind": "fc", "link": "FC-2G", "count": 8, "standby_count": 4,
    }  # fmt: skip
    assert ceiling_of(frozen.content).read.value == 800 * MB
    assert '"id"' not in json.dumps(frozen.content)


def test_without_such_parts_the_content_is_as_it_ever_was(lab: Lab) -> None:
    """Byte for byte, so that runs go on sharing the snapshots of before."""
    host = plants.dtn(lab)
    content = content_of(target("vd-data"))
    assert set(content) == {"format", "target", "host", "filesystem", "storage"}
    Nic.objects.create(lab=lab, host=host, name="eth0", bits_per_second=10**10)
    assert canonical(content_of(target("vd-data"))) == canonical(content)


def test_the_same_content_comes_from_parts_that_are_already_read(lab: Lab, infn: Host) -> None:
    hosts = [infn, plants.thumper(lab), plants.dtn(lab), plants.crs4(lab)]
    every = parts_of(hosts)
    with CaptureQueriesContext(connection) as captured:
        found = {one.pk: content_in(every[host.pk], one) for host in hosts for one in every[host.pk].targets}
        ceilings = [c for host in hosts for _, c in ceilings_in(every[host.pk], every[host.pk].targets)]
    assert len(captured) == 0
    assert len(found) == 9
    assert all(ceilings)
    for pk, content in found.items():
        assert canonical(content) == canonical(content_of(Target.objects.get(pk=pk)))


def test_topology_gives_the_network_the_paths_and_the_findings(
    infn: Host, client: Client, token: Callable[[str], str]
) -> None:
    address = f"/api/v1/hosts/{infn.pk}/topology/"
    tree = client.get(address, headers={"Authorization": f"Bearer {token('read')}"}).json()
    assert set(tree) == set(TopologySerializer().fields)
    assert [nic["name"] for nic in tree["nics"]] == ["myri0", "myri1"]
    assert [switch["name"] for switch in tree["switches"]] == ["switch A", "switch B"]
    assert len(tree["links"]) == 4
    crossed = next(link for link in tree["links"] if all(end["nic"] for end in link["ends"]))
    assert [end["host_name"] for end in crossed["ends"]] == ["server-san", "server1"]
    assert [section["count"] for section in tree["storage_paths"][0]["sections"]] == [4, 8]
    assert tree["storage_paths"][0]["array"] == tree["arrays"][0]["id"]
    assert tree["findings"] == []


def test_findings_come_by_rest_with_their_parts(lab: Lab, client: Client, token: Callable[[str], str]) -> None:
    host = plants.thumper(lab)
    address = f"/api/v1/hosts/{host.pk}/findings/"
    found = client.get(address, headers={"Authorization": f"Bearer {token('read')}"}).json()
    assert found["host"] == host.pk
    assert [one["rule"] for one in found["findings"]] == ["member_in_two_arrays", "one_controller"]
    sdp = Disk.objects.get(device_name="sdp")
    assert found["findings"][0]["parts"][0] == {"kind": "disk", "id": sdp.pk, "name": "sdp"}


def test_a_switch_of_another_farm_is_not_reached(infn: Host) -> None:
    lone = Switch.objects.create(lab=infn.lab, name="lone")
    far = Host.objects.create(lab=infn.lab, name="far")
    NetworkLink.objects.create(lab=infn.lab, switch=lone, far_nic=Nic.objects.create(lab=infn.lab, host=far, name="e0"))
    tree = topology(infn)
    assert "lone" not in [one["name"] for one in tree["switches"]]
    assert len(tree["links"]) == 4


def test_the_other_labs_cables_are_never_seen(cast: Cast, lab: Lab, infn: Host) -> None:
    with lab_scope(cast.other_lab.pk):
        plants.infn(cast.other_lab)
    assert {link["id"] for link in topology(infn)["links"]} == {one.pk for one in NetworkLink.objects.filter(lab=lab)}


@pytest.mark.parametrize(
    ("kind", "word", "found"), [("nics", "myri", 3), ("switches", "4948", 2), ("nics", "sparc", 0)]
)
def test_nics_and_switches_have_lists(
    infn: Host, sign_in: Callable[[str], Client], kind: str, word: str, found: int
) -> None:
    answer = sign_in("viewer").get(reverse(kind), {"q": word})
    assert answer.context["page"].paginator.count == found


def test_a_nic_and_a_switch_say_where_their_cables_lead(infn: Host, sign_in: Callable[[str], Client]) -> None:
    viewer = sign_in("viewer")
    one = viewer.get(reverse("nic", args=[Nic.objects.get(name="myri1").pk])).content.decode()
    assert "switch A" in one
    assert "10\u00a0Gb/s" in one
    other = viewer.get(reverse("switch", args=[Switch.objects.get(name="switch B").pk])).content.decode()
    assert "worker-nodes" in other
    assert "× 48" in other
    assert "switch A" in other


def test_a_switch_with_many_cables_is_paged_and_asks_as_often(infn: Host, sign_in: Callable[[str], Client]) -> None:
    switch = Switch.objects.get(name="switch B")
    viewer, address = sign_in("viewer"), reverse("switch", args=[switch.pk])
    viewer.get(address)
    with CaptureQueriesContext(connection) as few:
        viewer.get(address)
    for n in range(60):
        nic = Nic.objects.create(lab=infn.lab, host=infn, name=f"v{n}")
        NetworkLink.objects.create(lab=infn.lab, nic=nic, far_switch=switch)
    with CaptureQueriesContext(connection) as many:
        page = viewer.get(address)
    assert len(many) == len(few)
    assert len(page.context["cables"]) == 50
