"""`/.well-known/security.txt` (RFC 9116), and the page that it names where no contact is set."""

from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

VALID_FOR = timedelta(days=180)  # RFC 9116 asks for less than a year


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Answer /.well-known/security.txt (RFC 9116) with the administrator's contacts in their order."""
    contacts = settings.SECURITY_CONTACTS or [settings.SITE_URL + reverse("security")]
    expires = (timezone.now() + VALID_FOR).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        *(f"Contact: {contact}" for contact in contacts),
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        f"Canonical: {settings.SITE_URL}{reverse('security-txt')}",
        "Preferred-Languages: en",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Show people where to report a weakness."""
    return render(request, "security.html", {"contacts": settings.SECURITY_CONTACTS})
