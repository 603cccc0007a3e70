"""Plain HTTP from the agent on the server's own machine counts as secure.

It calls the server directly, past the proxy, so that it works before the proxy, the certificate and the name are set
up. Nobody else can listen to that connection, so the agent is not redirected to the https address.
"""

from django.conf import settings

from apps.core.asgi import Scope


def as_secure(scope: Scope) -> Scope:
    """Return the scope with the scheme https, if this machine's own agent calls a server whose address is https."""
    if settings.HTTPS and scope["path"].startswith("/agent/v1/") and scope["scheme"] == "http" and _is_ours(scope):
        return {**scope, "scheme": "https"}
    return scope


def _is_ours(scope: Scope) -> bool:
    """Return whether the request came from one of this machine's addresses to the same address, through no proxy."""
    client, server = scope.get("client"), scope.get("server")
    passed_on = any(name == b"forwarded" or name.startswith(b"x-forwarded-") for name, _ in scope["headers"])
    return bool(client and server and client[0] == server[0]) and not passed_on
