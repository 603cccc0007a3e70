"""Uploads as the REST interface shows them. Field names are fixed: scripts rely on them; more may be added."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rest_framework.request import Request

from apps.publishing.pagination import Pages
from apps.publishing.shown import AnyRequest
from apps.uploads.models import Upload, UploadedFile, UploadedRun


class FilePages(Pages):
    """Of one upload's files; a page is as long as may be, for most uploads are one page."""

    page_size = Pages.max_page_size

    def of(self, request: AnyRequest, upload: Upload) -> list[UploadedFile]:
        """Those of the page that was asked for; `get_next_link` and `get_previous_link` lead to the upload's own address."""
        asked = request if isinstance(request, Request) else Request(request)
        files = UploadedFile.objects.filter(upload=upload).light().select_related("artefact")
        found: list[UploadedFile] = self.paginate_queryset(files, asked) or []
        self.base_url = f"{_address(request, upload)}?{asked.query_params.urlencode()}"
        return found


def shown_uploads(request: AnyRequest, uploads: Sequence[Upload]) -> list[dict[str, Any]]:
    """Without their files, which may be ten thousand."""
    return [_upload(request, one) for one in uploads]


def shown_upload(request: AnyRequest, upload: Upload, files: Sequence[UploadedFile] | None = None) -> dict[str, Any]:
    """`files`: all that it has, where they are known."""
    links: list[str | None] = [None, None]
    if files is None:
        pages = FilePages()
        files = pages.of(request, upload)
        links = [pages.get_next_link(), pages.get_previous_link()]
    runs = _runs(files)
    return {
        **_upload(request, upload),
        "file_count": upload.files.count() if any(links) else len(files),
        "next": links[0],
        "previous": links[1],
        "files": [_file(request, upload, file, runs.get(file.pk, ())) for file in files],
    }


def _runs(files: Sequence[UploadedFile]) -> dict[int, list[int]]:
    """By the file that they came of."""
    runs = {file.pk: file.new_runs for file in files if file.new_runs is not None}
    others = [file.pk for file in files if file.pk not in runs]
    if others:
        pairs = UploadedRun.objects.filter(file__in=others).order_by("run_id").values_list("file_id", "run_id")
        for file_id, group in groupby(sorted(pairs), itemgetter(0)):
            runs[file_id] = [run_id for _, run_id in group]
    return runs


def _address(request: AnyRequest, upload: Upload) -> str:
    return request.build_absolute_uri(f"/api/v1/uploads/{upload.pk}/")


def _upload(request: AnyRequest, upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.pk,
        "state": upload.state,
        "url": _address(request, upload),
        "page": request.build_absolute_uri(upload.get_absolute_url()),
        "name": upload.name,
        "study": upload.study.slug if upload.study else None,
        "host": upload.host_id,
        "target": upload.target_id,
        "labels": upload.labels,
        "problem": upload.problem,
        "joined": upload.joined,
        "created_by": upload.created_by,
        "created_at": upload.created_at,
        "finished_at": upload.finished_at,
    }


def _file(request: AnyRequest, upload: Upload, file: UploadedFile, kept: Iterable[int]) -> dict[str, Any]:
    file.upload = upload
    host, target = file.place
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
        "left_out": len(file.left_out),
        "run_ids": list(kept),
        "host": host,
        "target": target,
        "guessed": file.guessed,
        "printed_hosts": file.printed_hosts,
        "page": request.build_absolute_uri(file.get_absolute_url()),
    }
