"""Lists and pages of what exists. A host's own page, with its runs and its agent, is in the dashboard.

What is counted of a part in the lists, in the list's own query.
"""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.inventory.ceilings.current import ceiling_now
from apps.inventory.descriptions import described
from apps.inventory.editing.registry import BY_NAME, BY_PLURAL
from apps.inventory.filters import FilterForm, Parts, filterset_of, own_first, with_word
from apps.inventory.models import (
    Array,
    Controller,
    Disk,
    Enclosure,
    Filesystem,
    Host,
    Nic,
    Snapshot,
    Switch,
    Target,
    ToolOutput,
)
from apps.inventory.target_identity import explain_no_runs
from apps.inventory.target_paths import explain_unconfirmed
from apps.inventory.topology.current_findings import findings_about
from apps.inventory.topology.network import cables_of, far_ends, links_at
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest


def disks_inside() -> Coalesce:
    """Return an expression for `annotate` that counts the disks present in an enclosure.

    Disks refer to their enclosure by name, which is unique in its host.
    """
    inside: QuerySet[Disk] = Disk.objects.filter(host=OuterRef("host"), enclosure=OuterRef("name"), is_present=True)
    counted = inside.order_by().values("enclosure").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)


def runs_of(model: type[Target] | type[Snapshot]) -> Coalesce:
    """Return an expression for `annotate` that counts the runs of a row: of those of one page, and not of all the lab."""
    own = model.objects.filter(pk=OuterRef("pk")).order_by().annotate(count=Count("runs")).values("count")
    return Coalesce(Subquery(own), 0)


MOST_NAMES = 200  # host names offered while typing
PAGE = 50


def _list(request: LabRequest, kind: str, parts: Parts, **more: Any) -> HttpResponse:
    filterset = filterset_of(BY_PLURAL[kind])(request.GET, parts)
    return _table(
        request, kind, filterset.qs if filterset.is_valid() else parts.none(), filters=FilterForm(filterset), **more
    )


def _table(request: LabRequest, kind: str, parts: Parts, **more: Any) -> HttpResponse:
    page = Paginator(own_first(parts, request.lab), PAGE).get_page(request.GET.get("page"))
    word, labels = request.GET.get("q", "").strip(), [text for text in request.GET.getlist("label") if text.strip()]
    context = {"page": page, "kind": kind, "word": word, "labels": labels, "rows": f"inventory/_{kind}.html", **more}
    return render(request, "inventory/_table.html" if request.htmx else "inventory/list.html", context)  # type: ignore[attr-defined]


def _page(request: HttpRequest, name: str, part: Any, **more: Any) -> HttpResponse:
    context = {"part": part, "kind": name, "facts": described(part, *BY_NAME[name].facts), **more}
    return render(request, f"inventory/{name}.html", context)


@member_required()
def hosts(request: LabRequest) -> HttpResponse:
    counts = {name: Count(name, distinct=True) for name in ("disks", "arrays", "targets")}
    return _list(request, "hosts", Host.objects.annotate(**{f"{k}_count": v for k, v in counts.items()}))


@member_required()
def controllers(request: LabRequest) -> HttpResponse:
    return _list(request, "controllers", Controller.objects.select_related("host").annotate(disks_count=Count("disks")))


@member_required()
def controller(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Controller.objects.select_related("host", "sits_on"), pk=pk)
    findings = findings_about(part.host, "controller", part.pk)
    return _page(request, "controller", part, disks=part.disks.all(), arrays=part.arrays.all(), findings=findings)


@member_required()
def disks(request: LabRequest) -> HttpResponse:
    return _list(request, "disks", Disk.objects.select_related("host", "controller"))


@member_required()
def disk(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Disk.objects.select_related("host", "controller"), pk=pk)
    members = part.memberships.select_related("array")
    findings = findings_about(part.host, "disk", part.pk) if part.host else []
    filesystems = part.filesystems.all()
    return _page(request, "disk", part, memberships=members, filesystems=filesystems, findings=findings)


@member_required()
def arrays(request: LabRequest) -> HttpResponse:
    return _list(request, "arrays", Array.objects.select_related("host").annotate(members_known=Count("members")))


