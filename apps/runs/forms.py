"""The form that starts runs: targets and one or more fio jobs, with sizes as people type them (`4k`, `1 GiB`)."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from django import forms
from django.db import transaction
from django.forms import BaseFormSet, formset_factory
from django.http import QueryDict

from apps.core.forms import SiteForm
from apps.core.quantities import parse_size
from apps.core.text import whole_number
from apps.core.unit_base import base
from apps.core.units import size
from apps.inventory.models import Host, Target
from apps.inventory.target_identity import words_of
from apps.labs.models import Lab
from apps.runs import workload
from apps.runs.fio_options import (
    BY_NAME,
    MORE,
    OPTIONS,
    ByteSize,
    FioOption,
    FormSection,
    OneOf,
    OptionGroup,
    OptionKind,
    WholeNumber,
    YesOrNo,
    options_in,
    options_of,
)
from apps.runs.models import Run, SavedWorkload
from apps.runs.services import (
    MAX_REPETITIONS,
    MAX_TARGETS,
    QuotaError,
    check_host_limits,
    check_quota,
    start_on_targets,
)
from apps.runs.start.details import RunDetailsForm
from apps.runs.start.job_file import JobFileError, JobFileProblem, read_job_file
from apps.runs.start.option_lists import Values, parse_lines, read_options, vary_workload
from apps.runs.start.repeat import JobTemplate, template_of
from apps.runs.start.saved_workloads import save_workload
from apps.runs.workload import MAX_JOBS, WorkloadError


class SizeField(forms.CharField):
    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return parse_size(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


class TargetsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Any) -> str:
        filesystem = words_of(obj.lies_on) or (str(obj.filesystem) if obj.filesystem else "")
        return ", ".join(filter(None, [str(obj), filesystem]))


@dataclass(frozen=True)
class HostTargets:
    """The boxes of one host's targets."""

    host: Host
    boxes: list[Any]


def targets_by_host(boxes: Iterable[Any]) -> list[HostTargets]:
    """Return the boxes of a field of targets by host, in the order of the boxes."""
    of_host: dict[Host, list[Any]] = defaultdict(list)
    for box in boxes:
        target: Target = box.data["value"].instance
        of_host[target.host].append(box)
    return [HostTargets(host, found) for host, found in of_host.items()]


class RunForm(SiteForm):
    target = TargetsField(
        queryset=None,
        label="Targets",
        widget=forms.CheckboxSelectMultiple,
        help_text="of one host or of several; each host runs one after another",
        error_messages={"required": "Choose at least one target."},
    )
    repetitions = forms.IntegerField(
        min_value=1, max_value=MAX_REPETITIONS, initial=3, help_text="three or more give an interval"
    )
    options = forms.CharField(
        required=False,
        max_length=2000,
        label="Options with several values",
        widget=forms.Textarea(attrs={"rows": 3, "class": "form-control mono", "spellcheck": "false",
                                     "placeholder": "iodepth = 1, 2, 4..64\nioengine = libaio, io_uring"}),
        help_text="One option a line. All jobs get each combination of the values, which is a run of its own. Numbers may "
        "have ranges: 1,2,4..64 doubles, 10..50 step 10 adds. Where a comma is part of fio's own value only a semicolon "
        "separates values: rate = 1m; 1m,2m.",
    )  # fmt: skip

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        target: Any = self.fields["target"]
        target.queryset = offered_targets(lab)
        if not self.initial.get("target") and len(only := list(target.queryset[:2])) == 1:
            self.initial["target"] = [only[0].pk]

    def clean_options(self) -> Values:
        """Return the values of each option that a line names."""
        try:
            return read_options(parse_lines(self.cleaned_data["options"]))
        except WorkloadError as error:
            raise forms.ValidationError(f"{error}.") from None

    @cached_property
    def target_hosts(self) -> list[HostTargets]:
        return targets_by_host(self["target"])

    def clean_target(self) -> list[Target]:
        """Return the chosen targets, by host and name."""
        targets = list(self.cleaned_data["target"])
        if len(targets) > MAX_TARGETS:
            raise forms.ValidationError(f"Found {len(targets)} targets, expected at most {MAX_TARGETS}.")
        return targets


def offered_targets(lab: Lab) -> Any:
    """Return the directories that the lab's agents offer as targets."""
    targets = Target.objects.filter(lab=lab, is_agents_own=True).select_related("host__agent", "filesystem")
    return targets.order_by("host__name", "name")


