"""The agent on the server's own machine speaks plain HTTP to it, past the proxy: it works before the proxy, the certificate and the name
are there. Nobody else can listen to that, so it counts as secure and is not sent away to the https address.
"""

from django.conf import settings

from apps.lib.asgi import Scope


def as_secure(scope: Scope) -> Scope:
    """The scope with the scheme https where this machine's own agent asks a server whose address is https."""
    if settings.HTTPS and scope["path"].startswith("/agent/v1/") and scope["scheme"] == "http" and _is_ours(scope):
        return {**scope, "scheme": "https"}
    return scope


def _is_ours(scope: Scope) -> bool:
    """From one of this machine's addresses to the same one, and through no proxy."""
    client, server = scope.get("client"), scope.get("server")
    passed_on = any(name == b"forwarded" or name.startswith(b"x-forwarded-") for name, _ in scope["headers"])
    return bool(client and server and client[0] == server[0]) and not passed_on
