"""The OpenAPI description and its readable page; neither loads anything from another site."""

from functools import cache
from threading import Lock
from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_vary_headers
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request

from apps.core.http import entity_tag

_building = Lock()  # requests that come while it is built wait for it, instead of building a second one


@cache
def _description() -> Any:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    with translation.override("en"):
        return generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


@cache
def _written(renderer: type[Any]) -> tuple[bytes, str]:
    """Return the description in one format, and its entity tag; both stay the same until another version runs."""
    written = renderer().render(_description(), renderer_context={})
    return written, entity_tag(written, renderer.media_type, settings.VERSION)


class SchemaView(SpectacularAPIView):
    """The description of the REST interface, built once."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        renderer: Any = request.accepted_renderer
        with _building:
            written, tag = _written(renderer.__class__)
        headers = {"ETag": tag, "Cache-Control": "public, no-cache", "X-Content-Type-Options": "nosniff"}
        response = HttpResponse(written, content_type=renderer.media_type, headers=headers)
        patch_vary_headers(response, ("Accept",))
        return get_conditional_response(request._request, tag, response=response) or response


schema = SchemaView.as_view()
# Swagger UI writes style elements; scripts stay under the site's own policy. The page shows nothing of any lab.
docs = csp_update({"style-src": [SELF, UNSAFE_INLINE]})(SpectacularSwaggerSplitView.as_view(url_name="api-schema"))
