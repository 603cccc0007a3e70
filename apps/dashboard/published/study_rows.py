"""The database rows of a published study: the study, its machines, its configurations and the target of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import models

from apps.inventory.editing.edit_request import Wanted
from apps.inventory.editing.registry import BY_NAME
from apps.inventory.models import Array, Change, Disk, Filesystem, Host, Nic, Part, Target
from apps.inventory.services import change, make
from apps.inventory.vocabulary import TargetKind
from apps.labs.models import Lab
from apps.studies.lookup import LAB_NAME
from apps.studies.machines import enter_machines
from apps.studies.models import Configuration, Study
from apps.studies.source import StudySource

Entry = dict[str, Any]
Parts = Mapping[str, Part]


def target_of(study: Entry, entry: Entry, host: Host, parts: Parts, labels: Entry | None = None) -> Wanted:
    """Return the target of a configuration; one whose place is not in the report has nothing below it."""
    if entry.get("path"):
        return _network(entry, host, parts)
    beneath = _beneath(study, entry, host, parts)
    filesystem = beneath.get("filesystem")
    path = filesystem.mount_point if isinstance(filesystem, Filesystem) else ""
    values = {
        "host": host, "name": entry["name"], "kind": TargetKind.DIRECTORY, "notes": _notes(entry),
        **{name: beneath.get(name) for name in ("filesystem", "array", "disk")},
        **({"path": path} if path else {}), **({"labels": dict(labels)} if labels else {}),
    }  # fmt: skip
    absent = {} if path else {"path": "not_printed"}
    if not filesystem:
        absent["filesystem"] = "not_printed"
    is_inferred = str(entry.get("host_basis", "")).startswith("inferred")
    return Wanted(values, absent, None, frozenset(["host"] if is_inferred else []))


def _network(entry: Entry, host: Host, parts: Parts) -> Wanted:
    """Return the network target, from the first server to the second where the report names only one."""
    peer = parts.get("host server2") if "10GE to 10GE" in str(entry["path"]) else None
    card = next((part for part in parts.values() if isinstance(part, Nic) and part.host_id == host.pk), None)
    values = {"host": host, "name": entry["name"], "kind": TargetKind.NETWORK, "notes": entry["path"]}
    return Wanted({**values, **({"peer": peer} if peer else {}), **({"nic": card} if card else {})})


def _beneath(study: Entry, entry: Entry, host: Host, parts: Parts) -> dict[str, Part]:
    """Return the uppermost known layer below the target: filesystem, else array, else disk."""
    for number, filesystem in enumerate(study.get("filesystems") or []):
        row = parts.get(f"filesystem {number}")
        if isinstance(row, Filesystem) and row.host_id == host.pk and _is_meant(filesystem, entry):
            return {"filesystem": row}
    array = parts.get(f"array {entry.get('array')}")
    if isinstance(array, Array):
        return {"array": array}
    if entry.get("array") == "none" and entry.get("disk"):
        disk = parts.get(f"disk {host.name} {entry['disk']} 0")
        return {"disk": disk} if isinstance(disk, Disk) else {}
    return {}


def _is_meant(filesystem: Entry, entry: Entry) -> bool:
    """Return whether the filesystem is on the configuration's array and of its type.

    Without an array it is the system disk's.
    """
    kind, _, mount = str(entry.get("filesystem") or "").partition(" ")
    if not kind or filesystem.get("type") != kind:
        return False
    if entry.get("array") == "none":
        return str(filesystem.get("device", "")).startswith("system disk")
    return bool(filesystem.get("array") == entry.get("array") and mount in ("", filesystem.get("mount_point")))


def _notes(entry: Entry) -> str:
    parts = [f"On this host: {entry['host_basis']}." if entry.get("host_basis") else "", entry.get("note")]
    if entry.get("array") is None or " or " in str(entry.get("array")):
        parts.append(f"Which array: {entry.get('array') or 'not named by the report'}.")
    return " ".join(str(part) for part in parts if part)


Row = TypeVar("Row", bound=models.Model)
_NOT_TOLD = ("updated_at", "absent", "sources")


@dataclass
class DescribedStudy:
    """What is there before any run: rows by the report's own names."""

    lab: Lab
    study: Study
    parts: dict[str, Part]
    configurations: dict[str, Configuration]
    sentences: list[str] = field(default_factory=list)

    def host_named(self, printed: str) -> Host | None:
        """Return the host of a printed name, the first of `server1+server2`, or None."""
        result = self.parts.get(f"host {printed.partition('+')[0]}")
        return result if isinstance(result, Host) else None


