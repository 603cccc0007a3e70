"""The inventory of a host, read again from the newest output of each tool. The second time changes nothing."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.inventory.discovery.array_rows import hardware_layer, typed_hardware, write_arrays
from apps.inventory.discovery.disk_rows import write_controllers, write_disks
from apps.inventory.discovery.filesystem_rows import write_filesystems, write_targets
from apps.inventory.discovery.filling import fill
from apps.inventory.discovery.findmnt import Mounts
from apps.inventory.discovery.found import NOTHING, FoundFilesystem
from apps.inventory.discovery.layers import Layers
from apps.inventory.discovery.machine import Machine
from apps.inventory.discovery.mounts import kept
from apps.inventory.discovery.tools import Readings, read
from apps.inventory.models import Array, Disk, Host, Target, ToolOutput
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

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
        readings = read(outputs)
        _write_host(host, readings)
        mounts = readings.findmnt or Mounts(())
        paths = _wanted_paths(host, readings.machine)
        filesystems = [FoundFilesystem(mount) for mount in kept(mounts, paths)]
        filesystems, (disks, arrays) = _write_storage(host, readings, filesystems)
        if readings.findmnt:
            written = write_filesystems(host, filesystems, disks, arrays)
            write_targets(host, mounts, written, readings.machine.directory if readings.machine else "")
        elif readings.machine:
            write_targets(host, mounts, {}, readings.machine.directory)
        _write_problems(outputs, readings.problems)
    return readings


def _wanted_paths(host: Host, machine: Machine | None) -> list[str]:
    typed = Target.objects.filter(host=host, path__startswith="/").values_list("path", flat=True)
    return [*typed, *([machine.directory] if machine and machine.directory else [])]


def _write_storage(
    host: Host, readings: Readings, filesystems: list[FoundFilesystem]
) -> tuple[list[FoundFilesystem], Rows]:
    """Without lsblk nothing is known about what filesystems lie on: disks None, and nothing is touched."""
    if readings.lsblk is None:
        return filesystems, (None, {})
    hardware = typed_hardware(host)
    layers = Layers(readings.lsblk, readings.mdstat, {name: hardware_layer(row) for name, row in hardware.items()})
    below = {one.mount.target: layers.device_of(one.mount.numbers, one.mount.source) for one in filesystems}
    storage = layers.storage(below.values())
    if storage.warnings:
        readings.problems["lsblk"] = "; ".join(filter(None, [readings.problems.get("lsblk"), *storage.warnings]))
    disks = write_disks(host, storage.disks, write_controllers(host, storage.controllers))
    arrays = write_arrays(host, storage.arrays, disks, hardware.values())
    placed = [
        FoundFilesystem(one.mount, layers.layer_of(below[one.mount.target], one.mount.fstype, one.mount.source))
        for one in filesystems
    ]
    return placed, (disks, arrays)


def _write_host(host: Host, readings: Readings) -> None:
    row = Host.objects.select_for_update(no_key=True).get(pk=host.pk)
    values = _host_values(readings)
    if fill(row, values, inferred=("hypervisor",) if values.get("hypervisor") is NOTHING else ()):
        row.updated_at = timezone.now()
        row.save(update_fields=[*values, "sources", "absent", "updated_at"])
    for field in Host._meta.concrete_fields:
        setattr(host, field.attname, getattr(row, field.attname))


def _host_values(readings: Readings) -> dict[str, Any]:
    cpu, machine, uname = readings.cpuinfo, readings.machine, readings.uname
    values: dict[str, Any] = {}
    if cpu:
        values |= {"cpu_model": cpu.model, "cpu_count": cpu.count, "cpu_sockets": cpu.sockets}
        values["cpu_cache_bytes"] = cpu.cache_bytes
    if readings.meminfo:
        values["ram_bytes"] = readings.meminfo.total_bytes
    if readings.os_release:
        values["os"] = readings.os_release.pretty_name
    if uname:
        values |= {"kernel": uname.release, "architecture": uname.machine}
    if machine:
        environment = machine.environment(cpu.has_hypervisor if cpu else None)
        values |= {"fqdn": machine.fqdn, "board": machine.board, "environment": environment}
        values["hypervisor"] = NOTHING if environment == "native" else machine.hypervisor
    return values


def _write_problems(outputs: list[ToolOutput], problems: dict[str, str]) -> None:
    changed = []
    for output in outputs:
        if output.problem != problems.get(output.tool, ""):
            output.problem = problems.get(output.tool, "")
            changed.append(output)
    if changed:
        ToolOutput.objects.bulk_update(changed, ["problem"])
