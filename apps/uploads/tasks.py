"""Celery tasks of uploads: each takes an id and makes one call; the rows hold the state, so running one twice does no harm."""

from celery import shared_task
from django.utils import timezone

from apps.core.task_queue import publish
from apps.labs.isolation import all_labs, lab_scope
from apps.uploads.models import Upload
from apps.uploads.pipeline import give_up_cut_short, parse, requeue_orphaned
from apps.uploads.save_runs import keep


@shared_task(name="uploads.parse_upload")
def parse_upload(upload_id: int) -> str:
    """Parse an upload's waiting files; what exceeds the time of one task continues in the next one."""
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
    """Save the runs of an upload, or of some of its files, that are too many for one request.

    Returns:
        How many runs were saved; none if called again.
    """
    with all_labs():
        upload = Upload.objects.filter(pk=upload_id).first()
    if upload is None:
        return 0
    with lab_scope(upload.lab_id):
        return keep(upload, files)


@shared_task(name="uploads.take_back_upload")
def take_back_upload(upload_id: int, files: list[int] | None = None) -> int:
    """Delete the saved runs of an upload, or of some of its files, that are too many for one request.

    Returns:
        How many runs were deleted.
    """
    from apps.uploads.revert import take_back  # which hands the upload over to `parse_upload`

    with all_labs():
        upload = Upload.objects.filter(pk=upload_id).first()
    if upload is None:
        return 0
    with lab_scope(upload.lab_id):
        return take_back(upload, files)


@shared_task(name="uploads.sweep")
def sweep_uploads() -> int:
    """Queue uploads again whose worker died or whose task was lost; runs every 30 s.

    Returns:
        How many tasks were sent.
    """
    with all_labs():
        requeue_orphaned(timezone.now())
        give_up_cut_short(timezone.now())
        due = list(Upload.objects.to_parse(timezone.now()).order_by("id").values_list("pk", flat=True)[:200])
    for upload_id in due:
        publish(parse_upload, upload_id)
    return len(due)
