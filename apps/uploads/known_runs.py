"""Files that were kept before are not kept again; but who brings them again and names a study wants their runs in it."""

from apps.labs.models import AuditEvent
from apps.runs.models import Run
from apps.studies.editing.placing import place
from apps.uploads.models import FileState, Upload, UploadedFile


def join_study(upload: Upload) -> str:
    """The earlier runs of an upload's known files, as far as they are in no study, go into the upload's. A sentence about it;
    nothing where there are none.
    """
    if upload.study is None:
        return ""
    known = UploadedFile.objects.filter(upload=upload, state=FileState.KNOWN).exclude(known_as__upload=upload)
    runs = Run.objects.filter(uploaded_from__file__in=known.values("known_as"))
    free = list(runs.filter(study_run=None).select_related("host", "target", "workload").order_by("id"))
    elsewhere = runs.exclude(study_run=None).exclude(study_run__configuration__study=upload.study).count()
    if free:
        place(free, upload.study)
        AuditEvent.objects.record(
            upload.lab_id,
            "runs put into a study",
            upload.study.slug,
            who=upload.created_by,
            runs=[run.pk for run in free],
        )
    said = [f"{len(free)} earlier runs are in the study {upload.study.slug} now"] if free else []
    said += [f"{elsewhere} earlier runs stay in another study"] if elsewhere else []
    return f"{'; '.join(said)}." if said else ""