class Describing:
    """One study's way into one lab, as far as its own words go."""

    def __init__(self, source: StudySource, lab: Lab) -> None:
        self.source, self.lab, self.sentences = source, lab, list[str]()

    def enter(self) -> DescribedStudy:
        study = self._study()
        since = Change.objects.values_list("pk", flat=True).first() or 0
        parts = enter_machines(self.lab, self.source.description, LAB_NAME.lower())
        result = DescribedStudy(self.lab, study, parts, {}, self.sentences)
        targets = {entry["name"]: self._target(result, entry) for entry in self._entries()}
        self.sentences += told_of_changes(since)
        for position, entry in enumerate(self._entries()):
            result.configurations[entry["name"]] = self._configuration(result, entry, position, targets[entry["name"]])
        return result

    def _entries(self) -> list[Entry]:
        entries: list[Entry] = self.source.description["configurations"]
        return entries

    def _put(self, model: type[Row], fields: Entry, **key: Any) -> Row:
        """Create or update the row with this key, and note it where it changed."""
        manager: Any = model._default_manager
        row: Row | None = manager.filter(**key).first()
        if row is None:
            row = manager.create(**key, **fields)
            self.sentences.append(f"{model._meta.verbose_name} {row}: made")
            return row
        if changed := [name for name, value in fields.items() if getattr(row, name) != value]:
            for name in changed:
                setattr(row, name, fields[name])
            row.save(update_fields=changed)
            self.sentences.append(f"{model._meta.verbose_name} {row}: changed {', '.join(changed)}")
        return row

    def _study(self) -> Study:
        reported = self.source.description
        year = str(reported["year"]) if reported.get("year") else f"not before {reported['year_not_before']}"
        notes = [
            *reported.get("contradictions", []),
            *(f"Not in the report: {gap}" for gap in reported.get("not_in_document", [])),
        ]
        kind = reported.get("document_kind")
        fields = {
            "title": reported["title"], "title_english": reported.get("title_english", ""), "site": reported["site"],
            "question": reported.get("question", ""), "language": reported["language"], "year": year, "notes": "\n".join(map(str, notes)),
            "source": "\n".join([*([kind] if kind else []), *reported.get("urls_in_document", [])]),
        }  # fmt: skip
        return self._put(Study, fields, lab=self.lab, slug=self.source.slug)

    def _target(self, described: DescribedStudy, entry: Entry) -> Target | None:
        host = self._host(described, entry)
        if host is None:
            return None
        labels = self.source.bringing.get("targets", {}).get(entry["name"])
        wanted = target_of(self.source.description, entry, host, described.parts, labels)
        kind = BY_NAME["target"]
        row = Target.objects.filter(host=host, name=entry["name"]).first()
        made = make(kind, self.lab, wanted) if row is None else change(kind, row, wanted)
        assert isinstance(made, Target)
        return made

    def _host(self, described: DescribedStudy, entry: Entry) -> Host | None:
        """Return the host that the configuration names, else its values."""
        reported = entry.get("host") or next(
            (item.host for item in self.source.reported if item.configuration == entry["name"]), ""
        )
        return described.host_named(reported)

    def _configuration(
        self, described: DescribedStudy, entry: Entry, position: int, target: Target | None
    ) -> Configuration:
        fields = {"label": entry["label"], "position": position, "host": target and target.host, "target": target}
        return self._put(Configuration, fields, study=described.study, name=entry["name"])


def told_of_changes(since: int) -> list[str]:
    """Return a sentence per part that was created or changed after this change, with its fields."""
    reported: dict[tuple[str, str, str], list[str]] = {}
    for item in Change.objects.filter(pk__gt=since).order_by("pk"):
        is_whole = item.row_kind == item.part_kind
        act = str(item.act) if is_whole else "changed"
        names = [name for name in (item.after or {}) if name not in _NOT_TOLD] if is_whole else ["members"]
        reported.setdefault((item.part_kind, item.part_name, act), []).extend(names)
    made = {(kind, name) for kind, name, act in reported if act == "made"}
    return [
        f"{kind} {name}: {act}" + (f" {', '.join(dict.fromkeys(names))}" if act == "changed" else "")
        for (kind, name, act), names in reported.items()
        if act != "changed" or (kind, name) not in made
    ]
