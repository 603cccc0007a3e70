"""Uploads: files in, what was recognised out, and which runs came of it."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.http import QueryDict
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import who
from apps.api.fields import LinkField, NumberField, PageField
from apps.api.openapi import PAGING, problems
from apps.api.pagination import Pages
from apps.api.parsers import FilesParser, StrictJSONParser
from apps.api.problems import ProblemError
from apps.api.resources.upload_request import UploadStartSerializer
from apps.api.viewsets import ScopedViewSet
from apps.core.http import upload_too_large
from apps.labs.models import AuditEvent, TokenScope
from apps.uploads.models import Upload, UploadedFile, UploadedRun
from apps.uploads.multipart import keeps_paths
from apps.uploads.revert import take_back
from apps.uploads.save_runs import keep
from apps.uploads.services import read_all_again

Json = dict[str, Any]


class FileErrorSerializer(serializers.Serializer[Any]):
    """Why something in a file could not be read."""

    message = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    found = serializers.CharField()
    expected = serializers.CharField()


class UploadedFileSerializer(serializers.ModelSerializer[UploadedFile]):
    """A file, and what was recognised in it. The view sets `run_ids`."""

    sha256 = serializers.CharField(source="artefact.sha256", allow_null=True)
    size = serializers.IntegerField(help_text="bytes")
    state = serializers.CharField(help_text="waiting, unpacked, parsed, partly, failed, refused, known")
    confidence = NumberField(help_text="0 to 1")
    runs = serializers.IntegerField(source="run_count", help_text="how many were recognised")
    samples = serializers.IntegerField(source="sample_count")
    warnings = serializers.ListField(child=serializers.CharField())
    error = serializers.SerializerMethodField()
    broken = serializers.SerializerMethodField(help_text="each run that could not be read")
    known_as = serializers.IntegerField(
        source="known_as_id",
        allow_null=True,
        help_text="the file that brought the same bytes, or the same JSON, before",
    )
    known_by = serializers.SerializerMethodField(
        help_text="`bytes`; `content`: the same JSON in another form, such as other blanks; null where it is not known"
    )
    is_kept = serializers.SerializerMethodField()
    left_out = serializers.SerializerMethodField(help_text="runs that somebody left out when the others were kept")
    run_ids = serializers.ListField(child=serializers.IntegerField())
    host = serializers.SerializerMethodField(help_text="that its runs have; null where each has its own, or none")
    target = serializers.SerializerMethodField()
    guessed = serializers.CharField(help_text="why this host, where nobody said so")
    printed_hosts = serializers.ListField(
        child=serializers.CharField(), help_text="the host names that stand in the text"
    )
    page = PageField()

    class Meta:
        model = UploadedFile
        fields = (
            "id", "name", "sha256", "size", "state", "format", "confidence", "tool", "tool_version", "runs", "samples",
            "warnings", "error", "broken", "known_as", "known_by", "is_kept", "left_out", "run_ids", "host", "target", "guessed",
            "printed_hosts", "page",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=("bytes", "content"), allow_null=True))
    def get_known_by(self, file: UploadedFile) -> str | None:
        return ("content" if file.is_another_form else "bytes") if file.known_as_id else None

    @extend_schema_field(FileErrorSerializer(allow_null=True))
    def get_error(self, file: UploadedFile) -> Json | None:
        return file.error or (file.broken[0] if file.broken else None)

    @extend_schema_field(FileErrorSerializer(many=True))
    def get_broken(self, file: UploadedFile) -> list[Json]:
        return list(file.broken)

    def get_is_kept(self, file: UploadedFile) -> bool:
        return file.kept_at is not None

    def get_left_out(self, file: UploadedFile) -> int:
        return len(file.left_out)

    def get_host(self, file: UploadedFile) -> int | None:
        return file.place[0]

    def get_target(self, file: UploadedFile) -> int | None:
        return file.place[1]


class UploadSummarySerializer(serializers.ModelSerializer[Upload]):
    """An upload without its files, which may be ten thousand."""

    state = serializers.CharField(help_text="queued, parsing, parsed, partly, failed")
    url = LinkField("api-upload")
    page = PageField()
    study = serializers.CharField(source="study.slug", allow_null=True)
    host = serializers.IntegerField(source="host_id", allow_null=True)
    target = serializers.IntegerField(source="target_id", allow_null=True)
    labels = serializers.DictField()
    joined = serializers.CharField(
        help_text="what became of the earlier runs of files that were kept before, where a study was named; else empty"
    )

    class Meta:
        model = Upload
        fields: tuple[str, ...] = (
            "id", "state", "url", "page", "name", "study", "host", "target", "labels", "problem", "joined",
            "created_by", "created_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields


class UploadSerializer(UploadSummarySerializer):
    """An upload with a page of its files, which the view sets as `file_page`."""

    file_count = serializers.IntegerField(source="file_page.count")
    next = serializers.URLField(source="file_page.next", allow_null=True, help_text="the next page of `files`")
    previous = serializers.URLField(source="file_page.previous", allow_null=True)
    files = UploadedFileSerializer(source="file_page.files", many=True, help_text="a page, of 1,000 unless `limit`")

    class Meta(UploadSummarySerializer.Meta):
        fields = (*UploadSummarySerializer.Meta.fields, "file_count", "next", "previous", "files")
        read_only_fields = fields


class FilePages(Pages):
    """Pages of one upload's files, each as long as allowed, for most uploads fit on one page."""

    page_size = Pages.max_page_size

    def paginate(self, request: Request, upload: Upload, address: str) -> Json:
        """Return the page that the request asks for; its links lead to the upload's own address."""
        rows = (
            UploadedFile.objects.filter(upload=upload)
            .light()
            .select_related("artefact", "known_as")
            .defer("packed", "known_as__packed")
        )
        files: list[Any] = self.paginate_queryset(rows, request) or []
        self.base_url = f"{address}?{request.query_params.urlencode()}"
        links = [self.get_next_link(), self.get_previous_link()]
        run_ids = find_run_ids(files)
        for file in files:
            file.upload, file.run_ids = upload, run_ids.get(file.pk, ())
        count = upload.files.count() if any(links) else len(files)
        return {"count": count, "next": links[0], "previous": links[1], "files": files}


