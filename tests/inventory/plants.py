"""Machines of the published studies as inventory, and a very large one. Each needs the lab's scope.

Values are those of the studies' descriptions (seed 000 CRS4, 001 Thumper, 002 INFN, 003 UCSC, 004 Tristan).
"""

from typing import Any

from apps.inventory.models import (
    Array,
    ArrayMember,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    NetworkLink,
    Nic,
    PathSection,
    StoragePath,
    Switch,
    Target,
)
from apps.labs.models import Lab

GB = 10**9
# controller → its disks' letters and disk numbers, as the report's device rule gives them
THUMPER_SLOTS = {
    1: {"sda": 0, "sdb": 1, "sdc": 4, "sdd": 5}, 2: {"sde": 0, "sdf": 1, "sdg": 4, "sdh": 5},
    3: {"sdi": 0, "sdj": 1, "sdk": 4, "sdl": 5}, 4: {"sdm": 0, "sdn": 1, "sdo": 4, "sdp": 5},
    5: {"sdq": 0, "sdr": 1, "sds": 4, "sdt": 5, "sdu": 6, "sdv": 7},
}  # fmt: skip
# the members of the ext3 round as the text has them: sdp is in md1 and in md4
THUMPER_ARRAYS = {
    "md1": ("5", "sdm sdp sds sdv"), "md2": ("5", "sda sde sdk sdq"), "md3": ("5", "sdc sdg sdn sdt"),
    "md4": ("6", "sdb sdd sdf sdh sdl sdp sdr sdu"),
}  # fmt: skip


def thumper(lab: Lab) -> Host:
    """22 disks of 250 GB on six controllers, system disk sdi, RAID 50 over md2 and md3."""
    host = Host.objects.create(lab=lab, name="x4500", model="Sun Fire X4500", ram_bytes=8 * 2**30, kernel="2.6.9")
    Enclosure.objects.create(lab=lab, host=host, name="X4500", kind="chassis")
    cards = [
        Controller.objects.create(
            lab=lab, host=host, name=f"Marvell {n}", vendor="Marvell", model="88SX6081", kind="hba", ports=8
        )
        for n in range(6)
    ]
    disks = {}
    for number, letters in THUMPER_SLOTS.items():
        for name, slot in letters.items():
            disks[name] = Disk.objects.create(
                lab=lab, host=host, controller=cards[number], device_name=name, vendor="Hitachi", interface="SATA",
                serial=f"K{name}", capacity_bytes=250_055_491_584, enclosure="X4500", slot_controller=number,
                slot_number=slot,
            )  # fmt: skip
    arrays = {
        name: array(host, name, level, [disks[m] for m in members.split()], round="ext3")
        for name, (level, members) in THUMPER_ARRAYS.items()
    }
    top = array(host, "md5", "0", [arrays["md2"], arrays["md3"]], round="ext3", chunk_size=4 * 2**20)
    for one, mount in ((arrays["md1"], "/raid/a5"), (arrays["md4"], "/raid/b6"), (top, "/raid/c50")):
        filesystem = Filesystem.objects.create(lab=lab, host=host, array=one, type="ext3", mount_point=mount)
        Target.objects.create(lab=lab, host=host, name=mount, path=mount, filesystem=filesystem)
    Filesystem.objects.create(lab=lab, host=host, disk=disks["sdi"], type="ext2", mount_point="/")
    return host


def array(host: Host, name: str, level: str, members: list[Any], **fields: Any) -> Array:
    """`members`: disks or arrays, in order."""
    named = {"implementation": "software", "software": "md"} | fields
    made: Array = Array.objects.create(lab=host.lab, host=host, name=name, level=level, **named)
    for position, member in enumerate(members):
        kind = "disk" if isinstance(member, Disk) else "member_array"
        ArrayMember.objects.create(array=made, position=position, **{kind: member})
    return made


def infn(lab: Lab) -> Host:
    """The SAN server: four FC-2G channels to the T2000, a double one to the JBODs of which one stands by, and the network."""
    host = Host.objects.create(lab=lab, name="server-san")
    storm = Controller.objects.create(lab=lab, host=host, name="Storm T2000", kind="raid")
    san = Array.objects.create(
        lab=lab, host=host, controller=storm, name="san-8tb", level="0", implementation="hardware", member_count=16
    )
    path = StoragePath.objects.create(lab=lab, host=host, name="SAN", array=san)
    section: dict[str, Any] = {"path": path, "kind": "fc", "link": "FC-2G"}
    PathSection.objects.create(
        **section, position=0, name="server – T2000", count=4, controller=storm, bytes_per_second=GB
    )
    PathSection.objects.create(**section, position=1, name="T2000 – JBODs", count=8, standby_count=4)
    Target.objects.create(lab=lab, host=host, name="san", path="/san", array=san)
    cable_up(lab, host)
    return host


