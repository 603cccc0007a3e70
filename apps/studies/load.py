"""Published studies out of `data/` into the lab that everybody may read. Doing it again changes nothing.

load_all()               -> list[str]   every study, in the lab "Published reports"; what changed, one sentence each
load_study(slug, lab)    -> list[str]   one study
"""

import hashlib
from typing import Any, TypeVar

from django.db import models, transaction

from apps.inventory.editing.authors import by
from apps.inventory.models import Array, Controller, Disk, Host, Snapshot, Target
from apps.inventory.snapshots import canonical, content_of, facts_of
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.parsers.shape import ParsedSample
from apps.runs.artefact_store import keep
from apps.runs.facts import run_facts
from apps.runs.models import Artefact, Run, RunArtefact
from apps.runs.samples import drop_values, save_samples
from apps.runs.start import workload_for
from apps.runs.states import State
from apps.studies import described_machines as machines
from apps.studies.models import Configuration, Study, StudyRun
from apps.studies.source import StudySource, slugs

LAB_NAME, LAB_SLUG = "Published reports", "published-reports"
Row = TypeVar("Row", bound=models.Model)
Entry = dict[str, Any]


def load_all() -> list[str]:
    """Every study in `data/`; the lab is made if it is not there."""
    lab, made = Lab.objects.get_or_create(slug=LAB_SLUG, defaults={"name": LAB_NAME, "is_published": True})
    said = [f"lab {lab.name}: made"] if made else []
    with by(Author.IMPORT, LAB_NAME.lower()):
        for slug in slugs():
            said += load_study(slug, lab)
    return said


def load_study(slug: str, lab: Lab) -> list[str]:
    """One study with its machines, runs and samples, in one transaction. Says what was made or changed; nothing, when
    nothing was.
    """
    with lab_scope(lab.pk), transaction.atomic():
        # two servers that start at once load one after the other
        Lab.objects.select_for_update().get(pk=lab.pk)
        return _Loading(StudySource(slug), lab).load()


