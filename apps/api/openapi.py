"""The OpenAPI description: what drf-spectacular finds in the view sets, and what every operation may answer besides."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular import openapi
from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer
from uritemplate import variables

from apps.api.idempotency import PARAMETER
from apps.api.renderers import JSON, SVG, DialectRenderer
from apps.labs.isolation import all_labs

PROBLEM_TYPE = "application/problem+json"
# Malformed query, no token, insufficient token, other method, format that the resource lacks, too many requests,
# database unavailable.
ALWAYS = (400, 401, 403, 405, 406, 429, 503)
ACTIONS = {
    "list": "list",
    "create": "create",
    "retrieve": "read",
    "partial_update": "change",
    "destroy": "delete",
}
STRING, BINARY = {"type": "string"}, {"type": "string", "format": "binary"}
ANY_FACT = (
    "Any other name is a fact, a label or a point's dimension: `raid_level=5`. The same name twice means either value."
)
PAGING = [
    OpenApiParameter("cursor", str, description="from `next` and `previous`"),
    OpenApiParameter("limit", int, description="rows on a page, at most 1,000"),
]
BASE = OpenApiParameter(
    "base",
    enum=["1000", "1024"],
    default="1000",
    description="of people's units in sentences, documents and pictures: MB/s or MiB/s",
)


class ProblemSerializer(serializers.Serializer[Any]):
    """An error, as problem details (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="One sentence: what was found, what was expected.")
    field = serializers.CharField(required=False)
    found = serializers.JSONField(required=False)
    expected = serializers.CharField(required=False)
    errors = serializers.ListField(  # type: ignore[assignment]  # a serializer has an attribute of this name
        child=serializers.DictField(), required=False, help_text="`{field, detail}` of each field that is wrong"
    )


def problems(*statuses: int) -> dict[tuple[int, str], type[ProblemSerializer]]:
    """Return the errors that an operation has besides the common ones, for `extend_schema(responses={…})`."""
    return {(status, PROBLEM_TYPE): ProblemSerializer for status in statuses}


class LabAutoSchema(openapi.AutoSchema):
    """Describes an operation with its problem details, its documents and its pictures."""

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> dict[str, object] | None:
        with all_labs():  # view sets need a scope to build their querysets; no row is read
            operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is not None:
            self._add_forms(operation["responses"])
            self._add_problems(operation)
        return operation

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters of the operation's own, and the header by which a POST is done once."""
        own: list[Any] = super().get_override_parameters()
        return [*own, PARAMETER] if self._keeps_answers() else own

    def _keeps_answers(self) -> bool:
        return self.method == "POST" and getattr(self.view, "keeps_answers", False)

    def get_operation_id(self) -> str:
        """Return the operation's name: the words of its address and the action, as `runs_list` or `runs_cancel`."""
        words = [word.replace("-", "_") for word in self._tokenize_path()]
        action = ACTIONS.get(getattr(self.view, "action", None) or "")
        return "_".join([*words, action] if action else words)

    def map_renderers(self, attribute: str) -> list[object]:
        """Return JSON only for the shape that a serializer describes; other formats are described as text or bytes."""
        return ["application/json"] if attribute == "media_type" else super().map_renderers(attribute)

    def get_paginated_name(self, serializer_name: str) -> str:
        return f"{serializer_name}{getattr(getattr(self.view, 'pagination_class', None), 'name_ending', 'Page')}"

    def _add_forms(self, responses: dict[str, Any]) -> None:
        content = responses.get("200", {}).get("content")
        if self.method != "GET" or content is None:
            return
        others: list[BaseRenderer] = [one for one in self.view.get_renderers() if not isinstance(one, JSON)]
        for renderer in others:
            is_text = isinstance(renderer, DialectRenderer)
            content.setdefault(str(renderer.media_type), {"schema": STRING if is_text else BINARY})
        if any(isinstance(one, DialectRenderer | SVG) and one.format != "csv" for one in others):
            responses.setdefault("304", {"description": "No response body"})

    def _add_problems(self, operation: dict[str, Any]) -> None:
        responses: dict[str, Any] = operation["responses"]
        content = {PROBLEM_TYPE: {"schema": self._problem().ref}}
        for status in self._problem_statuses(operation):
            responses.setdefault(str(status), {"content": content, "description": ""})
        operation["responses"] = dict(sorted(responses.items()))

    def _problem(self) -> ResolvedComponent:
        component: ResolvedComponent = self.resolve_serializer(ProblemSerializer, "response")
        return component

    def _problem_statuses(self, operation: Mapping[str, Any]) -> set[int]:
        parameters = {parameter["name"] for parameter in operation.get("parameters", ())}
        names_an_object = bool(variables(self.path)) or "cursor" in parameters
        with_body = (413, 415) if "requestBody" in operation or self.method == "POST" else ()
        by_key = (413, 422) if self._keeps_answers() else ()
        return {*ALWAYS, *with_body, *by_key, *((404,) if names_an_object else ())}