class OptionField(forms.CharField):
    """An option as a job file spells it, such as `4k/60:64k/40`."""

    def __init__(self, kind: OptionKind, **options: Any) -> None:
        super().__init__(**options)
        self.kind = kind

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return self.kind.read(text)
        except ValueError as error:
            raise forms.ValidationError(f"Found {text[:80]!r}, expected {error}.") from None


YES, NO = "yes", "no"


def field_of(option: FioOption) -> forms.Field:
    """Return the form's field for an option; what is beyond its limits is named by `workload.checked`."""
    common: dict[str, Any] = {"label": option.label, "help_text": option.help, "initial": option.initial}
    kind = option.kind
    if option.section is FormSection.RARE:
        return _rare_field(option, {**common, "required": False})
    if isinstance(kind, ByteSize):
        return SizeField(**common)
    if isinstance(kind, OneOf):
        return forms.ChoiceField(choices=list(kind.words.items()), **common)
    if isinstance(kind, WholeNumber):
        may_be_empty = option.section is MORE or kind.is_optional
        return forms.IntegerField(min_value=kind.low, required=not may_be_empty, **common)
    return forms.BooleanField(required=False, **common)


def _rare_field(option: FioOption, common: dict[str, Any]) -> forms.Field:
    """Return a field that is empty where the option is at its default."""
    kind = option.kind
    if isinstance(kind, ByteSize):
        return SizeField(**common)
    if isinstance(kind, YesOrNo):
        usual = {None: "default", True: "default (yes)", False: "default (no)"}[option.default]  # type: ignore[index]
        choices = [("", usual), (YES, YES), (NO, NO)]
        return forms.TypedChoiceField(choices=choices, coerce=YES.__eq__, empty_value=None, **common)
    if isinstance(kind, OneOf):
        usual = f"default ({kind.words[option.default]})" if isinstance(option.default, str) else "default"
        return forms.TypedChoiceField(choices=[("", usual), *kind.words.items()], empty_value=None, **common)
    return OptionField(kind, **common)


class JobFields(SiteForm):
    """The options of a job. Its fields are made from `fio_options.OPTIONS`."""

    @property
    def sections(self) -> dict[str, list[forms.BoundField]]:
        """Return the inputs by section: main, checks, more."""
        return {
            section.value: [self[option.name] for option in options_in(section)]
            for section in FormSection
            if section is not FormSection.RARE
        }

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """Return the rare options by group, and whether one of the group is set or wrong."""
        groups = [(group.value, [self[option.name] for option in options_of(group)]) for group in OptionGroup]
        return [
            (label, fields, any(field.errors or field.value() not in ("", None) for field in fields))
            for label, fields in groups
        ]

    @property
    def has_errors_in_more(self) -> bool:
        return any(option.name in self.errors for option in options_in(MORE))

    @property
    def begins_after_others(self) -> bool:
        """Return whether the job waits for those above it to end."""
        return bool(self["stonewall"].value() != NO)

    @property
    def rare_count(self) -> int:
        """Return how many of the rare options are set."""
        return sum(self[option.name].value() not in ("", None) for option in options_in(FormSection.RARE))

    def spec(self) -> dict[str, Any]:
        """Return the job as `apps.runs.workload` expects it; empty fields get their defaults there."""
        data = self.cleaned_data
        return {name: value for name, value in data.items() if name in self.fields and value is not None} | {
            "time_based": bool(data["time_based"] and data["runtime"])
        }


JobForm: type[JobFields] = type(
    "JobForm", (JobFields,), {option.name: field_of(option) for option in OPTIONS if option.section}
)


JobForms = formset_factory(JobForm, extra=0, min_num=1, validate_min=True, max_num=MAX_JOBS, validate_max=True)
Jobs: TypeAlias = "BaseFormSet[JobFields]"


def spec_of(jobs: Jobs) -> dict[str, Any]:
    return {"tool": "fio", "jobs": [form.spec() for form in jobs]}


def place_sentence(field: str, sentence: str, form: RunForm, jobs: Jobs) -> None:
    """Add an error about all jobs to the field of the only job, or to the whole form."""
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


PREFIX = "jobs"
IMPORT, USE, SAVE = "import", "use", "save"
MAX_TEXT = 20_000
host_reports: list[
    Callable[[Lab], dict[str, Any]]
] = []  # what other apps know of the hosts: `hosts_waiting`, `host_notes`
JobSpecs = list[dict[str, Any]]