class _Loading:
    """One study's way into one lab."""

    def __init__(self, source: StudySource, lab: Lab) -> None:
        self.source, self.lab, self.said = source, lab, list[str]()
        self.hosts: dict[str, Host] = {}
        self.entries = {
            kind: {entry.get("id", entry.get("name")): entry for entry in source.description.get(kind, [])}
            for kind in ("hosts", "controllers", "disks", "arrays")
        }

    def load(self) -> list[str]:
        study = self._study()
        for entry in self.source.description["hosts"]:
            self._host(entry)
        kept = {name: keep(self.lab.pk, data) for name, data in self.source.artefacts().items()}
        groups = self.source.groups()
        for position, entry in enumerate(self.source.description["configurations"]):
            configuration = self._configuration(study, entry, position)
            for (name, file_size), samples in groups.items():
                if name == configuration.name:
                    self._run(configuration, entry, file_size, samples, kept)
        return self.said

    def _put(self, model: type[Row], fields: dict[str, Any], **key: Any) -> Row:
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
        fields = {
            "title": told["title"], "title_english": told["title_english"], "site": told["site"],
            "language": told["language"], "year": year, "notes": "\n".join(notes),
            "source": "\n".join([told["document_kind"], *told.get("urls_in_document", [])]),
        }  # fmt: skip
        return self._put(Study, fields, lab=self.lab, slug=self.source.slug)

    def _host(self, entry: Entry) -> None:
        host = self._put(Host, machines.host_fields(entry), lab=self.lab, name=entry["name"])
        self.hosts[host.name] = host
        for name in entry["controllers"]:
            self._controller(host, self.entries["controllers"][name])
        for name in entry["disks"]:
            fields = machines.disk_fields(self.entries["disks"][name])
            self._put(Disk, fields, lab=self.lab, host=host, labels={"kind": name})

    def _controller(self, host: Host, entry: Entry) -> Controller:
        fields = machines.controller_fields(entry)
        if fields.get("kind") == "zero-channel":
            fields["sits_on"] = Controller.objects.filter(host=host, kind="hba").first()
        return self._put(Controller, fields, lab=self.lab, host=host, name=entry["model"])

    def _configuration(self, study: Study, entry: Entry, position: int) -> Configuration:
        host = self.hosts[entry["host"]]
        target = self._target(host, entry)
        fields = {"label": entry["label"], "position": position, "host": host, "target": target}
        return self._put(Configuration, fields, study=study, name=entry["name"])

    def _target(self, host: Host, entry: Entry) -> Target:
        array = self._array(host, entry) if entry["array"] != "none" else None
        fields = {
            "kind": "directory", "array": array, "notes": f"On this host: {entry['host_basis']}.",
            "disk": None if array else Disk.objects.get(host=host, labels={"kind": entry["disk"]}),
            "absent": {"path": "not_printed", "filesystem": "not_printed"},
            "sources": {"host": "inferred" if entry["host_basis"].startswith("inferred") else "typed"},
        }  # fmt: skip
        return self._put(Target, fields, lab=self.lab, host=host, name=entry["name"])

    def _array(self, host: Host, entry: Entry) -> Array:
        told = self.entries["arrays"][entry["array"]]
        controller = Controller.objects.filter(host=host, name=self._controller_model(entry)).first()
        fields = machines.array_fields(told) | {"controller": controller}
        return self._put(Array, fields, lab=self.lab, host=host, name=told["name"], round="")

    def _controller_model(self, entry: Entry) -> str:
        return str(self.entries["controllers"][entry["controller"]]["model"]) if entry["controller"] else ""

    def _snapshot(self, target: Target, entry: Entry) -> Snapshot:
        """The stack as described, and beside it the kind of disks: the report names no array's members."""
        disk = self.entries["disks"][entry["disk"]]
        content = {**content_of(target), "published": {"study": self.source.slug, "configuration": entry, "disk": disk}}
        facts = facts_of(content) | machines.facts_beside_the_stack(self.source.slug, entry, disk)
        snapshot: Snapshot = Snapshot.objects.get_or_create(
            lab=self.lab,
            sha256=hashlib.sha256(canonical(content)).hexdigest(),
            defaults={"content": content, "facts": facts},
        )[0]
        return snapshot

    def _run(
        self,
        configuration: Configuration,
        entry: Entry,
        file_size: int,
        samples: list[ParsedSample],
        kept: dict[str, Artefact],
    ) -> None:
        place = StudyRun.objects.filter(configuration=configuration, run__samples__point__file_size=file_size)
        found = place.select_related("run").first()
        run = found.run if found else None
        if run is None:
            run = Run(lab=self.lab, origin=Run.Origin.PUBLISHED, state=State.FINISHED, progress=1)
        elif _holds(run, kept):
            return
        self._fill(run, configuration, entry, file_size)
        StudyRun.objects.get_or_create(run=run, defaults={"configuration": configuration})
        drop_values(run)
        save_samples(run, samples)
        for name, artefact in kept.items():
            RunArtefact.objects.update_or_create(
                run=run, name=name, defaults={"artefact": artefact, "kind": "published"}
            )
        size = f"{file_size // 2**20} MB file"
        self.said.append(f"run {configuration.name}, {size}: {'changed' if found else 'made'}, {len(samples)} samples")

    def _fill(self, run: Run, configuration: Configuration, entry: Entry, file_size: int) -> None:
        tool = self.source.description["tools"][0]
        run.tool = tool["name"]
        run.tool_version = "" if tool["version"] == "not printed" else str(tool["version"])
        run.workload = workload_for(self.lab, {"tool": run.tool, "file_size": file_size})
        assert configuration.target is not None
        run.host, run.target = configuration.host, configuration.target
        run.snapshot = self._snapshot(configuration.target, entry)
        run.created_by = "published report"
        run.facts = run_facts(run)
        run.save()


def _holds(run: Run, kept: dict[str, Artefact]) -> bool:
    """Whether the run was read from just these files."""
    held = dict(RunArtefact.objects.filter(run=run).values_list("name", "artefact_id"))
    return held == {name: artefact.pk for name, artefact in kept.items()}