@member_required()
def array(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Array.objects.select_related("host", "controller"), pk=pk)
    return _page(
        request, "array", part,
        members=part.members.select_related("disk", "member_array"),
        inside=part.memberships.select_related("array"), filesystems=part.filesystems.all(),
        findings=findings_about(part.host, "array", part.pk),
    )  # fmt: skip


@member_required()
def filesystems(request: LabRequest) -> HttpResponse:
    return _list(request, "filesystems", Filesystem.objects.select_related("host", "disk", "array"))


@member_required()
def filesystem(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Filesystem.objects.select_related("host", "disk", "array"), pk=pk)
    return _page(request, "filesystem", part, targets=part.targets.all())


@member_required()
def targets(request: LabRequest) -> HttpResponse:
    found = Target.objects.select_related("host", "filesystem", "array", "disk").annotate(runs_count=runs_of(Target))
    return _list(request, "targets", found)


@member_required()
def target(request: LabRequest, pk: int) -> HttpResponse:
    lies_on = ("host__agent", "filesystem__disk", "filesystem__array", "array", "disk", "nic", "peer")
    found = Target.objects.select_related(*lies_on)
    part = get_object_or_404(found, pk=pk)
    runs = part.runs.for_list()[:20]
    agent = getattr(part.host, "agent", None)
    why = explain_no_runs(part, agent) if agent else ""
    unconfirmed = explain_unconfirmed(part) if part.lab_id == request.lab.pk else ""
    return _page(
        request, "target", part, runs=runs, ceiling=ceiling_now(part), no_runs_because=why, unconfirmed=unconfirmed
    )


@member_required()
def nics(request: LabRequest) -> HttpResponse:
    return _list(request, "nics", Nic.objects.select_related("host").annotate(cables=cables_of("links")))


@member_required()
def nic(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Nic.objects.select_related("host"), pk=pk)
    links = links_at(Q(nic=part) | Q(far_nic=part))
    findings, targets = findings_about(part.host, "nic", part.pk), part.targets.all()
    return _page(request, "nic", part, cables=far_ends(part, links), targets=targets, findings=findings)


@member_required()
def enclosures(request: LabRequest) -> HttpResponse:
    return _list(request, "enclosures", Enclosure.objects.select_related("host").annotate(disks_count=disks_inside()))


@member_required()
def switches(request: LabRequest) -> HttpResponse:
    return _list(request, "switches", Switch.objects.annotate(cables=cables_of("links")))


@member_required()
def switch(request: LabRequest, pk: int) -> HttpResponse:
    part = get_object_or_404(Switch, pk=pk)
    links = links_at(Q(switch=part) | Q(far_switch=part))
    page = Paginator(links, PAGE).get_page(request.GET.get("page"))
    return _page(request, "switch", part, page=page, cables=far_ends(part, page))


@member_required()
def snapshots(request: LabRequest) -> HttpResponse:
    """Show the list of snapshots; `?host=` is the beginning of the name that the host had then."""
    host, found = request.GET.get("host", "").strip(), Snapshot.objects.defer("content")
    found = found.filter(facts__host__istartswith=host) if host else found
    names = [] if request.htmx else Host.objects.order_by("name").values_list("name", flat=True)[:MOST_NAMES]  # type: ignore[attr-defined]
    found = with_word(found, request.GET.get("q", "").strip()).annotate(runs_count=runs_of(Snapshot))
    return _table(request, "snapshots", found, host=host, host_names=names)


@member_required()
def snapshot(request: LabRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Snapshot, pk=pk)
    runs: Any = found.runs  # the inventory does not import the models of runs
    return render(request, "inventory/snapshot.html", {"part": found, "runs": runs.for_list()[:50]})


@member_required()
def tool_output(request: LabRequest, pk: int) -> HttpResponse:
    """Return what a tool printed, verbatim, as a download that a browser never shows as a page of this site."""
    output = get_object_or_404(ToolOutput.objects.select_related("host"), pk=pk)
    response = HttpResponse(output.stdout, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{output.tool}-{output.pk}.txt"'
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["X-Content-Type-Options"] = "nosniff"
    return response
