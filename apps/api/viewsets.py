"""What all views of the REST interface share: permissions to change, formats of answers, and CORS."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.generics import GenericAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from apps.api.fields import show
from apps.api.filters import read_choice, refuse_unknown_parameters
from apps.api.idempotency import HEADER, answer_by_key
from apps.api.parsers import RefusedFieldError
from apps.api.problems import ProblemError
from apps.core.middleware import nul_in
from apps.core.units import BASES
from apps.labs.models import Lab, Role, Token, TokenScope

Row = TypeVar("Row", bound=Model)
EXPOSED = "ETag, Last-Modified, Link, Retry-After"
FORMS = "get", "post", "put", "patch", "delete", "options"
CHANGES = "post", "put", "patch", "delete"
FORM_TYPES = "multipart/form-data", "application/x-www-form-urlencoded"


class ScopedViewMixin(GenericAPIView[Any]):
    """A view of one lab's data. Reading needs any token or member; changing needs `needed_scope` or `needed_role`."""

    http_method_names = list(FORMS)
    parameters: ClassVar[Collection[str] | None] = None  # of a GET's address; None: the view checks them by itself
    keeps_answers: ClassVar[bool] = False  # of POSTs with an Idempotency-Key; never of answers that hold a secret
    needed_scope: ClassVar[str] = TokenScope.ADMIN
    needed_role: ClassVar[str] = Role.ENGINEER

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Handle a request, and let scripts of other sites read with a read-only token, which allows nothing more."""
        if request.method == "OPTIONS" and request.headers.get("Access-Control-Request-Method") in ("GET", "HEAD"):
            return answer_preflight()
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        token = getattr(request, "token", None)
        if isinstance(token, Token) and token.scope == TokenScope.READ and request.method in ("GET", "HEAD"):
            response.headers["Access-Control-Allow-Origin"] = "*"
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a NUL character anywhere in the address: no text column can hold one."""
        super().initial(request, *args, **kwargs)
        is_handled = request.method != "OPTIONS" and request.method in self.allowed_methods
        if is_handled and (name := nul_in(request._request)):
            raise ProblemError(400, f"{name}: found a NUL character", field=name, found="%00", expected="text")
        if is_handled and request.method in ("GET", "HEAD"):
            read_choice(request, "base", map(str, BASES))
            if (known := self.get_parameters()) is not None:
                refuse_unknown_parameters(request, {"base", *known})
        if is_handled and request.method == "POST" and self.keeps_answers and HEADER in request.headers:
            handler = getattr(self, "post")  # noqa: B009  (set by view sets)
            self.post = lambda *args, **kwargs: answer_by_key(self.lab, request, partial(handler, *args, **kwargs))

    def get_parameters(self) -> Collection[str] | None:
        """Return the names that the address of a GET may have, beside `base` and `format`; None: any."""
        return self.parameters

    @property
    def lab(self) -> Lab:
        """Return the lab of the token or of the session."""
        lab: Lab = self.request._request.lab  # type: ignore[attr-defined]
        return lab

    def get_serializer_context(self) -> dict[str, object]:
        """Return the context without a format, so that links lead to JSON whatever format the answer has."""
        return {"request": self.request, "view": self}

    def validate_body(self, serializer_class: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """Return the validated fields of the request's body. Raise a 400 that names the wrong ones."""
        body = serializer_class(data=self.request.data, context=self.get_serializer_context())
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)

    def refuse_body(self) -> None:
        """Raise a 400 for a body with anything in it, at an address that takes none: it would look as if it had counted.

        Views call it when they have their object, so that another lab's is not there whatever was sent, and before they
        look at its state.
        """
        try:
            body = self.request.data
        except UnsupportedMediaType:
            form = self.request._request
            if form.content_type not in FORM_TYPES or form.POST or form.FILES:
                raise
            return  # some clients send nothing as a form without fields
        if not isinstance(body, Mapping):
            raise RefusedFieldError("body", show(body), "no body, or {}")
        if unknown := sorted(body):
            raise RefusedFieldError(unknown[0], show(body[unknown[0]]), "no fields: this address takes none")


class ScopedAPIView(ScopedViewMixin):
    """A resource with one address and no rows of its own."""


class ScopedViewSet(ScopedViewMixin, GenericViewSet[Row]):
    """The rows of a model that the lab may see, in pages by `ordering`.

    `formats`: the renderers of an action's GET where it has others than JSON. `filters`: the names that the list can be
    filtered by without a filter set. `detail_parameters`: the names that the address of one row may have, by action.
    """

    model: ClassVar[type[Model]]
    serializer_classes: ClassVar[Mapping[str, type[BaseSerializer[Any]]]] = {}
    formats: ClassVar[Mapping[str, Sequence[type[BaseRenderer]]]] = {}
    filters: ClassVar[Sequence[str]] = ()
    detail_parameters: ClassVar[Mapping[str, Collection[str]]] = {}
    ordering: ClassVar[str] = "id"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Row]:
        """Return the rows in scope. The class has no `queryset`, for the lab is not known before the request."""
        rows: QuerySet[Row] = self.model._default_manager.all()  # type: ignore[assignment]
        return rows

    def get_object(self) -> Row:
        """Return the row that the address names, whatever filters the address has besides."""
        row = get_object_or_404(self.get_queryset(), pk=self.kwargs["pk"])
        self.check_object_permissions(self.request, row)
        return row

    def get_parameters(self) -> Collection[str] | None:
        """Return what the address of one row may have; those of lists are filters, which the list checks."""
        return None if self.action == "list" else self.detail_parameters.get(self.action, ())

    def get_serializer_class(self) -> type[BaseSerializer[Row]]:
        return self.serializer_classes.get(self.action) or super().get_serializer_class()

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Return the headers of every answer; `Vary` where the action has several forms."""
        headers: dict[str, str] = super().default_response_headers
        return {**headers, "Vary": "Accept"} if len(self.get_renderers()) > 1 else headers

    def get_renderers(self) -> list[BaseRenderer]:
        """Return the renderers of the address's GET; a change at the same address is answered in JSON alone."""
        method = (self.request.method or "").lower() if self.request is not None else ""
        is_change = method in CHANGES and method in self.action_map
        action = "" if is_change else self.action_map.get("get", "")
        return [renderer() for renderer in self.formats.get(action, self.renderer_classes)]


def answer_preflight() -> HttpResponse:
    """Answer a browser's preflight request, which has no token: the same for everybody; it allows reading only."""
    return HttpResponse(
        status=204,
        headers={
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, HEAD",
            "Access-Control-Allow-Headers": "Authorization, Accept, If-None-Match",
            "Access-Control-Max-Age": "600",
        },
    )
