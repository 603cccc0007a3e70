"""Who may open a page: one decorator for all of them."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from apps.labs.models import Role

View = Callable[..., HttpResponseBase]


def member_required(role: str = Role.VIEWER) -> Callable[[View], View]:
    """Sign-in and at least this role in the current lab; changing anything needs at least `engineer`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            member = request.member  # type: ignore[attr-defined]
            if member is None:
                return render(request, "labs/no-lab.html", status=403)
            if not member.covers(role):
                raise PermissionDenied(f"This needs the role {role}; you are {member.role} in {member.lab}.")
            return view(request, *args, **kwargs)

        wrapped.needed_role = str(role)  # type: ignore[attr-defined]
        return wrapped

    return decorate
