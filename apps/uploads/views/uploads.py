"""The page of one upload: what was recognised, where it belongs, and the buttons to save or discard it."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.core.task_queue import publish
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import AuditEvent, Role
from apps.uploads import save_runs
from apps.uploads.deduplication import join_if_decided
from apps.uploads.forms import BelongingForm, FileFilter, found_place, hosts_with_targets, place_choices, whole_numbers
from apps.uploads.host_matching import move, named_hosts, runs_of
from apps.uploads.inventory_import import offers_of
from apps.uploads.models import FileQuerySet, Upload, UploadedFile
from apps.uploads.review.upload_summary import inventory_of, page_of, tally, workloads_of
from apps.uploads.services import read_all_again
from apps.uploads.tasks import keep_upload

AT_ONCE = 200  # files that one request keeps
RUNS_AT_ONCE = 2000  # of them; a log may hold any number


@member_required()
def upload(request: LabRequest, pk: int) -> HttpResponse:
    result = get_object_or_404(Upload.objects.select_related("study", "host", "target", "lab"), pk=pk)
    return _shown(request, result)


def _shown(request: LabRequest, upload: Upload, form: BelongingForm | None = None, status: int = 200) -> HttpResponse:
    hosts = hosts_with_targets(upload.lab)
    narrowed, counts = FileFilter(request.GET), tally(upload)
    context: dict[str, Any] = {
        "upload": upload,
        "tally": counts,
        "is_keeping": bool(request.GET.get("keeping") and counts.to_keep and not upload.discarded_at),
        "filter": narrowed,
        "page": page_of(upload, narrowed.of(UploadedFile.objects), request.GET.get("page"), hosts),
        "inventory": inventory_of(upload, request.GET.get("found")),
        "workloads": workloads_of(upload),
        "form": form or BelongingForm.of(upload, hosts),
        "hosts": hosts,
        "places": place_choices(hosts),
        "may_change": request.member.covers(Role.ENGINEER) and upload.lab_id == request.lab.pk,
    }
    context["may_select"] = context["may_change"] and (counts.to_keep or counts.kept)
    if context["may_change"] and upload.has_ended:
        context["named_hosts"] = [host for host in named_hosts(upload) if host.is_a_name]
        if context["inventory"].paginator.count:
            context["sure_offers"] = len(offers_of(upload).sure)
    template = "uploads/_upload.html" if request.htmx else "uploads/upload.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


def _mine(request: LabRequest, pk: int) -> Upload:
    result: Upload = get_object_or_404(
        Upload.objects.select_related("study", "host", "target", "lab"), pk=pk, lab=request.lab
    )
    return result


def _record(request: LabRequest, act: str, upload: Upload, **detail: Any) -> None:
    AuditEvent.objects.record(
        request.lab.pk, act, upload.name[:200], actor=str(request.user), upload=upload.pk, **detail
    )


@require_POST
@member_required(Role.ENGINEER)
def belongs(request: LabRequest, pk: int) -> HttpResponse:
    """Set host, target, study and labels of everything that is not saved yet."""
    result = _mine(request, pk)
    form = BelongingForm(request.lab, hosts_with_targets(request.lab), request.POST)
    if not form.is_valid():
        return _shown(request, result, form, 422)
    for name, value in form.words.items():
        setattr(result, name, value)
    result.save(update_fields=["host", "target", "study", "labels"])
    join_if_decided(result)
    messages.success(request, "Saved. It holds for what is not kept yet.")
    return redirect(result)


@require_POST
@member_required(Role.ENGINEER)
def keep(request: LabRequest, pk: int) -> HttpResponse:
    """Save runs of all or of selected files, or set the host of the selected files (`place`), by `act`.

    With `every`, all files that match the filter in the address are selected, on whatever page they are.
    """
    result = _mine(request, pk)
    if request.POST.get("act") == "place":
        return _place(request, result)
    if not result.has_ended:
        messages.warning(request, "It is still being read; keep it when that is done.")
        return redirect(result)
    if request.POST.get("act") == "all":
        return _keep_all(request, result)
    return _keep_selected(request, result, list(_selected(request, result).to_keep().values_list("pk", flat=True)))


def _selected(request: LabRequest, upload: Upload) -> FileQuerySet:
    files: FileQuerySet = UploadedFile.objects.filter(upload=upload)
    if request.POST.get("every"):
        return FileFilter(request.GET).of(files)
    return files.filter(pk__in=whole_numbers(request.POST.getlist("file")))


def _keep_all(request: LabRequest, upload: Upload) -> HttpResponse:
    """Save all runs, many of them by a worker while the page shows the progress."""
    waiting = tally(upload)
    files = waiting.to_keep + (waiting.known if upload.study_id else 0)
    if files <= AT_ONCE and waiting.runs_to_keep <= RUNS_AT_ONCE:
        return _kept(request, upload, save_runs.keep(upload))
    if not publish(keep_upload, upload.pk):
        return _not_handed_over(request, upload)
    _record(request, "upload kept", upload, runs=waiting.runs_to_keep)
    return redirect(f"{upload.get_absolute_url()}?keeping=1")


def _keep_selected(request: LabRequest, upload: Upload, files: list[int]) -> HttpResponse:
    """Save the runs of the selected files, many of them by a worker."""
    runs = UploadedFile.objects.filter(pk__in=files).aggregate(runs=Sum("run_count", default=0))["runs"]
    if len(files) <= AT_ONCE and runs <= RUNS_AT_ONCE:
        return _kept(request, upload, save_runs.keep(upload, files))
    if not publish(keep_upload, upload.pk, files):
        return _not_handed_over(request, upload)
    _record(request, "upload kept", upload, files=len(files))
    messages.success(
        request,
        f"{runs} runs of {len(files)} file{'s' * (len(files) != 1)} are being kept; that goes on without this page.",
    )
    return redirect(upload)


def _not_handed_over(request: LabRequest, upload: Upload) -> HttpResponse:
    messages.warning(
        request, "Nothing was kept: Redis, which brings work to the workers, does not answer. Try again soon."
    )
    return redirect(upload)


def _kept(request: LabRequest, upload: Upload, count: int) -> HttpResponse:
    if count:
        _record(request, "upload kept", upload, runs=count)
        messages.success(request, f"{count} run{'s' * (count != 1)} kept.")
    elif upload.discarded_at:
        messages.warning(request, "Nothing was kept: this upload was discarded. Read again brings its runs back.")
    elif not upload.joined:
        messages.warning(request, "Nothing was kept: no file with runs that are not kept yet was chosen.")
    return redirect(upload)


def _place(request: LabRequest, upload: Upload) -> HttpResponse:
    place = request.POST.get("place", "")
    offered = {value for _, group in place_choices(hosts_with_targets(request.lab))[1:] for value, _ in group}
    if place not in offered:
        messages.warning(request, "Choose a host for the selected files first.")
        return redirect(upload)
    host, target = found_place(request.lab, place)
    with transaction.atomic():
        selected = list(_selected(request, upload).filter(run_count__gt=0).held().values_list("pk", "kept_at"))
        files = [pk for pk, _ in selected]
        UploadedFile.objects.filter(pk__in=files).update(host=host, target=target, guessed="")
        moved = move(runs_of(*[pk for pk, stored in selected if stored]), host, target)
    if moved:
        _record(request, "runs moved", upload, to=str(target or host), runs=moved)
    also = f", with {moved} kept run{'s' * (moved != 1)}" if moved else ""
    messages.success(request, f"{len(files)} file{'s' * (len(files) != 1)} of {target or host}{also}.")
    return redirect(upload)


@require_POST
@member_required(Role.ENGINEER)
def again(request: LabRequest, pk: int) -> HttpResponse:
    """Parse every file again of which nothing is saved."""
    result = _mine(request, pk)
    read_all_again(result)
    return redirect(result)


@member_required(Role.ENGINEER)
def discard(request: LabRequest, pk: int) -> HttpResponse:
    """Show what discarding an upload loses; on POST, do it."""
    result = _mine(request, pk)
    if request.method != "POST":
        return render(request, "uploads/discard.html", {"upload": result, "tally": tally(result)})
    save_runs.discard(result)
    _record(request, "upload discarded", result)
    messages.success(request, f"What was recognised in {result.name} is forgotten. Its bytes are kept.")
    return redirect("uploads")
