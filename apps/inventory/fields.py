"""Every field of the inventory, declared once: form, page, REST, files, history, topology, filters and their words come from here.

A new field of a disk is a column of the model, a migration, and one line in `FIELDS["disk"]`. Pure, so that comparing
snapshots needs no Django.
"""

from dataclasses import dataclass

Group = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class FieldSpec:
    """One field of a kind of part, under the name of its column.

    `label` is what pages, history and filters call it (made from the name where none is given), `form_label` what the
    form asks; `unit` is the base unit it is kept in: B, B/s, bit/s, or nothing (known by the end of most names).
    `section` is the heading that it stands under in the form.
    """

    name: str
    section: str = ""
    label: str = ""
    form_label: str = ""
    unit: str = ""
    editable: bool = True
    has_own_page: bool = False  # edited on a page of its own, not in the form
    on_page: bool = True  # in the list of facts on the part's page; its heading may show it already
    explains_absence: bool = True  # the form asks why it is empty
    is_long: bool = False  # text of several lines
    in_topology: bool = True
    in_snapshot: bool = True  # part of the evidence that a run freezes
    watched: bool = True  # False: no history of what an agent reports anew each time
    searched: bool = False  # by the search box above the list
    individual: bool = False  # no two parts are alike in it, so that it is never set for many at once
    counts_on: bool = False  # from one to the next of many parts that are made alike

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", self.unit or _usual_unit(self.name))
        object.__setattr__(self, "label", self.label or _usual_label(self.name))
        object.__setattr__(self, "form_label", self.form_label or self.label)


def _usual_label(name: str) -> str:
    return name.removesuffix("_bytes").replace("_", " ")


def _usual_unit(name: str) -> str:
    ends = {"bits_per_second": "bit/s", "bytes_per_second": "B/s", "_bytes": "B"}
    return next((unit for end, unit in ends.items() if name.endswith(end)), "")


def _reference(
    name: str, section: str, *, on_page: bool = True, in_topology: bool = True, form_label: str = ""
) -> FieldSpec:
    """Return the field that names another part; a snapshot holds that part itself."""
    return FieldSpec(
        name,
        section,
        on_page=on_page,
        in_topology=in_topology,
        in_snapshot=False,
        individual=name in _OF_ONE,
        form_label=form_label,
    )


_OF_ONE = {"disk", "array", "nic", "switch", "far_nic", "far_switch", "filesystem"}


def _host(section: str) -> FieldSpec:
    return _reference("host", section, on_page=False, in_topology=False)


def _name(section: str, *, on_page: bool = False, counts_on: bool = False) -> FieldSpec:
    return FieldSpec("name", section, on_page=on_page, searched=True, individual=True, counts_on=counts_on)


def _present(section: str) -> FieldSpec:
    return FieldSpec("is_present", section, "seen at the last look", "it is there", explains_absence=False)


def _uuid(section: str) -> FieldSpec:
    return FieldSpec("uuid", section, "UUID", individual=True)


def _serial(section: str, *, searched: bool = False) -> FieldSpec:
    return FieldSpec("serial", section, searched=searched, individual=True)


def _address(section: str) -> FieldSpec:
    return FieldSpec("address", section, individual=True)


def _link(section: str) -> tuple[FieldSpec, ...]:
    return (
        FieldSpec("bits_per_second", section, "link rate"),
        FieldSpec("mtu", section, "MTU"),
        FieldSpec("count", section, "alike"),
    )


_NAME, _MACHINE, _CPU, _SYSTEM = "Name", "Machine", "Processors and memory", "System"
_PLACE, _WHAT, _NAMED_PLACE, _CACHE = "Place", "What it is", "Name and place", "Cache"
_CONNECTION, _CAPACITY, _MADE, _SPACE = "How it is connected", "Capacity and speed", "How it was made", "Space"

