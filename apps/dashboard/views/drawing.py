"""A host's drawing by itself: a page on which groups can be opened, and a file for wikis."""

import re

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify

from apps.dashboard.drawings import as_file, drawing
from apps.dashboard.tree import tree
from apps.inventory.models import Host
from apps.inventory.topology.tree import topology
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest

KEY = re.compile(r"[a-z]+-\d+")
MOST_OPENED = 40


@member_required()
def page(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Host, pk=pk)
    whole = topology(part)
    opened = [key for key in request.GET.getlist("open") if KEY.fullmatch(key)][:MOST_OPENED]
    context = {"part": part, "drawing": drawing(whole, opened), "tree": tree(whole), "opened": opened}
    return render(request, "inventory/host-drawing.html", context)


@member_required()
def file(request: LabRequest, pk: int) -> HttpResponse:
    """Return the drawing as an SVG file with its own style; nothing in it can run or load, whatever parts are called."""
    part = get_object_or_404(Host, pk=pk)
    root = request.build_absolute_uri("/").rstrip("/")
    response = HttpResponse(as_file(topology(part), root), content_type="image/svg+xml; charset=utf-8")
    name = slugify(part.name) or f"host-{part.pk}"
    response["Content-Disposition"] = f'attachment; filename="{name}.svg"'
    response["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    response["X-Content-Type-Options"] = "nosniff"
    return response
