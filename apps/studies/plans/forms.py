"""Forms of a plan: its texts and stopping rule, its configurations, points and guards."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.text import slugify

from apps.core.forms import SiteForm, dress
from apps.core.quantities import parse_size, spell_size
from apps.parsers.fio.job_options.usual import ONE_AT_A_TIME
from apps.runs.fio_options import PATTERNS, SYNCS
from apps.runs.forms import SizeField
from apps.runs.host_guards.forms import initial_of, make_number_field, make_wait_field, read_numbers, without_usual
from apps.runs.start.details import make_time_limit_field
from apps.runs.workload import RW, SYNC
from apps.studies.models import Guard, Plan, PlanConfiguration, PlanPoint
from apps.studies.plans.guards import HOST_PARAMETERS, KINDS, parameters_for
from apps.studies.plans.order import ORDERS
from apps.studies.plans.saturation.forms import SaturationFields
from apps.studies.plans.schema import LONGEST_NOTES
from apps.studies.plans.stopping_rule import LABELS, MOST_ROUNDS

Data = dict[str, Any]
TIMES_RAM = re.compile(r"(\d+(?:\.\d+)?)\s*[x×*]\s*RAM", re.IGNORECASE)
RULE_FIELDS = {
    "fixed": ("rounds",), "half_width": ("percent", "confidence", "at_least", "at_most"), "steady_state": ("at_most",),
    "saturation": ("rounds",), "not_printed": (),
}  # fmt: skip
JOB_FIELDS = ("rw", "direct", "sync", "runtime")
MAIN_FIELDS = ("label", "file_size", "block_size", "threads", "iodepth", "rw", "sync", "runtime")


class PlanForm(SaturationFields):
    field_order = ("title", "order", "seed", "kind", "rounds", "percent", "confidence", "at_least", "at_most")
    title = forms.CharField(max_length=200, label="Title")
    order = forms.ChoiceField(label="Order", help_text="interleaved spreads a disturbance over all configurations")
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**53,
        label="Seed",
        help_text="for a randomized order; kept with the plan",
    )
    kind = forms.ChoiceField(label="Repetitions")
    rounds = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_ROUNDS, label="Rounds", initial=5, help_text="for a fixed number"
    )
    percent = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=50,
        label="Half width, %",
        initial=2,
        help_text="of the mean, for a confidence interval",
    )
    confidence = forms.FloatField(required=False, min_value=50, max_value=99.9, label="Confidence, %", initial=95)
    at_least = forms.IntegerField(
        required=False, min_value=3, max_value=MOST_ROUNDS, label="Rounds at least", initial=5
    )
    at_most = forms.IntegerField(
        required=False,
        min_value=3,
        max_value=MOST_ROUNDS,
        label="Rounds at most",
        initial=25,
        help_text="for rules that look at the values",
    )
    time_limit = make_time_limit_field()
    notes = forms.CharField(
        required=False, max_length=LONGEST_NOTES, label="Notes", widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, *args: Any, is_from_report: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: dict[str, dict[str, str]] = {"order": ORDERS, "kind": LABELS}
        for name, words in choices.items():
            field: Any = self.fields[name]
            # what is not printed can only be of a report: whoever plans decides
            field.choices = [(key, label) for key, label in words.items() if is_from_report or key != "not_printed"]

    def data_of(self, stored: Mapping[str, Any]) -> Data:
        """Return the plan's own part of what `plans.schema` checks.

        Args:
            stored: The rule that the plan has; the numbers that this form does not ask for stay as they are.
        """
        typed = self.cleaned_data
        is_same_kind = stored.get("kind") == typed["kind"]
        not_asked = {name: value for name, value in stored.items() if is_same_kind and name not in self.fields}
        rule = not_asked | {name: typed[name] for name in RULE_FIELDS[typed["kind"]] if typed[name] is not None}
        rule |= self.saturation if typed["kind"] == "saturation" else {}
        words = {name: typed[name] for name in ("title", "order", "seed", "notes")}
        return {**words, "time_limit": typed["time_limit"], "stopping": {**rule, "kind": typed["kind"]}}


class RowForm(SiteForm):
    name = forms.CharField(widget=forms.HiddenInput)
    configuration = forms.CharField(required=False, widget=forms.HiddenInput)
    is_included = forms.BooleanField(required=False, label="in the plan")
    largest_file_size = SizeField(required=False, label="Largest file", help_text="2000m; empty: no limit")
    limit_reason = forms.CharField(required=False, max_length=300, label="Why it ends there")

    def data_of(self, stored: PlanConfiguration | None) -> Data:
        typed = self.cleaned_data
        data = {"label": stored.own_label, "reason": stored.reason} if stored else {}
        return {
            **data,
            **{name: typed[name] for name in ("name", "configuration", "largest_file_size", "limit_reason")},
        }


class PointForm(SiteForm):
    name = forms.CharField(required=False, widget=forms.HiddenInput)
    label = forms.CharField(required=False, max_length=120, label="Label", help_text="empty: its sizes")
    file_size = forms.CharField(required=False, label="File size", help_text="1g, 100 MiB or 4 x RAM")
    block_size = SizeField(required=False, label="Block size", help_text="bytes per I/O, 4k = 4096")
    threads = forms.IntegerField(required=False, min_value=1, label="Parallel jobs (numjobs)")
    iodepth = forms.IntegerField(required=False, min_value=1, label="I/O depth")
    rw = forms.ChoiceField(
        required=False,
        choices=[("", "another tool"), *((word, PATTERNS[word]) for word in RW)],
        label="fio's pattern",
        initial="read",
    )
    direct = forms.BooleanField(required=False, initial=True, label="direct I/O (bypass page cache)")
    sync = forms.ChoiceField(
        required=False, choices=[(word, SYNCS[word]) for word in SYNC], label="Sync", initial="none"
    )
    runtime = forms.IntegerField(
        required=False, min_value=1, label="Runtime (s)", help_text="empty: one pass over the file"
    )
    tool = forms.CharField(required=False, max_length=40, label="Other tool", help_text="where it is not fio")
    operations = forms.CharField(
        required=False, max_length=400, label="Operations", help_text="of another tool: write, read"
    )
    jobs: Sequence[str] = ()  # in words, of a stored point whose jobs run at the same time: they stay as they are

    @property
    def own_fields(self) -> list[forms.BoundField]:
        """Return the fields that are shown first; of several jobs those that they do not say each by itself."""
        names = ("label", "file_size") if self.jobs else MAIN_FIELDS
        return [self[name] for name in names]

    def clean_file_size(self) -> dict[str, Any]:
        text = str(self.cleaned_data["file_size"]).strip()
        if not text:
            return {}
        if times := TIMES_RAM.fullmatch(text):
            return {"ram_multiple": float(times[1])}
        try:
            return {"file_size": parse_size(text)}
        except ValueError as error:
            raise forms.ValidationError(f"{error}, or a multiple of the RAM such as 4 x RAM") from None

    def data_of(self, stored: PlanPoint | None, number: int) -> Data:
        """Return a point's data; `number` names a point that has no label."""
        typed = self.cleaned_data
        name = typed["name"] or slugify(typed["label"])[:50] or f"point-{number}"
        data: Data = {"name": name, "label": typed["label"], "tool": typed["tool"], **typed["file_size"]}
        if stored and stored.jobs:
            return {**data, "tool": "fio", "jobs": stored.jobs, "command": stored.command, "labels": stored.labels}
        data |= {key: typed[key] for key in ("block_size", "threads", "iodepth")}
        data["operations"] = [word for word in re.split(r"[,\s]+", typed["operations"]) if word]
        if stored:
            data |= {"command": stored.command, "labels": stored.labels}
        if typed["rw"]:
            data |= {"tool": "fio", "job": self._job(stored), "operations": []}
        return data

    def _job(self, stored: PlanPoint | None) -> Data:
        """Return the job of a point: what the form has no input for stays as it was."""
        typed, before = self.cleaned_data, (stored.job if stored else None) or {}
        job = {**before, **{name: typed[name] for name in JOB_FIELDS if typed[name] not in ("", None)}}
        if not typed["runtime"]:
            job.pop("runtime", None)
        if (typed["iodepth"] or 1) > 1 and job.get("ioengine", "psync") in ONE_AT_A_TIME:
            job["ioengine"] = "libaio"  # more than one I/O under way needs an engine that can have them
        is_as_before = "time_based" in before and before.get("runtime") == typed["runtime"]
        return {**job, "time_based": before["time_based"] if is_as_before else bool(typed["runtime"])}