class RunRequest:
    """`form` and `jobs` bound to `data`, or empty. `spec` is checked, or None with the errors placed on the fields."""

    def __init__(
        self,
        lab: Lab,
        data: QueryDict | None,
        targets: Sequence[str] = (),
        like: Run | None = None,
        jobs: JobSpecs | None = None,
    ) -> None:
        self.lab = lab
        self.act = data.get("act", "review") if data else ""
        self.is_judged = bool(data) and self.act in ("review", "start", SAVE)
        self.name = data.get("saved_name", "") if data else ""
        self.name_error = ""
        self.job_text = data.get("job_text", "") if data else ""
        self.job_problems: list[JobFileProblem] = []
        self.specs: list[dict[str, Any]] = []  # of `spec`, with each combination of the options
        given = self._edit(data) if data else None
        self.former, self.template = like, template_of(like) if like else JobTemplate()
        self.details = RunDetailsForm(lab, given, like)
        before = self.template.jobs or jobs
        self.form = RunForm(lab, given, initial={"target": [like.target_id] if like else list(targets)})
        self.jobs: Any = JobForms(given, prefix=PREFIX, initial=[typed_job(job) for job in before] if before else None)

    def _edit(self, data: QueryDict) -> QueryDict:
        """Return the form data as the pressed button changes it: a job more or less, or those of a job file."""
        if self.act == USE:
            saved = SavedWorkload.objects.filter(lab=self.lab, pk=whole_number(data.get("saved", "")) or 0).first()
            return _with_jobs(data, saved.jobs) if saved else data
        if self.act != IMPORT:
            return _edited(data, self.act)
        try:
            return _with_jobs(data, read_job_file(self.job_text)["jobs"])
        except JobFileError as error:
            self.job_problems = error.problems
            return data

    @property
    def is_imported(self) -> bool:
        """Return whether the jobs were just taken over from a job file."""
        return self.act == IMPORT and not self.job_problems

    @cached_property
    def is_valid(self) -> bool:
        return bool(self.form.is_valid() & self.jobs.is_valid() & self.details.is_valid())

    @cached_property
    def spec(self) -> dict[str, Any] | None:
        if not self.is_judged or not self.is_valid:
            return None
        try:
            spec = workload.checked(spec_of(self.jobs))
        except WorkloadError as error:
            place_error(error, self.form, self.jobs)
            return None
        return spec if self._vary(spec) else None

    def _vary(self, spec: dict[str, Any]) -> bool:
        """Make the workloads of all combinations; return whether all may run, and add an error if not."""
        try:
            self.specs = vary_workload(spec, self.form.cleaned_data["options"])
        except WorkloadError as error:
            self.form.add_error("options", f"{error}.")
            return False
        return all(map(self._fits, self.specs))

    def _fits(self, spec: dict[str, Any]) -> bool:
        """Return whether the hosts allow the run, and add an error if not: the host would refuse the run later."""
        try:
            for target in self.form.cleaned_data["target"]:
                check_quota(target, spec)
                check_host_limits(target, spec)
        except QuotaError as error:
            needed, most = (size(value, base()) for value in (error.needed, error.quota))
            several = f" for {target}" if len(self.form.cleaned_data["target"]) > 1 else ""
            sentence = f"{needed} in all, expected at most {most} (this host's quota{several})."
            place_sentence("file_size", sentence, self.form, self.jobs)
            return False
        except WorkloadError as error:
            sentence = f"Found {error.found!r}, expected {error.expected}."
            place_sentence(error.field, sentence, self.form, self.jobs)
            return False
        return True

    @property
    def is_refused(self) -> bool:
        return bool(self.job_problems or self.name_error) or (
            self.is_judged and (self.spec is None or bool(self.form.errors))
        )

    def start(self, who: str) -> list[Run] | None:
        if self.spec is None:
            return None
        data = self.form.cleaned_data
        try:
            self.details.check_targets(data["target"])
            with transaction.atomic():
                runs = start_on_targets(
                    data["target"], lab=self.lab, spec=self.spec, options=data["options"], repetitions=data["repetitions"], who=who,
                    is_numbered_on=self.former is not None, **self.details.start_options,
                )  # fmt: skip
                self.details.place(runs, who)
                return runs
        except WorkloadError as error:
            place_error(error, self.form, self.jobs)
            return None

    def save(self, who: str) -> SavedWorkload | None:
        """Keep the jobs of the form under the name that was typed; None where they or the name may not be."""
        if self.spec is None:
            return None
        try:
            return save_workload(self.lab, self.name, self.spec, who)
        except WorkloadError as error:
            self.name_error = f"Found {error.found!r}, expected {error.expected}."
            return None

    def context(self) -> dict[str, Any]:
        spec = self.spec
        return {
            "form": self.form,
            "jobs": self.jobs,
            "details": self.details,
            "former": self.former,
            "template": self.template,
            "may_add": len(self.jobs.forms) < MAX_JOBS,
            "job_text": self.job_text,
            "job_problems": self.job_problems,
            "is_imported": self.is_imported,
            "saved_workloads": SavedWorkload.objects.filter(lab=self.lab),
            "saved_name": self.name,
            "name_error": self.name_error,
            "refused": self.is_judged and self.is_refused,
            "has_targets": offered_targets(self.lab).exists(),
            **{name: value for report in host_reports for name, value in report(self.lab).items()},
            **({"job_file": workload.job_file(self.specs[0]), **self._forecast()} if spec else {}),
        }

    def _forecast(self) -> dict[str, Any]:
        """Return the expected duration, and the jobs that may measure memory instead of the disk."""
        if not {"target", "repetitions"} <= self.form.cleaned_data.keys():
            return {}  # the start was refused because of it
        targets, repetitions = self.form.cleaned_data["target"], self.form.cleaned_data["repetitions"]
        planned = [workload.planned_seconds(spec) for spec in self.specs]
        seconds = sum(filter(None, planned)) if all(planned) else None
        ram = max((target.host.ram_bytes or 0 for target in targets), default=0)
        on_busiest_host = max(Counter(target.host_id for target in targets).values(), default=1)
        cached = [job["name"] for spec in self.specs for job in spec["jobs"] if workload.may_be_cached(job, ram)]
        return {
            "seconds": seconds * repetitions * on_busiest_host if seconds else None, "ram": ram,
            "cached": list(dict.fromkeys(cached)), "chosen": targets, "combinations": len(self.specs),
            "runs_count": repetitions * len(targets) * len(self.specs),
        }  # fmt: skip


