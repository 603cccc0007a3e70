"""The list of runs, starting and cancelling them, and their raw artefacts. One run's own page is in the dashboard."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST

from apps.core.text import whole_number
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.labs.models import Role
from apps.labs.services import submit_once
from apps.parsers.core.encodings import detect_encoding
from apps.runs.artefacts import store
from apps.runs.filters import RunPageFilterSet
from apps.runs.forms import SAVE, JobSpecs, RunRequest, jobs_in_address
from apps.runs.models import Run, RunArtefact, SavedWorkload
from apps.runs.services import cancel_run, describe_run, run_again
from apps.runs.start.details import RunDescriptionForm
from apps.runs.start.job_file import LONGEST_JOB_FILE
from apps.runs.tables import NewestFirst
from apps.runs.workload import WorkloadError

PAGE = 50
VIEWED = 256 * 1024  # bytes of an artefact on a page


@member_required()
def runs(request: LabRequest) -> HttpResponse:
    runs_filter = RunPageFilterSet(request.GET, queryset=Run.objects.all(), request=request)
    page = NewestFirst(runs_filter.qs, PAGE).get_page(request.GET.get("page"))
    narrowed = any(request.GET.get(name) for name in runs_filter.filters)
    context = {"page": page, "filter": runs_filter, "narrowed": narrowed, "unknown": runs_filter.unknown()}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "runs/_table.html", context)
    runs_filter.offer_hosts()
    return render(request, "runs/list.html", context)


@member_required(Role.ENGINEER)
def new(request: LabRequest) -> HttpResponse:
    """GET: an empty form. POST: `act` is start, add, remove-<n>, import or review; htmx asks for the job file only."""
    former, jobs = _former(request.GET.get("like", "")), jobs_in_address(request.GET.get("jobs", ""))
    jobs = jobs or _saved_jobs(request, request.GET.get("saved", ""))
    run_request = RunRequest(request.lab, _with_job_file(request), request.GET.getlist("target"), former, jobs)
    if request.htmx and request.method == "POST":  # type: ignore[attr-defined]
        context = run_request.context()
        context["refused"] = context["refused"] and "target" in request.POST  # nobody has chosen one yet
        return render(request, "runs/_equivalent.html", context)
    if request.method == "POST" and request.POST.get("act") == "start":
        address, is_new = submit_once(request.lab, request.POST, lambda: _start(request, run_request))
        if address:
            if not is_new:
                messages.info(request, "The form was sent twice; what it asks for was started once.")
            return redirect(address)
    if request.method == "POST" and run_request.act == SAVE and (saved := run_request.save(str(request.user))):
        messages.success(request, f"The workload is saved as {saved}; nothing was started.")
    status = 422 if run_request.is_refused else 200
    return render(request, "runs/new.html", run_request.context(), status=status)


def _with_job_file(request: LabRequest) -> QueryDict | None:
    """Return the posted form, with the text of an uploaded job file in place of a pasted one."""
    uploaded = request.FILES.get("job_upload")
    if uploaded is None:
        return request.POST or None
    data = request.POST.copy()
    data["job_text"] = _decode(uploaded.read(LONGEST_JOB_FILE + 1))
    return data


def _decode(data: bytes) -> str:
    return data.decode(detect_encoding(data), "replace")


def _saved_jobs(request: LabRequest, pk: str) -> JobSpecs | None:
    """Return the jobs of a saved workload of the lab."""
    saved = SavedWorkload.objects.filter(lab=request.lab, pk=whole_number(pk) or 0).select_related("workload").first()
    return saved.jobs if saved else None


def _former(pk: str) -> Run | None:
    """Return the run that a new one shall repeat."""
    run: Run | None = Run.objects.select_related("workload", "target").filter(pk=whole_number(pk) or 0).first()
    return run


@require_POST
@member_required(Role.ENGINEER)
def again(request: LabRequest, pk: int) -> HttpResponse:
    """Start the run's workload on its target once more."""
    run = get_object_or_404(Run.objects.select_related("target", "workload"), pk=pk, lab=request.lab)
    try:
        [started] = run_again(run, str(request.user))
    except WorkloadError as error:
        messages.error(request, f"Run {run.pk} cannot be started again: {error}.")
        return redirect(run)
    messages.success(request, f"Run {started.pk} repeats run {run.pk}; it is repetition {started.repetition}.")
    return redirect(started)


@require_POST
@member_required(Role.ENGINEER)
def describe(request: LabRequest, pk: int) -> HttpResponse:
    """Change the labels and the note of a run."""
    run = get_object_or_404(Run, pk=pk, lab=request.lab)
    form = RunDescriptionForm(run, request.POST)
    if not form.is_valid():
        return render(request, "runs/describe.html", {"run": run, "form": form}, status=422)
    if describe_run(run, str(request.user), **form.cleaned_data):
        messages.success(request, "Labels and note are saved.")
    return redirect(run)


def _start(request: LabRequest, run_request: RunRequest) -> str:
    """Start what a form asks for and return the address that shows it; an empty text where it was refused."""
    started = run_request.start(str(request.user))
    if not started:
        return ""
    first = started[0]
    if len(started) == 1:
        return first.get_absolute_url()
    targets, workloads = len({run.target_id for run in started}), len({run.workload_id for run in started})
    what = f"{len(started)} runs on {targets} targets" if targets > 1 else f"{len(started)} repetitions"
    if workloads > 1:
        what = f"{len(started)} runs of {workloads} combinations on {targets} target{'' if targets == 1 else 's'}"
    messages.success(request, f"{what} are queued, runs {first.pk} to {started[-1].pk}.")
    return reverse("runs")


@member_required(Role.ENGINEER)
def cancel(request: LabRequest, pk: int) -> HttpResponse:
    """GET says what will be lost; POST does it."""
    run = get_object_or_404(Run.objects.select_related("host", "target", "workload"), pk=pk, lab=request.lab)
    if request.method != "POST":
        return render(request, "runs/cancel.html", {"run": run})
    if cancel_run(run, str(request.user)):
        messages.success(request, f"Run {run.pk} is being cancelled; its host stops fio as soon as it hears of it.")
    else:
        messages.warning(request, f"Run {run.pk} has ended already; nothing was cancelled.")
    return redirect(run)


@member_required()
def artefact(request: LabRequest, pk: int, name: str) -> HttpResponseBase:
    """Return the raw bytes as a download; a host's output is never shown as a page of this site."""
    part = get_object_or_404(RunArtefact.objects.select_related("artefact"), run_id=pk, name=name)
    stream = store.open_stream(part.artefact)
    response = StreamingHttpResponse(stream, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, f"run-{pk}-{part.name.rpartition('/')[2]}")
    response["Content-Length"] = part.artefact.size
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["X-Content-Type-Options"] = "nosniff"
    return response


@member_required()
def artefact_text(request: LabRequest, pk: int, name: str) -> HttpResponse:
    """Show an artefact as escaped text, a long one from its end, where fio's result is."""
    part = get_object_or_404(RunArtefact.objects.select_related("artefact"), run_id=pk, name=name)
    cut = VIEWED if part.artefact.size > VIEWED else 0
    data = store.tail(part.artefact, VIEWED)
    text = _decode(data)
    return render(request, "runs/artefact.html", {"part": part, "text": text, "cut": cut})