class GuardForm(SiteForm):
    kind = forms.CharField(widget=forms.HiddenInput)
    is_included = forms.BooleanField(required=False, label="ask for it")
    is_required = forms.BooleanField(required=False, initial=True, label="required")
    note = forms.CharField(required=False, label="Note")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.guard_kind = KINDS.get(str(self.initial.get("kind") or self.data.get(self.add_prefix("kind"))))
        kind = self.guard_kind.kind if self.guard_kind else ""
        self.parameters = parameters_for(kind) if self.guard_kind else ()
        if kind in HOST_PARAMETERS:
            self.fields["wait"] = make_wait_field()
            self.fields["wait"].help_text = ""
        self.fields.update({parameter.name: make_number_field(parameter) for parameter in self.parameters})
        if self.guard_kind and self.guard_kind.is_statement:
            del self.fields["is_required"]
        dress(self)

    @property
    def own_fields(self) -> list[forms.BoundField]:
        """Return the fields that are shown: whether it is asked for and required, its wait, its numbers, its note."""
        names = ("is_included", "is_required", "wait", *(each.name for each in self.parameters), "note")
        return [self[name] for name in names if name in self.fields]

    @property
    def sentence(self) -> str:
        """Return what shall hold; empty where that is made of the numbers in the fields beside."""
        return self.guard_kind.sentence({}) if self.guard_kind and not self.guard_kind.parameters else ""

    def data_of(self, stored: Guard | None) -> Data:
        typed = self.cleaned_data
        data: Data = {"kind": typed["kind"], "note": typed["note"]}
        if "is_required" in typed:
            data["is_required"] = typed["is_required"]
        names = {each.name: each.name for each in self.parameters} | {"wait_s": "wait"}
        kept = {
            name: value
            for name, value in (stored.parameters if stored else {}).items()
            if self.add_prefix(names.get(name, name)) not in self.data  # nobody was asked about it
        }
        numbers = read_numbers(typed, self.parameters, lambda name: name)
        if typed["kind"] == "cache_rule":
            return {"factor": None, "tolerance": 0.0, **data, **kept, **numbers}
        said = {name: value for name, value in numbers.items() if stored and name in stored.parameters}
        return {**data, **kept, **without_usual(numbers, self.parameters), **said}


