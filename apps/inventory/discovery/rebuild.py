"""The inventory of a host, read again from the newest output of each tool. The second time changes nothing."""

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.inventory.discovery.differences import Ledger
from apps.inventory.discovery.host_facts import host_values, kept, made_of, nics
from apps.inventory.discovery.looks import PARTIAL, look_of
from apps.inventory.discovery.models import NOTHING, FoundFilesystem
from apps.inventory.discovery.readings import LISTING, RAID_TOOLS, Readings, read
from apps.inventory.discovery.rows.arrays import Context, hardware_layer, typed_hardware, write_arrays
from apps.inventory.discovery.rows.controllers import drop_superseded, write_controllers
from apps.inventory.discovery.rows.disks import CLAIM, ToolCoverage, write_disks
from apps.inventory.discovery.rows.enclosures import write_enclosures, write_nics
from apps.inventory.discovery.rows.filesystems import write_filesystems, write_targets
from apps.inventory.discovery.rows.writer import fill
from apps.inventory.discovery.storage.host_storage import Storage
from apps.inventory.discovery.tools.findmnt import Mounts
from apps.inventory.discovery.tools.machine import ReportedMachine
from apps.inventory.models import Array, Disk, Host, Target, ToolOutput
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

MOST_CLAIMS = 20  # claims listed for one host
MOST_EARLIER = 20  # outputs of a tool that are read before a partial look
MOST_WAITING = 5  # hosts rebuilt after another host's discovery
Rows = tuple[dict[str, Disk] | None, dict[str, Array]]


def newest_outputs(host: Host) -> Any:
    return ToolOutput.objects.filter(host=host).order_by("tool", "-id").distinct("tool")


def rebuild(host: Host) -> Readings:
    """Update the host and its controllers, disks, arrays, filesystems and targets, all or nothing.

    What is gone is marked so, typed fields stay, a tool that cannot be read leaves its part as it was and says why in
    its output's `problem`. `host` itself is refreshed.
    """
    with lab_scope(host.lab_id), transaction.atomic():
        # One rebuild of a lab at a time: disks move between its hosts. Other writes go on.
        Lab.objects.select_for_update(no_key=True).get(pk=host.lab_id)
        outputs = list(newest_outputs(host))
        readings = read(outputs, _earlier_outputs(host, outputs))
        ledger = Ledger(host)
        _write_host(host, readings, ledger)
        mounts = readings.findmnt or Mounts(())
        paths = _wanted_paths(host, readings.machine)
        filesystems = [FoundFilesystem(mount, made=made_of(mount, readings)) for mount in kept(mounts, paths)]
        filesystems, (disks, arrays) = _write_storage(host, readings, filesystems, ledger)
        write_nics(host, nics(readings), ledger)
        if readings.findmnt:
            written = write_filesystems(host, filesystems, (disks, arrays), readings, ledger)
            write_targets(host, mounts, written, readings.machine.directories if readings.machine else ())
        elif readings.machine:
            write_targets(host, mounts, {}, readings.machine.directories)
        ledger.write()
        _write_problems(outputs, readings.problems)
    return readings


def _earlier_outputs(host: Host, newest: list[ToolOutput]) -> dict[str, list[ToolOutput]]:
    """Return, for each tool whose newest output is of a partial look, those before it back to the last whole look."""
    earlier: dict[str, list[ToolOutput]] = {}
    for output in newest:
        if output.tool not in LISTING or look_of(output.tool, output.argv, output.stdout).is_whole:
            continue
        before = ToolOutput.objects.filter(host=host, tool=output.tool, id__lt=output.pk).order_by("-id")
        for one in before[:MOST_EARLIER]:
            earlier.setdefault(output.tool, []).append(one)
            if look_of(one.tool, one.argv, one.stdout).is_whole:
                break
    return earlier


