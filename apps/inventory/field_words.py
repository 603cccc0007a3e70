"""How fields of the inventory are called on pages, where that is not the name itself. Pure, so that comparing needs no Django."""

BYTES = frozenset({"chunk_size", "block_size", "stripe_unit", "stripe_width"})
LABELS = {
    "os": "operating system",
    "cpu_model": "CPU",
    "cpu_count": "logical CPUs",
    "cpu_sockets": "CPU sockets",
    "cpu_cache_bytes": "CPU cache",
    "ram_bytes": "RAM",
    "ram_type": "RAM type",
    "fqdn": "full name",
    "wwn": "WWN",
    "rpm": "turns per minute",
    "uuid": "UUID",
    "is_solid_state": "solid state",
    "is_agents_own": "offered by the agent",
    "is_present": "seen at the last look",
    "is_in_maintenance": "in maintenance",
    "mkfs_options": "mkfs options",
    "model_behind": "maker's model",
    "round": "round",
    "sits_on": "sits on",
    "member_count": "members",
    "logical_block_bytes": "logical block",
    "bits_per_second": "link rate",
    "media_bytes_per_second": "media rate",
    "link_generation": "link runs at",
    "mtu": "MTU",
    "mac": "MAC address",
    "count": "alike",
}


def label_of(field: str) -> str:
    """`ram_bytes` → `RAM`, `chunk_size` → `chunk size`."""
    return LABELS.get(field) or field.removesuffix("_bytes").replace("_", " ")


def is_bytes(field: str) -> bool:
    return field in BYTES or field.endswith("_bytes")


def unit_of(field: str) -> str:
    """The base unit that a field is kept in; nothing for text and plain numbers."""
    if field.endswith("bits_per_second"):
        return "bit/s"
    if field.endswith("bytes_per_second"):
        return "B/s"
    return "B" if is_bytes(field) else ""
