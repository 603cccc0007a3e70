"""One decorator for every resource of the REST interface: methods, formats, what it takes to change something, and
CORS.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.decorators import api_view
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.renderers import BaseRenderer

from apps.labs.models import Role, Scope, Token
from apps.lib.plain_addresses import nul_in
from apps.publishing.problems import ProblemError
from apps.publishing.renderers import JSON

View = Callable[..., Any]
EXPOSED = "ETag, Last-Modified, Link, Retry-After"


def resource(
    *methods: str,
    formats: Sequence[type[BaseRenderer]] = (JSON,),
    needed_scope: str = Scope.ADMIN,
    needed_role: str = Role.ENGINEER,
    takes: Sequence[type[BaseParser]] = (JSONParser,),
) -> Callable[[View], View]:
    """A function view. Reading needs any token or member; changing needs `needed_scope` of a token, `needed_role` of
    a member. `takes`: the forms of a request's body.
    """

    def decorate(function: View) -> View:
        @wraps(function)
        def handler(request: Any, *args: Any, format: str | None = None, **kwargs: Any) -> Any:
            if name := nul_in(request._request):
                raise ProblemError(400, f"{name}: found a NUL character", field=name, found="%00", expected="text")
            return function(request, *args, **kwargs)

        view: Any = api_view(list(methods or ("GET",)))(handler)
        view.cls.renderer_classes, view.cls.parser_classes = list(formats), list(takes)
        view.cls.needed_scope, view.cls.needed_role = str(needed_scope), str(needed_role)
        return _shared_with_other_sites(view)

    return decorate


def _shared_with_other_sites(view: Any) -> View:
    """Scripts of other sites may read with a read-only token, which is all they could do with it anyway. Cookies
    never count.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "OPTIONS" and request.headers.get("Access-Control-Request-Method") in ("GET", "HEAD"):
            return _preflight()
        response: HttpResponseBase = view(request, *args, **kwargs)
        token = getattr(request, "token", None)
        if isinstance(token, Token) and token.scope == Scope.READ and request.method in ("GET", "HEAD"):
            response.headers["Access-Control-Allow-Origin"] = "*"
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        return response

    return wrapped


def _preflight() -> HttpResponse:
    """A browser asks this without the token, so the answer is the same for all; it allows reading, and says nothing."""
    return HttpResponse(
        status=204,
        headers={
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, HEAD",
            "Access-Control-Allow-Headers": "Authorization, Accept, If-None-Match",
            "Access-Control-Max-Age": "600",
        },
    )
