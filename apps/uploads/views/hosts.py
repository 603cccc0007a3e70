"""Host names that the texts of an upload print and nobody knows: added to the lab, or said to be one of its hosts."""

from collections.abc import Iterator

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.inventory.editing.kinds import BY_NAME
from apps.inventory.editing.saving import make
from apps.inventory.editing.wanted import EditError, Wanted
from apps.inventory.models import Host
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Lab, Role
from apps.uploads.models import Upload
from apps.uploads.named_hosts import NamedHost, answer, named_hosts

MOST = 200  # names on one page


@member_required(Role.ENGINEER)
def named(request: LabRequest, pk: int) -> HttpResponse:
    """POST: `of-NAME` is the host's name in the lab, which is added where it is missing; nothing for a name that stays nobody's."""
    upload = get_object_or_404(Upload.objects.select_related("lab", "host"), pk=pk, lab=request.lab)
    found = named_hosts(upload)
    hosts = dict(Host.objects.filter(lab=request.lab).order_by("name").values_list("pk", "name"))
    if request.method == "POST":
        return _answered(request, upload, found)
    rows = [(one, hosts.get(one.known_id or 0) or (one.name if one.is_a_name else "")) for one in found[:MOST]]
    later = max(0, len(found) - MOST)
    return render(
        request, "uploads/hosts.html", {"upload": upload, "rows": rows, "later": later, "hosts": hosts.values()}
    )


def _answered(request: LabRequest, upload: Upload, found: list[NamedHost]) -> HttpResponse:
    with transaction.atomic():
        pairs = list(_answers(request, found))
        done = answer(upload, pairs)
        for one, host in pairs:
            AuditEvent.objects.record(
                request.lab.pk, "host named", str(host), who=str(request.user), upload=upload.pk, printed=one.names
            )
    if not pairs:
        messages.warning(request, "Nothing was changed: no name was given a host.")
        return redirect("upload-hosts", upload.pk)
    said = [_counted(len(pairs), "name has a host now", "names have hosts now")]
    said += [_counted(done.files, "file belongs there", "files belong there")] if done.files else []
    said += [_counted(done.runs, "kept run was moved there", "kept runs were moved there")] if done.runs else []
    messages.success(request, f"{'; '.join(said)}.")
    return redirect(upload)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _answers(request: LabRequest, found: list[NamedHost]) -> Iterator[tuple[NamedHost, Host]]:
    for one in found:
        name = request.POST.get(f"of-{one.name}", "").strip()
        try:
            if name:
                yield one, _host(request.lab, name)
        except EditError as error:
            messages.error(request, f"{one.name} has no host yet: {error}")


def _host(lab: Lab, name: str) -> Host:
    known = Host.objects.filter(lab=lab, name__iexact=name).order_by("pk").first()
    host = known or make(BY_NAME["host"], lab, Wanted({"name": name}))
    assert isinstance(host, Host)
    return host
