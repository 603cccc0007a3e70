"""Hosts: processors, memory, system, and whether they are guests."""

import re
from collections.abc import Iterator

from apps.studies.machine_payloads.index import MachineIndex
from apps.studies.machine_payloads.part_text import DescribedPart, Entry, PartFields


def hosts(study: MachineIndex) -> Iterator[DescribedPart]:
    for entry in study.host_entries:
        yield _host(study, entry)


def _host(study: MachineIndex, entry: Entry) -> DescribedPart:
    fields, cpus = PartFields(), entry.get("cpus") or {}
    for name, value in (
        ("fqdn", entry.get("fqdn")), ("model", entry.get("model")), ("cpu_model", cpus.get("model")), ("ram_type", entry.get("ram_type")),
        ("board", entry.get("motherboard")), ("os", entry.get("os")), ("kernel", entry.get("kernel")), ("architecture", entry.get("arch")),
    ):  # fmt: skip
        fields.text(name, value)
    for name, value in (
        ("cpu_sockets", cpus.get("count")), ("cpu_cache_bytes", cpus.get("cache_bytes")), ("ram_bytes", entry.get("ram_bytes")),
    ):  # fmt: skip
        fields.number(name, value)
    if entry.get("role"):
        fields.values["role"] = str(entry["role"])[:200]
    bases = {"ram_bytes": "ram_basis", "architecture": "arch_basis"}
    inferred = _environment(study, entry, fields) + tuple(name for name, basis in bases.items() if entry.get(basis))
    for name in ("note", "name_note", "controllers_note", "fqdn_as_scanned", "kernel_as_scanned", "ram_basis", "arch_basis", "count", "slots",
                 "disks_installed", "system_disk"):  # fmt: skip
        fields.note("" if name == "note" else name.replace("_", " "), entry.get(name))
    if settings := _sysctl(study, entry):
        fields.values["sysctl"] = settings
    return DescribedPart(
        "host", f"host {entry['name']}", {"name": entry["name"]}, fields.all(), fields.absent, inferred=inferred
    )


def _environment(study: MachineIndex, entry: Entry, fields: PartFields) -> tuple[str, ...]:
    text = str(entry.get("virtualisation") or "")
    guest = re.match(r"(VMware ESXi|Xen|KVM|Hyper-V)\s*([\d.]*)(?! or none)\s*(\(inferred)?", text)
    if text == "none":
        fields.values["environment"] = "native"
        fields.absent["hypervisor"] = fields.absent["hypervisor_version"] = "none"
    elif guest and "or none" not in text:
        fields.values |= {"environment": "guest", "hypervisor": guest[1]} | (
            {"hypervisor_version": guest[2]} if guest[2] else {}
        )
        return ("environment", "hypervisor", "hypervisor_version")[: 3 if guest[2] else 2] if guest[3] else ()
    else:
        reason = "unknown" if text else "not_printed"
        fields.absent |= {"environment": reason, "hypervisor": reason}
        fields.note("virtualisation", text)
    return ()


def _sysctl(study: MachineIndex, entry: Entry) -> dict[str, str]:
    """Return the kernel's network settings, which belong to the hosts with the fastest cards."""
    network = study.study.get("network") or {}
    rates = {nic["id"]: nic.get("speed_bits") or 0 for nic in network.get("nics") or []}
    fastest = max(rates, key=lambda name: rates[name], default=None)
    return (
        {name: str(value) for name, value in (network.get("sysctl") or {}).items()}
        if fastest in (entry.get("nics") or [])
        else {}
    )
