"""The five studies' machines go in by the rules of the forms, with what is not printed kept apart from what there is none of."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.inventory.models import (
    Array,
    ArrayMember,
    Change,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    NetworkLink,
    Nic,
    PathSection,
    Switch,
)  # fmt: skip
from apps.labs.models import Lab
from apps.studies.machines import enter_machines
from apps.studies.source import DATA

SHARED = Path(__file__).resolve().parents[3] / "shared" / "studies"
STUDIES = {
    "crs4-sata-scsi": {Host: 3, Controller: 4, Disk: 4, Array: 6},
    "dtn-ucsc": {Host: 1, Controller: 1, Disk: 14, Array: 2, ArrayMember: 14, Filesystem: 6},
    "infn-10ge-chain": {Host: 6, Controller: 2, Disk: 21, Array: 5, Nic: 3, Switch: 2, NetworkLink: 5, PathSection: 2},
    "thumper-x4500": {Host: 3, Controller: 8, Disk: 29, Array: 12, ArrayMember: 44, Filesystem: 10, Enclosure: 1},
    "tristan-sas-sata": {Host: 2, Controller: 2, Disk: 7, Array: 4, ArrayMember: 5},
}  # fmt: skip


def enter(lab: Lab, slug: str) -> dict[str, Any]:
    found = [folder / slug / "study.yaml" for folder in (DATA, SHARED) if (folder / slug / "study.yaml").exists()]
    if not found:
        pytest.skip(f"the description of {slug} is not here")
    return enter_machines(lab, yaml.safe_load(found[0].read_text(encoding="utf-8")), "studies")


@pytest.mark.slow
@pytest.mark.parametrize("slug", STUDIES)
def test_every_machine_of_a_study_is_entered_and_a_second_time_changes_nothing(lab: Lab, slug: str) -> None:
    rows = enter(lab, slug)
    assert {model: model.objects.count() for model in STUDIES[slug]} == STUDIES[slug]
    changes = Change.objects.count()
    again = enter(lab, slug)
    assert {key: row.pk for key, row in again.items()} == {key: row.pk for key, row in rows.items()}
    assert Change.objects.count() == changes
    assert {change.by for change in Change.objects.all()} == {"import"}


@pytest.mark.slow
def test_not_printed_unknown_and_none_stay_three_things(lab: Lab) -> None:
    rows = enter(lab, "thumper-x4500")
    board, ide = rows["controller x4500 3"], rows["controller p3-old p3-ide"]
    assert (board.why_empty("bus"), board.absent["cache_bytes"], board.cache_protection) == ("unknown", "none", "none")
    assert (ide.name, ide.absent["model"], ide.why_empty("cache_bytes")) == ("p3-ide", "not_printed", "unknown")
    host = rows["host x4500"]
    assert (host.absent["board"], host.absent["hypervisor"], host.environment) == ("not_printed", "none", "native")
    assert host.sources["ram_bytes"] == "typed"


def test_a_word_size_that_follows_from_the_processor_is_inferred(lab: Lab) -> None:
    rows = enter(lab, "crs4-sata-scsi")
    hosts = [rows[f"host {name}"] for name in ("aiodda2", "agumu02", "noral3")]
    assert [(one.architecture, one.sources["architecture"]) for one in hosts] == [
        ("32-bit x86", "typed"), ("64-bit x86", "inferred"), ("64-bit x86", "inferred"),
    ]  # fmt: skip
    assert "the Opteron 246 is an x86-64 processor" in hosts[1].notes


def test_the_same_name_is_two_arrays_in_two_rounds(lab: Lab) -> None:
    enter(lab, "thumper-x4500")
    rounds = {array.round: array for array in Array.objects.filter(name="md1")}
    assert {name: array.level for name, array in rounds.items()} == {"ext3": "5", "xfs": "0"}
    assert [str(m.disk) for m in rounds["xfs"].members.select_related("disk")] == ["sde", "sdq", "sdk", "sda"]
    assert (rounds["xfs"].chunk_size, rounds["xfs"].sources["chunk_size"]) == (65536, "inferred")
    stripe = Array.objects.get(name="md5", round="ext3")
    assert (stripe.level, stripe.chunk_size) == ("0", 4194304)
    assert [(m.member_array.name, m.member_array.round) for m in stripe.members.all()] == [
        ("md2", "ext3"),
        ("md3", "ext3"),
    ]


def test_slots_are_printed_or_inferred(lab: Lab) -> None:
    enter(lab, "thumper-x4500")
    by_device = {
        disk.device_name: disk for disk in Disk.objects.filter(host__name="x4500").select_related("controller")
    }
    assert len(by_device) == 22
    boot, last = by_device["sdi"], by_device["sdv"]
    assert (boot.slot_controller, boot.slot_number, boot.controller.name) == (3, 0, "controller 3")
    assert (boot.sources["device_name"], last.sources["device_name"]) == ("typed", "inferred")
    enclosure = Enclosure.objects.get()
    assert [row["label"] for row in enclosure.layout if row["label"]] == [f"Ctrl {n}" for n in (0, 1, 4, 5, 2, 3)]
    assert enclosure.boot_slots == ["c3d0", "c3d4"]


def test_a_zero_channel_card_sits_on_the_hba_of_its_host(lab: Lab) -> None:
    rows = enter(lab, "crs4-sata-scsi")
    card = rows["controller aiodda2 adaptec-2010s"]
    assert (card.kind, card.sits_on) == ("zero-channel", rows["controller aiodda2 aic-7902"])


def test_a_path_has_the_sections_that_the_report_draws(lab: Lab) -> None:
    enter(lab, "infn-10ge-chain")
    sections = PathSection.objects.order_by("position")
    assert [(one.link, one.count, one.bytes_per_second) for one in sections] == [
        ("FC-2G", 4, 1000000000),
        ("FC-2G", 4, None),
    ]
    assert [one.controller is not None for one in sections] == [True, False]  # the second one ends at the disks
    assert Host.objects.get(name="server1").sysctl["net.core.rmem_max"] == "16777216"


def test_the_drawings_cables_say_which_of_their_ends_are_inferred(lab: Lab) -> None:
    rows = enter(lab, "infn-10ge-chain")
    links = {str(one): one for one in NetworkLink.objects.all()}
    between = links["Cisco 4948 1 – Cisco 4948 2"]
    assert (between.bits_per_second, between.sources["far_switch"]) == (10**10, "typed")
    servers = [links[f"myricom-10ge – Cisco 4948 {number}"] for number in (1, 2)]
    assert [one.nic.host.name for one in servers] == ["server1", "server2"]
    nodes = [links[f"1ge – Cisco 4948 {number}"].count for number in (1, 2)]
    assert (nodes, rows["nic worker-nodes 1ge"].count) == ([47, 48], 95)
    assert {one.sources["far_switch"] for one in links.values() if one != between} == {"inferred"}


def test_a_sans_arrays_and_disks_hang_on_its_controller(lab: Lab) -> None:
    rows = enter(lab, "infn-10ge-chain")
    san = rows["controller server-san t2000"]
    assert [rows[f"array {name}"].controller for name in ("san-8tb", "san-single", "san-stripe2")] == [san] * 3
    assert Disk.objects.filter(controller=san).count() == 16


def test_a_guest_is_told_from_a_native_host(lab: Lab) -> None:
    rows = enter(lab, "tristan-sas-sata")
    both, guest = rows["host dl160"], rows["host dl160-ref"]
    assert (both.environment, both.why_empty("environment")) == ("", "unknown")
    assert (guest.environment, guest.hypervisor, guest.hypervisor_version) == ("guest", "VMware ESXi", "4.1")
    assert guest.sources["environment"] == "inferred"
