"""Parts of the inventory: to read, make, change and delete, with the rules of the pages. All kinds are alike."""

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from django.db import models
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.openapi import problems
from apps.api.problems import ProblemError
from apps.api.viewsets import ScopedViewSet
from apps.core.text import whole_number
from apps.core.unit_base import base
from apps.inventory.ceilings.current import ceiling_now
from apps.inventory.editing.deletion import delete
from apps.inventory.editing.edit_request import EditError
from apps.inventory.editing.payload import JSON_NAMES, rows_of, wanted_of
from apps.inventory.editing.registry import BY_NAME, PartKind, Places
from apps.inventory.fields import unit_of
from apps.inventory.filters import filterset_of
from apps.inventory.history.log import told
from apps.inventory.models import Part, Target
from apps.inventory.services import StaleError, change, make, version_of
from apps.inventory.target_identity import explain_no_runs
from apps.inventory.target_paths import explain_unconfirmed

Json = dict[str, Any]
Field = serializers.Field[Any, Any, Any, Any]
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="the ETag of what the change is based on; 412 where the part is newer",
)
UNITS = {"bit/s": "bit/s", "B": "bytes", "B/s": "bytes/s"}
ON_ALL_KINDS: dict[str, Callable[[], Field]] = {
    "labels": lambda: serializers.DictField(required=False, help_text="name → value"),
    "notes": lambda: serializers.CharField(required=False, allow_blank=True),
    "absent": lambda: serializers.DictField(
        required=False, help_text="why a field is empty: not_printed, unknown, none"
    ),
}


class PartListSerializer(serializers.ListSerializer[Any]):
    """Many parts of a kind: what hangs below them is read for all of them at once."""

    def to_representation(self, data: Any) -> list[Any]:
        part: Any = self.child
        return list(part.represent(list(data)))


class PartSerializer(serializers.Serializer[Any]):
    """A part of the inventory. Its fields are those of its `kind`, which its page and its form have too.

    What a subclass declares is shown beside them.
    """

    kind: ClassVar[PartKind]

    class Meta:
        list_serializer_class = PartListSerializer

    def get_fields(self) -> dict[str, Field]:
        fields: dict[str, Field] = {"id": serializers.IntegerField(), **fields_of(self.kind)}
        fields["sources"] = serializers.DictField(help_text="where values come from: discovered, typed, inferred")
        fields |= {"created_at": serializers.DateTimeField(), "updated_at": serializers.DateTimeField()}
        return {**fields, **super().get_fields()}

    def to_representation(self, part: Any) -> Any:
        return self.represent([part])[0]

    def represent(self, parts: list[Any]) -> list[Json]:
        """Return the parts with what is shown beside their fields."""
        rows = zip(parts, rows_of(self.kind, parts), strict=True)
        return [{**row, **self.represent_beside(part)} for part, row in rows]

    def represent_beside(self, part: Any) -> Json:
        """Return what is shown of a part beside the fields of its kind."""
        beside: list[tuple[str, Any]] = [(name, self.fields[name]) for name in self._declared_fields]
        values = [(name, field, field.get_attribute(part)) for name, field in beside]
        return {name: None if value is None else field.to_representation(value) for name, field, value in values}


def fields_of(kind: PartKind) -> dict[str, Field]:
    """Return the fields that can be set of a part of this kind, by name."""
    fields = {name: field_of(kind.field(name)) for name in kind.fields}
    fields |= {name: make_field() for name, make_field in ON_ALL_KINDS.items()}
    if kind.places:
        place = serializer_of_places(kind.places)
        fields[kind.places.name] = place(many=True, required=False, help_text="all of them, in order")
    return fields


@cache
def serializer_of_places(places: Places) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a part's places: the members of an array, the sections of a path."""
    fields = {JSON_NAMES.get(name, name): field_of(places.model._meta.get_field(name)) for name in places.fields}
    position = serializers.IntegerField(required=False, help_text="counted from 0; the order of the list decides")
    return type(places.model.__name__, (serializers.Serializer,), {"position": position, **fields})


