"""Errors over HTTP as problem details (RFC 9457)."""

from http import HTTPStatus
from typing import Any

from django.http import JsonResponse


def problem_body(status: int, detail: str, **more: Any) -> dict[str, Any]:
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}


def problem(status: int, detail: str, **more: Any) -> JsonResponse:
    return JsonResponse(problem_body(status, detail, **more), status=status, content_type="application/problem+json")
