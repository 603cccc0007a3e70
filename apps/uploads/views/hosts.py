"""The page that assigns unknown host names of an upload to hosts of the lab."""

from collections.abc import Iterator

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.inventory.editing.edit_request import EditError, Wanted
from apps.inventory.editing.registry import BY_NAME
from apps.inventory.models import Host
from apps.inventory.services import make
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Lab, Role
from apps.uploads.host_matching import NamedHost, answer, named_hosts
from apps.uploads.models import Upload

MOST = 200  # names on one page


@member_required(Role.ENGINEER)
def named(request: LabRequest, pk: int) -> HttpResponse:
    """Show the unknown host names of an upload.

    On POST, assign the names in the fields `of-NAME` to hosts and add missing hosts.
    """
    upload = get_object_or_404(Upload.objects.select_related("lab", "host"), pk=pk, lab=request.lab)
    result = named_hosts(upload)
    hosts = dict(Host.objects.filter(lab=request.lab).order_by("name").values_list("pk", "name"))
    if request.method == "POST":
        return _answered(request, upload, result)
    rows = [(item, hosts.get(item.known_id or 0) or (item.name if item.is_a_name else "")) for item in result[:MOST]]
    later = max(0, len(result) - MOST)
    return render(
        request, "uploads/hosts.html", {"upload": upload, "rows": rows, "later": later, "hosts": hosts.values()}
    )


def _answered(request: LabRequest, upload: Upload, result: list[NamedHost]) -> HttpResponse:
    with transaction.atomic():
        pairs = list(_answers(request, result))
        done = answer(upload, pairs)
        for pair, host in pairs:
            AuditEvent.objects.record(
                request.lab.pk, "host named", str(host), actor=str(request.user), upload=upload.pk, printed=pair.names
            )
    if not pairs:
        messages.warning(request, "Nothing was changed: no name was given a host.")
        return redirect("upload-hosts", upload.pk)
    sentences = [_counted(len(pairs), "name has a host now", "names have hosts now")]
    sentences += [_counted(done.files, "file belongs there", "files belong there")] if done.files else []
    sentences += [_counted(done.runs, "kept run was moved there", "kept runs were moved there")] if done.runs else []
    messages.success(request, f"{'; '.join(sentences)}.")
    return redirect(upload)


def _counted(count: int, text: str, many: str) -> str:
    return f"{count} {text if count == 1 else many}"


def _answers(request: LabRequest, result: list[NamedHost]) -> Iterator[tuple[NamedHost, Host]]:
    for item in result:
        name = request.POST.get(f"of-{item.name}", "").strip()
        try:
            if name:
                yield item, _host(request.lab, name)
        except EditError as error:
            messages.error(request, f"{item.name} has no host yet: {error}")


def _host(lab: Lab, name: str) -> Host:
    known = Host.objects.filter(lab=lab, name__iexact=name).order_by("pk").first()
    host = known or make(BY_NAME["host"], lab, Wanted({"name": name}))
    assert isinstance(host, Host)
    return host
