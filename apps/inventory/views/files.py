"""The inventory as files: out to anybody who may read it, in again after a preview."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.core.http import attachment, begun
from apps.core.text import whole_number
from apps.inventory.bulk.forms import InventoryFileForm
from apps.inventory.editing.registry import BY_PLURAL
from apps.inventory.exchange.document import Outgoing
from apps.inventory.exchange.files import FileError
from apps.inventory.exchange.outcome import ACTS, Outcome, StaleOutcomeError
from apps.inventory.exchange.registry import BY_NAME, KINDS
from apps.inventory.exchange.registry import FileKind as ExchangeKind
from apps.inventory.exchange.stored_files import apply, keep, preview_of
from apps.inventory.exchange.writers import csv_pieces, json_pieces, zip_pieces
from apps.inventory.filters import filterset_of
from apps.inventory.models import Host, InventoryImport
from apps.inventory.views.bulk import LISTED, chosen
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role

SHOWN = 500  # rows of a preview; the counts are of all
LATEST = 20


@member_required()
def files(request: LabRequest) -> HttpResponse:
    context = {
        "form": InventoryFileForm(), "kinds": KINDS, "hosts": Host.objects.filter(lab=request.lab).order_by("name"),
        "imports": InventoryImport.objects.filter(lab=request.lab).defer("packed")[:LATEST],
    }  # fmt: skip
    return render(request, "inventory/files.html", context)


@member_required()
def export(request: LabRequest) -> StreamingHttpResponse:
    """Write the own lab's inventory, or a part of it, as a file.

    `?format=json|csv|zip`, `kind=` for CSV, `host=` for one host, `q=` and `label=` as in the lists, `pk=` (many) for
    chosen rows. A list's page sends `of=` with its kind, and all its filters, which may be called `kind` and `host`, too.
    """
    form, name = request.GET.get("format", "json"), request.GET.get("of") or request.GET.get("kind", "")
    kind, is_list = BY_NAME.get(name), "of" in request.GET
    if form not in ("json", "csv", "zip") or (form == "csv" and kind is None):
        raise Http404("expected format json, zip, or csv with a kind")
    host_id = "" if is_list else request.GET.get("host", "")
    host = (
        get_object_or_404(Host, pk=number, lab=request.lab) if (number := whole_number(host_id)) is not None else None
    )
    outgoing = Outgoing(request.lab, host, [kind.name] if kind else [], _chosen(request, kind) if kind else None)
    name = "-".join(filter(None, [request.lab.slug, host.name if host else "", kind.name if kind else "inventory"]))
    if form == "csv" and kind:
        return attachment(begun(csv_pieces(kind, outgoing.rows(kind))), f"{kind.name} {name}.csv")
    return attachment(begun(json_pieces(outgoing) if form == "json" else zip_pieces(outgoing)), f"{name}.{form}")


def _chosen(request: LabRequest, kind: ExchangeKind) -> QuerySet[Any] | None:
    """Return the rows that were ticked, else those that the list's filters find; None for all."""
    rows = kind.model.objects.filter(lab=request.lab)
    if ticked := chosen(request.GET):
        return rows.filter(pk__in=ticked)  # type: ignore[no-any-return]
    if kind.name not in LISTED:
        return None
    given = request.GET.copy()
    if "of" not in given:
        for name in given.keys() - {"q", "label"}:
            del given[name]
    filterset = filterset_of(BY_PLURAL[kind.name])(given, rows)
    if not any(given.get(name) for name in filterset.filters):
        return None
    return filterset.qs if filterset.is_valid() else rows.none()  # type: ignore[no-any-return]


@require_POST
@member_required(Role.ENGINEER)
def bring(request: LabRequest) -> HttpResponse:
    """Store the uploaded file and redirect to its preview; a file that cannot be read at all is not stored."""
    form = InventoryFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _refused(request, form)
    file = form.cleaned_data["file"]
    try:
        made = keep(request.lab, file.read(), file.name, request.POST.get("kind", ""), str(request.user))
    except FileError as error:
        form.add_error("file", str(error))
        return _refused(request, form)
    return redirect(made)


def _refused(request: LabRequest, form: InventoryFileForm) -> HttpResponse:
    hosts = Host.objects.filter(lab=request.lab).order_by("name")
    imports = InventoryImport.objects.filter(lab=request.lab).defer("packed")[:LATEST]
    context = {"form": form, "kinds": KINDS, "hosts": hosts, "imports": imports}
    return render(request, "inventory/files.html", context, status=422)


@member_required(Role.ENGINEER)
def one_import(request: LabRequest, pk: int) -> HttpResponse:
    """Show what applying a file would do now, or what it did; POST does what the preview of this digest showed."""
    object_or_404 = get_object_or_404(InventoryImport, pk=pk, lab=request.lab)
    if object_or_404.applied_at:
        return render(request, "inventory/import.html", {"found": object_or_404})
    if request.method != "POST":
        return _preview(request, object_or_404, preview_of(object_or_404))
    try:
        outcome = apply(object_or_404, str(request.user), request.POST.get("digest", ""))
    except StaleOutcomeError as stale:
        return _preview(request, object_or_404, stale.outcome, str(stale), 409)
    messages.success(
        request, f"{object_or_404.name}: {outcome.counts['created']} created, {outcome.counts['changed']} changed."
    )
    return redirect(object_or_404)


def _preview(
    request: LabRequest, inventory_import: InventoryImport, outcome: Outcome, stale: str = "", status: int = 200
) -> HttpResponse:
    by_act = [
        (act, [entry for entry in outcome.entries if entry.act == act]) for act in ("refused", "changed", "created")
    ]
    visible = [(act, entries[:SHOWN], len(entries)) for act, entries in by_act if entries]
    context = {"found": inventory_import, "outcome": outcome, "acts": ACTS, "shown": visible, "stale": stale}
    return render(request, "inventory/import.html", context, status=status)