def field_of(column: Any) -> Field:
    """Return the serializer's field of a model's field, with its unit in its description."""
    text = ", ".join(filter(None, [str(column.help_text), UNITS.get(unit_of(column.name))]))
    more: Json = {"required": False, "help_text": text or None}
    if column.is_relation:
        return serializers.IntegerField(**more, allow_null=True)
    if isinstance(column, models.BooleanField):
        return serializers.BooleanField(**more, allow_null=column.null)
    if isinstance(column, models.IntegerField):
        return serializers.IntegerField(**more, allow_null=column.null)
    if isinstance(column, models.JSONField) and column.get_default() == []:
        return serializers.ListField(**more)
    if isinstance(column, models.JSONField):
        return serializers.DictField(**more)
    if column.choices:
        words = ", ".join(value for value, _ in column.flatchoices)
        more["help_text"] = f"{text}: {words}" if text else words
    return serializers.CharField(**more, allow_null=True, max_length=column.max_length)


@cache
def serializer_of(kind: PartKind) -> type[PartSerializer]:
    """Return the serializer of a kind of parts that shows nothing beside the kind's fields."""
    return type(
        f"{kind.model.__name__}Serializer", (PartSerializer,), {"kind": kind, "__doc__": f"Data of a {kind.word}."}
    )


@cache
def body_serializer_of(kind: PartKind) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a body that makes or changes a part; `PATCH` takes any of its fields."""
    return type(f"{kind.model.__name__}PartWanted", (serializers.Serializer,), dict(fields_of(kind)))


class HostSerializer(PartSerializer):
    """A host. Texts that were shown before hosts could be written are empty, and not null, where they are unknown."""

    AS_STORED = (
        "id", "name", "fqdn", "cpu_model", "cpu_count", "cpu_sockets", "cpu_cache_bytes", "ram_bytes", "ram_type",
        "board", "os", "kernel", "architecture", "environment", "hypervisor", "role", "is_in_maintenance", "labels",
        "absent", "updated_at",
    )  # fmt: skip
    kind = BY_NAME["host"]

    def represent_beside(self, part: Any) -> Json:
        return {name: getattr(part, name) for name in self.AS_STORED}


class TargetSerializer(PartSerializer):
    """A target."""

    kind = BY_NAME["target"]

    path = serializers.SerializerMethodField()
    host_name = serializers.CharField(source="host.name")
    takes_runs = serializers.BooleanField(source="is_agents_own", help_text="a directory that the host's agent offers")
    takes_no_runs_because = serializers.SerializerMethodField(help_text="empty where it takes runs")
    path_unconfirmed_because = serializers.SerializerMethodField(
        help_text="why no agent has confirmed the path yet; empty where it has, or where the host says that it takes no runs"
    )
    lies_on = serializers.DictField(
        help_text="the filesystem that makes it this target: type, uuid, source, mount_point; empty if unknown"
    )
    gone_at = serializers.DateTimeField(allow_null=True, help_text="since when it takes no runs any more")
    gone_reason = serializers.CharField(help_text="why: not mounted, or another filesystem or directory in its place")

    def get_takes_no_runs_because(self, target: Target) -> str:
        return explain_no_runs(target, getattr(target.host, "agent", None))

    def get_path_unconfirmed_because(self, target: Target) -> str:
        return explain_unconfirmed(target)

    def get_path(self, target: Target) -> str | None:
        return target.path or None


class TargetWithCeilingSerializer(TargetSerializer):
    """A target with the bound that the topology under it sets."""

    ceiling = serializers.SerializerMethodField(
        help_text="`{read, write, unknown}`; of each direction the `bandwidth` (bytes/s) that the topology can carry at "
        "most, the part it is `decided_by`, and all `parts` with their `arithmetic`, in MiB/s for `?base=1024`; "
        "null where the array definition is circular"
    )

    def get_ceiling(self, target: Target) -> Json | None:
        ceiling = ceiling_now(target)
        return ceiling.as_json(base()) if ceiling else None


class PartViewSet(ListModelMixin, ScopedViewSet[Any]):
    """Parts of one kind: GET lists and reads them, POST makes one, PATCH changes the fields that are named.

    DELETE deletes a part on which no evidence depends.
    """

    keeps_answers = True
    kind: ClassVar[PartKind]
    related: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self) -> Any:
        parts = self.kind.model.objects.all()
        return parts.select_related(*self.related) if self.related else parts

    def create(self, request: Request) -> Response:
        try:
            part = make(self.kind, self.lab, wanted_of(self.kind, self.lab, request.data))
        except EditError as error:
            raise refuse(error) from None
        headers = {"Location": request.build_absolute_uri(f"{request.path}{part.pk}/")}
        return self.answer(part, status=201, headers=headers)

    def retrieve(self, request: Request, pk: int) -> Response:
        return self.answer(self.get_own())

    def partial_update(self, request: Request, pk: int) -> Response:
        part = self.get_own()
        try:
            change(self.kind, part, wanted_of(self.kind, part.lab, request.data), self.read_version(part))
        except EditError as error:
            raise refuse(error) from None
        return self.answer(self.get_own())

    def destroy(self, request: Request, pk: int) -> Response:
        part = self.get_own()
        try:
            delete(self.kind, part, self.read_version(part))
        except StaleError as error:
            raise refuse(error) from None
        except EditError as error:
            reasons = [sentence for sentences in error.errors.values() for sentence in sentences]
            raise ProblemError(409, f"{part} cannot be deleted. {' '.join(reasons)}", reasons=reasons) from None
        return Response(status=204)

    def get_own(self) -> Any:
        """Return the part that the address names."""
        return get_object_or_404(self.kind.model.objects, pk=self.kwargs["pk"])

    def answer(self, part: Part, status: int = 200, headers: Json | None = None) -> Response:
        """Answer with a part, and its entity tag in the header."""
        data = self.get_serializer(part).data
        return Response(data, status=status, headers={**(headers or {}), "ETag": tag_of(self.kind, part)})

    def read_version(self, part: Part) -> int | None:
        """Return the version that the If-Match header names; None where there is no such header or it is `*`.

        Raise a 412 for a tag that is not of this part.
        """
        text = self.request.headers.get("If-Match", "").strip()
        if text in ("", "*"):
            return None
        before, _, digits = text.strip('"').rpartition("-")
        version = whole_number(digits)
        if version is None or before != f"{self.kind.name}-{part.pk}":
            detail = "If-Match names something else."
            raise ProblemError(412, detail, found=text[:200], expected=tag_of(self.kind, part))
        return version


def tag_of(kind: PartKind, part: Part) -> str:
    """Return the part's entity tag, which changes with the part and with what hangs below it."""
    return f'"{kind.name}-{part.pk}-{version_of(kind, part)}"'


