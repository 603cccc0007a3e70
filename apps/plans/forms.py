"""The form of a new plan (targets, a preset with its values, repetitions, order and guards), and that of its start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import forms
from django.http import QueryDict

from apps.comparison.like_for_like.selection import QuestionReference, parse_reference
from apps.comparison.question import QuestionError
from apps.core.forms import SiteForm, dress, make_minutes_field
from apps.labs.models import Lab
from apps.notifications.models import Destination
from apps.plans.models import Execution, GuardFailure, execution_of
from apps.plans.notices.recipients import find_chosen
from apps.plans.plan_request import (
    PlanPoints,
    PlanRequest,
    find_preset,
    read_jobs,
    read_patterns,
    read_question,
    refuse_values,
    vary_jobs,
    vary_preset,
    vary_run,
)
from apps.plans.point_variation import ELSEWHERE, read_plan_options
from apps.plans.presets import BY_NAME, PRESETS, saturation
from apps.plans.published_procedure import REPORT, find_procedures, repeat, usual_guards, usual_order, usual_rule
from apps.plans.run_procedure import PREFIX, find_run
from apps.plans.services import MOST_RETRIES
from apps.runs.fio_options import OPTIONS, FioOption, OneOf, OptionGroup, YesOrNo
from apps.runs.forms import HostTargets, TargetsField, offered_targets, targets_by_host
from apps.runs.host_guards import LONGEST_WAIT
from apps.runs.host_guards.forms import (
    GuardLine,
    GuardQuestion,
    add_guard_fields,
    initial_of_fields,
    list_guards,
    read_guard,
)
from apps.runs.models import SavedWorkload
from apps.runs.start.details import make_time_limit_field
from apps.runs.start.job_file import LONGEST_JOB_FILE
from apps.runs.start.option_lists import LONGEST_LIST, separator_of
from apps.runs.start.value_ranges import SEMICOLON
from apps.runs.states import Priority
from apps.studies.models import Plan, Study
from apps.studies.plans.guards import HOST_PARAMETERS, KINDS, parameters_for
from apps.studies.plans.problems import PlanError
from apps.studies.plans.saturation.forms import SaturationFields
from apps.studies.plans.schema import LONGEST_TYPED_NOTES, MOST_ROWS
from apps.studies.plans.stopping_rule import MOST_ROUNDS

USUAL = "usual"
SAVED = "workload-"  # before the id of a saved workload
JOB_FILE = "job-file"
# The field of the form that a field of the plan's points was made from.
FIELD_OF_POINT = {
    "file_size": "file_sizes", "ram_multiple": "file_sizes", "block_size": "block_sizes", "iodepth": "iodepths",
    "threads": "numjobs", "numjobs": "numjobs", "rw": "patterns",
}  # fmt: skip
ORDERS = [
    ("interleaved", "interleaved: a disturbance hits every target and not only one"),
    ("randomized", "randomized, by a stored seed"),
    ("sequential", "sequential: one target after the other"),
]
OPTION = "option_"  # before the name of an option of fio
USUAL_OPTIONS = "Engine, sync, warm-up and mix"  # the group of those that every job has
# What the form asks for in inputs of its own.
OWN_INPUTS = {*ELSEWHERE, "runtime", "direct"}
WAYS = {"direct": [True], "buffered": [False], "both": [True, False]}
DIRECT = [
    ("", "as the procedure has it"),
    ("direct", "direct I/O (bypass page cache)"),
    ("buffered", "through the page cache"),
    ("both", "both"),
]
RULES = [
    (USUAL, "as usual for the procedure"),
    ("fixed", "a fixed number of rounds"),
    ("half_width", "until the 95 % interval is narrow enough"),
    ("steady_state", "until the steady state of the SNIA performance test"),
]


def guard_questions(written: Sequence[Mapping[str, Any]] = ()) -> list[GuardQuestion]:
    """Return what the form asks about each guard. `written`: those of a report, whose numbers are in the sentences."""
    numbers = {guard["kind"]: guard for guard in written}  # such as 4 × RAM
    return [
        GuardQuestion(
            kind, guard.label, guard.sentence({"factor": 2, **numbers.get(kind, {})}), parameters_for(kind),
            wait=kind in HOST_PARAMETERS, is_statement=guard.is_statement,
        )
        for kind, guard in KINDS.items()
    ]  # fmt: skip


def initial_of_guards(written: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the fields of guards begin with, of guards as they are written."""
    initial: dict[str, Any] = {}
    for guard in written:
        initial |= initial_of_fields(guard["kind"], guard, parameters_for(guard["kind"]))
    return initial


