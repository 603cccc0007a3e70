"""`machine`: the agent's own JSON about its host.

    {"hostname": "node7", "fqdn": "node7.example.org", "virt": "kvm",
     "directory": "/srv/spindle", "directories": ["/srv/spindle", "/mnt/md0"], "board_vendor": "Supermicro",
     "board_name": "X11DPi-N", "sys_vendor": "Supermicro", "product_name": "SYS-6029"}

`virt` is what systemd-detect-virt prints: `none`, a hypervisor, or a container's manager, which it names even inside
a guest; null where it is not installed. Keys that are not known here are passed over.
"""

import posixpath
from dataclasses import dataclass

from apps.inventory.discovery.tool_text import told
from apps.inventory.discovery.tool_values import json_object, name, text
from apps.inventory.discovery.tools.findmnt import MAX_PATH

TOOL = "machine"
MAX_DIRECTORIES = 64
_CONTAINERS = {
    "openvz", "lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch",
    "container-other",
}  # fmt: skip
_HYPERVISORS = {
    "qemu": "QEMU", "kvm": "KVM", "amazon": "Amazon Nitro", "zvm": "z/VM", "vmware": "VMware", "microsoft": "Hyper-V",
    "oracle": "VirtualBox", "powervm": "PowerVM", "xen": "Xen", "bochs": "Bochs", "uml": "User-mode Linux",
    "parallels": "Parallels", "bhyve": "bhyve", "qnx": "QNX", "acrn": "ACRN", "apple": "Apple Virtualization",
    "sre": "LMHS SRE", "google": "Google Compute Engine",
}  # fmt: skip


@dataclass(frozen=True)
class ReportedMachine:
    """What the agent reports about its host, '' for what it could not tell.

    `directories` are the absolute paths of the directories that runs may use, `directory` is the first of them. Agents
    before version 1.1 have only one.
    """

    hostname: str = ""
    fqdn: str = ""
    virt: str = ""
    directory: str = ""
    directories: tuple[str, ...] = ()
    board: str = ""
    vendor: str = ""
    model: str = ""

    def environment(self, has_hypervisor: bool | None) -> str:
        """Return native, guest or '' (unknown); in a container, or without virt, the CPU's hypervisor flag decides."""
        if has_hypervisor or (self.virt and self.virt != "none" and self.virt not in _CONTAINERS):
            return "guest"
        if self.virt == "none" or (self.virt in _CONTAINERS and has_hypervisor is False):
            return "native"
        return ""

    @property
    def hypervisor(self) -> str:
        """Return the hypervisor's usual name; '' when there is none or only a container's manager is known."""
        if self.virt in _CONTAINERS or self.virt in ("", "none", "vm-other"):
            return ""
        return _HYPERVISORS.get(self.virt, self.virt)


def discover(printed: str) -> ReportedMachine:
    found = json_object(TOOL, printed)
    directories = _directories(found.get("directory"), found.get("directories"))
    board = (text(found.get(key), 90) for key in ("board_vendor", "board_name"))
    fqdn = name(found.get("fqdn"), 255)
    return ReportedMachine(
        hostname=name(found.get("hostname"), 200),
        fqdn="" if fqdn.startswith("localhost") else fqdn,
        virt=name(found.get("virt"), 40).lower(),
        directory=directories[0] if directories else "",
        directories=directories,
        board=" ".join(filter(None, board)),
        vendor=told(found.get("sys_vendor"), 120),
        model=told(found.get("product_name")),
    )


def _directories(first: object, every: object) -> tuple[str, ...]:
    paths = (name(path, MAX_PATH) for path in [first, *(every[:MAX_DIRECTORIES] if isinstance(every, list) else ())])
    return tuple(dict.fromkeys(posixpath.normpath(path) for path in paths if path.startswith("/")))
