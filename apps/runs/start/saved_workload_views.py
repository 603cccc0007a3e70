"""The page of the lab's saved workloads, and what can be done with them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.runs.models import Run, SavedWorkload
from apps.runs.start.saved_workloads import remove_workload, rename_workload, save_workload
from apps.runs.workload import WorkloadError, job_file


@require_safe
@member_required()
def saved_workloads(request: LabRequest) -> HttpResponse:
    """List the lab's saved workloads, each with its job file."""
    saved = SavedWorkload.objects.filter(lab=request.lab).select_related("workload")
    rows = [{"saved": row, "job_file": job_file(row.workload.spec)} for row in saved]
    return render(
        request, "runs/saved-workloads.html", {"rows": rows, "may_edit": request.member.covers(Role.ENGINEER)}
    )


@require_POST
@member_required(Role.ENGINEER)
def save(request: LabRequest, pk: int) -> HttpResponse:
    """Keep the workload of a run under a name."""
    run = get_object_or_404(Run.objects.select_related("workload"), pk=pk, lab=request.lab)
    try:
        if run.workload is None or not run.workload.jobs:
            raise WorkloadError("run", run.pk, "a run that an agent was asked for")
        saved = save_workload(request.lab, request.POST.get("name", ""), run.workload.spec, str(request.user))
    except WorkloadError as error:
        messages.error(request, f"The workload was not saved: {error}.")
        return redirect(run)
    messages.success(request, f"The workload is saved as {saved}.")
    return redirect("saved-workloads")


@require_POST
@member_required(Role.ENGINEER)
def rename(request: LabRequest, pk: int) -> HttpResponse:
    """Give a saved workload another name."""
    saved = get_object_or_404(SavedWorkload, pk=pk, lab=request.lab)
    try:
        rename_workload(saved, request.POST.get("name", ""), str(request.user))
        messages.success(request, f"The workload is called {saved} now.")
    except WorkloadError as error:
        messages.error(request, f"The workload was not renamed: {error}.")
    return redirect("saved-workloads")


@require_POST
@member_required(Role.ENGINEER)
def remove(request: LabRequest, pk: int) -> HttpResponse:
    """Forget a saved workload; what was started from it stays."""
    saved = get_object_or_404(SavedWorkload, pk=pk, lab=request.lab)
    remove_workload(saved, str(request.user))
    messages.success(request, f"{saved} is removed; runs and plans made from it stay.")
    return redirect("saved-workloads")
