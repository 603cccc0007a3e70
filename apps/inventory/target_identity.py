"""A target is known by its host, its path and the filesystem under it: another filesystem is another target.

A target that was measured is never pointed elsewhere. Where another filesystem, or another directory, takes its place, it stays as it was,
is said to be gone and why, and what is there now gets a target of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.core.text import make_printable, shorten
from apps.inventory.editing.deletion import loss_of
from apps.inventory.models import Filesystem, Host, Target
from apps.inventory.target_paths import explain_path, explain_problem
from apps.inventory.vocabulary import Source, TargetKind

AGENTS_TARGET = "agent directory"
KEPT = ("type", "uuid", "source", "mount_point")
LONGEST = {
    "path": 500,
    "type": 40,
    "uuid": 80,
    "source": 255,
    "mount_point": 500,
    "options": 4000,
    "problem": 1500,
    "device": 40,
    "root": 500,
}
MOST_UNUSED = 20  # targets without runs that an agent may have made on one host and that are gone
MOST_OFFERED = 100  # directories of one host
PAUSE = timedelta(minutes=1)  # beyond that, the least time between two new ones


@dataclass(frozen=True)
class Place:
    """Where a directory lies, as a host reports it.

    `problem`: why that cannot be told; then the directory takes no runs. `root`: the directory of the host's agent.conf
    that holds it, which may be itself; empty for agents that know of one directory only.
    """

    path: str = ""
    type: str = ""
    uuid: str = ""
    source: str = ""
    mount_point: str = ""
    options: str = ""
    device: str = ""
    problem: str = ""
    root: str = ""

    @classmethod
    def from_json(cls, value: object) -> "Place":
        """Take what is text and of a sensible length; an agent may be older, newer or hostile."""
        told = value if isinstance(value, Mapping) else {}
        parts = {name: _printable(name, _text(told.get(name))) for name in LONGEST}
        return cls(**{name: _cut(name, text) for name, text in parts.items()})

    @property
    def identity(self) -> dict[str, str]:
        """Return the identity of the filesystem that a target stores."""
        return {name: getattr(self, name) for name in KEPT if getattr(self, name)}

    @property
    def as_json(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in LONGEST if getattr(self, name)}

    @property
    def words(self) -> str:
        return words_of(self.identity)


def _text(value: object) -> str:
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _printable(name: str, text: str) -> str:
    """Return a part without what steers a terminal or turns a line around; what filesystems are known by stays as it is."""
    return text if name in ("path", "root", "source", "mount_point") else make_printable(text)


def _cut(name: str, text: str) -> str:
    return shorten(text, LONGEST[name]) if name == "problem" else text[: LONGEST[name]]


def words_of(lies_on: Mapping[str, Any]) -> str:
    """Describe the filesystem: `ext4 on /dev/sdb1 (UUID 3f5b…)`; '' where it is not known."""
    if not lies_on.get("type"):
        return ""
    source = (
        f" on {make_printable(lies_on['source'])}" if lies_on.get("source") not in (None, "", lies_on["type"]) else ""
    )
    return f"{lies_on['type']}{source}" + (f" (UUID {lies_on['uuid']})" if lies_on.get("uuid") else "")


def is_same_filesystem(known: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Compare by UUID where both have one, else by type and source. What is not known yet is no other one."""
    if not known.get("type") or not found.get("type"):
        return True
    if known["type"] != found["type"]:
        return False
    if known.get("uuid") and found.get("uuid"):
        return bool(known["uuid"] == found["uuid"])
    return not (known.get("source") and found.get("source")) or known["source"] == found["source"]


def is_same_target(one: Target, other: Target) -> bool:
    """Return whether two targets of one host are the same: same filesystem and, where both have one, same path."""
    if one.path and other.path and one.path != other.path:
        return False
    return is_same_filesystem(one.lies_on, other.lies_on)


