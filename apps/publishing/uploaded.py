"""Uploads as the REST interface shows them. Field names are fixed: scripts rely on them; more may be added."""

from collections.abc import Iterable, Sequence
from typing import Any

from rest_framework.request import Request

from apps.uploads.models import Upload, UploadedFile, UploadedRun

MOST_FILES = 1000  # in a list of uploads and in one answer; the rest is counted


def shown_uploads(request: Request, uploads: Sequence[Upload]) -> list[dict[str, Any]]:
    """Without their files, which may be ten thousand."""
    return [_upload(request, one) for one in uploads]


def shown_upload(request: Request, upload: Upload, files: Sequence[UploadedFile] | None = None) -> dict[str, Any]:
    """`files`: all that it has, where they are known."""
    if files is None:
        files = list(UploadedFile.objects.filter(upload=upload).light().select_related("artefact")[:MOST_FILES])
    runs: dict[int, list[int]] = {}
    pairs = UploadedRun.objects.filter(file__in=[file.pk for file in files]).order_by("run_id")
    for file_id, run_id in pairs.values_list("file_id", "run_id"):
        runs.setdefault(file_id, []).append(run_id)
    count = upload.files.count() if len(files) == MOST_FILES else len(files)
    return {
        **_upload(request, upload),
        "file_count": count,
        "files": [_file(request, file, runs.get(file.pk, ())) for file in files],
    }


def _upload(request: Request, upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.pk,
        "state": upload.state,
        "url": request.build_absolute_uri(f"/api/v1/uploads/{upload.pk}/"),
        "page": request.build_absolute_uri(upload.get_absolute_url()),
        "name": upload.name,
        "study": upload.study.slug if upload.study else None,
        "host": upload.host_id,
        "target": upload.target_id,
        "labels": upload.labels,
        "problem": upload.problem,
        "created_by": upload.created_by,
        "created_at": upload.created_at,
        "finished_at": upload.finished_at,
    }


def _file(request: Request, file: UploadedFile, kept: Iterable[int]) -> dict[str, Any]:
    return {
        "id": file.pk,
        "name": file.name,
        "sha256": file.artefact.sha256 if file.artefact else None,
        "size": file.size,
        "state": file.state,
        "format": file.format,
        "confidence": file.confidence,
        "tool": file.tool,
        "tool_version": file.tool_version,
        "runs": file.run_count,
        "samples": file.sample_count,
        "warnings": file.warnings,
        "error": file.error or (file.broken[0] if file.broken else None),
        "broken": file.broken,
        "known_as": file.known_as_id,
        "is_kept": file.kept_at is not None,
        "run_ids": list(kept),
        "page": request.build_absolute_uri(file.get_absolute_url()),
    }
