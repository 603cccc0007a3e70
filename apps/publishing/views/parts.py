"""Inventory to read, make, change and delete, with the rules of the pages. Every kind has the same two resources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from apps.inventory.editing.deleting import delete
from apps.inventory.editing.kinds import BY_NAME, Kind
from apps.inventory.editing.payload import rows_of, wanted_of
from apps.inventory.editing.saving import StaleError, change, make, version_of
from apps.inventory.editing.telling import told
from apps.inventory.editing.wanted import EditError
from apps.inventory.filters import with_label
from apps.inventory.models import Part
from apps.publishing import schema
from apps.publishing.inventory_schema import body_of, shape_of
from apps.publishing.pagination import page
from apps.publishing.problems import ProblemError
from apps.publishing.resource import View, resource

LABEL = OpenApiParameter("label", str, description="`name=value`, or a name alone; may be repeated")
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="the ETag of what the change is based on; 412 where the part is newer",
)


@dataclass(frozen=True)
class Beside:
    """What is shown of a part beside its fields: `data` of a row, described by `shape`, with the rows that `related` names read along."""

    shape: Any = s.Serializer
    data: Callable[[Any], Mapping[str, Any]] = lambda row: {}
    related: tuple[str, ...] = ()
    name: str = ""


NOTHING = Beside()


def listing(name: str, beside: Beside = NOTHING) -> View:
    """GET lists, POST makes one."""
    kind = BY_NAME[name]

    @_described(kind, "list", "GET", beside, paged=True, parameters=[LABEL])
    @_described(kind, "create", "POST", beside, status=201, errors=(400, 409), request=body_of(kind))
    @resource("GET", "POST")
    def parts(request: Request) -> Response:
        if request.method == "POST":
            return _made(request, kind, beside)
        rows = kind.model.objects.select_related(*beside.related) if beside.related else kind.model.objects.all()
        return page(
            request, with_label(rows, request.query_params.getlist("label")), lambda found: _data(kind, found, beside)
        )

    return parts


def single(name: str, beside: Beside = NOTHING) -> View:
    """GET reads, PATCH changes what is named, DELETE deletes what is no evidence's."""
    kind = BY_NAME[name]

    @_described(kind, "read", "GET", beside, errors=(404,))
    @_described(
        kind, "change", "PATCH", beside, errors=(400, 404, 409, 412), request=body_of(kind), parameters=[IF_MATCH]
    )
    @_described(kind, "delete", "DELETE", beside, errors=(404, 409, 412), status=204, shape=None, parameters=[IF_MATCH])
    @resource("GET", "PATCH", "DELETE")
    def part(request: Request, pk: int) -> Response:
        row = get_object_or_404(kind.model.objects, pk=pk)
        if request.method == "PATCH":
            _changed(request, kind, row)
            row = get_object_or_404(kind.model.objects, pk=pk)
        elif request.method == "DELETE":
            _deleted(request, kind, row)
            return Response(status=204)
        return Response(_data(kind, [row], beside)[0], headers={"ETag": tag_of(kind, row)})

    return part


def _described(
    kind: Kind, act: str, method: str, beside: Beside, shape: Any = ..., **more: Any
) -> Callable[[View], View]:
    operation = f"{kind.plural.replace('-', '_')}_{act}"
    of = shape_of(kind, beside.shape, beside.name or kind.model.__name__) if shape is ... else shape
    return schema.described(of, methods=[method], operation_id=operation, of=kind.model.__name__, **more)


def _data(kind: Kind, rows: list[Any], beside: Beside) -> list[dict[str, Any]]:
    return [{**data, **beside.data(row)} for row, data in zip(rows, rows_of(kind, rows), strict=True)]


def tag_of(kind: Kind, row: Part) -> str:
    """Another one after every change of the part or of what hangs below it."""
    return f'"{kind.name}-{row.pk}-{version_of(kind, row)}"'


def _made(request: Request, kind: Kind, beside: Beside) -> Response:
    lab: Any = request._request.lab  # type: ignore[attr-defined]
    try:
        row = make(kind, lab, wanted_of(kind, lab, request.data))
    except EditError as error:
        raise _refused(error) from None
    here = request.build_absolute_uri(f"{request.path}{row.pk}/")
    return Response(_data(kind, [row], beside)[0], status=201, headers={"Location": here, "ETag": tag_of(kind, row)})


def _changed(request: Request, kind: Kind, row: Part) -> None:
    try:
        change(kind, row, wanted_of(kind, row.lab, request.data), _based_on(request, kind, row))
    except EditError as error:
        raise _refused(error) from None


def _deleted(request: Request, kind: Kind, row: Part) -> None:
    try:
        delete(kind, row, _based_on(request, kind, row))
    except StaleError as error:
        raise _refused(error) from None
    except EditError as error:
        said = [one for sentences in error.errors.values() for one in sentences]
        raise ProblemError(409, f"{row} cannot be deleted. {' '.join(said)}", reasons=said) from None


def _based_on(request: Request, kind: Kind, row: Part) -> int | None:
    """The version that If-Match names; one of another part, or none of ours, is older than everything."""
    said = request.headers.get("If-Match", "").strip()
    if said in ("", "*"):
        return None
    before, _, digits = said.strip('"').rpartition("-")
    is_ours = before == f"{kind.name}-{row.pk}" and digits.isdecimal() and len(digits) < 19
    if not is_ours:
        raise ProblemError(412, "If-Match names something else.", found=said[:200], expected=tag_of(kind, row))
    return int(digits)


def _refused(error: EditError) -> ProblemError:
    if isinstance(error, StaleError):
        since = [
            {
                "at": one.at,
                "who": one.who,
                "fields": [{"field": x.label, "before": x.before, "after": x.after} for x in one.lines],
            }
            for one in told(error.changes)
        ]
        return ProblemError(412, "It was changed since; nothing was saved.", changes=since)
    fields = [{"field": name, "detail": " ".join(said)} for name, said in error.errors.items()]
    return ProblemError(400, str(error), errors=fields)
