"""The decorator `member_required`, which decides who may open a page."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from apps.labs.models import Role
from apps.labs.services import may_make_labs

View = Callable[..., HttpResponseBase]


def _to_sign_in(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the sign-in form.

    For a part of a page or a script's request let the whole page go there, or answer with an error.
    """
    htmx = getattr(request, "htmx", None)
    if htmx:
        return HttpResponseClientRedirect(redirect_to_login(htmx.current_url_abs_path or "/").url)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"error": "Your sign-in has ended; sign in again."}, status=401)
    return redirect_to_login(request.get_full_path())


def member_required(role: str = Role.VIEWER) -> Callable[[View], View]:
    """Require a sign-in and at least this role in the current lab; changes need at least `engineer`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return _to_sign_in(request)
            member = request.member  # type: ignore[attr-defined]
            if member is None:
                return render(request, "labs/no-lab.html", {"may_make_labs": may_make_labs(request.user)}, status=403)
            if not member.covers(role):
                raise PermissionDenied(f"This needs the role {role}; you are {member.role} in {member.lab}.")
            return view(request, *args, **kwargs)

        wrapped.needed_role = str(role)  # type: ignore[attr-defined]
        return wrapped

    return decorate
