"""The Sun Fire X4500 of seed 001, entered as people enter it: through the pages' own forms.

`LISTING` is what the report prints of /proc/scsi/mvSata, with its gaps and in its order; `NAMES` are the letters it prints; `INFERRED` the slots that
only the rule gives (22 disks, the pattern of controller 1 on the others, two more on controller 5).
"""

from typing import Any

from django.test import Client
from django.urls import reverse

from apps.inventory.models import Array, ArrayMember, Controller, Disk, Enclosure, Host
from apps.labs.models import Lab

LISTING = """\
# grep HITACH `ls -t /proc/scsi/mvSata/*`
/proc/scsi/mvSata/12:1 4 0 0 2250308 488412117
HITACH NCQ 1
/proc/scsi/mvSata/13:1 5 0 0 4045464 610776037
HITACH NCQ 1
/proc/scsi/mvSata/16:2 0 0 0 2325313 488687581
HITACH NCQ 1
...
/proc/scsi/mvSata/24:3 0 0 0 125974 4035638
HITACH NCQ 1
...
/proc/scsi/mvSata/46:5 6 0 0 2618002 488557046
HITACH NCQ 1
/proc/scsi/mvSata/8:1 0 0 0 2326364 488688423
HITACH NCQ 1
/proc/scsi/mvSata/9:1 1 0 0 4470610 610776189
HITACH NCQ 1
"""
NAMES = "c1d0 /dev/sda\nc1d1 /dev/sdb\nc1d4 /dev/sdc\nc1d5 /dev/sdd\nc2d0 /dev/sde\nc3d0 /dev/sdi\n"
INFERRED = "c2d1 c2d4 c2d5 c3d1 c3d4 c3d5 c4d0 c4d1 c4d4 c4d5 c5d0 c5d1 c5d4 c5d5 c5d7"
GRID = {  # controller → device of disk 0 to 7, as study.yaml has it
    0: ["-"] * 8,
    1: ["sda", "sdb", "-", "-", "sdc", "sdd", "-", "-"],
    2: ["sde", "sdf", "-", "-", "sdg", "sdh", "-", "-"],
    3: ["sdi", "sdj", "-", "-", "sdk", "sdl", "-", "-"],
    4: ["sdm", "sdn", "-", "-", "sdo", "sdp", "-", "-"],
    5: ["sdq", "sdr", "-", "-", "sds", "sdt", "sdu", "sdv"],
}
ORDER = [0, 1, 4, 5, 2, 3]  # top to bottom in table 1
TEXT_AND_COMMAND = "text has sdp (already in md1), command has sdo; command taken"
# round → array → (level, members by the commands, what is said of it)
ARRAYS: dict[str, dict[str, tuple[str, str, str]]] = {
    "ext3": {
        "md1": ("5", "m p s v", ""), "md2": ("5", "e q k a", ""), "md3": ("5", "c g n t", ""),
        "md4": ("6", "b d f l h o r u", TEXT_AND_COMMAND), "md5": ("0", "md2 md3", ""),
    },
    "xfs": {
        "md1": ("0", "e q k a", ""), "md2": ("5", "m p s v", ""), "md3": ("5", "c g n t", ""),
        "md4": ("6", "b d f l h o r u", TEXT_AND_COMMAND), "md5": ("0", "md2 md3", ""),
    },
}  # fmt: skip
SIZE = 250_055_491_584  # bytes, from the xfs geometry


def enter_slots(client: Client, host: Host, name: str = "chassis") -> Enclosure:
    """The enclosure and the disks in its slots, by the engineer's forms: layout preset, then listing → preview → apply."""
    preset = {"name": name, "kind": "chassis", "vendor": "Sun", "model": "Fire X4500", "preset": "x4500", "boot_slots": "c3d0 c3d4",
              "naming_rule": "driver_entry", "disks_per_controller": 8, "act": "save"}  # fmt: skip
    answer = client.post(reverse("host-enclosure-new", args=[host.pk]), preset)
    assert answer.status_code == 302, answer.content.decode()
    row = Enclosure.objects.get(host=host, name=name)
    place = reverse("enclosure-place", args=[row.pk])
    told = {"listing": LISTING + NAMES, "inferred": INFERRED, "makes_new": "on", "gives_names": "on"}
    preview = client.post(place, told | {"act": "preview"})
    assert preview.status_code == 200
    told |= {"act": "apply", "fingerprint": preview.context["found"].fingerprint}
    assert client.post(place, told).status_code == 302
    return row


def enter_arrays(host: Host) -> None:
    """Both rounds of md1 to md5, over the disks that `enter_slots` made. Needs the lab's scope."""
    disks = {disk.device_name: disk for disk in Disk.objects.filter(host=host)}
    for round_, arrays in ARRAYS.items():
        made: dict[str, Array] = {}
        for name, (level, members, notes) in arrays.items():
            fields: dict[str, Any] = {"level": level, "implementation": "software", "software": "md", "notes": notes}
            made[name] = Array.objects.create(lab_id=host.lab_id, host=host, name=name, round=round_, **fields)
            for position, word in enumerate(members.split()):
                member = {"member_array": made[word]} if word in made else {"disk": disks[f"sd{word}"]}
                ArrayMember.objects.create(array=made[name], position=position, **member)


def enter(client: Client, lab: Lab, name: str = "x4500") -> Host:
    """The whole machine. Needs the lab's scope."""
    host = Host.objects.create(lab=lab, name=name, vendor="Sun", model="Fire X4500")
    Controller.objects.create(lab=lab, host=host, name="Marvell SATA", kind="hba")
    enter_slots(client, host)
    enter_arrays(host)
    return host