def typed_plan(plan: Plan) -> Data:
    """Return a plan's data as its form would post them."""
    rule = plan.rule.data
    words = {name: getattr(plan, name) for name in ("title", "order", "seed", "notes")}
    return {**words, **rule, "time_limit": plan.time_limit}


def typed_row(row: PlanConfiguration) -> Data:
    size = spell_size(row.largest_file_size) if row.largest_file_size else ""
    configuration = row.configuration.name if row.configuration else ""
    return {
        "name": row.name, "configuration": configuration, "is_included": True, "largest_file_size": size, "limit_reason": row.limit_reason,
    }  # fmt: skip


def typed_point(point: PlanPoint) -> Data:
    job = point.job or {}
    size = (
        f"{_all_digits(point.ram_multiple)} x RAM"
        if point.ram_multiple
        else (spell_size(point.file_size) if point.file_size else "")
    )
    return {
        "name": point.name, "label": point.label, "file_size": size, "block_size": spell_size(point.block_size) if point.block_size else "",
        "threads": point.threads, "iodepth": point.iodepth, "rw": job.get("rw", ""), "direct": job.get("direct", not point.job),
        "sync": job.get("sync", "none"), "runtime": job.get("runtime"), "tool": "" if point.job else point.tool,
        "operations": ", ".join(point.operations),
    }  # fmt: skip


def _all_digits(value: float) -> str:
    """Return a number that is read as the same one: `4`, and a third with all its digits."""
    return f"{value:g}" if float(f"{value:g}") == value else f"{Decimal(str(value)):f}"


def typed_guard(guard: Guard) -> Data:
    return {
        "kind": guard.kind, "is_included": True, "is_required": guard.is_required, "note": guard.note,
        **initial_of(guard.parameters, parameters_for(guard.kind)),
    }  # fmt: skip