FIELDS: dict[str, tuple[FieldSpec, ...]] = {
    "host": (
        _name(_NAME),
        FieldSpec("vendor", _MACHINE),
        FieldSpec("model", _MACHINE),
        _serial(_MACHINE),
        FieldSpec("fqdn", _NAME, "full name", individual=True),
        FieldSpec("cpu_model", _CPU, "CPU", searched=True),
        FieldSpec("cpu_count", _CPU, "logical CPUs"),
        FieldSpec("cpu_sockets", _CPU, "CPU sockets"),
        FieldSpec("cpu_cache_bytes", _CPU, "CPU cache"),
        FieldSpec("ram_bytes", _CPU, "RAM"),
        FieldSpec("ram_type", _CPU, "RAM type"),
        FieldSpec("board", _MACHINE),
        FieldSpec("os", _SYSTEM, "operating system", searched=True),
        FieldSpec("kernel", _SYSTEM, searched=True),
        FieldSpec("architecture", _SYSTEM),
        FieldSpec("environment", _SYSTEM),
        FieldSpec("hypervisor", _SYSTEM),
        FieldSpec("hypervisor_version", _SYSTEM),
        FieldSpec("sysctl", _SYSTEM, on_page=False, explains_absence=False, individual=True),
        FieldSpec("role", _NAME, searched=True),
        FieldSpec(
            "is_in_maintenance",
            "Maintenance",
            "in maintenance",
            "in maintenance: new runs wait",
            explains_absence=False,
            in_topology=False,
            in_snapshot=False,
        ),
        FieldSpec(
            "maintenance_note",
            "Maintenance",
            form_label="why, until when",
            on_page=False,
            explains_absence=False,
            in_topology=False,
            in_snapshot=False,
        ),
    ),
    "controller": (
        _host(_NAMED_PLACE),
        _name(_NAMED_PLACE, counts_on=True),
        _reference("sits_on", _NAMED_PLACE),
        _address(_NAMED_PLACE),
        FieldSpec("bus", _NAMED_PLACE),
        FieldSpec("kind", _WHAT),
        FieldSpec("vendor", _WHAT, searched=True),
        FieldSpec("model", _WHAT, searched=True),
        FieldSpec("model_behind", _WHAT, "maker's model", searched=True),
        _serial(_WHAT),
        FieldSpec("firmware", _WHAT),
        FieldSpec("driver", _WHAT),
        FieldSpec("cache_bytes", _CACHE),
        FieldSpec("cache_protection", _CACHE),
        FieldSpec("protection_state", _CACHE),
        FieldSpec("write_policy", _CACHE),
        FieldSpec("ports", "Links"),
        FieldSpec("lanes", "Links"),
    ),
    "disk": (
        _host(_PLACE),
        _reference("controller", _PLACE, on_page=False, in_topology=False),
        FieldSpec("device_name", _PLACE, searched=True, individual=True, counts_on=True),
        FieldSpec("enclosure", _PLACE),
        FieldSpec("slot_controller", _PLACE),
        FieldSpec("slot_number", _PLACE, individual=True, counts_on=True),
        FieldSpec("channel", _PLACE),
        _present(_PLACE),
        FieldSpec("vendor", _WHAT, searched=True),
        FieldSpec("model", _WHAT, searched=True),
        _serial(_WHAT, searched=True),
        FieldSpec("wwn", _WHAT, "WWN", searched=True, individual=True),
        FieldSpec("firmware", _WHAT),
        FieldSpec("health", _WHAT),
        FieldSpec("interface", _CONNECTION),
        FieldSpec("generation", _CONNECTION),
        FieldSpec("link_generation", _CONNECTION, "link runs at"),
        FieldSpec("capacity_bytes", _CAPACITY),
        FieldSpec("logical_block_bytes", _CAPACITY),
        FieldSpec("cache_bytes", _CAPACITY),
        FieldSpec("rpm", _CAPACITY, "turns per minute"),
        FieldSpec("is_solid_state", _CAPACITY, "solid state"),
        FieldSpec("media_bytes_per_second", _CAPACITY, "media rate"),
    ),
    "array": (
        _host(_NAMED_PLACE),
        _name(_NAMED_PLACE, counts_on=True),
        FieldSpec("device_name", _NAMED_PLACE, searched=True, individual=True),
        FieldSpec("round", _NAMED_PLACE, explains_absence=False),
        _uuid(_NAMED_PLACE),
        _present(_NAMED_PLACE),
        FieldSpec("level", "Level"),
        FieldSpec("implementation", "Level"),
        FieldSpec("software", "Level", searched=True),
        FieldSpec("software_version", "Level"),
        _reference("controller", "Level", on_page=False),
        FieldSpec("layout", "Level"),
        FieldSpec("chunk_size", "Geometry", unit="B"),
        FieldSpec("capacity_bytes", "Geometry"),
        FieldSpec("member_count", "Geometry", "members", "how many members"),
        FieldSpec("state", "State"),
        FieldSpec("write_policy", "State"),
        FieldSpec("read_policy", "State"),
    ),
    "filesystem": (
        _host(_PLACE),
        _reference("disk", _PLACE, on_page=False),
        _reference("array", _PLACE, on_page=False),
        FieldSpec("device_name", _PLACE, searched=True, individual=True),
        FieldSpec("mount_point", _PLACE, searched=True, individual=True),
        _uuid(_PLACE),
        _present(_PLACE),
        FieldSpec("type", _MADE, searched=True),
        FieldSpec("mkfs_options", _MADE, is_long=True),
        FieldSpec("block_size", _MADE, unit="B"),
        FieldSpec("stripe_unit", _MADE, unit="B"),
        FieldSpec("stripe_width", _MADE, unit="B"),
        FieldSpec("mount_options", "How it is mounted", is_long=True),
        FieldSpec("journal_mode", "How it is mounted"),
        FieldSpec("size_bytes", _SPACE),
        FieldSpec("used_bytes", _SPACE, in_snapshot=False, watched=False, individual=True),
        FieldSpec("free_bytes", _SPACE, in_snapshot=False, watched=False, individual=True),
    ),
    "target": (
        _host("Where tests point"),
        _name("Where tests point"),
        FieldSpec("kind", "Where tests point"),
        FieldSpec("path", "Where tests point", searched=True, individual=True),
        _reference("filesystem", "What it lies on", on_page=False, in_topology=False),
        _reference("array", "What it lies on", on_page=False),
        _reference("disk", "What it lies on", on_page=False),
        _reference("nic", "Network", on_page=False, form_label="NIC"),
        _reference("peer", "Network", on_page=False, form_label="other end"),
        FieldSpec("is_agents_own", label="offered by the agent", editable=False),
        FieldSpec("lies_on", editable=False, on_page=False, in_topology=False, in_snapshot=False),
        FieldSpec("gone_at", label="gone since", editable=False, on_page=False, in_topology=False, in_snapshot=False),
        FieldSpec(
            "gone_reason", label="why it is gone", editable=False, on_page=False, in_topology=False, in_snapshot=False
        ),
    ),
    "enclosure": (
        _host(_NAMED_PLACE),
        _name(_NAMED_PLACE, counts_on=True),
        FieldSpec("kind", _NAMED_PLACE),
        _present(_NAMED_PLACE),
        FieldSpec("vendor", _WHAT, searched=True),
        FieldSpec("model", _WHAT, searched=True),
        _serial(_WHAT, searched=True),
        FieldSpec("naming_rule", "Device names", in_topology=False),
        FieldSpec("disks_per_controller", "Device names", in_topology=False),
        FieldSpec("layout", has_own_page=True, on_page=False),
        FieldSpec("boot_slots", has_own_page=True, on_page=False),
    ),
    "nic": (
        _host(_NAMED_PLACE),
        _name(_NAMED_PLACE, counts_on=True),
        _address(_NAMED_PLACE),
        FieldSpec("bus", _NAMED_PLACE),
        _present(_NAMED_PLACE),
        FieldSpec("vendor", _WHAT, searched=True),
        FieldSpec("model", _WHAT, searched=True),
        FieldSpec("driver", _WHAT, searched=True),
        FieldSpec("firmware", _WHAT),
        FieldSpec("mac", _WHAT, "MAC address", searched=True, individual=True),
        *_link("Link"),
    ),
    "switch": (
        _name(_WHAT, counts_on=True),
        FieldSpec("vendor", _WHAT, searched=True),
        FieldSpec("model", _WHAT, searched=True),
        FieldSpec("firmware", _WHAT),
        FieldSpec("ports", _WHAT, searched=True),
    ),
    "networklink": (
        _reference("nic", "One end", in_topology=False, form_label="NIC"),
        _reference("switch", "One end", in_topology=False),
        _reference("far_nic", "The other end", in_topology=False, form_label="NIC"),
        _reference("far_switch", "The other end", in_topology=False, form_label="switch"),
        *_link("What it carries"),
    ),
    "storagepath": (_host(_WHAT), _name(_WHAT), _reference("array", _WHAT)),
    # rows that belong to a part
    "arraymember": (
        _reference("disk", ""),
        _reference("member_array", "", form_label="array"),
        FieldSpec("partition"),
        FieldSpec("state"),
    ),
    "pathsection": (
        FieldSpec("name"),
        FieldSpec("kind"),
        FieldSpec("link"),
        FieldSpec("count", label="alike"),
        FieldSpec("standby_count"),
        FieldSpec("bytes_per_second", form_label="bandwidth"),
        _reference("controller", ""),
    ),
}
COMMON = ("labels", "notes", "absent", "sources")  # every part has them, beside its own

