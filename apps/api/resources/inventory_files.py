"""The inventory as files (docs/how-to/inventory-files.md).

It is exported as one document or as tables, and imported after a preview, by the rules of the pages.
"""

from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import who
from apps.api.fields import LinkField
from apps.api.openapi import problems
from apps.api.parsers import StrictJSONParser
from apps.api.problems import ProblemError
from apps.api.renderers import FILES
from apps.api.viewsets import ScopedAPIView, ScopedViewSet
from apps.core.http import begun, upload_too_large
from apps.core.text import whole_number
from apps.inventory.exchange import stored_files
from apps.inventory.exchange.document import Outgoing
from apps.inventory.exchange.files import MAX_BYTES, FileError
from apps.inventory.exchange.outcome import UNCHANGED, Outcome, StaleOutcomeError
from apps.inventory.exchange.registry import BY_NAME, KINDS, FileKind
from apps.inventory.exchange.writers import csv_pieces, json_pieces, zip_pieces
from apps.inventory.models import Host, InventoryImport
from apps.labs.models import Lab

Json = dict[str, Any]


class InventoryDocumentSerializer(serializers.Serializer[Any]):
    """A whole inventory."""

    format = serializers.CharField(help_text="`spindle inventory`")
    version = serializers.IntegerField()

    def get_fields(self) -> Json:
        """Return a list of rows for each kind; the names of kinds have hyphens, which attributes cannot have."""
        rows = {kind.name: serializers.ListField(child=serializers.DictField(), required=False) for kind in KINDS}
        return {**super().get_fields(), **rows}


class InventoryFileSerializer(serializers.Serializer[Any]):
    """The body that brings a file."""

    file = serializers.FileField()
    kind = serializers.ChoiceField(
        [kind.name for kind in KINDS], required=False, help_text="of CSV whose name does not say it"
    )