def list_field(option: FioOption) -> forms.CharField:
    """Return the input for the values of an option; what they may be is checked when the plan is made."""
    label = option.label if option.name in option.label else f"{option.label} ({option.name})"
    return forms.CharField(required=False, max_length=LONGEST_LIST, label=label, help_text=hint_of(option))


def hint_of(option: FioOption) -> str:
    """Return what can be typed for an option, with the separator where that is not the comma."""
    kind = option.kind
    if isinstance(kind, OneOf):
        return ", ".join(kind.words)
    if isinstance(kind, YesOrNo):
        return ", ".join(filter(None, ["yes, no", option.help]))
    if separator_of(option) == SEMICOLON:
        return f"{option.help}{' · ' if option.help else ''}several values: with ; between them"
    return option.help


LISTED_OPTIONS = [option for option in OPTIONS if option.name not in OWN_INPUTS]


@dataclass(frozen=True)
class OptionInputs:
    """The inputs of a group of options; `is_set`: one of them is filled in or wrong."""

    label: str
    inputs: list[forms.BoundField]
    is_set: bool


def make_recipients_field(lab: Lab, label: str) -> Any:
    """Return the boxes of a lab's notification channels."""
    return forms.ModelMultipleChoiceField(
        queryset=Destination.objects.filter(lab=lab), required=False, label=label, widget=forms.CheckboxSelectMultiple
    )


class RecipientsForm(SiteForm):
    """Who is told what becomes of a plan."""

    def __init__(self, plan: Plan, data: QueryDict | None = None, actor: str = "", **options: Any) -> None:
        super().__init__(data, initial={"recipients": find_chosen(plan, actor), **options})
        self.fields["recipients"] = make_recipients_field(
            plan.study.lab, "Notify when it pauses itself, is done or does not begin"
        )
        dress(self)

    @property
    def recipients(self) -> list[int]:
        """Return the ids of the chosen channels. After `is_valid`."""
        return [channel.pk for channel in self.cleaned_data["recipients"]]


class RetriesField(forms.IntegerField):
    """A whole number, whose error says what was found: it is shown above the page and not beside its field."""

    def to_python(self, value: Any) -> int | None:
        try:
            return super().to_python(value)
        except forms.ValidationError:
            raise forms.ValidationError(f"found {str(value)[:40]!r}, expected a whole number.") from None


