"""Adding, changing and deleting parts by hand, for every kind of inventory with one form."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.inventory.editing.addresses import list_of, page_of
from apps.inventory.editing.conflicts import rebased
from apps.inventory.editing.deleting import delete as delete_part
from apps.inventory.editing.deleting import loss_of
from apps.inventory.editing.form import PartForm, after_button, has_rows_button
from apps.inventory.editing.kinds import BY_NAME, KINDS, Kind
from apps.inventory.editing.saving import StaleError, change, make_alike, version_of
from apps.inventory.editing.telling import told
from apps.inventory.editing.wanted import EditError
from apps.inventory.models import Host, Part
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role


def _shown(request: LabRequest, form: PartForm, status: int = 200, **more: Any) -> HttpResponse:
    version = version_of(form.kind, form.part) if form.part else 0
    back = page_of(form.part) if form.part else (form.host.get_absolute_url() if form.host else list_of(form.kind))
    context = {"form": form, "kind": form.kind, "part": form.part, "host": form.host, "version": version, "back": back}
    return render(request, "inventory/edit.html", {**context, **more}, status=status)


@member_required(Role.ENGINEER)
def new(request: LabRequest, kind: str) -> HttpResponse:
    """`?host=` says in which host; without it the host is asked for first."""
    of = BY_NAME[kind]
    host, is_known = _host(request, of)
    if not is_known:
        return _ask_for_host(request, of)
    form = PartForm(of, request.lab, None, host, request.POST or None)
    if request.method != "POST":
        return _shown(request, form)
    if has_rows_button(request.POST):
        return _shown(request, _with_rows(form, request), is_rearranged=True)
    if wanted := form.wanted():
        try:
            made = make_alike(of, request.lab, wanted, form.how_many)
            return _made(request, of, made, host)
        except EditError as error:
            form.refuse(error)
    return _shown(request, form, 422)


def _host(request: LabRequest, kind: Kind) -> tuple[Host | None, bool]:
    """(the host, whether it is known). Disks may be in none."""
    asked = request.POST.get("in_host", request.GET.get("host", ""))
    if not kind.has_host or (asked == "none" and kind.name == "disk"):
        return None, True
    if not asked.isdecimal():
        return None, False
    return get_object_or_404(Host, pk=int(asked[:18]), lab=request.lab), True


def _ask_for_host(request: LabRequest, kind: Kind) -> HttpResponse:
    hosts = Host.objects.filter(lab=request.lab).order_by("name")
    return render(request, "inventory/in-which-host.html", {"kind": kind, "hosts": hosts, "back": list_of(kind)})


def _with_rows(form: PartForm, request: LabRequest) -> PartForm:
    return PartForm(form.kind, form.lab, form.part, form.host, after_button(form, request.POST))


def _made(request: LabRequest, kind: Kind, made: list[Part], host: Host | None) -> HttpResponse:
    if len(made) == 1:
        messages.success(request, f"The {kind.word} {made[0]} was added.")
        return redirect(page_of(made[0]))
    messages.success(request, f"{len(made)} {kind.words} were added, {made[0]} to {made[-1]}.")
    return redirect(host.get_absolute_url() if host else list_of(kind))


@member_required(Role.ENGINEER)
def edit(request: LabRequest, kind: str, pk: int) -> HttpResponse:
    of = BY_NAME[kind]
    part = _own(request, of, pk)
    form = PartForm(of, request.lab, part, _host_of(part), request.POST or None)
    if request.method != "POST":
        return _shown(request, form)
    if has_rows_button(request.POST):
        return _shown(request, _with_rows(form, request), is_rearranged=True, version=_version(request))
    if wanted := form.wanted():
        try:
            change(of, part, wanted, _version(request))
            messages.success(request, f"The {of.word} {part} was saved.")
            return redirect(page_of(part))
        except StaleError as error:
            newer = rebased(form, of, request.lab, part, error.changes)
            return _shown(request, newer, 409, since=told(error.changes))
        except EditError as error:
            form.refuse(error)
    return _shown(request, form, 422, version=_version(request))


def _own(request: LabRequest, kind: Kind, pk: int) -> Part:
    found = kind.model.objects.select_related("host") if kind.has_host else kind.model.objects
    part: Part = get_object_or_404(found.filter(lab=request.lab), pk=pk)
    return part


def _host_of(part: Part) -> Host | None:
    return part if isinstance(part, Host) else getattr(part, "host", None)


def _version(request: LabRequest) -> int:
    """What the form was made from; a form that does not say it is older than everything."""
    text = request.POST.get("version", "")
    return int(text[:18]) if text.isdecimal() else 0


@member_required(Role.ENGINEER)
def delete(request: LabRequest, kind: str, pk: int) -> HttpResponse:
    """GET says what will be lost; POST does it, unless it would break evidence."""
    of = BY_NAME[kind]
    part = _own(request, of, pk)
    context: dict[str, Any] = {"kind": of, "part": part, "back": page_of(part), "version": version_of(of, part)}
    status = 200
    if request.method == "POST":
        try:
            delete_part(of, part, _version(request))
            messages.success(
                request,
                f"The {of.word} {part} was deleted. Its history keeps it, and it can be brought back from there.",
            )
            return redirect(_beside(part, of))
        except StaleError as error:
            context["since"], status = told(error.changes), 409
        except EditError:
            status = 409
    return render(request, "inventory/delete.html", context | {"loss": loss_of(part)}, status=status)


def _beside(part: Part, kind: Kind) -> str:
    host = getattr(part, "host", None)
    return str(host.get_absolute_url()) if host else list_of(kind)


@member_required(Role.ENGINEER)
def add(request: LabRequest) -> HttpResponse:
    """What can be added, in one list, for a host or for the lab."""
    text = request.GET.get("host", "")
    host = get_object_or_404(Host, pk=int(text[:18]), lab=request.lab) if text.isdecimal() else None
    return render(request, "inventory/add.html", {"host": host, "kinds": [k for k in KINDS if not host or k.has_host]})
