"""Adding, changing and deleting parts by hand, for every kind of inventory with one form.

Two people at one form: what was typed stays, what only the other changed is taken over, and the difference is shown.

Maintenance: new runs wait until it ends, those that run go on.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.core.text import whole_number
from apps.inventory.editing.addresses import list_of, page_of
from apps.inventory.editing.deletion import delete as delete_part
from apps.inventory.editing.deletion import loss_of
from apps.inventory.editing.edit_request import EditError, Wanted
from apps.inventory.editing.form import PartForm, after_button, has_rows_button
from apps.inventory.editing.registry import BY_NAME, KINDS, PartKind
from apps.inventory.history.log import told
from apps.inventory.models import Change, Host, Part
from apps.inventory.services import StaleError, change, make_alike, version_of
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Lab, Role


def rebased(form: PartForm, kind: PartKind, lab: Lab, row: Part, since: list[Change]) -> PartForm:
    """Return the refused form on the newest version of the part, with the other people's changes taken over.

    `since` are those changes, newest first. What the person typed stays.
    """
    row.refresh_from_db()
    fresh = PartForm(kind, lab, row, form.host)
    before = _as_it_was(since, kind)
    posted: Any = form.data
    data: QueryDict = posted.copy()
    for name in before:
        if name in fresh.fields and not _is_typed(form, name, before[name]):
            _take_over(data, fresh, name)
    if before.keys() & {"labels"} and form.label_rows == _label_rows(before["labels"]):
        _take_over_labels(data, fresh)
    return PartForm(kind, lab, row, form.host, data)


def _as_it_was(since: list[Change], kind: PartKind) -> dict[str, object]:
    """Return what the changed fields were when the form was made, which the oldest change knows."""
    names = {kind.field(name).attname: name for name in (*kind.fields, "labels", "notes")}
    results: dict[str, object] = {}
    for later in since:
        if later.row_kind == kind.name and later.act == Change.Act.CHANGED:
            results |= {names[column]: value for column, value in (later.before or {}).items() if column in names}
    return results


def _is_typed(form: PartForm, name: str, before: object) -> bool:
    """Return whether the person at this form has changed the field."""
    field = form.fields[name]
    return (
        str(form.data.get(name, "")).strip() != str(field.prepare_value(before) if before is not None else "").strip()
    )


def _take_over(data: QueryDict, fresh: PartForm, name: str) -> None:
    for each in (name, f"why-{name}"):
        if each in fresh.fields:
            value = fresh[each].value()
            data[each] = "" if value is None or value is False else str(value)


def _label_rows(labels: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": str(value)} for name, value in sorted((labels or {}).items())]


def _take_over_labels(data: QueryDict, fresh: PartForm) -> None:
    rows = fresh.label_rows
    data["label-count"] = str(len(rows))
    for number, row in enumerate(rows):
        data[f"label-{number}-name"], data[f"label-{number}-value"] = row["name"], row["value"]


def set_maintenance(host: Host, is_on: bool, note: str = "") -> None:
    """Begin or end a host's maintenance; ending it removes the note.

    Raises:
        EditError: if the note is too long.
    """
    change(BY_NAME["host"], host, Wanted({"is_in_maintenance": is_on, "maintenance_note": note if is_on else ""}))


@require_POST
@member_required(Role.ENGINEER)
def maintenance(request: LabRequest, pk: int) -> HttpResponse:
    """Begin a host's maintenance or change its note if `is_on` is 1, else end it."""
    host = get_object_or_404(Host, pk=pk, lab=request.lab)
    is_on = request.POST.get("is_on") == "1"
    try:
        set_maintenance(host, is_on, request.POST.get("note", "").strip())
        begun = f"{host} is in maintenance: new runs wait, those that run go on."
        messages.success(request, begun if is_on else f"{host} is out of maintenance: what waits begins now.")
    except EditError as error:
        messages.error(request, f"Nothing was changed. {error}")
    return redirect(host)


def _shown(request: LabRequest, form: PartForm, status: int = 200, **more: Any) -> HttpResponse:
    version = version_of(form.kind, form.part) if form.part else 0
    back = page_of(form.part) if form.part else (form.host.get_absolute_url() if form.host else list_of(form.kind))
    context = {"form": form, "kind": form.kind, "part": form.part, "host": form.host, "version": version, "back": back}
    return render(request, "inventory/edit.html", {**context, **more}, status=status)


@member_required(Role.ENGINEER)
def new(request: LabRequest, kind: str) -> HttpResponse:
    """Show and save the form for a new part; `?host=` names its host, without which the page first asks for one."""
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


def _host(request: LabRequest, kind: PartKind) -> tuple[Host | None, bool]:
    """Return (the host, whether it is known); disks may be in none."""
    in_host = request.POST.get("in_host", request.GET.get("host", ""))
    if not kind.has_host or (in_host == "none" and kind.name == "disk"):
        return None, True
    number = whole_number(in_host)
    if number is None:
        return None, False
    return get_object_or_404(Host, pk=number, lab=request.lab), True


def _ask_for_host(request: LabRequest, kind: PartKind) -> HttpResponse:
    hosts = Host.objects.filter(lab=request.lab).order_by("name")
    return render(request, "inventory/in-which-host.html", {"kind": kind, "hosts": hosts, "back": list_of(kind)})


def _with_rows(form: PartForm, request: LabRequest) -> PartForm:
    return PartForm(form.kind, form.lab, form.part, form.host, after_button(form, request.POST))


def _made(request: LabRequest, kind: PartKind, made: list[Part], host: Host | None) -> HttpResponse:
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


def _own(request: LabRequest, kind: PartKind, pk: int) -> Part:
    objects = kind.model.objects.select_related("host") if kind.has_host else kind.model.objects
    part: Part = get_object_or_404(objects.filter(lab=request.lab), pk=pk)
    return part


def _host_of(part: Part) -> Host | None:
    return part if isinstance(part, Host) else getattr(part, "host", None)


def _version(request: LabRequest) -> int:
    """Return the version that the form was made from; a form without one is older than any."""
    return whole_number(request.POST.get("version", "")) or 0


@member_required(Role.ENGINEER)
def delete(request: LabRequest, kind: str, pk: int) -> HttpResponse:
    """Show what deleting a part will lose; POST deletes it, unless that would destroy evidence."""
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


def _beside(part: Part, kind: PartKind) -> str:
    host = getattr(part, "host", None)
    return str(host.get_absolute_url()) if host else list_of(kind)


@member_required(Role.ENGINEER)
def add(request: LabRequest) -> HttpResponse:
    """Show the kinds of parts that can be added, to one host or to the lab."""
    number = whole_number(request.GET.get("host", ""))
    host = None if number is None else get_object_or_404(Host, pk=number, lab=request.lab)
    return render(request, "inventory/add.html", {"host": host, "kinds": [k for k in KINDS if not host or k.has_host]})
