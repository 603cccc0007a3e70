"""A person's wish for runs, from form to queue: what the form holds, what it says as fio spells it, and what is
wrong with it."""

import json
from functools import cached_property
from typing import Any

from django.http import QueryDict

from apps.labs.models import Lab
from apps.lib.reader_base import base
from apps.lib.units import size
from apps.runs import workload
from apps.runs.forms import JobForm, JobForms, RunForm, offered_targets, place_error, place_sentence, spec_of
from apps.runs.models import Run
from apps.runs.sizes import spelled
from apps.runs.start import start_runs
from apps.runs.workload import MAX_JOBS, WorkloadError

PREFIX = "jobs"
MAX_TEXT = 20_000
Jobs = list[dict[str, Any]]


class RunRequest:
    """`form` and `jobs` bound to `data`, or empty. `spec` is checked, or None with the errors placed on the fields."""

    def __init__(
        self,
        lab: Lab,
        data: QueryDict | None,
        target: str | None = None,
        like: Run | None = None,
        jobs: Jobs | None = None,
    ) -> None:
        self.lab = lab
        self.act = data.get("act", "review") if data else ""
        self.is_judged = bool(data) and self.act in ("review", "start")
        given = _edited(data, self.act) if data else None
        before = like.workload.jobs if like and like.workload else jobs
        self.form = RunForm(lab, given, initial={"target": like.target_id if like else target})
        self.jobs: Any = JobForms(given, prefix=PREFIX, initial=[_typed(job) for job in before] if before else None)

    @cached_property
    def is_valid(self) -> bool:
        return bool(self.form.is_valid() & self.jobs.is_valid())

    @cached_property
    def spec(self) -> dict[str, Any] | None:
        if not self.is_judged or not self.is_valid:
            return None
        try:
            spec = workload.checked(spec_of(self.jobs))
        except WorkloadError as error:
            place_error(error, self.form, self.jobs)
            return None
        return spec if self._fits(spec) else None

    def _fits(self, spec: dict[str, Any]) -> bool:
        """Into what the host lets files take, where it has said so: it would refuse them, and a person would have waited for it."""
        agent = getattr(self.form.cleaned_data["target"].host, "agent", None)
        needed, quota = workload.files_bytes(spec), agent.quota_bytes if agent else None
        if quota is None or needed <= quota:
            return True
        found, most = (size(value, base()) for value in (needed, quota))
        place_sentence(
            "file_size", f"{found} in all, expected at most {most} (this host's quota).", self.form, self.jobs
        )
        return False

    @property
    def is_refused(self) -> bool:
        return self.is_judged and (self.spec is None or bool(self.form.errors))

    def start(self, who: str) -> list[Run] | None:
        if self.spec is None:
            return None
        data = self.form.cleaned_data
        try:
            return start_runs(
                lab=self.lab, target=data["target"], spec=self.spec, repetitions=data["repetitions"], who=who
            )
        except WorkloadError as error:
            place_error(error, self.form, self.jobs)
            return None

    def context(self) -> dict[str, Any]:
        spec = self.spec
        return {
            "form": self.form,
            "jobs": self.jobs,
            "may_add": len(self.jobs.forms) < MAX_JOBS,
            "refused": self.is_refused,
            "has_targets": offered_targets(self.lab).exists(),
            **({"job_file": workload.job_file(spec), **self._forecast(spec)} if spec else {}),
        }

    def _forecast(self, spec: dict[str, Any]) -> dict[str, Any]:
        """How long it takes, and which jobs may measure memory instead of the disk."""
        if not {"target", "repetitions"} <= self.form.cleaned_data.keys():
            return {}  # the start was refused because of it
        target, repetitions = self.form.cleaned_data["target"], self.form.cleaned_data["repetitions"]
        seconds, ram = workload.planned_seconds(spec), target.host.ram_bytes
        cached = [
            job["name"]
            for job in spec["jobs"]
            if not job["direct"] and ram and job["file_size"] * job["numjobs"] <= ram
        ]
        return {
            "seconds": seconds * repetitions if seconds else None, "cached": cached, "ram": ram, "target": target,
            "repetitions": repetitions,
        }  # fmt: skip


def jobs_in_address(text: str) -> Jobs | None:
    """Jobs that another page offers, as JSON; only what the form asks for, and nothing where it is anything else."""
    try:
        found = json.loads(text) if len(text) <= MAX_TEXT else None
    except ValueError:
        return None
    if not isinstance(found, list) or not all(isinstance(job, dict) for job in found):
        return None
    known = JobForm.base_fields
    return [
        {name: job[name] for name in known if isinstance(job.get(name), str | int)} for job in found[:MAX_JOBS]
    ] or None


def _typed(job: dict[str, Any]) -> dict[str, Any]:
    """A job of a former run as a person would type it."""
    sizes = {name: job[name] for name in ("block_size", "file_size") if name in job}
    return {**job, **{name: spelled(size) if isinstance(size, int) else size for name, size in sizes.items()}}


def _edited(data: QueryDict, act: str) -> QueryDict:
    """The data with one job added (a copy of the last one) or removed, as the buttons of the form say."""
    total = data.get(f"{PREFIX}-TOTAL_FORMS", "1")
    count = min(int(total), MAX_JOBS) if total.isdigit() else 1
    edited = data.copy()
    if act == "add" and count < MAX_JOBS:
        _copy_job(edited, count - 1, count)
        edited[f"{PREFIX}-TOTAL_FORMS"] = str(count + 1)
    number = act.removeprefix("remove-")
    if number.isdigit() and int(number) < count and count > 1:
        for index in range(int(number), count - 1):
            _copy_job(edited, index + 1, index)
        edited[f"{PREFIX}-TOTAL_FORMS"] = str(count - 1)
    return edited


def _copy_job(data: QueryDict, source: int, to: int) -> None:
    for field in JobForm.base_fields:
        key = f"{PREFIX}-{source}-{field}"
        if key in data:
            data[f"{PREFIX}-{to}-{field}"] = str(data[key])
        else:
            data.pop(f"{PREFIX}-{to}-{field}", None)
