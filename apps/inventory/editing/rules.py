"""What must hold between a part and the others, whoever edits it. Each rule answers with (field, sentence)."""

from collections.abc import Callable, Iterator
from typing import Any

from apps.inventory.models import Array, Controller, Disk, Enclosure, Filesystem, Host, NetworkLink, Part, Target
from apps.inventory.slots.layout import rows_of
from apps.inventory.slots.names import SlotError
from apps.inventory.target_paths import refuse_path
from apps.inventory.vocabulary import TargetKind

Found = Iterator[tuple[str, str]]
MAX_LABELS, MAX_LABEL_NAME, MAX_LABEL = 50, 60, 200


def problems_of(row: Part, may_have_moved: bool = True) -> Found:
    """Yield everything that is wrong with a part as it would be saved.

    `may_have_moved` is False when the caller knows that its host is the same; that saves queries.
    """
    yield from _numbers(row)
    yield from _texts(row)
    yield from _labels(row)
    for rule in RULES.get(str(row._meta.model_name), ()):
        yield from rule(row)
    if row.pk and may_have_moved:
        yield from _left_behind(row)


def _numbers(row: Part) -> Found:
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(value, int) and not isinstance(value, bool) and not field.is_relation:
            least = 1 if field.name == "count" else 0
            if value < least:
                yield field.name, f"found {value}, expected at least {least}"


def _texts(row: Part) -> Found:
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(value, str) and not storable(value):
            yield (
                field.name,
                "found a character that cannot be kept (NUL or half a surrogate pair), expected plain text",
            )


def storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _labels(row: Part) -> Found:
    if not isinstance(row.labels, dict):
        yield "labels", f"found {type(row.labels).__name__}, expected names with values"
        return
    if len(row.labels) > MAX_LABELS:
        yield "labels", f"found {len(row.labels)}, expected at most {MAX_LABELS}"
    for name, value in row.labels.items():
        if not name.strip() or len(name) > MAX_LABEL_NAME or "=" in name or not storable(name):
            yield "labels", f"found the name {name[:80]!r}, expected 1 to {MAX_LABEL_NAME} characters and no ="
        if not isinstance(value, str | int | float) or len(str(value)) > MAX_LABEL or not storable(str(value)):
            yield (
                "labels",
                f"{name}: found {str(value)[:80]!r}, expected text of at most {MAX_LABEL} characters, or a number",
            )


def same_host(*fields: str) -> Callable[[Any], Found]:
    """Return a rule that the parts these fields refer to are in the part's own host."""

    def rule(row: Any) -> Found:
        for name in fields:
            other = getattr(row, name)
            if other is not None and other.host_id != row.host_id:
                yield (
                    name,
                    f"found {other}, which is in {other.host or 'no host'}; expected one in {row.host or 'no host'}",
                )

    return rule


def at_most_one(*fields: str) -> Callable[[Any], Found]:
    def rule(row: object) -> Found:
        given = [name for name in fields if getattr(row, name) is not None]
        if len(given) > 1:
            names = " and ".join(given)
            yield given[-1], f"found {names}, expected at most one of them: the layer right below"

    return rule


def _sits_on_itself(row: Controller) -> Found:
    below, seen = row.sits_on, {row.pk}
    while below is not None:
        if below.pk in seen:
            yield "sits_on", f"found {row.sits_on}, which sits on {row.name} itself; expected the HBA below"
            return
        seen.add(below.pk)
        below = below.sits_on


def _ends(row: NetworkLink) -> Found:
    for nic, switch, which in (("nic", "switch", "one end"), ("far_nic", "far_switch", "the other end")):
        given = [name for name in (nic, switch) if getattr(row, f"{name}_id") is not None]
        if len(given) != 1:
            yield nic, f"{which}: found {' and '.join(given) or 'nothing'}, expected a NIC or a switch"
    if (row.nic_id and row.nic_id == row.far_nic_id) or (row.switch_id and row.switch_id == row.far_switch_id):
        yield "far_nic" if row.nic_id else "far_switch", "found the same at both ends, expected two"


def _agents_own(row: Target) -> Found:
    """Refuse changes to what an agent says of the directory that it offers."""
    if not (row.pk and row.is_agents_own):
        return
    before = Target.objects.get(pk=row.pk)
    for name, column in (("host", "host_id"), ("kind", "kind"), ("path", "path")):
        if getattr(row, column) != getattr(before, column):
            yield name, f"found {getattr(row, name)}, expected {getattr(before, name)}: the host's own agent offers it"