class StartForm(RecipientsForm):
    """How a plan is started. What is left out of it, as by a plan without guards, is as before."""

    retries = RetriesField(required=False, min_value=0, max_value=MOST_RETRIES, label="Retries of a failed step")
    guard_wait = make_minutes_field(
        required=False, min_value=0, max_value=LONGEST_WAIT / 60, label="Wait for guards, min"
    )
    guard_failure = forms.ChoiceField(required=False, choices=GuardFailure.choices, label="then")
    asks_recipients = forms.BooleanField(required=False, initial=True, widget=forms.HiddenInput)

    def __init__(self, plan: Plan, data: QueryDict | None = None, actor: str = "") -> None:
        execution = execution_of(plan) or Execution()
        names = ("retries", "guard_wait", "guard_failure")
        super().__init__(plan, data, actor, **{name: getattr(execution, name) for name in names})
        for name in names:
            attributes: Any = self.fields[name].widget.attrs
            attributes["class"] += f" {attributes['class']}-sm"

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of `start_plan`. After `is_valid`."""
        typed = self.cleaned_data
        return {
            "retries": typed["retries"] or 0, "guard_wait": typed["guard_wait"],
            "guard_failure": typed["guard_failure"] or None,
            "recipients": self.recipients if typed["asks_recipients"] else None,
        }  # fmt: skip


class SameStudyError(PlanError):
    """A new study was asked for, and the lab has one of the same title."""

    words = "A study of this title is there already, and is chosen now. Write the plan into it, or change the title."


class NewPlanForm(SaturationFields):
    title = forms.CharField(max_length=200, label="Title", help_text="what you want to know, in a few words")
    study: Any = forms.ModelChoiceField(
        queryset=None, required=False, label="Study", empty_label="a new study of this title",
        help_text="a study can hold several plans",
    )  # fmt: skip
    targets: Any = TargetsField(
        queryset=None, label="Targets", widget=forms.CheckboxSelectMultiple,
        help_text="each is one row of the matrix; hosts work side by side",
    )  # fmt: skip
    preset = forms.ChoiceField(label="Procedure")
    job_file = forms.CharField(
        required=False, max_length=LONGEST_JOB_FILE, strip=False, label="fio job file",
        widget=forms.Textarea(attrs={"rows": 4, "class": "form-control mono", "spellcheck": "false"}),
        help_text="for the procedure of this name; jobs that run at the same time are one point, and what it does not say has fio's default",
    )  # fmt: skip
    is_scaled = forms.BooleanField(
        required=False, label="for a report: file sizes as the same multiples of RAM, not in bytes"
    )
    file_sizes = forms.CharField(
        required=False, max_length=300, label="File sizes", help_text="4g · 1g..64g · 0.5x, 1x, 2x, 4x RAM"
    )
    patterns = forms.CharField(
        required=False, max_length=100, label="Patterns", help_text="read, write, randread, randwrite, rw, randrw"
    )
    block_sizes = forms.CharField(required=False, max_length=300, label="Block sizes", help_text="4k..1m · 4k, 64k, 1m")
    iodepths = forms.CharField(required=False, max_length=300, label="Queue depths", help_text="1,2,4..256")
    numjobs = forms.CharField(required=False, max_length=300, label="Parallel jobs (numjobs)", help_text="1,2,4")
    direct = forms.ChoiceField(required=False, label="Page cache", choices=DIRECT)
    runtime = forms.CharField(
        required=False,
        max_length=LONGEST_LIST,
        label="Runtime, s",
        help_text="of each run: 30 · 30, 60 · 10..60 step 10",
    )
    kind = forms.ChoiceField(choices=RULES, label="Repetitions")
    rounds = forms.IntegerField(
        min_value=1,
        max_value=MOST_ROUNDS,
        initial=5,
        label="Rounds",
        help_text="the most, where a rule decides; not used where as usual",
    )
    percent = forms.FloatField(
        min_value=0.1, max_value=50, initial=2, label="Half width, %", help_text="for a narrow interval"
    )
    order = forms.ChoiceField(choices=ORDERS, label="Order")
    priority = forms.ChoiceField(
        choices=[(word.label, word.label) for word in Priority], initial=Priority.NORMAL.label, label="Priority",
        required=False, help_text="of its runs among all that wait for their host",
    )  # fmt: skip
    time_limit = make_time_limit_field()
    guards = forms.MultipleChoiceField(
        required=False, label="Guards", widget=forms.CheckboxSelectMultiple,
        choices=[(question.kind, f"{question.label}: {question.sentence}") for question in guard_questions()],
        initial=["idle", "array_settled", "space"],
        help_text="what shall hold before a step; each run shows what was found. A required guard is waited for, and a "
        "run without it does not count; what is not required is looked at and noted",
    )  # fmt: skip
    question = forms.CharField(required=False, max_length=1000, widget=forms.HiddenInput)
    notes = forms.CharField(
        required=False, max_length=LONGEST_TYPED_NOTES, label="Notes", widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= {f"{OPTION}{option.name}": list_field(option) for option in LISTED_OPTIONS}
        dress(self)
        self.lab = lab
        self.questions = guard_questions()
        add_guard_fields(self, self.questions)
        fields: Any = self.fields
        fields["targets"].queryset = offered_targets(lab)
        fields["study"].queryset = Study.objects.filter(lab=lab)
        self._choose_same_study()
        self.run = find_run(str(self.data.get("preset") or self.initial.get("preset") or ""))
        self.procedures = {f"{REPORT}{plan.pk}": plan for plan in find_procedures()}
        self._take_usual(str(self.initial.get("preset") or PRESETS[0].name))
        self.saved = {
            f"{SAVED}{row.pk}": row for row in SavedWorkload.objects.filter(lab=lab).select_related("workload")
        }
        fields["preset"].choices = [
            *([("A run", [(f"{PREFIX}{self.run.pk}", f"as run {self.run.pk}, with its job")])] if self.run else []),
            ("Procedures by name", [(preset.name, preset.title) for preset in PRESETS]),
            *([("Published reports", [(key, f"{plan.study}: {plan.title}") for key, plan in self.procedures.items()])]
              if self.procedures else []),
            *([("Saved workloads", [(key, row.name) for key, row in self.saved.items()])] if self.saved else []),
            ("Job files", [(JOB_FILE, "a fio job file, pasted below")]),
        ]  # fmt: skip

    def _take_usual(self, procedure: str) -> None:
        """Begin with the order and the guards of a procedure, and say its guards with its own numbers, such as 4 × RAM."""
        report, preset = self.procedures.get(procedure), BY_NAME.get(procedure)
        guards = self._usual_guards(procedure)
        if report or preset:
            order = usual_order(report) if report else ORDERS[0][0]
            own = {"order": order, "guards": [guard["kind"] for guard in guards], **initial_of_guards(guards)}
            self.initial = {**own, **self.initial}
        self.questions = guard_questions(guards)

    def _usual_guards(self, procedure: str) -> list[dict[str, Any]]:
        """Return the guards that belong to a procedure; none of a run or a saved workload."""
        if report := self.procedures.get(procedure):
            return usual_guards(report)
        return [dict(guard) for guard in BY_NAME[procedure].guards] if procedure in BY_NAME else []

    def _choose_same_study(self) -> None:
        """Begin with the lab's study of the title that another page gives, so that no second one is made of that name."""
        title = str(self.initial.get("title") or "").strip()
        self.same_study = self.find_same_study(title) if title and not self.initial.get("study") else None
        if self.same_study:
            self.initial = {**self.initial, "study": self.same_study.pk}

    def find_same_study(self, title: str) -> Study | None:
        """Return the newest study of the lab that has this title."""
        found: Study | None = (
            Study.objects.filter(lab=self.lab, title__iexact=title.strip()[:200]).order_by("-pk").first()
        )
        return found

    @property
    def same_plans(self) -> list[Plan]:
        """Return the first plans of the study that has the title."""
        return list(self.same_study.plans.order_by("pk")[:3]) if self.same_study else []

    def refuse_same_study(self) -> None:
        """Choose the study that has the typed title where a new one was asked for.

        Raises:
            SameStudyError: There is one: the person decides once more.
        """
        same = None if self.cleaned_data["study"] else self.find_same_study(self.cleaned_data["title"])
        if same is None:
            return
        typed: Any = self.data
        data = typed.copy()
        data["study"] = str(same.pk)
        self.data = data
        raise SameStudyError("study", "a new study", "the one of this title")

    @property
    def question_reference(self) -> QuestionReference | None:
        """Return the question of Compare that the plan is made for."""
        try:
            return parse_reference(str(self["question"].value() or "")) if self["question"].value() else None
        except QuestionError:
            return None

    @property
    def has_targets(self) -> bool:
        fields: Any = self.fields
        return bool(fields["targets"].queryset.exists())

    @cached_property
    def target_hosts(self) -> list[HostTargets]:
        """Return the boxes of the targets by host, in the order of the hosts' names."""
        return targets_by_host(self["targets"])

    @cached_property
    def option_groups(self) -> list[OptionInputs]:
        """Return the inputs of fio's options by group, the usual ones first."""
        of_group: dict[str, list[forms.BoundField]] = {
            label: [] for label in (USUAL_OPTIONS, *(group.value for group in OptionGroup))
        }
        for option in LISTED_OPTIONS:
            group = option.group.value if option.group else USUAL_OPTIONS
            of_group[group].append(self[f"{OPTION}{option.name}"])
        return [
            OptionInputs(label, inputs, any(field.errors or field.value() for field in inputs))
            for label, inputs in of_group.items()
        ]

    @property
    def options_count(self) -> int:
        """Return how many of fio's options are filled in."""
        return sum(bool(field.value()) for group in self.option_groups for field in group.inputs)

    def options(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what was typed with one runtime at most, and the values of fio's options. Raises `PlanError`."""
        typed = dict(self.cleaned_data)
        given: dict[str, Any] = {
            option.name: text for option in LISTED_OPTIONS if (text := typed.get(f"{OPTION}{option.name}"))
        }
        if typed["direct"]:
            given["direct"] = WAYS[typed["direct"]]
        if typed["runtime"]:
            given["runtime"] = typed["runtime"]
        options = read_plan_options(given)
        typed["runtime"] = None
        if len(options.get("runtime", ())) == 1:
            typed["runtime"] = options.pop("runtime")[0]
        return typed, options

    def clean_targets(self) -> Any:
        targets = self.cleaned_data["targets"]
        if len(targets) > MOST_ROWS:
            raise forms.ValidationError(
                f"Found {len(targets):,} targets, expected at most {MOST_ROWS:,}: they are the rows of the plan's matrix."
            )
        return targets

    def stopping(self, report: Plan | None) -> dict[str, Any]:
        """Return the stopping rule as `apps.studies.plans.schema` reads it. Raises `PlanError`."""
        typed = self.cleaned_data
        if typed["preset"] == saturation.PRESET.name:
            return self._saturation()
        if typed["bound_ms"] or typed["least_points"]:
            name = "bound_ms" if typed["bound_ms"] else "least_points"
            raise PlanError(name, typed[name], f"nothing: only {saturation.PRESET.title} has a bound")
        if typed["kind"] == USUAL:
            if typed["preset"].startswith(PREFIX) or typed["preset"] in (*self.saved, JOB_FILE):
                return {"kind": "fixed", "rounds": 5}
            return usual_rule(report) if report else dict(find_preset(typed["preset"]).rule)
        most = max(3, typed["rounds"])
        return {
            "fixed": {"kind": "fixed", "rounds": typed["rounds"]},
            "half_width": {
                "kind": "half_width", "percent": typed["percent"], "at_least": min(3, most), "at_most": most
            },
            "steady_state": {"kind": "steady_state", "window": 5, "at_most": max(5, typed["rounds"])},
        }[typed["kind"]]  # fmt: skip

    def _saturation(self) -> dict[str, Any]:
        """Return the rule of a search for saturation: the preset's with what was typed."""
        typed = self.cleaned_data
        if typed["kind"] not in (USUAL, "fixed"):
            raise PlanError("kind", typed["kind"], "a fixed number of rounds for each point of a search")
        return {**saturation.PRESET.rule, **self.saturation} | (
            {"rounds": typed["rounds"]} if typed["kind"] == "fixed" else {}
        )

    def request(self, seed: int, preparations: Sequence[Mapping[str, Any]] = ()) -> PlanRequest:
        """Return the plan that is asked for. Raises `PlanError`."""
        typed, options = self.options()
        report = self.procedures.get(typed["preset"])
        of_procedure = {guard["kind"]: guard for guard in self._usual_guards(typed["preset"])}
        guards = [
            self._guard(question, of_procedure.get(question.kind))
            for question in self.questions
            if question.kind in typed["guards"]
        ]
        found = self._points(typed, options, report)
        notes = "\n".join(filter(None, [typed["notes"], *found.remarks]))
        return PlanRequest(
            lab=self.lab, title=typed["title"], targets=list(typed["targets"]), points=found.points,
            stopping=self.stopping(report), guards=guards, order=typed["order"],
            seed=seed if typed["order"] == "randomized" else None, notes=notes, study=typed["study"], repeats=report,
            preparations=preparations, priority=Priority.find(typed["priority"]) or Priority.NORMAL,
            time_limit=typed["time_limit"], question=read_question(typed["question"]),
        )  # fmt: skip

    def _guard(self, question: GuardQuestion, written: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a wanted guard as `apps.studies.plans.schema` reads it."""
        guard = read_guard(self.cleaned_data, question, written)
        return {"factor": 2, **guard} if question.kind == "cache_rule" else guard

    @property
    def guard_lines(self) -> list[GuardLine]:
        """Return the guards with the fields of their numbers."""
        return list_guards(self, "guards", self.questions)

    def _points(self, typed: Mapping[str, Any], options: dict[str, Any], report: Plan | None) -> PlanPoints:
        """Return the points of the chosen procedure. Raises `PlanError`."""
        if typed["preset"] == JOB_FILE:
            return vary_jobs(read_jobs(typed["job_file"]), typed, options)
        if typed["job_file"].strip():
            raise PlanError("job_file", "a job file", "none, unless the procedure is a fio job file")
        if typed["preset"].startswith(PREFIX) and self.run:
            return vary_run(self.run, typed, options)
        if report:
            refuse_values(typed, "a report's procedure", ("patterns",), options)
            procedure = repeat(report, is_scaled=typed["is_scaled"], operations=read_patterns(typed["patterns"]))
            return PlanPoints(procedure.points, procedure.remarks)
        if saved := self.saved.get(typed["preset"]):
            return vary_jobs(saved.jobs, typed, options)
        return vary_preset(find_preset(typed["preset"]), typed, options)

    def place_error(self, error: PlanError) -> None:
        """Put an error on the field that it is about, or at the top of the form."""
        if isinstance(error, SameStudyError):
            self.add_error("study", SameStudyError.words)
            return
        last = error.field.rpartition(".")[2]
        name = f"{OPTION}{last}" if f"{OPTION}{last}" in self.fields else FIELD_OF_POINT.get(last, error.field)
        name = last if last in ("runtime", "direct") else name
        if name in self.fields:
            self.add_error(name, f"Found {error.found!r}, expected {error.expected}.")
        else:
            self.add_error(None, f"{error}.")
