"""Hosts to discover: the real outputs of a virtual machine (fixtures/guest), and made-up ones.

No machine with md, LVM and dozens of disks was at hand, so those outputs are synthetic: written from what util-linux's
lsblk.c and the kernel's md.c print, and as real ones in the mailing lists look.
"""

import json
from pathlib import Path
from typing import Any

from apps.inventory.models import Host
from apps.labs.models import Lab

FIXTURES = Path(__file__).parent / "fixtures"
GIB = 1024**3
GUEST = {
    "lsblk": "lsblk.json", "findmnt": "findmnt.json", "cpuinfo": "cpuinfo", "meminfo": "meminfo",
    "os-release": "os-release", "uname": "uname", "machine": "machine.json",
}  # fmt: skip

Node = dict[str, Any]


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


def output(tool: str, stdout: str, status: int | None = 0, stderr: str = "") -> dict[str, Any]:
    return {"tool": tool, "argv": [tool], "exit_status": status, "stdout": stdout, "stderr": stderr}


def guest(**changed: str) -> list[dict[str, Any]]:
    """All outputs of the real virtual machine; it has no md. `changed`: another text for a tool."""
    texts = {tool: fixture(f"guest/{name}") for tool, name in GUEST.items()} | changed
    return [output("mdstat", "", 1, "No such file or directory"), *(output(*item) for item in texts.items())]


def host(lab: Lab, name: str = "node7") -> Host:
    return Host.objects.create(lab=lab, name=name)


def device(name: str, *children: Node, kind: str = "disk", **fields: Any) -> Node:
    """A node of lsblk's tree with the keys of util-linux 2.38 that matter here."""
    node: Node = {
        "name": name, "kname": name, "path": f"/dev/{name}", "maj:min": None, "type": kind, "size": 100 * GIB,
        "pkname": None, "tran": None, "subsystems": "block:scsi:pci", "hctl": None, "rota": False, "vendor": None,
        "model": None, "serial": None, "wwn": None, "rev": None, "phy-sec": 4096, "log-sec": 512, "min-io": 4096,
        "opt-io": 0, "fstype": None, "uuid": None, "label": None, "mountpoint": None, "mountpoints": [None],
    }  # fmt: skip
    node |= {key.replace("_", "-"): value for key, value in fields.items()}
    return node | ({"children": list(children)} if children else {})


def sas(letter: str, *children: Node, **fields: Any) -> Node:
    number = ord(letter) - ord("a")
    known = {"tran": "sas", "hctl": f"0:0:{number}:0", "rota": True, "vendor": "SEAGATE ", "model": "ST600MM0006",
             "serial": f"S0M{number:05d}", "wwn": f"0x5000c5004a1f{number:04x}", "rev": "LS08"}  # fmt: skip
    return device(f"sd{letter}", *children, **(known | fields))


def part(name: str, *children: Node, **fields: Any) -> Node:
    return device(name, *children, kind="part", **fields)


def md_part(name: str, uuid: str, *children: Node) -> Node:
    return part(name, *children, fstype="linux_raid_member", uuid=uuid)


def dm(name: str, number: int, kind: str, *children: Node, **fields: Any) -> Node:
    return device(name, *children, kind=kind, **({"kname": f"dm-{number}", "path": f"/dev/mapper/{name}"} | fields))


def lsblk(*devices: Node) -> str:
    return json.dumps({"blockdevices": list(devices)})


def mount(target: str, source: str, fstype: str, **fields: Any) -> Node:
    return {"target": target, "source": source, "fstype": fstype, "options": "rw,relatime", **fields}


def findmnt(*mounts: Node) -> str:
    return json.dumps({"filesystems": list(mounts)})


def machine(directory: str = "/data/spindle", virt: str | None = "none") -> str:
    return json.dumps({"hostname": "node7", "fqdn": "node7.example.org", "virt": virt, "directory": directory,
                       "board_vendor": "Supermicro", "board_name": "X11DPi-N"})  # fmt: skip


RAID50_MDSTAT = """\
Personalities : [raid6] [raid5] [raid4] [raid0]
md2 : active raid0 md1[1] md0[0]
      4688027648 blocks super 1.2 256k chunks

md1 : active raid5 sdf1[3] sde1[1] sdd1[0] sdg1[4](S)
      2344014848 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]
      bitmap: 0/9 pages [0KB], 65536KB chunk

md0 : active raid5 sdc1[3] sdb1[1] sda1[0]
      2344014848 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/3] [UUU]

unused devices: <none>
"""
UUIDS = {"md0": "0f1d6b1e-0000-0000-0000-00000000000a", "md1": "0f1d6b1e-0000-0000-0000-00000000000b"}


def raid50(mdstat: str = RAID50_MDSTAT, virt: str = "none") -> list[dict[str, Any]]:
    """Two RAID 5 of three SAS disks each (one with a spare) under a RAID 0 with XFS on /data; NVMe system disk."""
    top = device("md2", kind="raid0", size=4688027648 * 1024, subsystems="block", fstype="xfs", mountpoint="/data")
    lower = {name: device(name, top, kind="raid5", subsystems="block") for name in UUIDS}
    disks = [
        sas(letter, md_part(f"sd{letter}1", UUIDS[name], lower[name]))
        for letter, name in zip("abcdefg", ["md0"] * 3 + ["md1"] * 4, strict=True)
    ]
    system = device(
        "nvme0n1", part("nvme0n1p1", tran="nvme"), tran="nvme", subsystems="block:nvme:pci",
        model="INTEL SSDPE2KX010T8", serial="PHLJ0001", size=1000204886016,
    )  # fmt: skip
    mounts = findmnt(
        mount("/", "/dev/nvme0n1p1", "ext4", uuid="aa", size=GIB, used=1, avail=GIB - 1,
              children=[mount("/data", "/dev/md2", "xfs", uuid="bb", options="rw,noatime,sunit=512,swidth=1024")]),
    )  # fmt: skip
    return [
        output("lsblk", lsblk(*disks, system)),
        output("findmnt", mounts),
        output("mdstat", mdstat),
        output("machine", machine(virt=virt)),
        output("uname", "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64\n"),
        output("meminfo", "MemTotal:       65842176 kB\nMemFree: 1 kB\n"),
        output("os-release", fixture("guest/os-release")),
        output(
            "cpuinfo",
            "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)  Gold 6130\nphysical id\t: 0\nflags\t\t: fpu sse2\n",
        ),
    ]