def _path(row: Target) -> Found:
    if sentence := refuse_path(row):
        yield "path", sentence


def _network(row: Target) -> Found:
    is_network = row.kind == TargetKind.NETWORK
    for name in ("filesystem", "array", "disk"):
        if is_network and getattr(row, f"{name}_id"):
            yield name, "found one, expected none: a network peer lies on no storage"
    if row.peer_id and not is_network:
        yield "peer", f"found {row.peer}, expected none: only a network peer has another end"
    if row.peer_id and row.peer_id == row.host_id:
        yield "peer", "found the host itself, expected another one"


def _space(row: Filesystem) -> Found:
    for name in ("used_bytes", "free_bytes"):
        value = getattr(row, name)
        if row.size_bytes is not None and value is not None and value > row.size_bytes:
            yield name, f"found {value} B, expected at most the size, {row.size_bytes} B"


def _left_behind(row: Part) -> Found:
    """Refuse the move of a part to another host while parts of its present host refer to it."""
    host_id = getattr(row, "host_id", 0)
    if host_id == 0 or type(row).objects.filter(pk=row.pk, host_id=host_id).exists():
        return
    for relation in row._meta.related_objects:
        other: Any = relation.related_model
        if isinstance(other, type) and issubclass(other, Part) and hasattr(other, "host"):
            count = other.objects.filter(**{relation.field.name: row}).exclude(host_id=host_id).count()
            if count:
                word = other._meta.verbose_name if count == 1 else other._meta.verbose_name_plural
                yield "host", f"found another host, but {count} {word} of the present one hang on it; free them first"
    if isinstance(row, Disk | Array):
        yield from _members_left(row)


def _members_left(row: Disk | Array) -> Found:
    for member in row.memberships.select_related("array__host"):
        if member.array.host_id != row.host_id:
            yield (
                "host",
                f"found another host, but it is a member of {member.array} in {member.array.host}; take it out first",
            )
    if isinstance(row, Array) and row.members.exists():
        yield "host", "found another host, but its members stay where they are; take them out first"


def _layout(row: Enclosure) -> Found:
    try:
        rows_of(row.layout)
    except SlotError as error:
        yield "layout", str(error)
    if not isinstance(row.boot_slots, list) or not all(isinstance(slot, str) for slot in row.boot_slots):
        yield "boot_slots", f"found {str(row.boot_slots)[:80]}, expected a list of slots such as c3d0"


def _settings(row: Host) -> Found:
    for name, value in row.sysctl.items():
        if not isinstance(value, str | int) or len(str(value)) > 1000 or not storable(name + str(value)):
            yield "sysctl", f"{name[:80]}: found {str(value)[:80]!r}, expected text of at most 1000 characters"


RULES: dict[str, tuple[Callable[[Any], Found], ...]] = {
    "host": (_settings,),
    "controller": (same_host("sits_on"), _sits_on_itself),
    "disk": (same_host("controller"),),
    "array": (same_host("controller"),),
    "filesystem": (same_host("disk", "array"), at_most_one("disk", "array"), _space),
    "target": (same_host("filesystem", "array", "disk", "nic"), at_most_one("filesystem", "array", "disk"), _network, _agents_own, _path),
    "networklink": (_ends,),
    "enclosure": (_layout,),
    "storagepath": (same_host("array"),),
}  # fmt: skip


def violated(error: object) -> str:
    """Return a sentence for a violated database constraint; its own message where there is no sentence."""
    for name, sentence in SENTENCES.items():
        if name in str(error):
            return sentence
    return str(error)


SENTENCES = {
    "disk_serial_in_lab": "found the model and serial number of another disk of this lab, expected a disk once",
    "one_filesystem_per_mount": "found a mount point where another filesystem of this host is mounted, expected one per mount point",
    "host_name_in_lab": "found the name of another host of this lab, expected a name of its own",
    "switch_name_in_lab": "found the name of another switch of this lab, expected a name of its own",
    "controller_name_on_host": "found the name of another controller of this host, expected a name of its own",
    "array_name_on_host_in_round": "found the name of another array of this host in the same round, expected a name or a round of its own",
    "target_name_on_host": "found the name of another target of this host, expected a name of its own",
    "nic_name_on_host": "found the name of another NIC of this host, expected a name of its own",
    "enclosure_name_on_host": "found the name of another enclosure of this host, expected a name of its own",
    "path_name_on_host": "found the name of another storage path of this host, expected a name of its own",
    "a_link_is_in_use": "found as many standby links as there are links, expected at least one in use",
}
