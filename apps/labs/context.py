"""What every page knows: the lab, the member, and the labs to switch to."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def lab(request: HttpRequest) -> dict[str, Any]:
    member = getattr(request, "member", None)
    return {
        "lab": getattr(request, "lab", None),
        "member": member,
        "may_edit": bool(member and member.covers("engineer")),
        "my_labs": getattr(request, "my_labs", []) if member else [],
        "spindle_version": settings.VERSION,
    }
