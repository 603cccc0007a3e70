"""A published study's row, its machines by the inventory's own rules, and its configurations with their targets."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import models

from apps.dashboard.published.targets import target_of
from apps.inventory.editing.kinds import BY_NAME
from apps.inventory.editing.saving import change, make
from apps.inventory.models import Change, Host, Part, Target
from apps.labs.models import Lab
from apps.studies.load import LAB_NAME
from apps.studies.machines import enter_machines
from apps.studies.models import Configuration, Study
from apps.studies.source import StudySource

Row = TypeVar("Row", bound=models.Model)
Entry = dict[str, Any]
_NOT_TOLD = ("updated_at", "absent", "sources")


@dataclass
class Described:
    """What is there before any run: rows by the report's own names."""

    lab: Lab
    study: Study
    parts: dict[str, Part]
    configurations: dict[str, Configuration]
    said: list[str] = field(default_factory=list)

    def host_named(self, printed: str) -> Host | None:
        """`server1+server2` is measured from its first end; one that the report leaves open is None."""
        found = self.parts.get(f"host {printed.partition('+')[0]}")
        return found if isinstance(found, Host) else None


class Describing:
    """One study's way into one lab, as far as its own words go."""

    def __init__(self, source: StudySource, lab: Lab) -> None:
        self.source, self.lab, self.said = source, lab, list[str]()

    def enter(self) -> Described:
        study = self._study()
        since = Change.objects.values_list("pk", flat=True).first() or 0
        parts = enter_machines(self.lab, self.source.description, LAB_NAME.lower())
        found = Described(self.lab, study, parts, {}, self.said)
        targets = {entry["name"]: self._target(found, entry) for entry in self._entries()}
        self.said += told_of_changes(since)
        for position, entry in enumerate(self._entries()):
            found.configurations[entry["name"]] = self._configuration(found, entry, position, targets[entry["name"]])
        return found

    def _entries(self) -> list[Entry]:
        entries: list[Entry] = self.source.description["configurations"]
        return entries

    def _put(self, model: type[Row], fields: Entry, **key: Any) -> Row:
        """The row with this key and these fields; says so when it had to be made or changed."""
        manager: Any = model._default_manager
        row: Row | None = manager.filter(**key).first()
        if row is None:
            row = manager.create(**key, **fields)
            self.said.append(f"{model._meta.verbose_name} {row}: made")
            return row
        if changed := [name for name, value in fields.items() if getattr(row, name) != value]:
            for name in changed:
                setattr(row, name, fields[name])
            row.save(update_fields=changed)
            self.said.append(f"{model._meta.verbose_name} {row}: changed {', '.join(changed)}")
        return row

    def _study(self) -> Study:
        told = self.source.description
        year = str(told["year"]) if told.get("year") else f"not before {told['year_not_before']}"
        notes = [
            *told.get("contradictions", []),
            *(f"Not in the report: {gap}" for gap in told.get("not_in_document", [])),
        ]
        kind = told.get("document_kind")
        fields = {
            "title": told["title"], "title_english": told.get("title_english", ""), "site": told["site"],
            "question": told.get("question", ""), "language": told["language"], "year": year, "notes": "\n".join(map(str, notes)),
            "source": "\n".join([*([kind] if kind else []), *told.get("urls_in_document", [])]),
        }  # fmt: skip
        return self._put(Study, fields, lab=self.lab, slug=self.source.slug)

    def _target(self, found: Described, entry: Entry) -> Target | None:
        host = self._host(found, entry)
        if host is None:
            return None
        labels = self.source.bringing.get("targets", {}).get(entry["name"])
        wanted = target_of(self.source.description, entry, host, found.parts, labels)
        kind = BY_NAME["target"]
        row = Target.objects.filter(host=host, name=entry["name"]).first()
        made = make(kind, self.lab, wanted) if row is None else change(kind, row, wanted)
        assert isinstance(made, Target)
        return made

    def _host(self, found: Described, entry: Entry) -> Host | None:
        """Said by the configuration, else by its values."""
        told = entry.get("host") or next(
            (one.host for one in self.source.reported if one.configuration == entry["name"]), ""
        )
        return found.host_named(told)

    def _configuration(self, found: Described, entry: Entry, position: int, target: Target | None) -> Configuration:
        fields = {"label": entry["label"], "position": position, "host": target and target.host, "target": target}
        return self._put(Configuration, fields, study=found.study, name=entry["name"])


def told_of_changes(since: int) -> list[str]:
    """What happened to parts after this change, one sentence each: made, or changed with its fields."""
    told: dict[tuple[str, str, str], list[str]] = {}
    for one in Change.objects.filter(pk__gt=since).order_by("pk"):
        is_whole = one.row_kind == one.part_kind
        act = str(one.act) if is_whole else "changed"
        names = [name for name in (one.after or {}) if name not in _NOT_TOLD] if is_whole else ["members"]
        told.setdefault((one.part_kind, one.part_name, act), []).extend(names)
    made = {(kind, name) for kind, name, act in told if act == "made"}
    return [
        f"{kind} {name}: {act}" + (f" {', '.join(dict.fromkeys(names))}" if act == "changed" else "")
        for (kind, name, act), names in told.items()
        if act != "changed" or (kind, name) not in made
    ]