_SPECS = {kind: {spec.name: spec for spec in specs} for kind, specs in FIELDS.items()}
_BY_NAME = {spec.name: spec for specs in FIELDS.values() for spec in specs}  # fields of one name share label and unit


def specs_of(kind: str) -> tuple[FieldSpec, ...]:
    """Return the fields of a kind of part, by the name of its model."""
    return FIELDS[kind]


def spec_of(kind: str, name: str) -> FieldSpec:
    """Return one field of a kind of part; of a common one (`notes`) what its name says."""
    return _SPECS[kind].get(name) or FieldSpec(name)


def groups_of(kind: str) -> tuple[Group, ...]:
    """Return the sections of a kind's form with the names of their fields."""
    sections = dict.fromkeys(spec.section for spec in FIELDS[kind] if spec.section)
    return tuple((title, tuple(spec.name for spec in FIELDS[kind] if spec.section == title)) for title in sections)


def label_of(name: str) -> str:
    """Return what a field is called on pages: `ram_bytes` → `RAM`, `chunk_size` → `chunk size`."""
    return _BY_NAME[name].label if name in _BY_NAME else _usual_label(name)


def unit_of(name: str) -> str:
    """Return the base unit that a field is kept in; nothing for text and plain numbers."""
    return _BY_NAME[name].unit if name in _BY_NAME else _usual_unit(name)


def is_bytes(name: str) -> bool:
    """Tell whether a field is kept in bytes."""
    return unit_of(name) == "B"