def find_run_ids(files: Sequence[UploadedFile]) -> dict[int, list[int]]:
    """Return the ids of each file's runs."""
    pairs = UploadedRun.objects.filter(file__in=[file.pk for file in files]).values_list("file_id", "run_id")
    return {file_id: [run_id for _, run_id in group] for file_id, group in groupby(sorted(pairs), key=itemgetter(0))}


KEEP = OpenApiParameter("keep", bool, description="keep what is recognised at once, without a preview")


@extend_schema_view(list=extend_schema(description="Newest first."))
@method_decorator(keeps_paths, name="dispatch")
class UploadViewSet(ListModelMixin, ScopedViewSet[Upload]):
    """Uploads of the lab, newest first."""

    model = Upload
    serializer_class = UploadSummarySerializer
    parser_classes = (FilesParser,)
    needed_scope = TokenScope.UPLOAD
    ordering = "-id"
    detail_parameters = {"retrieve": ("cursor", "limit")}

    def get_queryset(self) -> Any:
        return super().get_queryset().select_related("study")

    @extend_schema(
        request={"multipart/form-data": UploadStartSerializer},
        responses={202: UploadSerializer, **problems(411, 507)},
        parameters=[KEEP],
        description="Files or archives (zip, tar, gz, bz2, xz, zst). Their bytes are kept before the answer; a worker "
        "reads them: ask `url` until `state` is parsed, partly or failed.",
    )
    def create(self, request: Request) -> Response:
        if too_large := upload_too_large(request._request):
            raise ProblemError(413, too_large)
        if is_in_chunks(request):
            raise ProblemError(
                411,
                "Found a body in chunks, expected one with a Content-Length: send a file, whose size is known, not a pipe.",
                found="Transfer-Encoding: chunked",
                expected="Content-Length",
            )
        data = request.data or QueryDict()  # REST framework gives a dict for a request without a body
        serializer = UploadStartSerializer(data=data, context={"request": request})
        serializer.is_valid(raise_exception=True)
        upload = self.represent(serializer.save(lab=self.lab, actor=who(request)))
        return Response(upload, status=202, headers={"Location": upload["url"]})

    @extend_schema(responses=UploadSerializer, parameters=PAGING)
    def retrieve(self, request: Request, pk: int) -> Response:
        """Return the upload's state and a page of its files with what was recognised in each; the next is at `next`."""
        return Response(self.represent(self.get_object()))

    @extend_schema(request=None, responses={200: UploadSerializer, **problems(409)})
    @action(detail=True, methods=["post"], parser_classes=[StrictJSONParser])
    def keep(self, request: Request, pk: int) -> Response:
        """Make runs of what was recognised and is not kept yet. Repeating the request keeps nothing twice."""
        upload = self.get_read_upload()
        count = keep(upload)
        self.record("upload kept", upload, runs=count)
        return Response(self.represent(upload))

    @extend_schema(request=None, responses={202: UploadSerializer, **problems(409)})
    @action(detail=True, methods=["post"], url_path="take-back", parser_classes=[StrictJSONParser])
    def take_back(self, request: Request, pk: int) -> Response:
        """Delete the runs that were kept by mistake, and read their files again, which then wait to be kept.

        Runs that a published report describes stay.
        """
        upload = self.get_read_upload()
        count = take_back(upload)
        self.record("runs taken back", upload, runs=count)
        upload.refresh_from_db()
        return Response(self.represent(upload), status=202)

    @extend_schema(request=None, responses={202: UploadSerializer, **problems(409)})
    @action(detail=True, methods=["post"], url_path="read-again", parser_classes=[StrictJSONParser])
    def read_again(self, request: Request, pk: int) -> Response:
        """Read once more everything that is not kept: after a failure, or when a parser has improved."""
        upload = self.get_read_upload()
        read_all_again(upload)
        self.record("upload read again", upload)
        upload.refresh_from_db()
        return Response(self.represent(upload), status=202)

    def represent(self, upload: Any) -> Json:
        """Return the upload with the page of its files that the address asks for."""
        address = self.request.build_absolute_uri(f"/api/v1/uploads/{upload.pk}/")
        upload.file_page = FilePages().paginate(self.request, upload, address)
        return dict(UploadSerializer(upload, context=self.get_serializer_context()).data)

    def get_read_upload(self) -> Upload:
        """Return an upload of the own lab that has been read. Raise a 409 for any other, and a 400 for a body."""
        upload: Upload = get_object_or_404(Upload.objects, pk=self.kwargs["pk"], lab=self.lab)
        self.refuse_body()
        if not upload.has_ended:
            detail, expected = f"Upload {upload.pk} is {upload.state}.", "an upload that has been read"
            raise ProblemError(409, detail, field="state", found=upload.state, expected=expected)
        return upload

    def record(self, act: str, upload: Upload, **more: Any) -> None:
        """Write what was done into the audit trail."""
        AuditEvent.objects.record(
            upload.lab_id, act, upload.name[:200], actor=who(self.request), upload=upload.pk, **more
        )


def is_in_chunks(request: Request) -> bool:
    """Return whether the body comes in chunks without a length.

    Of such a body it cannot be told whether it was cut off, so that a part might be taken for the whole.
    """
    return "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "") and not request.META.get("CONTENT_LENGTH")