def jobs_in_address(text: str) -> JobSpecs | None:
    """Return the jobs of a JSON text that another page offers, with the form's fields only.

    The result is None if the text is anything else.
    """
    try:
        jobs = json.loads(text) if len(text) <= MAX_TEXT else None
    except ValueError:
        return None
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        return None
    known = JobForm.base_fields
    return [
        {name: job[name] for name in known if isinstance(job.get(name), str | int | float | list)}
        for job in jobs[:MAX_JOBS]
    ] or None


def typed_job(job: dict[str, Any]) -> dict[str, Any]:
    """Return a stored job as a person would type it into the form."""
    return {name: _typed(BY_NAME[name], value) if name in BY_NAME else value for name, value in job.items()}


def _typed(option: FioOption, value: Any) -> Any:
    if not option.kind.accepts(value) or value is None:
        return value  # of an older version, or what another page offers: the form says what is wrong with it
    if option.section is FormSection.RARE and value == option.default:
        return ""
    if isinstance(option.kind, YesOrNo) and option.section is FormSection.RARE:
        return YES if value else NO
    return option.kind.spell(value) if isinstance(option.kind, ByteSize) or option.is_rare else value


def _edited(data: QueryDict, act: str) -> QueryDict:
    """Return the form data with a job added (a copy of the last) or removed, as the pressed button says."""
    total = whole_number(data.get(f"{PREFIX}-TOTAL_FORMS", ""))
    count = 1 if total is None else min(total, MAX_JOBS)
    edited = data.copy()
    if act == "add" and count < MAX_JOBS:
        _copy_job(edited, count - 1, count)
        edited[f"{PREFIX}-TOTAL_FORMS"] = str(count + 1)
    number = whole_number(act.removeprefix("remove-"), most=count - 1)
    if number is not None and count > 1:
        for index in range(number, count - 1):
            _copy_job(edited, index + 1, index)
        edited[f"{PREFIX}-TOTAL_FORMS"] = str(count - 1)
    return edited


def _with_jobs(data: QueryDict, jobs: JobSpecs) -> QueryDict:
    """Return the form data with these jobs in place of those that it has."""
    edited = data.copy()
    for key in [key for key in edited if re.match(rf"{PREFIX}-\d+-", key)]:
        del edited[key]
    edited[f"{PREFIX}-TOTAL_FORMS"] = str(len(jobs))
    for number, job in enumerate(jobs):
        for name, value in typed_job(job).items():
            if name in JobForm.base_fields and value not in (None, "", False):
                edited[f"{PREFIX}-{number}-{name}"] = "on" if value is True else str(value)
    return edited


def _copy_job(data: QueryDict, source: int, to: int) -> None:
    for field in JobForm.base_fields:
        key = f"{PREFIX}-{source}-{field}"
        if key in data:
            data[f"{PREFIX}-{to}-{field}"] = str(data[key])
        else:
            data.pop(f"{PREFIX}-{to}-{field}", None)
