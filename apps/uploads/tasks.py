"""Celery tasks of uploads: an id in, one call. The rows hold the state, so twice does no harm."""

from celery import shared_task
from django.utils import timezone

from apps.labs.isolation import all_labs, lab_scope
from apps.lib.handing_over import publish
from apps.uploads.alive import queue_the_orphaned
from apps.uploads.keeping import keep
from apps.uploads.models import Upload
from apps.uploads.parsing import parse


@shared_task(name="uploads.parse_upload")
def parse_upload(upload_id: int) -> str:
    """Read an upload's waiting files; what does not fit into one task's time goes on in the next one."""
    with all_labs():
        upload = Upload.objects.filter(pk=upload_id).first()
    if upload is None:
        return "nothing to do"
    with lab_scope(upload.lab_id):
        if not upload.claim():
            return "somebody else reads it"
        if parse(upload):
            return "done"
    publish(parse_upload, upload_id)
    return "goes on"


@shared_task(name="uploads.keep_upload")
def keep_upload(upload_id: int, files: list[int] | None = None) -> int:
    """Keep all that waits, or of it these files, where it is too much for one request. Says how many runs; twice keeps nothing twice."""
    with all_labs():
        upload = Upload.objects.filter(pk=upload_id).first()
    if upload is None:
        return 0
    with lab_scope(upload.lab_id):
        return keep(upload, files)


@shared_task(name="uploads.take_back_upload")
def take_back_upload(upload_id: int, files: list[int] | None = None) -> int:
    """What was kept of it, or of these files, is taken back where it is too much for one request. Says how many runs."""
    from apps.uploads.taking_back import take_back  # which hands the upload over to `parse_upload`

    with all_labs():
        upload = Upload.objects.filter(pk=upload_id).first()
    if upload is None:
        return 0
    with lab_scope(upload.lab_id):
        return take_back(upload, files)


@shared_task(name="uploads.sweep")
def sweep_uploads() -> int:
    """Every 30 s: uploads whose worker died, or whose task was lost, are published again. Says how many."""
    with all_labs():
        queue_the_orphaned(timezone.now())
        due = list(Upload.objects.to_parse(timezone.now()).order_by("id").values_list("pk", flat=True)[:200])
    for upload_id in due:
        publish(parse_upload, upload_id)
    return len(due)
