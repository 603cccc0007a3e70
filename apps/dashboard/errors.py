"""The pages for what went wrong: each says what to do next. (404.html and 500.html are Django's own names.)"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.lib.problems import problem


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 with what was found and expected, as far as whoever raised it says."""
    if request.path.startswith("/api/"):
        return problem(400, str(exception))
    return render(request, "400.html", {"reason": str(exception)}, status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403 with the sentence that `member_required` gave: which role it needs, and which one the member has."""
    return render(request, "403.html", {"reason": str(exception or "")}, status=403)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that is older than the sign-in it was made for, or that another site sent."""
    return render(request, "403-form.html", {"reason": reason}, status=403)
