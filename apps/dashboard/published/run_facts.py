"""The runs of a report as it describes them: machine, target, labels, and the facts that comparisons use."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from apps.dashboard.published.published_import import WHO
from apps.dashboard.published.study_rows import DescribedStudy
from apps.inventory.models import Snapshot, Target
from apps.inventory.snapshots.content import canonical, content_in, facts_of
from apps.inventory.topology.host_parts import parts_of
from apps.runs.artefacts.store import keep
from apps.runs.facts import run_facts
from apps.runs.models import Run, RunArtefact, Sample
from apps.runs.services import store_workload
from apps.runs.states import State
from apps.studies.models import Configuration, Study
from apps.studies.source import Reported, StudySource

_NOT_PRINTED = re.compile(r"^(not printed|unknown \(not printed\))")
PUBLISHED = "published"  # the kind of artefact that a study's own files are
_NOT_LABELS = ("configuration", "run")  # a study's own places, not labels of its runs
Entry = dict[str, Any]


def place_runs(source: StudySource, described: DescribedStudy) -> tuple[list[str], set[int]]:
    """Describe every imported run as the report does, and return sentences about changes and the runs' ids."""
    placing = _Placing(source, described)
    runs = Run.objects.filter(study_run__configuration__study=described.study, uploaded_from__isnull=False)
    brought = runs.filter(uploaded_from__file__upload__created_by=WHO).select_related(
        "study_run__configuration__target__host", "workload", "snapshot", "host", "target", "uploaded_from__file"
    )
    reported = {run.pk: sentence for run in brought.order_by("pk") if (sentence := placing.put(run))}
    return list(reported.values()), set(reported)


class _Placing:
    def __init__(self, source: StudySource, described: DescribedStudy) -> None:
        self.source, self.described = source, described
        self.entries = {entry["name"]: entry for entry in source.description["configurations"]}
        self.disks = {entry["id"]: entry for entry in source.description.get("disks") or []}
        self.files = {name: keep(described.lab.pk, data) for name, data in source.artefacts().items()}
        self.beside = _artefacts_of(described.study)
        self.tables = source.figures()
        hosts = {
            configuration.host_id: configuration.host
            for configuration in described.configurations.values()
            if configuration.host
        }
        self.parts = parts_of(hosts.values())
        self.snapshots: dict[str, Snapshot | None] = {}
        self.reported: dict[str, list[Reported]] = {}
        for item in source.reported:
            self.reported.setdefault(item.configuration, []).append(item)

    def put(self, run: Run) -> str:
        """Update the run, and return a sentence where it differed from its description, else an empty string."""
        configuration = run.study_run.configuration
        is_new = run.origin != Run.Origin.PUBLISHED
        before = _state(run)
        self._fill(run, configuration)
        changed = [name for name, value in _state(run).items() if value != before[name]]
        has_files = self._attach(run)
        if changed:
            run.save()
        if not changed and has_files:
            return ""
        count = run.samples.count()
        act = "made" if is_new else "changed"
        return f"run {configuration.name}{_size(run)}: {act}, {count} sample{'s' * (count != 1)}"

    def _fill(self, run: Run, configuration: Configuration) -> None:
        run.origin, run.state, run.progress = Run.Origin.PUBLISHED, State.FINISHED, 1
        run.created_by, run.repetition = WHO, 1
        run.host, run.target = configuration.host, configuration.target
        run.labels = {
            **{name: label for name, label in run.labels.items() if name not in _NOT_LABELS},
            **self.source.bringing["labels"].get(configuration.name, {}),
        }
        run.snapshot = self._snapshot(configuration)
        if run.uploaded_from.file.name in self.tables:
            self._describe_table_run(run, self.reported[configuration.name])
        run.facts = run_facts(run)

    def _describe_table_run(self, run: Run, reported: Sequence[Reported]) -> None:
        """Set the tool of a run from a table, which the report tells."""
        run.tool = next(item.tool for item in reported)[:40]
        run.tool_version = self._version(run.tool)
        sizes = set(Sample.objects.filter(run=run).order_by().values_list("point__file_size", flat=True))
        size = sizes.pop() if len(sizes) == 1 else None
        run.workload = store_workload(
            self.described.lab, {"tool": run.tool, **({"file_size": size} if size is not None else {})}
        )

    def _version(self, tool: str) -> str:
        tools = self.source.description["tools"]
        version = next((item.get("version") for item in tools if item["name"] == tool), None)
        return "" if version in (None, "not printed") else str(version)

    def _snapshot(self, configuration: Configuration) -> Snapshot | None:
        if configuration.name not in self.snapshots:
            target = configuration.target
            self.snapshots[configuration.name] = self._frozen(target, configuration) if target else None
        return self.snapshots[configuration.name]

    def _frozen(self, target: Target, configuration: Configuration) -> Snapshot:
        """Return the snapshot of the stack, with what the report says of it and no stack shows."""
        entry = self.entries[configuration.name]
        disk = self.disks.get(entry.get("disk"))
        published = {"study": self.source.slug, "configuration": entry, **({"disk": disk} if disk else {})}
        content = {**content_in(self.parts[target.host_id], target), "published": published}
        facts = facts_of(content) | _facts_beside_the_stack(self.source.slug, entry, disk or {})
        snapshot: Snapshot = Snapshot.objects.get_or_create(
            lab=self.described.lab,
            sha256=hashlib.sha256(canonical(content)).hexdigest(),
            defaults={"content": content, "facts": facts},
        )[0]
        return snapshot

    def _attach(self, run: Run) -> bool:
        """Attach the study's own files to the run, and return whether they were attached before."""
        if self.beside.get(run.pk) == {name: artefact.pk for name, artefact in self.files.items()}:
            return True
        rows = [RunArtefact(run=run, name=name, artefact=file, kind=PUBLISHED) for name, file in self.files.items()]
        RunArtefact.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["run", "name"], update_fields=["artefact", "kind"]
        )
        return False


def _artefacts_of(study: Study) -> dict[int, dict[str, int]]:
    """Run → name → artefact, of the study's own files."""
    result: dict[int, dict[str, int]] = {}
    uses = RunArtefact.objects.filter(run__study_run__configuration__study=study, kind=PUBLISHED)
    for run, name, artefact in uses.values_list("run_id", "name", "artefact_id"):
        result.setdefault(run, {})[name] = artefact
    return result


def _state(run: Run) -> dict[str, object]:
    return {field.attname: getattr(run, field.attname) for field in run._meta.concrete_fields}


def _size(run: Run) -> str:
    size = run.workload.spec.get("file_size") if run.workload else None
    return f", {size // 2**20} MiB file" if size else ""


def _facts_beside_the_stack(slug: str, configuration: Entry, disk: Entry) -> Entry:
    """Return facts that no stack shows: the study, and the kind of disks of an array whose members are unknown."""
    interface, _, generation = str(disk.get("interface") or "").partition(" ")
    facts = {
        "study": slug, "configuration": configuration["label"], "interface": interface, "generation": generation,
        "disk_model": disk.get("model"),
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value and not _NOT_PRINTED.match(value)}
