"""Runs that were loaded before keep their numbers when their file is read again, so that addresses and saved comparisons stay.

So do those of an earlier version, which wrote them without an upload.
"""

from django.db.models import QuerySet

from apps.runs.models import Histogram, Run, RunArtefact, Sample, Series
from apps.runs.samples import drop_values
from apps.studies.models import Study
from apps.uploads.models import UploadedRun

_READ = ("tool", "tool_version", "workload", "labels", "problem", "started_at", "finished_at")


def adopt_earlier_runs(study: Study) -> None:
    """Each takes the place of the new run of the same configuration and file sizes, with its values and its file; one
    that has no such run goes.
    """
    published = Run.objects.filter(study_run__configuration__study=study, origin=Run.Origin.PUBLISHED)
    earlier = published.filter(uploaded_from=None)
    if not earlier.exists():
        return
    uploaded = Run.objects.filter(study_run__configuration__study=study, uploaded_from__isnull=False)
    new = _by_place(uploaded.exclude(origin=Run.Origin.PUBLISHED))
    for place, run in _by_place(earlier).items():
        if place in new:
            _take_the_place(run, new[place])
        else:
            run.delete()


def _by_place(runs: QuerySet[Run]) -> dict[tuple[object, ...], Run]:
    found = {}
    for run in runs.select_related("study_run"):
        sizes = Sample.objects.filter(run=run).order_by().values_list("point__file_size", flat=True)
        found[(run.study_run.configuration_id, *sorted({size or 0 for size in sizes}))] = run
    return found


def _take_the_place(run: Run, new: Run) -> None:
    drop_values(run)
    for model in (Sample, Series, Histogram, UploadedRun):
        model.objects.filter(run=new).update(run=run)
    for name in _READ:
        setattr(run, name, getattr(new, name))
    run.save(update_fields=_READ)
    for use in RunArtefact.objects.filter(run=new):
        RunArtefact.objects.update_or_create(
            run=run, name=use.name, defaults={"artefact": use.artefact, "kind": use.kind}
        )
    new.delete()
