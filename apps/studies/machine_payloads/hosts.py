"""Hosts: processors, memory, system, and whether they are guests."""

import re
from collections.abc import Iterator

from apps.studies.machine_payloads.index import Machines
from apps.studies.machine_payloads.said import Described, Entry, Said


def hosts(study: Machines) -> Iterator[Described]:
    for entry in study.host_entries:
        yield _host(study, entry)


def _host(study: Machines, entry: Entry) -> Described:
    said, cpus = Said(), entry.get("cpus") or {}
    for name, value in (
        ("fqdn", entry.get("fqdn")), ("model", entry.get("model")), ("cpu_model", cpus.get("model")), ("ram_type", entry.get("ram_type")),
        ("board", entry.get("motherboard")), ("os", entry.get("os")), ("kernel", entry.get("kernel")), ("architecture", entry.get("arch")),
    ):  # fmt: skip
        said.text(name, value)
    for name, value in (
        ("cpu_sockets", cpus.get("count")), ("cpu_cache_bytes", cpus.get("cache_bytes")), ("ram_bytes", entry.get("ram_bytes")),
    ):  # fmt: skip
        said.number(name, value)
    if entry.get("role"):
        said.values["role"] = str(entry["role"])[:200]
    bases = {"ram_bytes": "ram_basis", "architecture": "arch_basis"}
    inferred = _environment(study, entry, said) + tuple(name for name, basis in bases.items() if entry.get(basis))
    for name in ("note", "name_note", "controllers_note", "fqdn_as_scanned", "kernel_as_scanned", "ram_basis", "arch_basis", "count", "slots",
                 "disks_installed", "system_disk"):  # fmt: skip
        said.note("" if name == "note" else name.replace("_", " "), entry.get(name))
    if settings := _sysctl(study, entry):
        said.values["sysctl"] = settings
    return Described(
        "host", f"host {entry['name']}", {"name": entry["name"]}, said.all(), said.absent, inferred=inferred
    )


def _environment(study: Machines, entry: Entry, said: Said) -> tuple[str, ...]:
    text = str(entry.get("virtualisation") or "")
    guest = re.match(r"(VMware ESXi|Xen|KVM|Hyper-V)\s*([\d.]*)(?! or none)\s*(\(inferred)?", text)
    if text == "none":
        said.values["environment"] = "native"
        said.absent["hypervisor"] = said.absent["hypervisor_version"] = "none"
    elif guest and "or none" not in text:
        said.values |= {"environment": "guest", "hypervisor": guest[1]} | (
            {"hypervisor_version": guest[2]} if guest[2] else {}
        )
        return ("environment", "hypervisor", "hypervisor_version")[: 3 if guest[2] else 2] if guest[3] else ()
    else:
        reason = "unknown" if text else "not_printed"
        said.absent |= {"environment": reason, "hypervisor": reason}
        said.note("virtualisation", text)
    return ()


def _sysctl(study: Machines, entry: Entry) -> dict[str, str]:
    """The kernel's network settings belong to the hosts with the fastest cards."""
    network = study.study.get("network") or {}
    rates = {one["id"]: one.get("speed_bits") or 0 for one in network.get("nics") or []}
    fastest = max(rates, key=lambda name: rates[name], default=None)
    return (
        {name: str(value) for name, value in (network.get("sysctl") or {}).items()}
        if fastest in (entry.get("nics") or [])
        else {}
    )
