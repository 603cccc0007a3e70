"""A small host to edit: eight disks on one controller, two RAID 5 under a RAID 0, a filesystem and a target."""

from dataclasses import dataclass
from typing import Any

from apps.inventory.models import Array, ArrayMember, Controller, Disk, Filesystem, Host, Target
from apps.labs.models import Lab


@dataclass
class Machine:
    host: Host
    controller: Controller
    disks: list[Disk]
    md0: Array
    md1: Array
    md2: Array
    filesystem: Filesystem
    target: Target


def machine(lab: Lab, name: str = "node7") -> Machine:
    host = Host.objects.create(lab=lab, name=name, ram_bytes=8 * 2**30, sources={"ram_bytes": "discovered"})
    controller = Controller.objects.create(lab=lab, host=host, name="HBA", model="LSI 9211", kind="hba")
    disks = [
        Disk.objects.create(
            lab=lab, host=host, controller=controller, device_name=f"sd{letter}", serial=f"{name}-{letter}", model="ST600",
            capacity_bytes=600 * 10**9, sources={"capacity_bytes": "discovered"},
        )
        for letter in "abcdefgh"
    ]  # fmt: skip
    arrays = [
        Array.objects.create(
            lab=lab, host=host, name=f"md{number}", level=level, implementation="software", software="md"
        )
        for number, level in enumerate(["5", "5", "0"])
    ]
    for array, members in ((arrays[0], disks[:4]), (arrays[1], disks[4:7])):
        for position, disk in enumerate(members):
            ArrayMember.objects.create(array=array, position=position, disk=disk, state="in sync")
    for position, array in enumerate(arrays[:2]):
        ArrayMember.objects.create(array=arrays[2], position=position, member_array=array)
    filesystem = Filesystem.objects.create(lab=lab, host=host, array=arrays[2], type="xfs", mount_point="/data")
    target = Target.objects.create(lab=lab, host=host, name="/data", path="/data", filesystem=filesystem)
    return Machine(host, controller, disks, *arrays, filesystem, target)


def form_of(page: Any) -> dict[str, str]:
    """What a browser would send from the page's form without touching it."""
    form = page.context["form"]
    data = {"version": str(page.context["version"]), "act": "save"}
    if form.part is None:
        data["in_host"] = str(form.host.pk) if form.host else "none"
    for name, field in form.fields.items():
        value = field.prepare_value(form[name].value()) if hasattr(field, "prepare_value") else form[name].value()
        if value is True:
            data[name] = "on"
        elif value not in (None, False):
            data[name] = str(value)
    for prefix, rows in (("label", form.label_rows), (form.places.of.word if form.places else "", form.place_rows)):
        if prefix:
            data[f"{prefix}-count"] = str(len(rows))
            data |= {f"{prefix}-{number}-{name}": text for number, row in enumerate(rows) for name, text in row.items()}
    return data
