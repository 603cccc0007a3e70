"""Files that were kept before are not kept again; but who brings them again and names a study wants their runs in it."""

from apps.labs.models import AuditEvent
from apps.runs.models import Run
from apps.studies.editing.placing import place
from apps.uploads.models import FileState, Upload, UploadedFile


def join_study(upload: Upload) -> str:
    """The earlier runs of an upload's known files, as far as they are in no study, go into the upload's. A sentence about it;
    nothing where there are none. The upload says it from now on.
    """
    if upload.study_id is None or upload.study is None:
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
    said = [f"{_runs(len(free), 'is', 'are')} in the study {upload.study.slug} now"] if free else []
    said += [f"{_runs(elsewhere, 'stays', 'stay')} in another study"] if elsewhere else []
    sentence = f"{'; '.join(said)}." if said else ""
    if sentence and sentence != upload.joined:
        upload.joined = sentence
        Upload.objects.filter(pk=upload.pk).update(joined=sentence)
    return sentence


def join_if_decided(upload: Upload) -> str:
    """The same when the files are read, unless somebody looks at a preview of the others: then it is done when these are kept. A
    script or a command that asked for a preview changes nothing before somebody keeps it.
    """
    if upload.study_id is None:
        return ""
    if not upload.is_kept_at_once:
        waiting = UploadedFile.objects.filter(upload=upload).to_keep()
        if upload.door != Upload.Door.PAGE or waiting.exists():
            return ""
    return join_study(upload)


def _runs(count: int, one: str, many: str) -> str:
    return f"{count} earlier run {one}" if count == 1 else f"{count} earlier runs {many}"
