"""The inventory as files: out as one document or tables, in again after a preview, by the rules of the pages (docs/inventory-files.md)."""

from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.inventory.exchange import kept
from apps.inventory.exchange.document import Outgoing
from apps.inventory.exchange.files import MAX_BYTES, FileError
from apps.inventory.exchange.kinds import BY_NAME, Kind
from apps.inventory.exchange.outcome import StaleOutcomeError
from apps.inventory.exchange.writers import csv_pieces, json_pieces, zip_pieces
from apps.inventory.models import Host, InventoryImport
from apps.labs.models import Lab
from apps.lib.http import begun
from apps.lib.uploads import upload_too_large
from apps.publishing import inventory_file_schema as shapes
from apps.publishing import schema
from apps.publishing.authentication import who
from apps.publishing.pagination import page
from apps.publishing.problems import ProblemError
from apps.publishing.renderers import FILES
from apps.publishing.resource import resource


@schema.described(
    shapes.InventoryDocument, errors=(400, 404), operation_id="inventory_export",
    parameters=[
        OpenApiParameter("kind", str, enum=list(BY_NAME), description="only this kind"),
        OpenApiParameter("host", str, description="the id or name of one host: what is in it"),
    ],
    description="JSON is the whole inventory in one document. CSV is one table where `kind` is named, else a zip of one for each kind.",
    also={(200, "text/csv"): str, (200, "application/zip"): bytes},
)  # fmt: skip
@resource(formats=FILES)
def inventory_export(request: Request) -> StreamingHttpResponse:
    """The own lab's inventory, as it can be brought into another lab. Streamed."""
    lab, kind, form = _lab(request), _kind(request), request.accepted_renderer.format
    outgoing = Outgoing(lab, _host(request, lab), [kind.name] if kind else ())
    if form == "json":
        return StreamingHttpResponse(begun(json_pieces(outgoing)), content_type="application/json")
    if form == "csv" and kind:
        return _file(csv_pieces(kind, outgoing.rows(kind)), "text/csv; charset=utf-8", f"{kind.name}.csv")
    return _file(zip_pieces(outgoing), "application/zip", f"{lab.slug}-inventory.zip")


def _file(pieces: Iterator[bytes], media_type: str, name: str) -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return StreamingHttpResponse(begun(pieces), content_type=media_type, headers=headers)


def _lab(request: Request) -> Lab:
    lab: Lab = request._request.lab  # type: ignore[attr-defined]
    return lab


def _kind(request: Request, given: Any = None) -> Kind | None:
    name = str((given or request.query_params).get("kind", ""))
    if name and name not in BY_NAME:
        expected = f"one of: {', '.join(BY_NAME)}"
        raise ProblemError(
            400, f"kind: found {name[:80]!r}, expected {expected}.", field="kind", found=name[:80], expected=expected
        )
    return BY_NAME.get(name)


def _host(request: Request, lab: Lab) -> Host | None:
    asked = request.query_params.get("host", "").strip()
    if not asked:
        return None
    by = "pk" if asked.isdecimal() and len(asked) < 19 else "name"
    found: Host | None = Host.objects.filter(lab=lab, **{by: asked}).first()
    if found is None:
        expected = "the id or name of one host of this lab"
        raise ProblemError(
            404, f"host: found {asked[:80]!r}, expected {expected}.", field="host", found=asked[:80], expected=expected
        )
    return found


@schema.described(
    shapes.InventoryImport,
    paged=True,
    methods=["GET"],
    operation_id="inventory_imports_list",
    description="Newest first.",
)
@schema.described(
    shapes.InventoryPreview, status=201, errors=(400, 413), methods=["POST"], operation_id="inventory_imports_create",
    request={"multipart/form-data": shapes.InventoryFile},
    description="JSON, a CSV file of one kind, or a zip of them. The file is kept and the answer says what it would do; nothing "
    "is written before it is applied with the `digest` of this answer.",
)  # fmt: skip
@resource("GET", "POST", takes=(MultiPartParser,))
def inventory_imports(request: Request) -> Response:
    if request.method == "POST":
        return _brought(request)
    found = InventoryImport.objects.filter(lab=_lab(request)).defer("packed")
    return page(request, found, lambda some: [shapes.shown(request, one) for one in some], "-id")


def _brought(request: Request) -> Response:
    if too_large := upload_too_large(request._request):
        raise ProblemError(413, too_large)
    file, kind = request.FILES.get("file"), _kind(request, request.data)
    if file is None:
        found = ", ".join(request.FILES) or "nothing"
        expected = "one file in the part named file"
        raise ProblemError(
            400, f"file: found {found}, expected {expected}.", field="file", found=found, expected=expected
        )
    if (file.size or 0) > MAX_BYTES:
        raise ProblemError(413, f"file: found {file.size} bytes, expected at most {MAX_BYTES}.", field="file")
    try:
        made = kept.keep(_lab(request), file.read(), file.name or "file", kind.name if kind else "", who(request))
    except FileError as error:
        more = {"field": "file", "where": error.where, "found": error.found, "expected": error.expected}
        raise ProblemError(400, str(error), **more) from None
    shown = shapes.shown(request, made)
    return Response(shown | shapes.of_outcome(kept.preview_of(made)), status=201, headers={"Location": shown["url"]})


@schema.described(shapes.InventoryPreview, errors=(404,), operation_id="inventory_imports_read")
@resource()
def inventory_import(request: Request, pk: int) -> Response:
    """What it would do now; of one that was applied, what it did (then `digest` is null and `entries` is empty)."""
    found = _own(request, pk)
    outcome = None if found.applied_at else kept.preview_of(found)
    return Response(shapes.shown(request, found) | shapes.of_outcome(outcome))


@schema.described(
    shapes.InventoryPreview, errors=(400, 404, 409), operation_id="inventory_imports_apply", request=shapes.Digest
)
@resource("POST")
def inventory_import_apply(request: Request, pk: int) -> Response:
    """Writes what the preview of this `digest` showed; refused rows are left out. 409 with the new preview where the inventory has changed since."""
    found = _own(request, pk)
    body = shapes.Digest(data=request.data)
    body.is_valid(raise_exception=True)
    if found.applied_at:
        said = f"Import {pk} was applied on {found.applied_at:%Y-%m-%d} by {found.applied_by}."
        raise ProblemError(409, said, field="state", found="applied", expected="waiting")
    try:
        outcome = kept.apply(found, who(request), body.validated_data["digest"])
    except StaleOutcomeError as stale:
        raise ProblemError(409, str(stale), field="digest", preview=shapes.of_outcome(stale.outcome)) from None
    return Response(shapes.shown(request, found) | shapes.of_outcome(outcome))


def _own(request: Request, pk: int) -> InventoryImport:
    found: InventoryImport = get_object_or_404(InventoryImport.objects.select_related("lab"), pk=pk, lab=_lab(request))
    return found
