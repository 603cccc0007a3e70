"""The page of one run: live while it runs, and its results, evidence and changes of the machine afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from apps.agents.ingest import read_again
from apps.agents.queue import waiting_reasons
from apps.agents.tasks import ingest_attempt
from apps.comparison.caveats import of_readings
from apps.comparison.default_question import beside_published
from apps.comparison.queries.samples import of_run
from apps.core.task_queue import publish
from apps.dashboard.results import ResultGroup, chart_data, charted, logs_of, samples_of, summaries, together
from apps.inventory.snapshots.differences import SnapshotDifference, differences_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.plans.guards.run_evidence import find_evidence
from apps.plans.models import PreparationRun
from apps.runs.host_guards.evidence import describe_wait, waiting_entry
from apps.runs.models import Attempt, Run
from apps.runs.series.latencies import PERCENTS, latencies_of
from apps.runs.series.progress import series_of
from apps.runs.start.details import RunDescriptionForm
from apps.runs.start.repeat import template_of
from apps.runs.states import State
from apps.runs.workload import job_file
from apps.studies.models import PlannedRun, study_of
from apps.uploads.log_runs import beside_of
from apps.uploads.models import UploadedRun


@dataclass(frozen=True)
class Since:
    """`changes` is empty where both runs have the same stack."""

    run: Run
    changes: list[SnapshotDifference]

    @property
    def of_machine(self) -> list[SnapshotDifference]:
        return [change for change in self.changes if not change.is_knowledge]

    @property
    def known(self) -> int:
        return len(self.changes) - len(self.of_machine)


def since_last(run: Run) -> Since | None:
    """Return the run before on the same target and the differences of their snapshots; None without one. One query."""
    if not (run.snapshot_id and run.target_id and run.snapshot):
        return None
    earlier = Run.objects.filter(target=run.target_id, snapshot__isnull=False, pk__lt=run.pk)
    last = earlier.select_related("snapshot").order_by("-id").first()
    if last is None:
        return None
    is_same = last.snapshot_id == run.snapshot_id
    return Since(last, [] if is_same else differences_of(last.snapshot.content, run.snapshot.content))


FORMATS = (
    ("csv", "CSV"),
    ("mediawiki", "MediaWiki"),
    ("dokuwiki", "DokuWiki"),
    ("markdown", "Markdown"),
    ("json", "JSON"),
)

BESIDE = (("writing", "write"), ("reading", "read"))


@member_required()
def run(request: LabRequest, pk: int) -> HttpResponse:
    result = get_object_or_404(Run.objects.select_related("host__agent", "target__host", "workload", "snapshot"), pk=pk)
    attempts = list(result.attempts.order_by("number"))
    result.is_overdue = any(attempt.is_overdue for attempt in attempts)
    uploaded = UploadedRun.objects.filter(run=result).select_related("file__upload").first()
    beside = beside_of(uploaded)
    preparation = PreparationRun.objects.select_related("preparation__plan__study").filter(run=result).first()
    context = {
        "run": result,
        "attempts": attempts,
        **guard_context(result, attempts),
        "preparation": preparation,
        "artefacts": result.artefacts.select_related("artefact"),
        "job_file": job_file(result.workload.spec)
        if result.tool == "fio" and result.workload and result.workload.jobs
        else "",
        "study": study_of(result),
        "planned": PlannedRun.objects.select_related("row__plan__study", "row__configuration", "point")
        .filter(run=result)
        .first(),
        "uploaded": uploaded,
        "beside": beside,
        "logs": logs_of(beside.logs),
        "since": since_last(result),
        "formats": FORMATS,
        "is_being_read": any(attempt.is_to_be_read for attempt in attempts),
        "abandoned": next((attempt for attempt in reversed(attempts) if attempt.abandoned_at), None),
        "may_repeat": bool(template_of(result).jobs),
        "description": RunDescriptionForm(result) if may_describe(request, result) else None,
        "dead_letter": next((attempt for attempt in attempts if attempt.read_problem), None),
        "waiting_because": waiting_reasons([result]).get(result.pk, ""),
        **(results(result) if result.has_ended else so_far(result)),
    }
    return render(request, "runs/run.html", context)


def guard_context(result: Run, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Return the evidence of a run's guards, and for which of them it waits on its host now."""
    evidence = find_evidence(result, attempts)
    waiting = waiting_entry(evidence) if result.state == State.ACCEPTED else None
    return {"guard_evidence": evidence, "guard_wait": describe_wait(waiting) if waiting else ""}


@require_POST
@member_required(Role.ENGINEER)
def read_result_again(request: LabRequest, pk: int) -> HttpResponse:
    """Try a result that was given up once more."""
    result = get_object_or_404(Run, pk=pk, lab=request.lab)
    attempt = read_again(result, str(request.user))
    if attempt is None:
        messages.warning(request, f"Nothing of run {pk} was given up.")
    elif publish(ingest_attempt, attempt.pk):
        messages.success(request, f"The result of run {pk} is read again.")
    else:
        messages.success(request, f"The result of run {pk} is read again as soon as a worker can be reached.")
    return redirect(result)


def may_describe(request: LabRequest, result: Run) -> bool:
    """Return whether the reader may change labels and note of the run."""
    return result.lab_id == request.lab.pk and request.member.covers(Role.ENGINEER)


def so_far(result: Run) -> dict[str, Any]:
    return {"charted": charted(result, series_of(result))}


def results(result: Run) -> dict[str, Any]:
    series = series_of(result)
    groups, latencies = samples_of(result), latencies_of(result)
    return {
        "groups": groups,
        "together": together(groups),
        "comparisons": comparisons(result, groups),
        "latencies": latencies,
        "percents": PERCENTS,
        "series": summaries(result, series),
        "charted": charted(result, series),
        "chart": chart_data(result, latencies, series),
        "caveats": of_readings(of_run(result)) if groups else [],
    }


def comparisons(result: Run, groups: Sequence[ResultGroup]) -> list[tuple[str, str]]:
    """Return (words, address) of comparisons for this run, one per operation with its first metric."""
    if not groups or result.state != State.FINISHED:
        return []
    metrics: dict[str, str] = {}
    for group in groups:
        metrics.setdefault(group.operation, group.rows[0].metric.name)
    links = [
        (
            f"{operation.replace('_', ' ')}: with all runs",
            f"{reverse('compare')}?{urlencode({'operation': operation, 'metric': metric})}",
        )
        for operation, metric in metrics.items()
    ]
    beside = (
        [(f"{word} beside the CRS4 report", beside_published(result, op)) for word, op in BESIDE] if result.host else []
    )
    return [*beside, *links]