class CountsSerializer(serializers.Serializer[Any]):
    """Rows of a file by what becomes of them."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    refused = serializers.IntegerField()


class InventoryImportSerializer(serializers.ModelSerializer[InventoryImport]):
    """A file of inventory that was sent."""

    name = serializers.CharField()
    kind = serializers.CharField()
    size = serializers.IntegerField(help_text="bytes")
    url = LinkField("api-inventory-import")
    state = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()

    class Meta:
        model = InventoryImport
        fields: tuple[str, ...] = (
            "id", "name", "kind", "size", "created_by", "created_at", "applied_by", "applied_at", "url", "state",
            "counts",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(["waiting", "applied"]))
    def get_state(self, sent: InventoryImport) -> str:
        return "applied" if sent.applied_at else "waiting"

    @extend_schema_field(
        CountsSerializer(
            allow_null=True,
            help_text="rows by what became or would become of them; null in lists before it is applied",
        )
    )
    def get_counts(self, sent: InventoryImport) -> Json | None:
        outcome: Outcome | None = self.context.get("outcome")
        return outcome.counts if outcome else sent.counts or None


class FieldChangeSerializer(serializers.Serializer[Any]):
    """A field that a file changes."""

    field = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class RowProblemSerializer(serializers.Serializer[Any]):
    """Why a row cannot be taken."""

    field = serializers.CharField(help_text="empty: the whole row")
    detail = serializers.CharField(source="sentence", help_text="what was found and what was expected")


class ImportedRowSerializer(serializers.Serializer[Any]):
    """A row of a file, and what becomes of it."""

    kind = serializers.CharField()
    where = serializers.CharField(help_text="`disks.csv line 7`, `disks[3]`")
    key = serializers.CharField()
    act = serializers.ChoiceField(["created", "changed", "refused"])
    changes = FieldChangeSerializer(many=True, help_text="values in base units, references as keys")
    problems = RowProblemSerializer(many=True)


class InventoryPreviewSerializer(InventoryImportSerializer):
    """A file with its `outcome`, which the context has; None of one that was applied before, whose counts are kept."""

    digest = serializers.SerializerMethodField(help_text="of exactly this outcome: to apply it")
    entries = serializers.SerializerMethodField(help_text="all rows but the unchanged ones")

    class Meta(InventoryImportSerializer.Meta):
        fields = (*InventoryImportSerializer.Meta.fields, "digest", "entries")
        read_only_fields = fields

    def get_digest(self, sent: InventoryImport) -> str | None:
        outcome: Outcome | None = self.context["outcome"]
        return outcome.digest if outcome else None

    @extend_schema_field(ImportedRowSerializer(many=True))
    def get_entries(self, sent: InventoryImport) -> list[Json]:
        return describe_rows(self.context["outcome"])


class DigestSerializer(serializers.Serializer[Any]):
    """The body that applies a preview."""

    digest = serializers.CharField(max_length=64)


def describe_rows(outcome: Outcome | None) -> list[Json]:
    """Return all rows of an outcome but the unchanged ones."""
    rows = [row for row in outcome.entries if row.act != UNCHANGED] if outcome else []
    return list(ImportedRowSerializer(rows, many=True).data)


class InventoryExportView(ScopedAPIView):
    """The own lab's inventory as files."""

    serializer_class = InventoryDocumentSerializer
    renderer_classes = FILES
    parameters = ("kind", "host")

    @extend_schema(
        parameters=[
            OpenApiParameter("kind", str, enum=list(BY_NAME), description="only this kind"),
            OpenApiParameter("host", str, description="the id or name of one host: what is in it"),
        ],
        description="JSON is the whole inventory in one document. CSV is one table where `kind` is named, else a zip of "
        "one for each kind.",
        responses={
            200: InventoryDocumentSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/zip"): OpenApiTypes.BINARY,
            **problems(404),
        },
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Stream the inventory, as it can be brought into another lab."""
        kind, form = find_kind(request.query_params), request.accepted_renderer.format
        outgoing = Outgoing(self.lab, find_host(request, self.lab), [kind.name] if kind else ())
        if form == "json":
            return StreamingHttpResponse(begun(json_pieces(outgoing)), content_type="application/json")
        if form == "csv" and kind:
            return attach(csv_pieces(kind, outgoing.rows(kind)), "text/csv; charset=utf-8", f"{kind.name}.csv")
        return attach(zip_pieces(outgoing), "application/zip", f"{self.lab.slug}-inventory.zip")


@extend_schema_view(list=extend_schema(description="Newest first."))
class InventoryImportViewSet(ListModelMixin, ScopedViewSet[InventoryImport]):
    """Files of inventory that were sent to the own lab."""

    model = InventoryImport
    serializer_class = InventoryImportSerializer
    parser_classes = (MultiPartParser,)
    ordering = "-id"

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(lab=self.lab).defer("packed")

    @extend_schema(
        request={"multipart/form-data": InventoryFileSerializer},
        responses={201: InventoryPreviewSerializer},
        description="JSON, a CSV file of one kind, or a zip of them. The file is kept and the answer says what it would "
        "do; nothing is written before it is applied with the `digest` of this answer.",
    )
    def create(self, request: Request) -> Response:
        if too_large := upload_too_large(request._request):
            raise ProblemError(413, too_large)
        file, kind = request.FILES.get("file"), find_kind(request.data)
        if file is None:
            found, expected = ", ".join(request.FILES) or "nothing", "one file in the part named file"
            detail = f"file: found {found}, expected {expected}."
            raise ProblemError(400, detail, field="file", found=found, expected=expected)
        if (file.size or 0) > MAX_BYTES:
            raise ProblemError(413, f"file: found {file.size} bytes, expected at most {MAX_BYTES}.", field="file")
        try:
            name, kind_name = file.name or "file", kind.name if kind else ""
            sent = stored_files.keep(self.lab, file.read(), name, kind_name, who(request))
        except FileError as error:
            more = {"field": "file", "where": error.where, "found": error.found, "expected": error.expected}
            raise ProblemError(400, str(error), **more) from None
        preview = self.represent(sent, stored_files.preview_of(sent))
        return Response(preview, status=201, headers={"Location": preview["url"]})

    @extend_schema(responses=InventoryPreviewSerializer)
    def retrieve(self, request: Request, pk: int) -> Response:
        """Return what the import would do now, or what it did if it was applied.

        Of one that was applied `digest` is null and `entries` is empty.
        """
        sent = self.get_own()
        return Response(self.represent(sent, None if sent.applied_at else stored_files.preview_of(sent)))

    @extend_schema(request=DigestSerializer, responses={200: InventoryPreviewSerializer, **problems(409)})
    @action(detail=True, methods=["post"], parser_classes=[StrictJSONParser])
    def apply(self, request: Request, pk: int) -> Response:
        """Write what the preview with this `digest` showed; refused rows are left out.

        Where the inventory has changed since, the answer is 409 with the new preview.
        """
        sent, body = self.get_own(), self.validate_body(DigestSerializer)
        if sent.applied_at:
            detail = f"Import {pk} was applied on {sent.applied_at:%Y-%m-%d} by {sent.applied_by}."
            raise ProblemError(409, detail, field="state", found="applied", expected="waiting")
        try:
            outcome = stored_files.apply(sent, who(request), body["digest"])
        except StaleOutcomeError as stale:
            new = stale.outcome
            preview = {"counts": new.counts, "digest": new.digest, "entries": describe_rows(new)}
            raise ProblemError(409, str(stale), field="digest", preview=preview) from None
        return Response(self.represent(sent, outcome))

    def get_own(self) -> InventoryImport:
        """Return an import of the own lab, with the bytes of its file."""
        rows = InventoryImport.objects.select_related("lab")
        sent: InventoryImport = get_object_or_404(rows, pk=self.kwargs["pk"], lab=self.lab)
        return sent

    def represent(self, sent: InventoryImport, outcome: Outcome | None) -> Json:
        """Return an import as JSON, with what it would do or did."""
        context = {**self.get_serializer_context(), "outcome": outcome}
        return dict(InventoryPreviewSerializer(sent, context=context).data)


def attach(pieces: Iterator[bytes], media_type: str, name: str) -> StreamingHttpResponse:
    """Stream a file that the browser saves under this name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return StreamingHttpResponse(begun(pieces), content_type=media_type, headers=headers)


def find_kind(words: Any) -> FileKind | None:
    """Return the kind that the request names; None where it names none. Raise a 400 for an unknown name."""
    name = str(words.get("kind", ""))
    if name and name not in BY_NAME:
        expected, detail = f"one of: {', '.join(BY_NAME)}", f"kind: found {name[:80]!r}, expected "
        raise ProblemError(400, f"{detail}{expected}.", field="kind", found=name[:80], expected=expected)
    return BY_NAME.get(name)


def find_host(request: Request, lab: Lab) -> Host | None:
    """Return the host that the request names by its id or name; None where it names none.

    Raise a 404 for a host that the lab does not have.
    """
    word = request.query_params.get("host", "").strip()
    if not word:
        return None
    by = "name" if whole_number(word) is None else "pk"
    host: Host | None = Host.objects.filter(lab=lab, **{by: word}).first()
    if host is None:
        expected = "the id or name of one host of this lab"
        detail = f"host: found {word[:80]!r}, expected {expected}."
        raise ProblemError(404, detail, field="host", found=word[:80], expected=expected)
    return host
