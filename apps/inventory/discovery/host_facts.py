"""What the tools say of a host as a whole."""

from typing import Any

from apps.inventory.discovery.found import NOTHING
from apps.inventory.discovery.tools import Readings


def host_values(readings: Readings) -> dict[str, Any]:
    """Field → value; what no tool told is left out."""
    values: dict[str, Any] = {}
    if cpu := readings.cpuinfo:
        values |= {"cpu_model": cpu.model, "cpu_count": cpu.count, "cpu_sockets": cpu.sockets}
        values["cpu_cache_bytes"] = cpu.cache_bytes
    if readings.meminfo:
        values["ram_bytes"] = readings.meminfo.total_bytes
    if readings.os_release:
        values["os"] = readings.os_release.pretty_name
    if uname := readings.uname:
        values |= {"kernel": uname.release, "architecture": uname.machine}
    if readings.sysctl and readings.sysctl.values:
        values["sysctl"] = readings.sysctl.values
    return values | _of_machine(readings)


def _of_machine(readings: Readings) -> dict[str, Any]:
    """The agent's own look, then dmidecode, which only root may ask and which knows more."""
    values: dict[str, Any] = {}
    if machine := readings.machine:
        environment = machine.environment(readings.cpuinfo.has_hypervisor if readings.cpuinfo else None)
        values |= {"fqdn": machine.fqdn, "board": machine.board, "environment": environment}
        values |= {"vendor": machine.vendor, "model": machine.model}
        values["hypervisor"] = NOTHING if environment == "native" else machine.hypervisor
    if made := readings.dmidecode:
        told = {
            "vendor": made.vendor,
            "model": made.model,
            "serial": made.serial,
            "board": made.board,
            "ram_type": made.ram_type,
        }
        values |= {name: value for name, value in told.items() if value}
    return values
