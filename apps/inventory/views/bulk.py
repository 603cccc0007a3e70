"""The same change to many parts: choose them on a list, enter the change, preview it, apply it."""

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from apps.core.text import whole_number
from apps.inventory.bulk.edit import MOST, edit_many, preview
from apps.inventory.bulk.forms import ManyForm
from apps.inventory.editing.registry import BY_PLURAL, PartKind
from apps.inventory.exchange.outcome import StaleOutcomeError
from apps.inventory.filters import filterset_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role

LISTED = ("hosts", "controllers", "disks", "arrays", "filesystems", "targets", "enclosures", "nics", "switches")


@member_required(Role.ENGINEER)
def many(request: LabRequest, kind: str) -> HttpResponse:
    """Edit many parts at once: the form, its preview, and applying it.

    `pk` (repeated) are the rows. POST has `step`: empty for the form, `preview` or `apply`.
    """
    of = BY_PLURAL.get(kind)
    if of is None or kind not in LISTED:
        raise Http404(f"found {kind}, expected one of: {', '.join(LISTED)}")
    given = request.POST if request.method == "POST" else request.GET
    ids = _all_found(request, of) if request.GET.get("all") else chosen(given)
    rows = list(of.model.objects.filter(lab=request.lab, pk__in=ids)[: MOST + 1])
    step = request.POST.get("step", "")
    form = ManyForm(of, request.lab, request.POST if step in ("preview", "apply") else None)
    context = {
        "kind": of,
        "rows": rows[:MOST],
        "form": form,
        "most": MOST,
        "too_many": len(rows) > MOST,
        "ids": [row.pk for row in rows[:MOST]],
    }
    if not rows or not form.is_bound:
        return render(request, "inventory/edit-many.html", context)
    if not form.is_valid() or form.edit().is_empty:
        context["nothing"] = form.is_valid()
        return render(request, "inventory/edit-many.html", context, status=422)
    return _done(request, of, form, context, step)


def _done(request: LabRequest, kind: PartKind, form: ManyForm, context: dict[str, object], step: str) -> HttpResponse:
    ids: list[int] = context["ids"]  # type: ignore[assignment]
    context["fields"] = [
        (name, value)
        for name, value in request.POST.lists()
        if name not in ("csrfmiddlewaretoken", "step", "digest", "pk")
    ]
    if step == "preview":
        return render(
            request, "inventory/edit-many.html", context | {"outcome": preview(kind, request.lab, ids, form.edit())}
        )
    try:
        outcome = edit_many(kind, request.lab, ids, form.edit(), request.POST.get("digest", ""))
    except StaleOutcomeError as stale:
        return render(
            request, "inventory/edit-many.html", context | {"outcome": stale.outcome, "stale": str(stale)}, status=409
        )
    counts = outcome.counts
    messages.success(
        request,
        f"{counts['changed']} {kind.words} changed" + (f", {counts['refused']} refused." if counts["refused"] else "."),
    )
    return redirect(kind.plural)


def _all_found(request: LabRequest, kind: PartKind) -> list[int]:
    """Return the ids of the lab's parts on all pages of the list, at most one more than can be changed at once."""
    filterset = filterset_of(kind)(request.GET, kind.model.objects.filter(lab=request.lab))
    if not filterset.is_valid():
        return []
    return list(filterset.qs.order_by("id").values_list("pk", flat=True)[: MOST + 1])


def chosen(given: QueryDict) -> list[int]:
    return [number for pk in dict.fromkeys(given.getlist("pk")) if (number := whole_number(pk)) is not None]
