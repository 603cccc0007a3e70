"""What a token of one scope, or a member of one role, may do."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.labs.middleware import SAFE_METHODS
from apps.labs.models import Role, Token, TokenScope


class LabPermission(BasePermission):
    """Decides whether a token or a member may make a request.

    Reading needs any token or membership. Changing needs the view's `needed_scope` of a token or its `needed_role` of a
    member. A view that declares neither may be changed by owners and `admin` tokens only.
    """

    message = "This needs a lab token or a membership in a lab."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the request may be made; `message` says what is missing where it may not."""
        if request.method not in view.allowed_methods:
            return bool(request.auth or request.user.is_authenticated)  # the answer is 405
        if isinstance(request.auth, Token):
            return self._token(request.auth, _needed(request, view, "needed_scope", TokenScope.READ, TokenScope.ADMIN))
        member = getattr(request._request, "member", None)
        if member is None:
            return False
        role = _needed(request, view, "needed_role", Role.VIEWER, Role.OWNER)
        self.message = f"This needs the role {role}; you are {member.role} in {member.lab}."
        return bool(member.covers(role))

    def _token(self, token: Token, needed: str) -> bool:
        self.message = f"This needs a token of scope {needed}; this one has {token.scope}."
        return token.allows(needed)


def _needed(request: Request, view: object, name: str, to_read: str, otherwise: str) -> str:
    return str(to_read if request.method in SAFE_METHODS else getattr(view, name, otherwise))