def refuse(error: EditError) -> ProblemError:
    """Return the problem that names the wrong fields; a 412 with the changes since where the part is newer."""
    if isinstance(error, StaleError):
        since = [
            {
                "at": entry.at,
                "who": entry.who,
                "fields": [{"field": line.label, "before": line.before, "after": line.after} for line in entry.lines],
            }
            for entry in told(error.changes)
        ]
        return ProblemError(412, "It was changed since; nothing was saved.", changes=since)
    fields = [{"field": name, "detail": " ".join(sentences)} for name, sentences in error.errors.items()]
    return ProblemError(400, str(error), errors=fields)


def describe(viewset: type[PartViewSet]) -> type[PartViewSet]:
    """Describe what can be done with the parts of a view set."""
    body = body_serializer_of(viewset.kind)
    part = viewset.serializer_class
    with_part = viewset.serializer_classes
    return extend_schema_view(
        create=extend_schema(request=body, responses={201: with_part.get("create", part), **problems(409)}),
        partial_update=extend_schema(
            request=body,
            responses={200: with_part.get("partial_update", part), **problems(409, 412)},
            parameters=[IF_MATCH],
        ),
        destroy=extend_schema(responses={204: None, **problems(409, 412)}, parameters=[IF_MATCH]),
    )(viewset)


def viewset_of(name: str) -> type[PartViewSet]:
    """Return the view set of a kind of parts that shows nothing beside the kind's fields."""
    kind = BY_NAME[name]
    attributes = {
        "kind": kind,
        "model": kind.model,
        "serializer_class": serializer_of(kind),
        "filterset_class": filterset_of(kind),
        "__doc__": f"All parts of the kind {kind.word}.",
        "__module__": __name__,
    }
    return describe(type(f"{kind.model.__name__}ViewSet", (PartViewSet,), attributes))


@describe
class TargetViewSet(PartViewSet):
    """Targets: directories and devices that runs are about."""

    kind = BY_NAME["target"]
    model = Target
    serializer_class = TargetSerializer
    serializer_classes = {
        "retrieve": TargetWithCeilingSerializer,
        "create": TargetSerializer,
        "partial_update": TargetWithCeilingSerializer,
    }
    filterset_class = filterset_of(BY_NAME["target"])
    related = ("host__agent",)
