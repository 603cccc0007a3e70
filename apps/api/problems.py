"""Every error of the REST interface as problem details (RFC 9457): what was found, what was expected, and where."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.views import set_rollback

from apps.api.parsers import RefusedFieldError
from apps.comparison.question import QuestionError
from apps.comparison.saved_comparisons.references import LostReferenceError
from apps.core.http import problem_body
from apps.plans.services import ExecutionError
from apps.runs.artefacts.store import ArtefactStoreError, LostBytesError
from apps.runs.start.job_file import JobFileError
from apps.runs.workload import WorkloadError
from apps.studies.plans.problems import PlanError
from apps.studies.plans.services import PlanCellError
from apps.uploads.labels import UploadError

log = logging.getLogger(__name__)


class ProblemError(exceptions.APIException):
    """An error with its own status and members of the problem document.

    Example: `ProblemError(409, "…", found="finished", expected="a run that has not ended")`.
    """

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status_code, self.more = status, more


def problem_details(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Return the answer for an exception as problem details: the exception handler of REST framework.

    None for an error of the server itself: Django logs it and answers 500 without a trace.
    """
    if isinstance(error, LostReferenceError):
        set_rollback()
        return answer(409, str(error), field=error.field, found=error.found)
    if isinstance(error, JobFileError):
        set_rollback()
        problems = [vars(problem) for problem in error.problems]
        return answer(400, str(error), field=error.field, found=error.found, expected=error.expected, problems=problems)
    if isinstance(error, QuestionError | WorkloadError | UploadError | PlanError):
        set_rollback()
        return answer(400, str(error), field=error.field, found=error.found, expected=error.expected)
    if isinstance(error, ExecutionError | PlanCellError):
        set_rollback()
        return answer(409, str(error))
    if isinstance(error, LostBytesError):
        log.error("%s", error)
        set_rollback()
        return answer(410, f"{error}.")
    if isinstance(error, ArtefactStoreError):
        set_rollback()
        return answer(507, str(error))
    if isinstance(error, Http404):
        error = exceptions.NotFound("There is no such object in this lab.")
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return None
    set_rollback()
    return _with_headers(answer(error.status_code, _sentence(error), **_more(error)), error)


def answer(status: int, detail: str, **more: Any) -> JsonResponse:
    """Return an answer of this status as problem details; `more`: members besides status and detail."""
    return JsonResponse(
        problem_body(status, detail, **more),
        status=status,
        content_type="application/problem+json",
        json_dumps_params={"default": str},
    )


@csrf_exempt
def not_found(request: HttpRequest, path: str = "") -> JsonResponse:
    """Answer 404 for an address below /api/ that does not exist, whatever the method and the caller."""
    return answer(404, f"There is nothing at {request.path[:200]}. What there is: /api/docs/.")


def _sentence(error: exceptions.APIException) -> str:
    if isinstance(error.detail, str):
        return str(error.detail)
    return "; ".join(f"{field}: {message}" for field, message in _fields(error.detail))


def _fields(detail: Any) -> list[tuple[str, str]]:
    if isinstance(detail, dict):
        return [(name, " ".join(_messages(message))) for name, message in detail.items()]
    return [("body", str(message)) for message in detail]


def _messages(detail: Any) -> list[str]:
    """Return the messages of a field; those of an element of a list begin with its place, as `[2]`."""
    if isinstance(detail, dict):
        return [
            f"[{place}] {message}" if isinstance(place, int) else f"{place}: {message}"
            for place, inner in detail.items()
            for message in _messages(inner)
        ]
    return [text for inner in detail for text in _messages(inner)] if isinstance(detail, list) else [str(detail)]


def _more(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, ProblemError | RefusedFieldError):
        return error.more
    if isinstance(error, exceptions.ValidationError):
        return {"errors": [{"field": field, "detail": message} for field, message in _fields(error.detail)]}
    return {}


def _with_headers(response: JsonResponse, error: exceptions.APIException) -> JsonResponse:
    if header := getattr(error, "auth_header", None):
        response.headers["WWW-Authenticate"] = header
    if (wait := getattr(error, "wait", None)) is not None:
        response.headers["Retry-After"] = str(max(1, int(-(-wait // 1))))
    return response