def cable_up(lab: Lab, host: Host) -> None:
    """Crossed cable with large frames to one server; over two switches to the farm of 95."""
    twin = Host.objects.create(lab=lab, name="server1")
    farm = Host.objects.create(lab=lab, name="worker-nodes")
    ten: dict[str, Any] = {"lab": lab, "model": "Myricom 10GE", "bits_per_second": 10 * GB}
    crossed, out = (Nic.objects.create(**ten, host=host, name=f"myri{n}", mtu=9000 - 7500 * n) for n in (0, 1))
    far = Nic.objects.create(**ten, host=twin, name="myri0", mtu=9000)
    nodes = Nic.objects.create(lab=lab, host=farm, name="eth0", bits_per_second=GB, count=48)
    one, other = (Switch.objects.create(lab=lab, name=f"switch {x}", vendor="Cisco", model="4948") for x in "AB")
    NetworkLink.objects.create(lab=lab, nic=crossed, far_nic=far, bits_per_second=10 * GB)
    NetworkLink.objects.create(lab=lab, nic=out, switch=None, far_switch=one, bits_per_second=10 * GB)
    NetworkLink.objects.create(lab=lab, switch=one, far_switch=other, bits_per_second=10 * GB)
    NetworkLink.objects.create(lab=lab, nic=nodes, far_switch=other, bits_per_second=GB, count=48)
    Target.objects.create(lab=lab, host=host, name="to server1", kind="network", nic=crossed, peer=twin)
    Target.objects.create(lab=lab, host=host, name="to the farm", kind="network", nic=out, peer=farm)


def dtn(lab: Lab) -> Host:
    """Twelve SAS drives in a RAID 6 and two in a RAID 1, behind a PERC with non-volatile cache."""
    host = Host.objects.create(lab=lab, name="dtn")
    perc = Controller.objects.create(
        lab=lab, host=host, name="PERC H700", kind="raid", bus="PCI Express 2.0", cache_bytes=512 * 2**20,
        cache_protection="non-volatile", write_policy="write back",
    )  # fmt: skip
    for name, level, count, size in (("vd-os", "1", 2, 146 * GB), ("vd-data", "6", 12, 1000 * GB)):
        drives = [
            Disk.objects.create(
                lab=lab, host=host, controller=perc, serial=f"{name}-{n}", interface="SAS", generation="SAS-6G",
                capacity_bytes=size, rpm=7200 if count > 2 else 15000,
            )
            for n in range(count)
        ]  # fmt: skip
        made = array(host, name, level, drives, implementation="hardware", software="", controller=perc)
        mount = "/" if count == 2 else "/data"
        filesystem = Filesystem.objects.create(lab=lab, host=host, array=made, type="xfs", mount_point=mount)
        Target.objects.create(lab=lab, host=host, name=name, path=mount, filesystem=filesystem)
    return host


def crs4(lab: Lab) -> Host:
    """A zero-channel RAID card that sits on the SCSI adapter."""
    host = Host.objects.create(lab=lab, name="aiodda2", ram_bytes=2**30)
    adapter = Controller.objects.create(lab=lab, host=host, name="Adaptec AIC-7902", kind="hba", ports=2)
    card = Controller.objects.create(lab=lab, host=host, name="Adaptec 2010S", kind="zero-channel", sits_on=adapter)
    drives = [
        Disk.objects.create(
            lab=lab, host=host, controller=adapter, serial=f"S{n}", vendor="Seagate", interface="SCSI",
            generation="U320", capacity_bytes=73 * GB, channel="A", rpm=10000,
        )
        for n in range(2)
    ]  # fmt: skip
    made = array(host, "raid0", "0", drives, implementation="hardware", software="", controller=card)
    Target.objects.create(lab=lab, host=host, name="raid0", array=made)
    return host


def large(lab: Lab, disks: int = 1000, arrays: int = 100, controllers: int = 10, name: str = "vault") -> Host:
    """Every array spreads over the controllers, each with a filesystem and a target."""
    host = Host.objects.create(lab=lab, name=name, ram_bytes=512 * 2**30)
    own: dict[str, Any] = {"lab": lab, "host": host}
    cards = Controller.objects.bulk_create(
        Controller(**own, name=f"HBA {n}", vendor="Broadcom", model="SAS3008", kind="hba", bus="PCIe 3.0 x8", lanes=8)
        for n in range(controllers)
    )
    drives = Disk.objects.bulk_create(
        Disk(
            **own, controller=cards[n % controllers], device_name=f"sd{n:04}", vendor="Seagate", model="ST4000NM0023",
            serial=f"{name}{n:05}", interface="SAS", generation="SAS-6G", rpm=7200, capacity_bytes=4000 * GB,
            enclosure=f"shelf {n % controllers}", slot_number=n // controllers,
        )
        for n in range(disks)
    )  # fmt: skip
    each = disks // arrays
    made = Array.objects.bulk_create(
        Array(**own, name=f"md{n}", level="6", implementation="software", software="md", chunk_size=512 * 1024, state="clean",
              capacity_bytes=(each - 2) * 4000 * GB)
        for n in range(arrays)
    )  # fmt: skip
    ArrayMember.objects.bulk_create(
        ArrayMember(array=made[n // each], position=n % each, disk=drives[n]) for n in range(each * arrays)
    )
    mounted = Filesystem.objects.bulk_create(
        Filesystem(**own, array=one, type="xfs", mount_point=f"/srv/{one.name}", size_bytes=32 * 10**12) for one in made
    )
    Target.objects.bulk_create(
        Target(**own, name=f"on {one.mount_point}", path=one.mount_point, filesystem=one) for one in mounted
    )
    return host
