"""Saved runs deleted again: their files are parsed again from their bytes and wait for review.

preview_revert(upload, files)   # what would be lost
take_back(upload, files)        # `files` None: all of the upload
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count

from apps.runs.models import Run
from apps.studies.models import Study
from apps.uploads.models import FileQuerySet, FileState, Upload, UploadedFile
from apps.uploads.services import hand_over

_AT_ONCE = 100


@dataclass(frozen=True)
class RevertPreview:
    """`studies`: with how many of the runs. `staying`: files whose runs a published report describes by now."""

    files: int
    runs: int
    studies: Sequence[tuple[Study, int]]
    staying: int


def preview_revert(upload: Upload, files: Iterable[int] | None = None) -> RevertPreview:
    """Return what `take_back` would delete, to show it before."""
    stored = _kept(upload, files)
    going = _taken_back(stored)
    runs = Run.objects.filter(uploaded_from__file__in=going)
    counts = runs.filter(study_run__isnull=False).values_list("study_run__configuration__study").annotate(Count("pk"))
    by_study = dict(counts.order_by().values_list("study_run__configuration__study", "pk__count"))
    studies = [(study, by_study[study.pk]) for study in Study.objects.filter(pk__in=by_study).order_by("title")]
    count = going.count()
    return RevertPreview(count, runs.count(), studies, stored.count() - count)


def take_back(upload: Upload, files: Iterable[int] | None = None) -> int:
    """Delete the saved runs of an upload, or of some of its files, and queue the files for parsing.

    Returns:
        How many runs were deleted; none if called again.
    """
    ids = list(_taken_back(_kept(upload, files)).values_list("pk", flat=True))
    count = 0
    if ids:  # or they were kept again
        Upload.objects.filter(pk=upload.pk).update(is_kept_at_once=False, discarded_at=None)
    for start in range(0, len(ids), _AT_ONCE):
        with transaction.atomic():
            some = list(_kept(upload, ids[start : start + _AT_ONCE]).held().values_list("pk", flat=True))
            # a report may describe one by now
            held = list(_taken_back(_kept(upload, some)).values_list("pk", flat=True))
            runs = Run.objects.filter(uploaded_from__file__in=held).select_for_update(of=("self",)).order_by("pk")
            # what somebody writes about one between the look at what refers to it and its end is refused, and not this
            gone = list(runs.values_list("pk", flat=True))
            Run.objects.filter(pk__in=gone).delete()
            waiting: dict[str, object] = {"kept_at": None, "state": FileState.WAITING, "packed": None, "left_out": []}
            UploadedFile.objects.filter(pk__in=held).update(**waiting)
            count += len(gone)
    if ids:
        hand_over(upload)
    return count


def _kept(upload: Upload, files: Iterable[int] | None) -> FileQuerySet:
    every: FileQuerySet = UploadedFile.objects.filter(upload=upload, kept_at__isnull=False, artefact__isnull=False)
    return every if files is None else every.filter(pk__in=list(files))


def _taken_back(stored: FileQuerySet) -> FileQuerySet:
    """Return the files whose runs no published report describes."""
    described = Run.objects.exclude(origin=Run.Origin.UPLOADED).values("uploaded_from__file")
    return stored.exclude(pk__in=described.filter(uploaded_from__isnull=False))
