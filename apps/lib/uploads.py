"""How much may be sent in one request."""

from django.conf import settings
from django.http import HttpRequest

from apps.lib.units import size


def upload_too_large(request: HttpRequest) -> str:
    """A sentence, or nothing. By the length that is announced: to be asked before the body is read."""
    announced = int(request.META.get("CONTENT_LENGTH") or 0)
    if announced <= settings.MAX_UPLOAD:
        return ""
    return f"Found {size(announced)} in one request, expected at most {size(settings.MAX_UPLOAD)}; send it in parts."
