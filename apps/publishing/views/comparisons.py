"""Saved comparisons: their names and addresses, for scripts that follow what a lab keeps an eye on."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.comparison.models import SavedComparison
from apps.publishing import comparison_schema, schema
from apps.publishing.pagination import page
from apps.publishing.resource import resource


@schema.described(comparison_schema.SavedComparison, paged=True, operation_id="comparisons_list")
@resource()
def comparisons(request: Request) -> Response:
    return page(request, SavedComparison.objects.all(), lambda found: [_shown(request, one) for one in found])


@schema.described(comparison_schema.SavedComparison, errors=(404,), operation_id="comparisons_read")
@resource()
def comparison(request: Request, pk: int) -> Response:
    return Response(_shown(request, get_object_or_404(SavedComparison, pk=pk)))


def _shown(request: Request, saved: SavedComparison) -> dict[str, Any]:
    return {
        "id": saved.pk,
        "name": saved.name,
        "url": request.build_absolute_uri(reverse("api-comparison", args=[saved.pk])),
        "page": request.build_absolute_uri(saved.get_absolute_url()),
        "compare_url": request.build_absolute_uri(f"{reverse('api-compare')}?{saved.query}"),
        "created_by": saved.created_by,
        "created_at": saved.created_at,
    }