def waiting_for(host: Host) -> list[Host]:
    """Return the hosts whose last discovery claimed disks of this host.

    Once this host no longer shows those disks, the stored outputs of the returned hosts have to be read again.
    """
    claims = ToolOutput.objects.filter(lab_id=host.lab_id, problem__contains=CLAIM.format(host=host.name)).exclude(
        host=host
    )
    return list(Host.objects.filter(pk__in=claims.values("host")).order_by("pk")[:MOST_WAITING])


def _wanted_paths(host: Host, machine: ReportedMachine | None) -> list[str]:
    typed = Target.objects.filter(host=host, path__startswith="/").values_list("path", flat=True)
    return [*typed, *(machine.directories if machine else ())]


def _write_storage(
    host: Host, readings: Readings, filesystems: list[FoundFilesystem], ledger: Ledger
) -> tuple[list[FoundFilesystem], Rows]:
    """Write the discovered storage; return the filesystems with what they lie on, and the rows.

    Without lsblk nothing is known about what filesystems lie on. What no tool of this discovery could list is left as
    it was.
    """
    hardware = typed_hardware(host)
    storage = Storage(readings, {name: hardware_layer(row) for name, row in hardware.items()})
    layers = storage.layers
    below = {one.mount.target: layers.device_of(one.mount.numbers, one.mount.source) for one in filesystems}
    found = storage.found(below.values())
    if found.warnings:
        readings.problems["lsblk"] = "; ".join(filter(None, [readings.problems.get("lsblk"), *found.warnings]))
    told = _coverage(readings)
    controllers = write_controllers(host, found.controllers, ledger)
    claims: list[str] = []
    disks = write_disks(host, found.disks, controllers, ledger, told, claims)
    if claims:
        readings.problems["lsblk"] = "; ".join(filter(None, [readings.problems.get("lsblk"), *claims[:MOST_CLAIMS]]))
    left = [row for name, row in hardware.items() if name not in storage.names]
    arrays = write_arrays(host, found.arrays, disks, left, Context(controllers, told, ledger))
    drop_superseded(host, found.controllers)
    write_enclosures(host, found.enclosures, told.cards.is_whole or readings.sysfs is not None, ledger)
    if readings.lsblk is None:
        return filesystems, (None, {})
    placed = [
        replace(one, layer=layers.layer_of(below[one.mount.target], one.mount.fstype, one.mount.source))
        for one in filesystems
    ]
    return placed, (disks, arrays)


def _coverage(readings: Readings) -> ToolCoverage:
    """Return what the tools looked at."""
    cards = readings.look(*(module.TOOL for module in RAID_TOOLS)) if readings.raid_cards() else PARTIAL
    block = readings.lsblk.earlier if readings.lsblk else frozenset[str]()
    only_md = readings.mdstat.earlier if readings.mdstat else frozenset[str]()
    devices = {device.kname for device in readings.lsblk.devices} - block if readings.lsblk else set[str]()
    arrays = readings.mdstat.by_name().keys() - only_md if readings.mdstat else set[str]()
    return ToolCoverage(readings.look("lsblk"), cards, (block - arrays) | (only_md - devices))


def _write_host(host: Host, readings: Readings, ledger: Ledger) -> None:
    row = Host.objects.select_for_update(no_key=True).get(pk=host.pk)
    values = host_values(readings)
    if fill(row, values, inferred=("hypervisor",) if values.get("hypervisor") is NOTHING else (), ledger=ledger):
        row.updated_at = timezone.now()
        row.save(update_fields=[*values, "sources", "absent", "updated_at"])
    for field in Host._meta.concrete_fields:
        setattr(host, field.attname, getattr(row, field.attname))


def _write_problems(outputs: list[ToolOutput], problems: dict[str, str]) -> None:
    changed = []
    for output in outputs:
        if output.problem != problems.get(output.tool, ""):
            output.problem = problems.get(output.tool, "")
            changed.append(output)
    if changed:
        ToolOutput.objects.bulk_update(changed, ["problem"])