def is_not_mounted(known: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Return whether the known filesystem's mount point is now an ordinary folder of the filesystem above it."""
    point, above = known.get("mount_point") or "", found.get("mount_point") or ""
    return bool(above) and point != above and point.startswith(above.rstrip("/") + "/")


@transaction.atomic
def offer_directories(host: Host, places: Sequence[Place]) -> list[Target]:
    """Make the targets of these places those that take the host's runs; return them in the order of the places.

    Of the others is said why they do not any more. A target below a root that is not among the places stays as it was:
    the host has only not looked at it yet.

    A place has no target where its directory is not there, its filesystem is not mounted, or the host names another one
    so often that it would fill its page with targets that nothing was measured on. Of those that are gone it may have
    `MOST_UNUSED`; the oldest is used again.
    """
    Host.objects.select_for_update(no_key=True).get(pk=host.pk)  # serialises the reports of one host
    targets = list(
        Target.objects.filter(host=host).select_related("filesystem").order_by("-is_agents_own", "gone_at", "-id")
    )
    settled = {
        place.path: _settle(place, targets) for place in reversed(places)
    }  # the first of two reports of one path
    owns = {own.pk for own, _ in settled.values() if own}
    for target in targets:
        if target.pk in owns or not (target.is_agents_own or (target.gone_at and target.lies_on)):
            continue
        if reason := _why_retired(target, places, settled):
            _retire([target], reason)
    is_only = len(settled) == 1
    offered = []
    for place in places[:MOST_OFFERED]:
        own, problem = settled.pop(place.path, (None, "named twice"))
        if own is None and not problem:
            own = _new_target(host, place, targets, AGENTS_TARGET if is_only else "")
            if own is not None and own not in targets:
                targets.append(own)
        if own is not None:
            _take_up(own, place)
            offered.append(own)
    return offered


def _settle(place: Place, targets: Iterable[Target]) -> tuple[Target | None, str]:
    """Return the target at a place, if there is one, and why the place takes no runs, if so."""
    if place.path and (expected := explain_path(place.path)):
        return None, f"{place.path!r} cannot be taken: {expected}"
    if place.problem:
        return None, f"{place.path}: {explain_problem(place.path, place.root, place.problem)}"
    here = [target for target in targets if target.kind == TargetKind.DIRECTORY and target.path == place.path]
    own = _of_place(here, place)
    if own is not None and own.is_agents_own:
        return own, ""
    away = next((target for target in here if is_not_mounted(target.lies_on, place.identity)), None)
    if away is not None:
        return None, f"{away.lies_on['mount_point']} is not mounted; {place.path} lies on {place.words} now"
    return own, ""


def _why_retired(target: Target, places: Sequence[Place], settled: Mapping[str, tuple[Target | None, str]]) -> str:
    """Return why a target takes no runs any more; empty where its host has not looked at its directory yet."""
    if target.path in settled:
        place = next(place for place in places if place.path == target.path)
        return settled[target.path][1] or f"{target.path} lies on {place.words} now"
    roots = [place.path for place in places if place.path and place.path == place.root]
    if any(target.path.startswith(f"{root}/") for root in roots):
        return ""
    return f"the agent offers {', '.join(roots or [place.path for place in places])} now"


def _new_target(host: Host, place: Place, targets: Sequence[Target], first_name: str) -> Target | None:
    """Return a target for a place that has none: a new one or, of a host that has named too many, an old one."""
    spare = _unused([target for target in targets if not target.is_agents_own])
    is_crowded = len(spare) >= MOST_UNUSED
    if is_crowded and any(target.gone_at and timezone.now() - target.gone_at < PAUSE for target in spare):
        return None  # the host's next inventory settles it
    own = _oldest(spare) if is_crowded else Target()
    if own is None:
        return None
    own.lab_id, own.host, own.kind, own.path, own.lies_on = host.lab_id, host, TargetKind.DIRECTORY, place.path, {}
    own.name = _free_name(place, [target for target in targets if target is not own], first_name)
    own.sources = {"name": str(Source.DISCOVERED), "path": str(Source.DISCOVERED)}
    own.filesystem = _known_filesystem(host, place)
    return own


def _unused(targets: Iterable[Target]) -> list[Target]:
    """Return the targets that only agents made, that nobody named or filled in, and that have no runs."""
    names = {"name": str(Source.DISCOVERED), "path": str(Source.DISCOVERED)}
    made = [one.pk for one in targets if one.sources == names and one.lies_on]
    if len(made) < MOST_UNUSED:
        return []
    free = set(Target.objects.filter(pk__in=made, runs=None).values_list("pk", flat=True))
    return [one for one in targets if one.pk in free]


def _oldest(spare: Iterable[Target]) -> Target | None:
    """Return the target that is gone the longest, of those that nothing else refers to."""
    by_age = sorted(spare, key=lambda one: (one.gone_at or timezone.now(), one.pk))
    for one in by_age:
        loss = loss_of(one)
        if not (loss.forbidden or loss.lost or loss.freed):
            return one
    return None


def _of_place(here: Iterable[Target], place: Place) -> Target | None:
    """Return the target at this place, preferably one that is known to lie there."""
    fitting = [one for one in here if is_same_filesystem(_filesystem_of(one), place.identity)]
    return next((one for one in fitting if one.lies_on.get("type")), fitting[0] if fitting else None)


def _filesystem_of(target: Target) -> Mapping[str, Any]:
    """Return the filesystem that a target is known by; of one with results that no agent has reported, the inventory's."""
    known: Mapping[str, Any] = target.lies_on
    held = target.filesystem
    if known.get("type") or held is None or not _has_runs(target):
        return known
    return {"type": held.type, "uuid": held.uuid, "source": held.device_name, "mount_point": held.mount_point}


def _take_up(own: Target, place: Place) -> None:
    known = {name: value for name, value in own.lies_on.items() if value} | place.identity
    if own.pk and own.is_agents_own and own.gone_at is None and own.lies_on == known:
        return
    own.is_agents_own, own.lies_on, own.gone_at, own.gone_reason = True, known, None, ""
    own.save()


def _retire(targets: Iterable[Target], reason: str) -> None:
    """Say why targets take no runs any more. Of those that are gone already the reason becomes the present one."""
    for one in targets:
        if one.gone_at and not one.is_agents_own and one.gone_reason == reason:
            continue
        one.gone_at = one.gone_at if one.gone_at and not one.is_agents_own else timezone.now()
        one.is_agents_own, one.gone_reason = False, reason
        one.save()


def _free_name(place: Place, targets: Iterable[Target], first: str = "") -> str:
    """Return `first` if it is free, else a free name made of path and filesystem type."""
    taken = {one.name for one in targets}
    if first and first not in taken:
        return first
    wanted = f"{place.path} ({place.type})"[-180:]
    return next(one for one in (wanted, *(f"{wanted} {number}" for number in range(2, 10_000))) if one not in taken)


def _known_filesystem(host: Host, place: Place) -> Filesystem | None:
    """Return the inventory's row of the filesystem, if a discovery has seen it already."""
    rows = Filesystem.objects.filter(host=host, is_present=True, type=place.type)
    if place.uuid and (row := rows.filter(uuid=place.uuid).first()):
        return row  # type: ignore[no-any-return]
    row = rows.filter(mount_point=place.mount_point).first()
    return row if row and not (row.uuid and place.uuid) else None


def settle_typed_target(target: Target, holder: Filesystem, others: Iterable[Target]) -> bool:
    """Return whether a target that a person entered still lies on `holder`, which now holds its path.

    A target that has runs stays where they were measured; another filesystem at its path gets a target of its own.
    """
    before = target.filesystem
    if before and before.pk == holder.pk and target.gone_at:
        target.gone_at, target.gone_reason = None, ""
        target.save()
    if target.gone_at:
        return False
    if before is None or before.pk == holder.pk:
        return True
    same_path = [one for one in others if one.path == target.path and one.kind == target.kind and one is not target]
    successor = next((one for one in same_path if one.filesystem_id == holder.pk), None)
    if successor is None and not _has_runs(target):
        return True
    known = {"mount_point": before.mount_point}
    if is_not_mounted(known, {"mount_point": holder.mount_point}):
        _retire([target], f"{before.mount_point} is not mounted; {target.path} lies on {holder.type} now")
        return False
    if successor is None:
        name = _free_name(Place(target.path, holder.type), others)
        successor = Target(lab_id=target.lab_id, host_id=target.host_id, name=name, kind=target.kind, path=target.path)
        successor.sources = {"name": str(Source.INFERRED), "path": str(Source.INFERRED)}
    _retire([target], f"{target.path} lies on {holder.type} now")
    successor.filesystem, successor.gone_at, successor.gone_reason = holder, None, ""
    successor.save()
    return False


def _has_runs(target: Any) -> bool:
    return bool(target.runs.exists())


def explain_no_runs(target: Target, agent: Any) -> str:
    """Return why a target takes no runs, in a sentence without full stop; empty for one that takes them.

    `agent` is the agent of its host, or None where it has none.
    """
    if target.is_agents_own:
        return ""
    if target.gone_at:
        return f"this one is gone: {target.gone_reason}"
    if target.kind != TargetKind.DIRECTORY:
        return f"runs go into directories, and this is a {target.get_kind_display()}"
    if not target.path:
        return "it has no path"
    if agent is None:
        return f"{target.host} has no agent"
    return str(agent.explain_directory(target.path))
