"""The start-a-run form: a target and one or more jobs, in fio's words, with sizes as people type them."""

import re
from typing import Any, TypeAlias

from django import forms
from django.forms import BaseFormSet, formset_factory

from apps.inventory.models import Target
from apps.labs.models import Lab
from apps.lib.forms import SiteForm
from apps.runs.sizes import parse_size
from apps.runs.start import MAX_REPETITIONS
from apps.runs.workload import ENGINES, MAX_JOBS, RW, SYNC, WorkloadError

PATTERNS = {
    "read": "sequential read", "write": "sequential write", "randread": "random read", "randwrite": "random write",
    "rw": "sequential mix", "randrw": "random mix",
}  # fmt: skip
SYNCS = {
    "none": "none", "fsync": "fsync after writes", "fdatasync": "fdatasync after writes", "dsync": "O_DSYNC",
    "sync": "O_SYNC",
}  # fmt: skip


class SizeField(forms.CharField):
    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return parse_size(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


class TargetField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj}, in maintenance: takes no new runs" if obj.host.is_in_maintenance else str(obj)


class RunForm(SiteForm):
    target = TargetField(queryset=None, label="Target", empty_label=None)
    repetitions = forms.IntegerField(
        min_value=1, max_value=MAX_REPETITIONS, initial=3, help_text="three or more give an interval"
    )

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        target: Any = self.fields["target"]
        target.queryset = offered_targets(lab)


def offered_targets(lab: Lab) -> Any:
    """The directories that the lab's agents offer."""
    return (
        Target.objects.filter(lab=lab, is_agents_own=True).select_related("host__agent").order_by("host__name", "name")
    )


class JobForm(SiteForm):
    rw = forms.ChoiceField(choices=[(word, PATTERNS[word]) for word in RW], label="Pattern", initial="randread")
    block_size = SizeField(initial="4k", label="Block size", help_text="bytes per call, 4k = 4096")
    file_size = SizeField(initial="1g", label="File size", help_text="beyond the RAM, or direct")
    iodepth = forms.IntegerField(initial=1, min_value=1, label="I/O depth", help_text="above 1: asynchronous engine")
    numjobs = forms.IntegerField(initial=1, min_value=1, label="Jobs side by side")
    ioengine = forms.ChoiceField(choices=[(word, word) for word in ENGINES], initial="psync", label="Engine")
    runtime = forms.IntegerField(
        initial=30, min_value=1, required=False, label="Time, s", help_text="empty: one pass over the file"
    )
    ramp_time = forms.IntegerField(initial=0, min_value=0, required=False, label="Warm-up, s", help_text="not counted")
    sync = forms.ChoiceField(choices=[(word, SYNCS[word]) for word in SYNC], label="Sync", initial="none")
    fsync_every = forms.IntegerField(
        initial=0, min_value=0, required=False, label="Sync after n writes", help_text="fsync and fdatasync only"
    )
    rwmixread = forms.IntegerField(min_value=0, max_value=100, required=False, label="Reads in the mix, %")
    randseed = forms.IntegerField(min_value=1, required=False, label="Random seed", help_text="empty: fio's own")
    time_based = forms.BooleanField(initial=True, required=False, label="go on until the time is up")
    direct = forms.BooleanField(initial=True, required=False, label="direct: round the page cache")
    end_fsync = forms.BooleanField(required=False, label="fsync at the end")

    def spec(self) -> dict[str, Any]:
        """The job as `apps.runs.workload` wants it; what was left empty keeps its default there."""
        data = self.cleaned_data
        return {name: value for name, value in data.items() if name in self.fields and value is not None} | {
            "time_based": bool(data["time_based"] and data["runtime"])
        }


JobForms = formset_factory(JobForm, extra=0, min_num=1, validate_min=True, max_num=MAX_JOBS, validate_max=True)
Jobs: TypeAlias = "BaseFormSet[JobForm]"


def spec_of(jobs: Jobs) -> dict[str, Any]:
    return {"tool": "fio", "jobs": [form.spec() for form in jobs]}


def place_sentence(field: str, sentence: str, form: RunForm, jobs: Jobs) -> None:
    """Of all jobs together: on the field of the only one, or at the top of the form."""
    if len(jobs.forms) == 1:
        jobs.forms[0].add_error(field, sentence)
    else:
        form.add_error(None, f"{field}: {sentence}")


def place_error(error: WorkloadError, form: RunForm, jobs: Jobs) -> None:
    """Put a workload's error on the field it is about, or at the top of the form."""
    where = re.fullmatch(r"jobs\[(\d+)\]\.(\w+)", error.field)
    sentence = f"Found {error.found!r}, expected {error.expected}."
    if where and int(where[1]) < len(jobs.forms) and where[2] in jobs.forms[int(where[1])].fields:
        jobs.forms[int(where[1])].add_error(where[2], sentence)
    elif error.field in form.fields:
        form.add_error(error.field, sentence)
    else:
        form.add_error(None, f"{error.field}: {sentence}")
