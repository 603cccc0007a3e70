"""The RAID plan's page and resource: what is in use stays out of it, the address holds it all, nothing is written."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.inventory.models import Array, ArrayMember, Controller, Disk, Enclosure, Filesystem, Host, Target
from apps.inventory.raid_plans.rows import offers
from tests.inventory import thumper
from tests.sampling import for_each

pytestmark = pytest.mark.django_db
TB4 = 4_000_787_030_016


@pytest.fixture
def vault(lab):
    """Sixteen SAS disks on four controllers."""
    return vault_of(lab, 16)


def vault_of(lab, count):
    host = Host.objects.create(lab=lab, name=f"vault{count}")
    cards = [
        Controller.objects.create(lab=lab, host=host, name=f"HBA{n}", kind="hba", bus="PCIe 3.0 x8", lanes=8)
        for n in range(4)
    ]
    Disk.objects.bulk_create(
        Disk(
            lab=lab, host=host, controller=cards[n % 4], device_name=f"sd{chr(97 + n)}", interface="SAS", generation="SAS-12G",
            capacity_bytes=TB4, wwn=f"0x5000c5004a1f{n:04x}",
        )
        for n in range(count)
    )  # fmt: skip
    return host


def plan(client, host, query="level=6"):
    return client.get(f"{reverse('host-raid-plan', args=[host.pk])}?{query}")


def rest(client, token, host, query="level=6"):
    return client.get(
        f"/api/v1/hosts/{host.pk}/raid-plan/?{query}", headers={"Authorization": f"Bearer {token('read')}"}
    )


def test_a_plan_spreads_names_and_bounds(vault, client, token):
    [found] = rest(client, token, vault, "level=6&members=4").json()["plans"]
    [group] = found["groups"]
    assert group["most_on_one_controller"] == 1
    used = (TB4 - 264_192 * 512) // 524_288 * 524_288
    assert found["capacity"] == 2 * used
    assert found["survives_any"] == found["survives_at_best"] == 2
    assert found["survives_loss_of"] == ["HBA0", "HBA1", "HBA2", "HBA3"]
    assert found["ceiling"]["read"]["bandwidth"] == 4 * 1.2e9
    assert found["ceiling"]["write"]["bandwidth"] == 2 * 1.2e9
    create = found["commands"][0]["command"]
    assert create.startswith(
        "mdadm --create /dev/md/data --level=6 --metadata=1.2 --raid-devices=4 --chunk=512K /dev/disk/by-id/wwn-0x"
    )
    assert found["commands"][1]["command"] == "mkfs.xfs -d su=512k,sw=2 /dev/md/data"


def test_disks_in_use_are_never_proposed(vault, client, token):
    a, b, c, d, e, f = Disk.objects.order_by("device_name")[:6]
    lab = vault.lab
    Filesystem.objects.create(lab=lab, host=vault, disk=a, type="ext4", mount_point="/")
    md = Array.objects.create(lab=lab, host=vault, name="md0", level="1")
    ArrayMember.objects.create(array=md, position=0, disk=b)
    Target.objects.create(lab=lab, host=vault, name="raw", kind="device", disk=c)
    Disk.objects.filter(pk=d.pk).update(is_present=False)
    Disk.objects.filter(pk=e.pk).update(health="FAILED")
    reasons = {one.disk.device_name: one.why_not for one in offers(vault) if one.why_not}
    assert reasons == {
        "sda": "ext4 on /", "sdb": "member of md0", "sdc": "target raw", "sdd": "not seen in the last scan", "sde": "its health is FAILED",
    }  # fmt: skip
    everything = ",".join(str(pk) for pk in Disk.objects.values_list("pk", flat=True))
    found = rest(client, token, vault, f"level=0&disks={everything}").json()
    proposed = {pk for group in found["plans"][0]["groups"] for pk in group["members"]}
    assert proposed.isdisjoint({a.pk, b.pk, c.pk, d.pk, e.pk})
    assert f.pk in proposed
    assert "sdb is not proposed: member of md0." in found["refused"]


def test_a_boot_slots_disk_stays_out_until_the_system_disk_is_known(lab, sign_in):
    host = thumper.enter(sign_in("engineer"), lab)
    ArrayMember.objects.all().delete()
    held = {one.disk.device_name: one.why_not for one in offers(host) if one.why_not}
    assert held == dict.fromkeys(("sdi", "sdk"), "in a boot slot, and the system disk is not known")
    Filesystem.objects.create(
        lab=lab, host=host, disk=Disk.objects.get(device_name="sdi"), type="ext2", mount_point="/"
    )
    assert {one.disk.device_name: one.why_not for one in offers(host) if one.why_not} == {"sdi": "ext2 on /"}


@pytest.mark.slow
def test_a_disk_of_a_published_round_is_in_use_as_long_as_its_array_is_there(lab, sign_in):
    host = thumper.enter(sign_in("engineer"), lab)
    free = [one.disk.device_name for one in offers(host) if not one.why_not]
    assert free == ["sdj"]


def test_three_levels_stand_side_by_side(vault, sign_in):
    text = plan(sign_in("viewer"), vault, "level=6&level=10&level=50").content.decode()
    for words in (
        "Side by side",
        "RAID 6: members and commands",
        "RAID 10: members",
        "RAID 50: members",
        "Nothing is executed on",
    ):
        assert words in text
    four = plan(sign_in("viewer"), vault, "level=0&level=1&level=5&level=6").content.decode()
    assert "Found 4 levels, expected at most 3" in four


def test_the_address_alone_gives_the_same_plan_again(vault, sign_in):
    query = "level=5&arrays=2&spares=1&chunk=65536&filesystem=ext4&name=big"
    first, second = (plan(sign_in(name), vault, query).context["options"][0].plan for name in ("viewer", "owner"))
    assert first.commands == second.commands
    assert first.wish.chunk == 65536
    assert dict(first.commands)["Filesystem on big0"] == "mkfs.ext4 -b 4096 -E stride=16,stripe-width=96 /dev/md/big0"


@pytest.mark.slow
@for_each("query, field", [("level=7", "level"), ("level=6&chunk=3000", "chunk"), ("level=6&arrays=0", "arrays"), ("level=6&name=a b", "name"),
     ("level=6&members=x", "members"), ("level=6&spares=-1", "spares"), ("level=6&name=;reboot", "name")])  # fmt: skip
def test_a_bad_wish_is_refused_in_words(vault, sign_in, client, token, query, field):
    page = plan(sign_in("viewer"), vault, query)
    assert page.status_code == 400
    assert page.context["options"] == []
    answer = rest(client, token, vault, query)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_too_few_disks_are_said_beside_the_other_levels(lab, client, token):
    found = rest(client, token, vault_of(lab, 4), "level=60&level=5").json()["plans"]
    assert found[0]["problem"] == "Found 4 free disks, expected at least 8 for RAID 60 of 2 groups."
    assert found[1]["problem"] is None


def test_a_host_without_disks_says_so(lab, sign_in):
    text = plan(sign_in("viewer"), Host.objects.create(lab=lab, name="empty")).content.decode()
    assert "Nothing is known of this host" in text
    assert "Found 0 free disks" in text


def test_the_same_queries_for_many_disks_as_for_few(lab, sign_in):
    client, counts = sign_in("viewer"), []
    for count in (6, 26):
        host = vault_of(lab, count)
        plan(client, host)
        with CaptureQueriesContext(connection) as queries:
            plan(client, host, "level=6&level=5&level=10")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 20


def test_planning_writes_nothing(vault, sign_in):
    before = [list(model.objects.order_by("pk").values()) for model in (Disk, Array, Enclosure, Target)]
    plan(sign_in("engineer"), vault, "level=6&level=50")
    assert [list(model.objects.order_by("pk").values()) for model in (Disk, Array, Enclosure, Target)] == before


def test_serials_and_models_from_outside_stay_inside_their_quotes(vault, client, token):
    Disk.objects.filter(host=vault).update(wwn="", interface="SATA", model="X'; rm -rf / #", device_name="sd$(reboot)")
    for number, disk in enumerate(Disk.objects.order_by("pk")):
        Disk.objects.filter(pk=disk.pk).update(serial=f'S{number}"`id`')
    [found] = rest(client, token, vault).json()["plans"]
    create = found["commands"][0]["command"]
    assert "/dev/disk/by-id/ata-X___rm_-rf___#_S0__id_" in create.replace("'", "")
    assert not set(create.replace("'", "")) & set(';$`|&"()')
