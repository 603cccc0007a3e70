"""Likely duplicates, and making one of two."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.core.text import whole_number
from apps.inventory.bulk.merge import MERGED, MergeError, choices_of, merge, preview
from apps.inventory.bulk.suspects import likely_in
from apps.inventory.models import Host, Part
from apps.inventory.views.bulk import chosen
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Lab, Role

SHOWN = 200


@member_required(Role.ENGINEER)
def duplicates(request: LabRequest) -> HttpResponse:
    """Show the likely duplicates of the lab, with five queries whatever its size."""
    results = [(kind, pairs[:SHOWN], len(pairs)) for kind in MERGED if (pairs := likely_in(request.lab, kind))]
    return render(request, "inventory/duplicates.html", {"found": results, "kinds": MERGED})


@member_required(Role.ENGINEER)
def merge_two(request: LabRequest, kind: str) -> HttpResponse:
    """Show what merging two parts would do; POST with the preview's `digest` merges them.

    `stays` and `goes` are numbers; `take` (repeated) names the fields whose value comes from the part that goes.
    """
    if kind not in MERGED:
        raise Http404(f"found {kind}, expected one of: {', '.join(MERGED)}")
    given = request.POST if request.method == "POST" else request.GET
    if len(ticked := chosen(given)) == 2 and "stays" not in given:  # two rows were ticked on a list
        return redirect(f"{request.path}?stays={ticked[0]}&goes={ticked[1]}")
    if "stays" not in given:
        messages.warning(request, f"Found {len(ticked)} ticked, expected two to merge.")
        return redirect(kind)
    stays, goes = (_row(kind, request.lab, given.get(name, "")) for name in ("stays", "goes"))
    choices = choices_of(stays, goes)
    is_asked = request.method == "POST" or "look" in given
    taken = set(given.getlist("take")) if is_asked else {one.field for one, is_better in choices if is_better}
    taken &= {one.field for one, _ in choices}
    if request.method != "POST":
        return _page(request, kind, stays, goes, taken)
    try:
        merge(request.lab, stays, goes, taken, str(request.user), request.POST.get("digest", ""))
    except MergeError as error:
        return _page(request, kind, stays, goes, taken, error.sentences)
    messages.success(request, f"{goes} is now one with {stays}.")
    return redirect(stays.get_absolute_url() if isinstance(stays, Host) else "inventory-duplicates")


def _row(kind: str, lab: Lab, pk: str) -> Part:
    number = whole_number(pk)
    if number is None:
        raise Http404("expected the numbers of two parts")
    row: Part = get_object_or_404(MERGED[kind].objects.all(), pk=number, lab=lab)
    return row


def _page(
    request: LabRequest, kind: str, stays: Part, goes: Part, taken: set[str], refused: list[str] | None = None
) -> HttpResponse:
    merged = preview(request.lab, stays, goes, taken)
    context = {
        "kind": kind, "stays": stays, "goes": goes, "choices": choices_of(stays, goes), "taken": taken, "merged": merged,
        "refused": refused or [], "moved": sorted(merged.moved.items()),
    }  # fmt: skip
    return render(request, "inventory/merge.html", context, status=409 if refused else 200)
