"""One run: live while it goes on, and afterwards everything it measured, with what it can and cannot support."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode

from apps.comparison.beside import beside_published
from apps.comparison.caveats import of_readings
from apps.comparison.loading import of_run
from apps.dashboard.results import Group, chart_data, charted, logs_of, samples_of, summaries, together
from apps.dashboard.since import since_last
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.runs.latencies import PERCENTS, latencies_of
from apps.runs.live_series import series_of
from apps.runs.models import Run
from apps.runs.states import State
from apps.runs.workload import job_file
from apps.studies.models import study_of
from apps.uploads.log_runs import beside_of
from apps.uploads.models import UploadedRun

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
    found = get_object_or_404(Run.objects.select_related("host", "target__host", "workload", "snapshot"), pk=pk)
    attempts = list(found.attempts.order_by("number"))
    uploaded = UploadedRun.objects.filter(run=found).select_related("file__upload").first()
    beside = beside_of(uploaded)
    context = {
        "run": found,
        "attempts": attempts,
        "artefacts": found.artefacts.select_related("artefact"),
        "job_file": job_file(found.workload.spec)
        if found.tool == "fio" and found.workload and found.workload.jobs
        else "",
        "study": study_of(found),
        "uploaded": uploaded,
        "beside": beside,
        "logs": logs_of(beside.logs),
        "since": since_last(found),
        "formats": FORMATS,
        "is_being_read": found.state == State.FINISHED
        and any(one.manifest and not one.ingested_at for one in attempts),
        **(results(found) if found.has_ended else so_far(found)),
    }
    return render(request, "runs/run.html", context)


def so_far(found: Run) -> dict[str, Any]:
    return {"charted": charted(found, series_of(found))}


def results(found: Run) -> dict[str, Any]:
    series = series_of(found)
    groups, latencies = samples_of(found), latencies_of(found)
    return {
        "groups": groups,
        "together": together(groups),
        "comparisons": comparisons(found, groups),
        "latencies": latencies,
        "percents": PERCENTS,
        "series": summaries(found, series),
        "charted": charted(found, series),
        "chart": chart_data(found, latencies, series),
        "caveats": of_readings(of_run(found)) if groups else [],
    }


def comparisons(found: Run, groups: Sequence[Group]) -> list[tuple[str, str]]:
    """(words, address): what this run can be put beside, each operation by the first metric that it has."""
    if not groups or found.state != State.FINISHED:
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
        [(f"{word} beside the CRS4 report", beside_published(found, op)) for word, op in BESIDE] if found.host else []
    )
    return [*beside, *links]
