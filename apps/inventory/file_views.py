"""The inventory as files: out to anybody who may read it, in again after a preview."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.inventory.bulk.forms import FileForm
from apps.inventory.exchange.document import Outgoing
from apps.inventory.exchange.files import FileError
from apps.inventory.exchange.kept import apply, keep, preview_of
from apps.inventory.exchange.kinds import BY_NAME, KINDS
from apps.inventory.exchange.outcome import ACTS, Outcome, StaleOutcomeError
from apps.inventory.exchange.writers import csv_pieces, json_pieces, zip_pieces
from apps.inventory.filters import with_label, with_word
from apps.inventory.many_views import LISTED
from apps.inventory.models import Host, InventoryImport
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.lib.http import attachment, begun

SHOWN = 500  # rows of a preview; the counts are of all
LATEST = 20


@member_required()
def files(request: LabRequest) -> HttpResponse:
    context = {
        "form": FileForm(), "kinds": KINDS, "hosts": Host.objects.filter(lab=request.lab).order_by("name"),
        "imports": InventoryImport.objects.filter(lab=request.lab).defer("packed")[:LATEST],
    }  # fmt: skip
    return render(request, "inventory/files.html", context)


@member_required()
def export(request: LabRequest) -> StreamingHttpResponse:
    """`?format=json|csv|zip`, `kind=` for CSV, `host=` for one host, `q=` as in the list, `pk=` (many) for chosen rows; of the own lab."""
    form, kind = request.GET.get("format", "json"), BY_NAME.get(request.GET.get("kind", ""))
    if form not in ("json", "csv", "zip") or (form == "csv" and kind is None):
        raise Http404("expected format json, zip, or csv with a kind")
    host_id = request.GET.get("host", "")
    host = (
        get_object_or_404(Host, pk=int(host_id), lab=request.lab) if host_id.isdecimal() and len(host_id) < 19 else None
    )
    outgoing = Outgoing(request.lab, host, [kind.name] if kind else [], _chosen(request) if kind else None)
    name = "-".join(filter(None, [request.lab.slug, host.name if host else "", kind.name if kind else "inventory"]))
    if form == "csv" and kind:
        return attachment(begun(csv_pieces(kind, outgoing.rows(kind))), f"{kind.name} {name}.csv")
    return attachment(begun(json_pieces(outgoing) if form == "json" else zip_pieces(outgoing)), f"{name}.{form}")


def _chosen(request: LabRequest) -> QuerySet[Any] | None:
    """The rows that were ticked, else those that the list's word finds, else all."""
    word, kind = request.GET.get("q", "").strip(), BY_NAME[request.GET["kind"]]
    if ticked := {int(pk) for pk in request.GET.getlist("pk") if pk.isdecimal() and len(pk) < 19}:
        return kind.model.objects.filter(lab=request.lab, pk__in=ticked)  # type: ignore[no-any-return]
    labels = [text for text in request.GET.getlist("label") if text.strip()]
    if kind.name not in LISTED or not (word or labels):
        return None
    return with_label(with_word(kind.model.objects.filter(lab=request.lab), word), labels)


@require_POST
@member_required(Role.ENGINEER)
def bring(request: LabRequest) -> HttpResponse:
    """Keeps the file and leads to its preview; a file that cannot be read at all is not kept."""
    form = FileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _refused(request, form)
    file = form.cleaned_data["file"]
    try:
        made = keep(request.lab, file.read(), file.name, request.POST.get("kind", ""), str(request.user))
    except FileError as error:
        form.add_error("file", str(error))
        return _refused(request, form)
    return redirect(made)


def _refused(request: LabRequest, form: FileForm) -> HttpResponse:
    hosts = Host.objects.filter(lab=request.lab).order_by("name")
    imports = InventoryImport.objects.filter(lab=request.lab).defer("packed")[:LATEST]
    context = {"form": form, "kinds": KINDS, "hosts": hosts, "imports": imports}
    return render(request, "inventory/files.html", context, status=422)


@member_required(Role.ENGINEER)
def one_import(request: LabRequest, pk: int) -> HttpResponse:
    """GET: what it would do now, or what it did. POST: do what the preview of this digest showed."""
    found = get_object_or_404(InventoryImport, pk=pk, lab=request.lab)
    if found.applied_at:
        return render(request, "inventory/import.html", {"found": found})
    if request.method != "POST":
        return _preview(request, found, preview_of(found))
    try:
        outcome = apply(found, str(request.user), request.POST.get("digest", ""))
    except StaleOutcomeError as stale:
        return _preview(request, found, stale.outcome, str(stale), 409)
    messages.success(
        request, f"{found.name}: {outcome.counts['created']} created, {outcome.counts['changed']} changed."
    )
    return redirect(found)


def _preview(
    request: LabRequest, found: InventoryImport, outcome: Outcome, stale: str = "", status: int = 200
) -> HttpResponse:
    by_act = [(act, [one for one in outcome.entries if one.act == act]) for act in ("refused", "changed", "created")]
    shown = [(act, entries[:SHOWN], len(entries)) for act, entries in by_act if entries]
    context = {"found": found, "outcome": outcome, "acts": ACTS, "shown": shown, "stale": stale}
    return render(request, "inventory/import.html", context, status=status)
