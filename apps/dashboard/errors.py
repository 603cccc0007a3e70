"""Error responses: pages that say what to do next, problem details for scripts and agents."""

import sys

from django.conf import settings
from django.core.exceptions import DisallowedHost, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from apps.core.http import problem, wants_problem
from apps.core.server.outages import COME_AGAIN, outage, report


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400 with what was found and expected, as far as whoever raised it says; 413 for a body that is too large."""
    status = 413 if isinstance(exception, RequestDataTooBig) else 400
    reason, is_form = _reason(exception), request.method == "POST"
    if wants_problem(request):
        return problem(status, reason)
    if isinstance(exception, DisallowedHost):  # a page would link to that host
        return HttpResponse(str(exception), status=status, content_type="text/plain; charset=utf-8")
    return render(request, "400.html", {"reason": reason, "is_form": is_form}, status=status)


def _reason(exception: Exception) -> str:
    """Return what is wrong with a request; what Django says of its own limits names settings and not the limit."""
    if isinstance(exception, TooManyFieldsSent):
        most = f"{settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,}"
        return f"Found more than {most} values, such as ticked boxes, expected at most {most}. Choose fewer at once."
    if isinstance(exception, TooManyFilesSent):
        most = f"{settings.DATA_UPLOAD_MAX_NUMBER_FILES:,}"
        return f"Found more than {most} files, expected at most {most}. Send them as an archive."
    if isinstance(exception, RequestDataTooBig):
        most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 1e6:.1f} MB"
        return (
            f"Found a form of more than {most} without its files, expected at most {most}. Choose or type less at once."
        )
    return str(exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    if wants_problem(request):
        return problem(404, f"There is nothing at {request.path[:200]}.")
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500 without a word of what went wrong inside; the log has it."""
    if wants_problem(request):
        return problem(500, "Something broke on the server. An administrator finds the cause in the server's log.")
    return defaults.server_error(request)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 403 with the sentence that `member_required` gave: which role it needs, and which one the member has."""
    if wants_problem(request):
        return problem(403, str(exception or "This is not allowed."))
    return render(request, "403.html", {"reason": str(exception or "")}, status=403)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 to a form that is older than the sign-in it was made for, or that another site sent."""
    if wants_problem(request):
        return problem(403, f"A change by a signed-in browser needs the CSRF token in the header X-CSRFToken: {reason}")
    return render(request, "403-form.html", {"reason": reason}, status=403)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer 503 while the database is down or full, else 500, as a problem document or a page that needs no database."""
    error = sys.exception()
    sentence = outage(error)
    if error is None or not sentence:
        return server_error(request)
    report(error, request.path[:200])
    response: HttpResponse = (
        problem(503, sentence)
        if wants_problem(request)
        else render(None, "503.html", {"sentence": sentence}, status=503)
    )
    response.headers["Retry-After"] = str(COME_AGAIN)
    return response
