"""The facts that comparisons group by: known ones only, `none` where there is none."""

from typing import Any

import pytest

from apps.inventory.discovery.receive import receive
from apps.inventory.models import Target
from apps.inventory.snapshots.content import freeze
from apps.inventory.snapshots.facts import facts_of
from apps.labs.models import Lab
from tests.inventory import hosts

FACTS = {
    "interface", "raid_level", "raid_implementation", "array", "controller", "controller_cache", "filesystem",
    "mkfs_options", "mount_options", "chunk_size", "disk_model", "disk_count", "host", "ram", "kernel",
    "environment", "cpu", "os", "architecture",
}  # fmt: skip


@pytest.mark.services
def test_the_facts_of_a_raid_50_host(lab: Lab) -> None:
    receive(hosts.host(lab), hosts.raid50())
    assert freeze(Target.objects.get()).facts == {
        "interface": "SAS", "raid_level": "50", "raid_implementation": "software", "array": "md2", "chunk_size": 262144,
        "controller": "sas host 0", "disk_model": "ST600MM0006", "disk_count": 6, "filesystem": "xfs",
        "mount_options": "rw,noatime,sunit=512,swidth=1024", "host": "node7", "ram": 65842176 * 1024,
        "kernel": "6.1.0-18-amd64", "environment": "native",
        "cpu": "Intel(R) Xeon(R) Gold 6130", "os": "Debian GNU/Linux 12 (bookworm)", "architecture": "x86_64",
    }  # fmt: skip


@pytest.mark.services
def test_the_facts_of_a_plain_disk_say_single_and_none(lab: Lab) -> None:
    receive(hosts.host(lab), hosts.guest())
    facts = freeze(Target.objects.get()).facts
    words = ("raid_level", "raid_implementation", "array", "chunk_size", "interface", "environment", "disk_count")
    assert [facts[word] for word in words] == ["single", "none", "none", "none", "virtio", "guest", 1]
    assert facts.keys() <= FACTS
    assert not facts.keys() & {"disk_model", "controller_cache", "mkfs_options"}


def disk(number: int = 1, controller: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    known = {"number": number, "interface": "SAS", "model": "ST600"}
    return {"disk": known | fields, "controller": controller}


def array(
    level: str | None, *members: dict[str, Any], controller: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    own = {"name": "md0", "implementation": "software"} | ({"level": level} if level else {}) | fields
    places = [{"position": n, "partition": "", "state": ""} | member for n, member in enumerate(members)]
    return {"array": own, "controller": controller, "members": places}


def facts(storage: dict[str, Any] | None, filesystem: dict[str, Any] | None = None, **target: str) -> dict[str, Any]:
    return facts_of({"host": {}, "target": target, "filesystem": filesystem, "storage": storage})


@pytest.mark.parametrize(
    ("levels", "level"),
    [
        (("0", "5"), "50"),
        (("0", "6"), "60"),
        (("0", "1"), "10"),
        (("1", "0"), "1 over 0"),
        (("linear", "5"), "linear over 5"),
        (("0", None), None),
        ((None, "5"), None),
    ],
)
def test_nested_levels_have_the_fields_own_names(levels: tuple[str | None, str | None], level: str | None) -> None:
    outer, inner = levels
    storage = array(outer, array(inner, disk(1), disk(2)), array(inner, disk(3), disk(4)))
    assert facts(storage).get("raid_level") == level


def test_a_volume_over_one_device_does_not_hide_the_array_below() -> None:
    storage = array(
        "linear", array("single", array("6", disk(1), disk(2), disk(3), name="md1", chunk_size=65536), name="luks")
    )
    found = facts(storage)
    assert (found["raid_level"], found["array"], found["chunk_size"], found["disk_count"]) == ("6", "md1", 65536, 3)
    assert facts(array("linear", disk(1)))["raid_level"] == "single"


def test_a_pool_of_unknown_spread_has_no_level_but_its_disks() -> None:
    found = facts(array(None, disk(1), disk(2), name="tank"))
    assert "raid_level" not in found
    assert (found["array"], found["disk_count"]) == ("tank", 2)


def test_spares_and_faulty_members_carry_no_data() -> None:
    storage = array(
        "5", *(disk(n) | {"state": state} for n, state in enumerate(["", "in sync", "", "spare", "faulty"]))
    )
    assert facts(storage)["disk_count"] == 3


def test_one_disk_in_two_places_is_one_disk() -> None:
    assert facts(array("0", disk(1), disk(1)))["disk_count"] == 1


def test_where_members_are_not_listed_their_number_is_taken() -> None:
    cache = {"model": "P410", "cache_bytes": 512}
    found = facts(array("5", implementation="hardware", member_count=12, controller=cache))
    assert (found["disk_count"], found["controller"], found["controller_cache"]) == (12, "P410", 512)
    assert found["raid_implementation"] == "hardware"
    assert "interface" not in found
    assert "disk_count" not in facts(array("5"))


def test_different_values_are_joined_and_one_unknown_leaves_the_fact_out() -> None:
    assert facts(array("0", disk(1), disk(2, interface="SATA")))["interface"] == "SAS + SATA"
    assert "interface" not in facts(array("0", disk(1), disk(2, interface="")))


def test_controller_caches_add_up_and_none_is_a_word() -> None:
    def with_caches(*controllers: dict[str, Any] | None) -> Any:
        return facts(array("0", *(disk(n, one) for n, one in enumerate(controllers)))).get("controller_cache")

    half, none = {"name": "a", "cache_bytes": 256}, {"name": "b", "absent": {"cache_bytes": "none"}}
    assert with_caches(half, {"name": "c", "cache_bytes": 256}) == 512
    assert with_caches(half, half, none) == 256
    assert with_caches(none, none) == "none"
    assert with_caches(half, {"name": "d"}) is None
    assert with_caches(half, None) is None


def test_chunks_are_none_where_the_level_has_none_and_come_from_below_where_only_those_have_them() -> None:
    assert facts(array("1", disk(1), disk(2)))["chunk_size"] == "none"
    below = [array("5", disk(n), disk(n + 1), chunk_size=4096) for n in (1, 3)]
    assert facts(array("0", *below))["chunk_size"] == 4096
    assert "chunk_size" not in facts(array("5", disk(1), disk(2)))


def test_filesystem_options_may_be_none_unknown_or_text() -> None:
    known = facts(None, {"type": "xfs", "mkfs_options": "-d su=64k", "absent": {"mount_options": "none"}})
    assert known == {"filesystem": "xfs", "mkfs_options": "-d su=64k", "mount_options": "none"}
    assert facts(None, {"type": "xfs", "absent": {"mount_options": "not_printed"}}) == {"filesystem": "xfs"}
    assert facts(disk(), None, kind="device")["filesystem"] == "none"
    assert facts(None, None, kind="network") == {}
