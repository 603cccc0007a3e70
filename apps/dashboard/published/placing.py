"""What a report says of its runs beside their values: machine, place, labels, and so the facts that comparisons use."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from apps.dashboard.published.bringing import WHO
from apps.dashboard.published.describing import Described
from apps.inventory.host_parts import parts_of
from apps.inventory.models import Snapshot, Target
from apps.inventory.snapshots import canonical, content_in, facts_of
from apps.runs.artefact_store import keep
from apps.runs.facts import run_facts
from apps.runs.models import Run, RunArtefact, Sample
from apps.runs.start import workload_for
from apps.runs.states import State
from apps.studies.models import Configuration, Study
from apps.studies.source import Reported, StudySource

_NOT_PRINTED = re.compile(r"^(not printed|unknown \(not printed\))")
PUBLISHED = "published"  # the kind of artefact that a study's own files are
_NOT_LABELS = ("configuration", "run")  # a study's own places, not labels of its runs
Entry = dict[str, Any]


def place_runs(source: StudySource, described: Described) -> tuple[list[str], set[int]]:
    """Every run that was brought in, as the report describes it. Says which were made or put right, and their ids."""
    placing = _Placing(source, described)
    runs = Run.objects.filter(study_run__configuration__study=described.study, uploaded_from__isnull=False)
    brought = runs.filter(uploaded_from__file__upload__created_by=WHO).select_related(
        "study_run__configuration__target__host", "workload", "snapshot", "host", "target", "uploaded_from__file"
    )
    told = {run.pk: sentence for run in brought.order_by("pk") if (sentence := placing.put(run))}
    return list(told.values()), set(told)


class _Placing:
    def __init__(self, source: StudySource, described: Described) -> None:
        self.source, self.described = source, described
        self.entries = {entry["name"]: entry for entry in source.description["configurations"]}
        self.disks = {entry["id"]: entry for entry in source.description.get("disks") or []}
        self.files = {name: keep(described.lab.pk, data) for name, data in source.artefacts().items()}
        self.beside = _artefacts_of(described.study)
        self.tables = source.figures()
        hosts = {one.host_id: one.host for one in described.configurations.values() if one.host}
        self.parts = parts_of(hosts.values())
        self.snapshots: dict[str, Snapshot | None] = {}
        self.reported: dict[str, list[Reported]] = {}
        for one in source.reported:
            self.reported.setdefault(one.configuration, []).append(one)

    def put(self, run: Run) -> str:
        """A sentence where the run was not as it is described."""
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
            **{name: told for name, told in run.labels.items() if name not in _NOT_LABELS},
            **self.source.bringing["labels"].get(configuration.name, {}),
        }
        run.snapshot = self._snapshot(configuration)
        if run.uploaded_from.file.name in self.tables:
            self._describe_table_run(run, self.reported[configuration.name])
        run.facts = run_facts(run)

    def _describe_table_run(self, run: Run, reported: Sequence[Reported]) -> None:
        """A table does not say which tool measured; the report does."""
        run.tool = next(one.tool for one in reported)[:40]
        run.tool_version = self._version(run.tool)
        sizes = set(Sample.objects.filter(run=run).order_by().values_list("point__file_size", flat=True))
        size = sizes.pop() if len(sizes) == 1 else None
        run.workload = workload_for(
            self.described.lab, {"tool": run.tool, **({"file_size": size} if size is not None else {})}
        )

    def _version(self, tool: str) -> str:
        tools = self.source.description["tools"]
        version = next((one.get("version") for one in tools if one["name"] == tool), None)
        return "" if version in (None, "not printed") else str(version)

    def _snapshot(self, configuration: Configuration) -> Snapshot | None:
        if configuration.name not in self.snapshots:
            target = configuration.target
            self.snapshots[configuration.name] = self._frozen(target, configuration) if target else None
        return self.snapshots[configuration.name]

    def _frozen(self, target: Target, configuration: Configuration) -> Snapshot:
        """The stack as described, and beside it what the report says of it and no stack shows."""
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
        """The study's own files lie beside the run; whether they did before."""
        if self.beside.get(run.pk) == {name: artefact.pk for name, artefact in self.files.items()}:
            return True
        rows = [RunArtefact(run=run, name=name, artefact=one, kind=PUBLISHED) for name, one in self.files.items()]
        RunArtefact.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["run", "name"], update_fields=["artefact", "kind"]
        )
        return False


def _artefacts_of(study: Study) -> dict[int, dict[str, int]]:
    """Run → name → artefact, of the study's own files."""
    found: dict[int, dict[str, int]] = {}
    uses = RunArtefact.objects.filter(run__study_run__configuration__study=study, kind=PUBLISHED)
    for run, name, artefact in uses.values_list("run_id", "name", "artefact_id"):
        found.setdefault(run, {})[name] = artefact
    return found


def _state(run: Run) -> dict[str, Any]:
    return {field.attname: getattr(run, field.attname) for field in run._meta.concrete_fields}


def _size(run: Run) -> str:
    size = run.workload.spec.get("file_size") if run.workload else None
    return f", {size // 2**20} MiB file" if size else ""


def _facts_beside_the_stack(slug: str, configuration: Entry, disk: Entry) -> Entry:
    """What comparisons group by and no stack shows: the study, and the kind of disks in an array whose members are not
    named. What the report does not print is no fact.
    """
    interface, _, generation = str(disk.get("interface") or "").partition(" ")
    facts = {
        "study": slug, "configuration": configuration["label"], "interface": interface, "generation": generation,
        "disk_model": disk.get("model"),
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value and not _NOT_PRINTED.match(value)}
